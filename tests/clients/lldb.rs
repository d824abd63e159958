//! lldb: output for every fixture dump, compared with the models.

use super::gdb::{compare_lanes, lanes, the_one_that_stopped};
use super::harness::lldb_name;
use super::locals::{self, four_lanes};
use super::model::{Fixture, Memory, Register, Wave, some_fixtures};
use super::script::{Debugger, Script, half, in_each};
use crate::support::least;

/// Prefix of the server's own commands in lldb.
pub(crate) const MONITOR: &str = "process plugin packet monitor";

/// Selects the thread of the server's commands by lldb's number; prints the server's answer.
pub(crate) fn choose(thread: u64) -> String {
    let number = format!("lldb.process.GetThreadByID({thread}).GetIndexID()");
    format!("script lldb.debugger.HandleCommand('{MONITOR} wave %d' % {number})")
}

#[test]
fn lldb_shows_every_dump_as_the_models_have_it() {
    // Raw registers and memory; another test covers the view.
    let lldb = Debugger::Lldb(lldb_name());
    in_each(half(some_fixtures(), &lldb), &["--view", "off"], &lldb, script, least(2000, 500));
}

fn script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.check("attaching", format!("gdb-remote {address}"), |text| {
        let complaint = ["error", "warning"].into_iter().find(|word| text.contains(word));
        complaint.map_or(Ok(()), |word| Err(format!("{word:?} in {text:?}")))
    });
    let waves = fixture.waves.clone();
    script.check("threads", "thread list", move |text| threads(&waves, text));
    for wave in &fixture.waves {
        one_wave(&mut script, wave);
    }
    script.expect("detach", "Process 1 detached");
    script
}

fn one_wave(script: &mut Script, wave: &Wave) {
    let what = format!("wave {}", wave.expected["id"]);
    // Not `thread select`: lldb prints its event in another thread, in the middle of later answers.
    script.say(format!("script lldb.process.SetSelectedThreadByID({})", wave.thread));
    script.expect("thread info", format!(": tid = {},", wave.thread));
    for (name, register) in wave.registers() {
        if wave.pc().is_none() {
            // A thread without a PC has no frame, and lldb has no registers without a frame.
            one_register_by_the_server(script, &what, wave, &name, register);
            continue;
        }
        let about = format!("{what} {name}");
        let wanted = register.clone();
        script.check(about.clone(), format!("register read {name}"), move |text| one_register(&wanted, text));
        if !whole(&register) {
            // lldb does not support partial vectors; the server's own command prints the rest.
            one_register_by_the_server(script, &what, wave, &name, register);
        }
    }
    for memory in wave.memory() {
        // lldb caches memory by address, so the address must have wave and lane.
        let command = format!(
            "memory read --size 1 --format x --num-per-line 1 --count {} {:#x}",
            memory.bytes.len(),
            memory.address_of(wave.thread)
        );
        script.check(format!("{what} {}", memory.words()), command, move |text| bytes(&memory, text));
    }
    script.expect(
        choose(wave.thread),
        wave.name_suffix().map_or(": AMDGPU Wave ".to_owned(), |suffix| format!(" {suffix}, ")),
    );
    let (model, every) = (wave.clone(), wave.shown_lanes());
    script.check(format!("{what} all lanes"), format!("{MONITOR} locals all full"), move |text| {
        locals::compare(&model, &every, &output_of(text)?)
    });
    let shown = wave.shown_lanes();
    let lane = shown[shown.len() / 2];
    script.expect(format!("{MONITOR} lane {lane}"), format!("Lane {lane} of thread "));
    script.expect(
        format!("{MONITOR} eval --value {}", four_lanes(wave)),
        format!("lane {lane}: {:#x}", lane * 4),
    );
    let model = wave.clone();
    script.check(format!("{what} lane {lane}"), format!("{MONITOR} locals"), move |text| {
        locals::compare(&model, &[lane], &output_of(text)?)
    });
    let model = wave.clone();
    script.check(format!("{what} lanes"), format!("{MONITOR} lanes full"), move |text| {
        lanes(&model, &output_of(text)?)
    });
}

/// `monitor register`, which prints partial registers.
fn one_register_by_the_server(script: &mut Script, what: &str, wave: &Wave, name: &str, register: Register) {
    script.say(choose(wave.thread));
    let label = name.to_owned();
    script.check(format!("{what} {name}"), format!("{MONITOR} register {name} full"), move |text| {
        let words = output_of(text)?;
        // The first line names the wave.
        let words = words.split_once('\n').map_or("", |(_, words)| words);
        match &register {
            Register::Absent if words.starts_with(&label) && words.trim_end().ends_with("not captured") => {
                Ok(())
            }
            Register::Scalar(value) => {
                let digits = words.split("0x").nth(1).and_then(|rest| rest.split_whitespace().next());
                let right = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) == Some(*value);
                if right { Ok(()) } else { Err(format!("expected {value:#x}, got {words:?}")) }
            }
            Register::Lanes(lanes) => {
                let got: Vec<&str> = words.split_whitespace().filter(|word| word.len() == 8).collect();
                let dword =
                    |lane: &Option<u32>| lane.map_or("xxxxxxxx".to_owned(), |dword| format!("{dword:08x}"));
                compare_lanes(&lanes.iter().map(dword).collect::<Vec<_>>(), &got)
            }
            Register::Absent => Err(format!("expected not captured, got {words:?}")),
        }
    });
}

/// The server's text, without lldb's text about the packet.
fn output_of(text: &str) -> Result<String, String> {
    let (said, rest) = text.split_once("  packet: qRcmd,").ok_or_else(|| format!("no packet in {text:?}"))?;
    if rest.contains("response: OK") {
        Ok(said.to_owned())
    } else {
        Err(format!("the answer is not OK: {rest:?}"))
    }
}

/// `    exec = 0x0000000001ffffff`, `      v3 = {0x00000fa0 0x00000fa4 ...}`
fn one_register(wanted: &Register, text: &str) -> Result<(), String> {
    let value = text.split_once(" = ").map(|(_, value)| value.trim());
    match (wanted, value) {
        (Register::Scalar(wanted), Some(value)) => {
            let digits = value.strip_prefix("0x").unwrap_or_default();
            let right = u64::from_str_radix(digits, 16) == Ok(*wanted);
            if right { Ok(()) } else { Err(format!("expected {wanted:#x}, got {text:?}")) }
        }
        (Register::Lanes(lanes), Some(value)) if !lanes.contains(&None) => {
            let got: Vec<&str> = value.trim_matches(['{', '}']).split_whitespace().collect();
            let dword = |lane: &Option<u32>| format!("0x{:08x}", lane.unwrap_or_default());
            compare_lanes(&lanes.iter().map(dword).collect::<Vec<_>>(), &got)
        }
        // lldb has no state between a value and an error.
        (_, Some("error: unavailable")) if !whole(wanted) => Ok(()),
        _ => Err(format!("expected {}, got {text:?}", if whole(wanted) { "a value" } else { "no value" })),
    }
}

fn whole(register: &Register) -> bool {
    match register {
        Register::Absent => false,
        Register::Scalar(_) => true,
        Register::Lanes(lanes) => !lanes.contains(&None),
    }
}

/// `0x500008500000010: 0x00`, a line per byte; lldb reports where it stops.
fn bytes(wanted: &Memory, text: &str) -> Result<(), String> {
    let readable = wanted.readable();
    let cells = text.lines().filter_map(|line| line.strip_prefix("0x")?.split_once(": "));
    // After the readable bytes lldb prints its own zeros, and warns.
    let got: Vec<String> = cells.map(|(_, cell)| cell.trim().to_owned()).take(readable).collect();
    let expected: Vec<String> =
        wanted.bytes[..readable].iter().map(|byte| format!("{:#04x}", byte.unwrap_or_default())).collect();
    if got != expected {
        return Err(format!("expected {expected:?}, got {text:?}"));
    }
    let all = wanted.bytes.len();
    let right = match readable {
        0 => text.contains("error: memory read failed") || text.contains("error: read memory from"),
        _ if readable < all => {
            text.contains(&format!("warning: Not all bytes ({readable}/{all}) were able to be read"))
        }
        _ => !text.contains("error") && !text.contains("warning"),
    };
    if right { Ok(()) } else { Err(format!("after {readable} bytes: {text:?}")) }
}

/// `* thread #1: tid = 1, 0x00007f0000102798, name = 'AMDGPU Wave 1:1:1:1 (0,0,0)/0', stop reason = memory violation`
fn threads(waves: &[Wave], text: &str) -> Result<(), String> {
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("thread #")).collect();
    if rows.len() != waves.len() {
        return Err(format!("expected {} threads, got {}: {text}", waves.len(), rows.len()));
    }
    let first = the_one_that_stopped(waves).map(|wave| wave.number);
    for wave in waves {
        // lldb numbers threads in the order of their reports, the stopped one first; the id is the server's.
        let id = format!(": tid = {},", wave.thread);
        let Some(row) = rows.iter().find(|row| row.contains(&id)) else {
            return Err(format!("no thread{id} {text}"));
        };
        let at = wave.pc().is_none_or(|pc| row.contains(&format!(", 0x{pc:016x}")));
        let named = wave.name_suffix().is_none_or(|suffix| {
            row.contains("name = 'AMDGPU Wave ") && row.contains(&format!(" {suffix}, "))
        });
        let stopped = first.is_none_or(|first| row.contains("stop reason = ") == (first == wave.number));
        if !(at && named && stopped) {
            return Err(format!(
                "wave {}: expected {:?} at {:x?}, stopped: {:?}, got {row}",
                wave.expected["id"],
                wave.name_suffix(),
                wave.pc(),
                wave.stop()
            ));
        }
    }
    Ok(())
}
