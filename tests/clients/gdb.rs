//! gdb and gdb-multiarch: output for every fixture dump, compared with the models.

use super::locals::{self, four_lanes};
use super::model::{Fixture, Memory, Register, Wave, fixtures, some_fixtures};
use super::script::{Debugger, Script, half, in_each};
use crate::support::{least, sample::sampled};

#[test]
fn gdb_shows_every_dump_as_the_models_have_it() {
    over("gdb", half(some_fixtures(), &Debugger::Gdb("gdb")), least(3000, 700));
}

#[test]
fn gdb_multiarch_shows_dumps_as_the_models_have_them() {
    over("gdb-multiarch", sampled(fixtures(), 24), least(3000, 120));
}

fn over(name: &'static str, dumps: impl IntoIterator<Item = Fixture>, least: usize) {
    // Raw registers and memory; another test covers the view.
    in_each(dumps, &["--view", "off"], &Debugger::Gdb(name), script, least);
}

fn script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    let kernel = |text: &str| {
        // gdb rightly warns of a missing program file. These are gdb's only reports of input that it rejects.
        let text = text.replace("warning: No executable has been specified", "");
        let complaint =
            ["warning", "rejected", "Truncated", "error"].into_iter().find(|word| text.contains(word));
        complaint.map_or(Ok(()), |word| Err(format!("{word:?} in {text:?}")))
    };
    script.check("attaching", format!("target remote {address}"), kernel);
    let waves = fixture.waves.clone();
    script.check("threads", "info threads", move |text| threads(&waves, text));
    if let Some(first) = the_one_that_stopped(&fixture.waves) {
        script.expect("thread", format!("Current thread is {} (Thread {})", first.number, first.thread));
        // The list made gdb read every thread; the selected thread is unchanged.
        script.expect("monitor wave", format!("Thread {}: ", first.number));
    }
    for wave in &fixture.waves {
        one_wave(&mut script, wave);
    }
    script.expect("detach", "detached");
    script
}

/// The only wave with a stop reason, if exactly one has one: the models do not define an order of several.
pub(crate) fn the_one_that_stopped(waves: &[Wave]) -> Option<&Wave> {
    let mut stopped = waves.iter().filter(|wave| wave.stop().is_some_and(|stop| !stop.is_empty()));
    stopped.next().filter(|_| stopped.next().is_none())
}

fn one_wave(script: &mut Script, wave: &Wave) {
    let what = format!("wave {}", wave.expected["id"]);
    script.expect(format!("thread {}", wave.number), format!("(Thread {})", wave.thread));
    for (name, register) in wave.registers() {
        one_register(script, &what, &name, register);
    }
    for memory in wave.memory() {
        one_memory(script, &what, wave, &memory);
    }
    let (model, every) = (wave.clone(), wave.shown_lanes());
    script.check(format!("{what} all lanes"), "monitor locals all full", move |text| {
        locals::compare(&model, &every, text)
    });
    // An active lane, one in the middle, the last: by focus and by name.
    let shown = wave.shown_lanes();
    for (nth, lane) in [shown[0], shown[shown.len() / 2], shown[shown.len() - 1]].into_iter().enumerate() {
        let command = if nth == 1 {
            format!("monitor locals {lane}")
        } else {
            script.expect(format!("monitor lane {lane}"), format!("Lane {lane} of thread {}", wave.number));
            script.expect(
                format!("monitor eval --value {}", four_lanes(wave)),
                format!("lane {lane}: {:#x}", lane * 4),
            );
            "monitor locals".to_owned()
        };
        let model = wave.clone();
        script.check(format!("{what} lane {lane}"), command, move |text| {
            locals::compare(&model, &[lane], text)
        });
    }
    let model = wave.clone();
    script.check(format!("{what} lanes"), "monitor lanes full", move |text| lanes(&model, text));
}

fn one_register(script: &mut Script, what: &str, name: &str, register: Register) {
    let what = format!("{what} {name}");
    let after = |text: &str| text.rsplit(" = ").next().unwrap_or_default().trim().to_owned();
    let unavailable = move |text: &str| {
        if after(text) == "<unavailable>" {
            Ok(())
        } else {
            Err(format!("expected <unavailable>, got {text:?}"))
        }
    };
    match register {
        Register::Absent => script.check(what, format!("p/x ${name}"), unavailable),
        Register::Scalar(value) => script.check(what, format!("p/x ${name}"), move |text| {
            let wanted = format!("{value:#x}");
            if after(text) == wanted { Ok(()) } else { Err(format!("expected {wanted}, got {text:?}")) }
        }),
        Register::Lanes(lanes) if lanes.contains(&None) => {
            // Clients do not support partial vectors; the server's own command prints the rest.
            script.check(what.clone(), format!("p/x ${name}"), unavailable);
            script.check(what, format!("monitor register {name} full"), move |text| {
                // The first line names the wave.
                let values = text.trim_start().split_once('\n').map_or("", |(_, values)| values);
                let got: Vec<&str> = values.split_whitespace().filter(|word| word.len() == 8).collect();
                let wanted: Vec<String> = lanes
                    .iter()
                    .map(|lane| lane.map_or("xxxxxxxx".to_owned(), |dword| format!("{dword:08x}")))
                    .collect();
                compare_lanes(&wanted, &got)
            });
        }
        Register::Lanes(lanes) => {
            for lane in [17 % lanes.len(), lanes.len() - 1] {
                let wanted = format!("{}", lanes[lane].unwrap_or_default());
                let lane_of = format!("{what} lane {lane}");
                script.check(lane_of, format!("p ${name}[{lane}]"), move |text| {
                    if after(text) == wanted {
                        Ok(())
                    } else {
                        Err(format!("expected {wanted}, got {text:?}"))
                    }
                });
            }
            script.check(what, format!("p/x ${name}"), move |text| {
                let values = after(text);
                let got: Vec<&str> = values.trim_matches(['{', '}']).split(", ").collect();
                let wanted: Vec<String> =
                    lanes.iter().map(|lane| format!("{:#x}", lane.unwrap_or_default())).collect();
                compare_lanes(&wanted, &got)
            });
        }
    }
}

/// Compares all lanes of a vector.
pub(crate) fn compare_lanes(wanted: &[String], got: &[&str]) -> Result<(), String> {
    if wanted.len() != got.len() {
        return Err(format!("expected {} lanes, got {}: {got:?}", wanted.len(), got.len()));
    }
    let pairs = wanted.iter().zip(got).enumerate().filter(|(_, (wanted, got))| wanted != *got);
    let wrong: Vec<String> =
        pairs.map(|(lane, (wanted, got))| format!("lane {lane}: expected {wanted}, got {got}")).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
}

fn one_memory(script: &mut Script, what: &str, wave: &Wave, memory: &Memory) {
    let mut addresses = vec![memory.address_of(wave.thread)];
    if memory.space != 0 {
        if let Some(lane) = memory.lane {
            script.say(format!("set var $lane = {lane}"));
        }
        addresses.push(memory.focused_address());
    }
    for address in addresses {
        let wanted = memory.clone();
        let command = format!("x/{}xb {address:#x}", memory.bytes.len());
        script.check(format!("{what} {}", memory.words()), command, move |text| bytes(&wanted, text));
    }
}

/// `0x7f0000200000:\t0x00\t0x00`, in lines of eight; gdb reports where it stops.
pub(crate) fn bytes(wanted: &Memory, text: &str) -> Result<(), String> {
    let cells =
        text.lines().filter_map(|line| line.split_once(":\t")).flat_map(|(_, cells)| cells.split('\t'));
    let got: Vec<&str> = cells.filter(|cell| cell.starts_with("0x")).collect();
    let readable = wanted.readable();
    let expected: Vec<String> =
        wanted.bytes[..readable].iter().map(|byte| format!("{:#04x}", byte.unwrap_or_default())).collect();
    if got != expected {
        return Err(format!("expected {expected:?}, got {text:?}"));
    }
    let complains = text.contains("Cannot access memory at address");
    if complains == (readable < wanted.bytes.len()) {
        Ok(())
    } else {
        Err(format!("after {readable} bytes: {text:?}"))
    }
}

/// `* 1    Thread 1 "AMDGPU Wave 1:1:1:1 (0,0,0)/0" (memory violation, saxpy) 0x00007f0000102798 in ?? ()`
fn threads(waves: &[Wave], text: &str) -> Result<(), String> {
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("Thread ")).collect();
    if rows.len() != waves.len() {
        return Err(format!("expected {} threads, got {}: {text}", waves.len(), rows.len()));
    }
    for (wave, row) in waves.iter().zip(rows) {
        let cells = row.trim_start_matches('*').split_whitespace().collect::<Vec<_>>().join(" ");
        let begins = format!("{} Thread {} \"AMDGPU Wave ", wave.number, wave.thread);
        let named = wave.name_suffix().is_none_or(|suffix| row.contains(&format!(" {suffix}\" (")));
        let state = match wave.stop() {
            None => row.contains("(stop reason not captured"),
            Some(stop) => row.contains("(running") == stop.is_empty(),
        };
        let at = match wave.pc() {
            Some(pc) => row.contains(&format!(" 0x{pc:016x} in ")),
            None => !row.contains(" 0x"),
        };
        if !(cells.starts_with(&begins) && named && state && at) {
            return Err(format!(
                "wave {}: expected {begins}...{:?} at {:x?}, got {row}",
                wave.expected["id"],
                wave.name_suffix(),
                wave.pc()
            ));
        }
    }
    Ok(())
}

/// `*  17    active    (17,0,0)  ...`: a lane is active if its bit of EXEC is set, unless the source defines other
/// lanes in the model.
pub(crate) fn lanes(wave: &Wave, text: &str) -> Result<(), String> {
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.trim_start_matches('*').split_whitespace();
        Some((cells.next()?.parse::<usize>().ok()?, cells.next()?.to_owned()))
    });
    let rows: Vec<(usize, String)> = rows.collect();
    if rows.len() != wave.lanes {
        return Err(format!("expected {} lanes, got {text}", wave.lanes));
    }
    for (lane, state) in rows {
        let said = wave.expected["lane_states"][lane][0].as_str();
        let right = match wave.exec() {
            _ if said.is_some() => Some(&*state) == said,
            Some(exec) => (state == "active") == (exec >> lane & 1 == 1),
            None => state != "active" && state != "inactive",
        };
        if !right {
            return Err(format!("lane {lane} is {state} under EXEC {:x?}", wave.exec()));
        }
    }
    Ok(())
}
