//! The helpers in clients/: commands in gdb, gdb-multiarch and lldb, against the models; inactivity on other targets.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::harness::{Server, lldb_name, run, scratch, tool};
use super::model::{Fixture, Register, Wave, fixtures, named};
use super::script::{Debugger, Script, gdbs, half, in_each};
use crate::support::{least, listening_port, sample::sampled, until};

/// Dumps whose lists of lanes and waves differ: missing registers, stacks, masks defined by the source, inactive lanes
/// at other PCs, several kinds, wave32 and wave64, partial work-groups.
const DUMPS: [&str; 11] = [
    "absent-gfx1100",
    "absent-gfx90a",
    "calls-gfx90a",
    "diverge-gfx90a-O0",
    "draft-ops-gfx1100",
    "masks-gfx1100",
    "masks-gfx90a",
    "mixed-kinds",
    "regions-gfx90a",
    "saxpy-gfx1100-O0",
    "user-ops-gfx90a",
];
const NOT_SERVED: &str = "This is for captures that lanescope serves";
/// x86 registers at the beginning of gdb's own list.
const X86: [&str; 4] = ["rax ", "eflags ", "st0 ", "fctrl "];

#[test]
fn gdb_has_the_commands() {
    gdbs().for_each(|name| everywhere(&Debugger::Gdb(name), gdb_script, least(800, 300)));
}

#[test]
fn lldb_has_the_commands() {
    everywhere(&Debugger::Lldb(lldb_name()), lldb_script, least(300, 150));
}

/// gdb does not keep the file of a Python script that another script sources.
#[test]
fn a_script_of_the_users_may_source_the_helper() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    for name in gdbs() {
        let source = format!("source {}", helper("gdb").display());
        for (extension, text) in [
            ("gdb", source.clone()),
            ("py", format!("import gdb\ngdb.execute({source:?})\n")),
            ("py", format!("import runpy\nrunpy.run_path({:?})\n", helper("gdb"))),
        ] {
            let outer = scratch(&format!("outer.{extension}"));
            fs::write(&outer, &text).unwrap();
            let mut script = Script::new(&text);
            script.never(format!("source {}", outer.display()), "rror");
            script.say(format!("target remote {}", server.address));
            script.expect("info lanes 0", "AMDGPU Lane 1:1:1:1/0 (0,0,0)[0,0,0]");
            script.must_pass(&Debugger::Gdb(name));
            fs::remove_file(outer).unwrap();
        }
    }
    server.finish();
}

/// 64 lanes take as many requests about the wave as one lane; `$_lane` and the related variables have the right values.
#[test]
fn applying_a_command_to_all_lanes_asks_for_them_once() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    for name in gdbs() {
        let mut script = Script::new(&fixture.name);
        script.say(format!("source {}", helper("gdb").display()));
        script.say(format!("target remote {}", server.address));
        let packets = |text: &str| text.matches("Sending packet: $qlanescope.").count();
        script.say("set debug remote 1");
        script.check("packets", "lane apply all -q print $_lane", move |text| match packets(text) {
            1..=10 => Ok(()),
            count => Err(format!("{count} packets")),
        });
        script.say("set debug remote 0");
        script.check("values", "lane apply all -q printf \"%d=%d \", $lane, $_lane", |text| {
            let wanted: String = (0..64).map(|lane| format!("{lane}={lane} ")).collect();
            if text.contains(&wanted) { Ok(()) } else { Err(text.to_owned()) }
        });
        // The command's change of focus is visible to its remaining part.
        script.expect("lane apply 3 -q lane 5", "lane 5 (AMDGPU Lane");
        script.expect("printf \"%d=%d\", $lane, $_lane", "0=0");
        script.must_pass(&Debugger::Gdb(name));
    }
    server.finish();
}

fn helper(client: &str) -> PathBuf {
    crate::support::root().join(format!("clients/{client}/lanescope.py"))
}

fn everywhere(debugger: &Debugger, script: fn(&Fixture, &str) -> Script, least: usize) {
    let chosen = |one: &Fixture| DUMPS.iter().any(|dump| one.name.split(' ').next() == Some(dump));
    in_each(half(fixtures().into_iter().filter(chosen), debugger), &[], debugger, script, least);
}

fn gdb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("source {}", helper("gdb").display()));
    script.expect("info lanes", NOT_SERVED);
    script.say(format!("target remote {address}"));
    let all = fixture.waves.clone();
    script.check("waves", "info waves", move |text| waves(&all, |wave| wave.number, text));
    let all = fixture.waves.clone();
    script.check("work-groups", "info workgroups", move |text| workgroups(&all, text));
    let manifest = Manifest::of(fixture);
    script.check("dispatches", "info dispatches", move |text| dispatches(&manifest, text));
    for wave in sampled(&fixture.waves, 2) {
        script.say(format!("thread {}", wave.number));
        script.expect("info wave", format!("Thread           {}\n", wave.number));
        one_wave(&mut script, wave, "info lanes");
        gdb_lanes(&mut script, wave);
        gdb_values(&mut script, wave);
        registers(&mut script, wave);
        // No x86 output, with or without the server's disassembly. x86 registers begin with `%`.
        script.check("instructions", "x/2i $pc", |text| {
            let x86 = text.contains('%') || text.contains("(bad)");
            if x86 { Err(format!("x86 in {text:?}")) } else { Ok(()) }
        });
    }
    script.expect("lane 64", "Lane 64 does not exist on this thread.");
    script.expect("lane -1", "Lane -1 does not exist on this thread.");
    script.expect("info lanes 64", "No lanes match '64'.");
    script.expect("info lanes -1", "Unrecognized option at: -1");
    script.expect("info lanes 3-2", "Inverted range: '3-2'.");
    script.expect("lane apply -1 print 1", "Please specify a lane ID list");
    script.expect("lane apply 0", "Please specify a command to apply on the selected lanes");
    script.expect("lane apply 0 nonsense", "Undefined command: \"nonsense\".");
    script.expect("info wave 999", "Unknown thread 999.");
    // Each thread's own value of the model; gdb begins with the last thread.
    let places: Vec<String> = fixture
        .waves
        .iter()
        .rev()
        .map(|wave| wave.name_suffix().map_or("void".to_owned(), |suffix| format!("{suffix:?}")))
        .collect();
    for value in ["$_dispatch_pos", "$_focus(\"dispatch_pos\")"] {
        let places = places.clone();
        script.check("thread apply", format!("thread apply all -q -c print {value}"), move |text| {
            let got: Vec<String> =
                text.lines().filter_map(|line| Some(line.split_once(" = ")?.1.to_owned())).collect();
            let known = places.iter().filter(|place| value.starts_with("$_d") || *place != "void");
            if known.eq(&got) { Ok(()) } else { Err(format!("expected {places:?}, got {text:?}")) }
        });
    }
    script.check("thread apply", "thread apply all -q output $_wave", |text| {
        if text.contains("void") { Err(text.to_owned()) } else { Ok(()) }
    });
    script.expect("detach", "detached");
    script.expect("print $_lane", " = void");
    script.expect("info lanes", NOT_SERVED);
    script.expect("info registers", "The program has no registers now");
    script
}

/// Lanes with state `active` in the model, by EXEC or by the source.
pub(crate) fn active(wave: &Wave) -> Option<Vec<usize>> {
    let said = |lane: usize| wave.expected["lane_states"][lane][0].as_str().map(|state| state == "active");
    let exec = wave.exec();
    let is = |lane: &usize| said(*lane).or(exec.map(|exec| exec >> lane & 1 == 1));
    let known: Option<Vec<bool>> = (0..wave.lanes).map(|lane| is(&lane)).collect();
    Some((0..wave.lanes).zip(known?).filter(|(_, is)| *is).map(|(lane, _)| lane).collect())
}

/// Output of both helpers for a wave's lanes.
fn one_wave(script: &mut Script, wave: &Wave, lanes: &str) {
    let what = format!("wave {}", wave.expected["id"]);
    let model = wave.clone();
    script.check(format!("{what} lanes"), format!("{lanes} -all"), move |text| {
        let rows = rows(text)?;
        let numbers: Vec<usize> = rows.keys().copied().collect();
        if numbers != (0..model.lanes).collect::<Vec<_>>() {
            return Err(format!("expected lanes 0 to {}, got {text}", model.lanes - 1));
        }
        let wrong: Vec<String> = rows.iter().filter_map(|(lane, row)| differs(&model, *lane, row)).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
    if let Some(active) = active(wave) {
        script.check(format!("{what} active lanes"), format!("{lanes} -active"), move |text| {
            if active.is_empty() {
                return if text.contains("No lanes.") { Ok(()) } else { Err(text.to_owned()) };
            }
            let got: Vec<usize> = rows(text)?.into_keys().collect();
            if got == active { Ok(()) } else { Err(format!("expected {active:?}, got {got:?}")) }
        });
    }
}

/// `* 17   A     AMDGPU Lane 1:1:1:1/17 (0,0,0)[17,0,0] saxpy at saxpy.hip:54`, by its number.
struct Row {
    state: String,
    target: String,
    frame: String,
}

fn rows(text: &str) -> Result<BTreeMap<usize, Row>, String> {
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("AMDGPU Lane ")) {
        let (before, after) = line.split_once("AMDGPU Lane ").unwrap();
        let mut cells = before.trim_start_matches('*').split_whitespace();
        let number = cells.next().and_then(|cell| cell.parse().ok());
        let (Some(number), Some(state), Some(end)) = (number, cells.next(), after.find(']')) else {
            return Err(format!("no row: {line:?}"));
        };
        let target = after[..=end].to_owned();
        rows.insert(
            number,
            Row { state: state.to_owned(), target, frame: after[end + 1..].trim().to_owned() },
        );
    }
    Ok(rows)
}

/// The error of a lane's row.
fn differs(wave: &Wave, lane: usize, row: &Row) -> Option<String> {
    let said = wave.expected["lane_states"][lane][0].as_str();
    let letters = match (said, wave.exec()) {
        (Some("active"), _) => "A",
        (Some("inactive" | "not_entered"), _) => "I",
        (Some("unused"), _) => "U",
        (Some(other), _) => panic!("the model knows a state {other}"),
        (None, Some(exec)) if exec >> lane & 1 == 1 => "A",
        (None, Some(_)) => "IU",
        (None, None) => "?U",
    };
    let id = wave.expected["id"].as_u64().unwrap();
    let group = wave.name_suffix().map(|suffix| suffix.split('/').next().unwrap().to_owned());
    let named = row.target.contains(&format!(":{id}/{lane} {}[", group.unwrap_or_else(|| "(".to_owned())))
        || wave.name_suffix().is_none() && row.target.contains(&format!(":{id}/{lane} ("));
    let place = match (wave.expected["file"].as_str(), wave.expected["line"].as_u64()) {
        (Some(file), Some(line)) => format!("/{file}:{line}"),
        _ => String::new(),
    };
    let at = match &*row.state {
        "A" if wave.expected["lane_pc"].is_null() => row.frame.ends_with(&place),
        "U" => row.frame == "(unused)",
        // The lane has never left the place of its inactive state.
        "I" => !row.frame.is_empty() && row.frame != "(active)",
        _ => true,
    };
    let right = letters.contains(&*row.state) && named && at;
    (!right).then(|| {
        let Row { state, target, frame } = row;
        format!("lane {lane}: expected {letters} of wave {id} at {place:?}, got {state} {target} {frame}")
    })
}

/// A change of the lane changes all output, and `lane apply` restores it.
fn gdb_lanes(script: &mut Script, wave: &Wave) {
    let what = format!("wave {}", wave.expected["id"]);
    let shown = wave.shown_lanes();
    let on = active(wave);
    for lane in [shown[0], shown[shown.len() - 1]] {
        let (number, id) = (wave.number, wave.expected["id"].clone());
        let is_active = on.as_ref().map(|on| on.contains(&lane));
        script.check(format!("{what} lane {lane}"), format!("lane {lane}"), move |text| {
            let begins = format!("[Switching to thread {number}, lane {lane} (AMDGPU Lane ");
            let warned = text.contains("warning: Current lane is ");
            let frame = text.lines().any(|line| line.starts_with("#0 "));
            let right = text.contains(&begins)
                && text.contains(&format!(":{id}/{lane} ("))
                && frame
                && is_active.is_none_or(|is_active| warned != is_active);
            if right { Ok(()) } else { Err(format!("expected {begins}..., got {text:?}")) }
        });
        script.expect("lane", format!("[Current thread is {number}, lane {lane} (AMDGPU Lane "));
        script.expect("print $lane", format!(" = {lane}"));
    }
    let last = shown[shown.len() - 1];
    let command = |rest: &str| format!("lane apply {rest} print $lane");
    let several: Vec<usize> = shown.iter().take(3).copied().collect();
    let list = several.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    script.check(format!("{what} lane apply"), command(&list), move |text| {
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("Lane ")).collect();
        let right = headings.len() == several.len()
            && headings.iter().zip(&several).all(|(heading, lane)| {
                heading.starts_with(&format!("Lane {lane} (AMDGPU Lane ")) && heading.ends_with("):")
            });
        if right && values(text) == several { Ok(()) } else { Err(format!("expected {several:?}: {text:?}")) }
    });
    if let Some(on) = on {
        let wanted = on.clone();
        script.check(format!("{what} active"), command("active -q"), move |text| {
            let right = values(text) == wanted && !text.contains("AMDGPU Lane");
            if right { Ok(()) } else { Err(format!("expected {wanted:?}, got {text:?}")) }
        });
        if let Some(lane) = on.first() {
            script.check("no match", format!("lane apply {lane} -inactive print 1"), |text| {
                if text.trim().is_empty() { Ok(()) } else { Err(format!("expected nothing, got {text:?}")) }
            });
        }
    }
    script.expect(
        format!("lane apply {last} -c print nothing_of_that_name"),
        "No symbol \"nothing_of_that_name\"",
    );
    script.expect("print $_lane", format!(" = {last}"));
    variables(script, wave);
}

/// `$3 = 17`, line by line.
fn values(text: &str) -> Vec<usize> {
    let values = text.lines().filter(|line| line.starts_with('$')).filter_map(|line| line.split_once(" = "));
    values.filter_map(|(_, value)| value.trim().parse().ok()).collect()
}

/// An integer in scope, in the model's lanes at the wave's PC.
fn variables(script: &mut Script, wave: &Wave) {
    let here = |index: usize| {
        let pcs = wave.expected["lane_pc"].as_array();
        pcs.is_none_or(|pcs| pcs[index] == wave.expected["pc"])
    };
    let lanes: Vec<(usize, usize)> =
        wave.shown_lanes().into_iter().enumerate().filter(|(index, _)| here(*index)).collect();
    let locals = wave.expected["locals"].as_array().into_iter().flatten();
    let names: Vec<&str> = locals.clone().filter_map(|one| one["name"].as_str()).collect();
    let number = |value: &serde_json::Value| value.as_str().and_then(|value| value.parse::<i64>().ok());
    let found = locals.clone().find(|one| {
        let alone = names.iter().filter(|name| one["name"] == **name).count() == 1;
        let whole = one["values"].as_array().is_some_and(|all| all.iter().all(|one| number(one).is_some()));
        one["state"] == "ok" && one["type"] == "int" && alone && whole
    });
    let Some(found) = found.filter(|_| !lanes.is_empty() && wave.pc().is_some()) else { return };
    let name = found["name"].as_str().unwrap();
    let wanted: Vec<i64> = lanes.iter().filter_map(|(index, _)| number(&found["values"][*index])).collect();
    let list = lanes.iter().map(|(_, lane)| lane.to_string()).collect::<Vec<_>>().join(",");
    script.check(
        format!("wave {} {name}", wave.expected["id"]),
        format!("lane apply {list} -q print {name}"),
        move |text| {
            let got: Vec<i64> = text
                .lines()
                .filter_map(|line| line.split_once(" = "))
                .filter_map(|(_, value)| value.trim().parse().ok())
                .collect();
            if got == wanted { Ok(()) } else { Err(format!("expected {wanted:?}, got {text:?}")) }
        },
    );
}

fn gdb_values(script: &mut Script, wave: &Wave) {
    script.expect("print $_wave", format!(" = {}", wave.expected["id"]));
    if let Some(suffix) = wave.name_suffix() {
        script.expect("print $_dispatch_pos", format!(" = \"{suffix}\""));
        let place = suffix.split_once('/').unwrap().1.to_owned();
        script.expect("print $_thread_workgroup_pos", format!(" = \"{place}\""));
    }
}

/// Registers by AMD's names only; missing ones are unavailable.
fn registers(script: &mut Script, wave: &Wave) {
    let model = wave.registers();
    // An inactive lane may have another PC, which the model lacks.
    let elsewhere = !wave.expected["lane_pc"].is_null();
    let lines = |text: &str| -> BTreeMap<String, String> {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.map(|(name, rest)| (name.to_owned(), rest.trim().to_owned())).collect()
    };
    let what = format!("wave {} registers", wave.expected["id"]);
    script.check(what.clone(), "info registers", move |text| {
        if let Some(name) = X86.iter().find(|name| text.lines().any(|line| line.starts_with(**name))) {
            return Err(format!("{name}in {text}"));
        }
        let got = lines(text);
        let mut wrong = Vec::new();
        for (name, register) in model.iter().filter(|(name, _)| !(elsewhere && name == "pc")) {
            let value = got.get(name).map(String::as_str);
            let right = match register {
                Register::Scalar(wanted) => value
                    .and_then(|value| value.split_whitespace().next())
                    .is_some_and(|value| value == format!("{wanted:#x}")),
                Register::Absent => value.is_none_or(|value| value.contains("unavailable")),
                Register::Lanes(_) => value.is_none(),
            };
            if !right {
                wrong.push(format!("{name} is {value:?}"));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
    let vectors = wave.registers().into_iter().find(|(_, value)| matches!(value, Register::Lanes(_)));
    let name = vectors.map_or_else(|| "v0".to_owned(), |(name, _)| name);
    if name.starts_with('v') {
        script.check(what, "info registers vector", move |text| {
            let got = lines(text);
            if got.contains_key(&name) && !got.contains_key("s0") { Ok(()) } else { Err(text.to_owned()) }
        });
    }
    script.expect("info registers general", "pc  ");
    script.expect("info registers exec", "exec  ");
    script.expect("info registers no_such", "Invalid register `no_such'");
}

fn waves(all: &[Wave], number: impl Fn(&Wave) -> usize, text: &str) -> Result<(), String> {
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("AMDGPU Wave ")).collect();
    if rows.len() != all.len() || rows.iter().filter(|row| row.starts_with('*')).count() != 1 {
        return Err(format!("expected {} waves and one star, got {text}", all.len()));
    }
    for (wave, row) in all.iter().zip(rows) {
        let cells: Vec<&str> = row.trim_start_matches('*').split_whitespace().collect();
        let hex = |number: Option<u64>| number.map_or("?".to_owned(), |number| format!("{number:#x}"));
        let right = (number(wave) == 0 || cells[0] == number(wave).to_string())
            && wave.name_suffix().is_none_or(|suffix| cells.contains(&&*suffix))
            && cells.contains(&&*hex(wave.pc()))
            && cells.contains(&&*hex(wave.exec()))
            && wave.stop().is_none_or(|stop| row.ends_with(" running") == stop.is_empty());
        if !right {
            return Err(format!("wave {}: {row:?}", wave.expected["id"]));
        }
    }
    Ok(())
}

/// `* 1    AMDGPU Dispatch 1:1:1 [500,1,1] [128,1,1] ? Shared(0), Private(192) saxpy`: the manifest's dispatch.
fn dispatches(manifest: &Manifest, text: &str) -> Result<(), String> {
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("AMDGPU Dispatch ")).collect();
    let stars = rows.iter().filter(|row| row.starts_with("* ")).count();
    if rows.len() != manifest.dispatch.len() || stars != 1 {
        return Err(text.to_owned());
    }
    for (row, of) in rows.iter().zip(&manifest.dispatch) {
        let size = |key: &str| match of.get(key).and_then(toml::Value::as_array) {
            Some(sizes) => {
                let size = |axis: usize| sizes.get(axis).map_or("1".to_owned(), ToString::to_string);
                format!("[{},{},{}]", size(0), size(1), size(2))
            }
            None => "?".to_owned(),
        };
        let said = |key: &str| {
            of.get(key).map_or("?".to_owned(), |value| value.to_string().trim_matches('"').to_owned())
        };
        let wanted = format!(
            "{} {} ? Shared({}), Private({}) {}",
            size("grid"),
            size("workgroup"),
            said("group_segment_size"),
            said("private_segment_size"),
            said("kernel")
        );
        let got = row.split_whitespace().collect::<Vec<_>>().join(" ");
        if !got.ends_with(&wanted) {
            return Err(format!("expected {wanted:?}, got {row:?}"));
        }
    }
    Ok(())
}

/// The manifest's description of kernel launches.
struct Manifest {
    dispatch: Vec<toml::Table>,
}

impl Manifest {
    fn of(fixture: &Fixture) -> Self {
        let path =
            if fixture.dump.is_dir() { fixture.dump.join("manifest.toml") } else { fixture.dump.clone() };
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let table: toml::Table = text.parse().unwrap();
        let all = table.get("dispatch").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        Self { dispatch: all.into_iter().filter_map(|one| one.as_table().cloned()).collect() }
    }
}

/// `AMDGPU Workgroup 1:1:1 (1,0,0) saxpy 3 4`: each thread is in the row of its group.
fn workgroups(all: &[Wave], text: &str) -> Result<(), String> {
    for wave in all {
        let Some(suffix) = wave.name_suffix() else { continue };
        let group = format!(" {} ", suffix.split('/').next().unwrap());
        let number = wave.number.to_string();
        let in_row =
            |row: &str| row.contains(&group) && row.split_whitespace().skip(5).any(|cell| cell == number);
        if !text.lines().any(|row| in_row(row.trim_start_matches('*'))) {
            return Err(format!("thread {number} is not in the row of {group}: {text}"));
        }
    }
    Ok(())
}

fn lldb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("command script import {}", helper("lldb").display()));
    script.expect("lanes", NOT_SERVED);
    script.say(format!("gdb-remote {address}"));
    let all = fixture.waves.clone();
    // lldb numbers threads in the order of their reports: first the stopped wave.
    script.check("waves", "waves", move |text| waves(&all, |_| 0, text));
    let manifest = Manifest::of(fixture);
    script.check("dispatches", "dispatches", move |text| dispatches(&manifest, text));
    script.expect("groups", "thread ");
    script.expect("monitor help triage", "triage [hang]\n");
    script.check("commands to type next", "triage", |text| {
        let next = text.split_once("\nNext      monitor ");
        let is_short = next.is_some_and(|(_, rest)| !rest.contains("process plugin packet monitor "));
        if is_short { Ok(()) } else { Err(text.to_owned()) }
    });
    for wave in sampled(&fixture.waves, 2) {
        let id = wave.expected["id"].clone();
        script.say(format!("thread select --thread-id {}", wave.thread));
        let pc = wave.pc().map_or("?".to_owned(), |pc| format!("{pc:#x}"));
        script.expect("wave", format!("PC               {pc}\n"));
        one_wave(&mut script, wave, "lanes");
        // lldb sends no packet for the selection.
        let suffix = wave.name_suffix().map_or(format!(":{id}"), |suffix| format!(":{id} {suffix}"));
        script.check(format!("wave {id} of monitor"), "monitor wave", move |text| {
            let first = text.trim_start().lines().next().unwrap_or_default();
            if first.contains(&suffix) { Ok(()) } else { Err(format!("expected {suffix}, got {text:?}")) }
        });
        let shown = wave.shown_lanes();
        let on = active(wave);
        for lane in [shown[0], shown[shown.len() - 1]] {
            let id = id.clone();
            let is_active = on.as_ref().map(|on| on.contains(&lane));
            script.check(format!("wave {id} lane {lane}"), format!("lane {lane}"), move |text| {
                let warned = text.contains("warning: Current lane is ");
                let right = text.contains("[Switching to thread ")
                    && text.contains(&format!(", lane {lane} (AMDGPU Lane "))
                    && text.contains(&format!(":{id}/{lane} ("))
                    && text.contains("frame #0:")
                    && is_active.is_none_or(|is_active| warned != is_active);
                if right { Ok(()) } else { Err(format!("got {text:?}")) }
            });
            script.expect("lane", format!(", lane {lane} (AMDGPU Lane "));
            script.expect("register read lane", format!("lane = {lane}"));
        }
    }
    script.expect("lane 64", "Lane 64 does not exist on this thread.");
    script.expect("lane x", "'x' is not a number.");
    script.expect("lanes 64", "No lanes match '64'.");
    script.expect("lanes -1", "Unrecognized option at: -1");
    script.expect("wave 999", "Unknown thread 999.");
    script.say("detach");
    script.expect("waves", NOT_SERVED);
    script
}

/// A gdbserver with a program stopped at its first instruction.
struct Other {
    child: Child,
    address: String,
}

impl Other {
    fn start() -> Self {
        let mut command = tool("gdbserver");
        command.args(["--once", "127.0.0.1:0", "/bin/true"]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("scripts/setup installs gdbserver");
        let port = until("the port of gdbserver", || listening_port(child.id()));
        Self { child, address: format!("127.0.0.1:{port}") }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// gdb's commands on another target, before and after a connection to lanescope.
#[test]
fn gdb_is_as_ever_with_other_targets() {
    for name in gdbs() {
        let server = Server::start(&fixtures_dump(), &[]);
        let without = other_in_gdb(name, None);
        assert!(
            without.contains("rax ") && without.contains('%'),
            "gdb shows no registers of x86: {without}"
        );
        let load = format!("source {}", helper("gdb").display());
        let visit = format!("target remote {}", server.address);
        assert_eq!(other_in_gdb(name, Some(&[&load])), without);
        assert_eq!(
            other_in_gdb(name, Some(&[&load, &visit, "info registers", "x/i $pc", "detach", "file"])),
            without
        );
        server.finish();
    }
}

fn fixtures_dump() -> PathBuf {
    super::model::named("calls-gfx90a").dump
}

/// gdb's output for a program under gdbserver after these commands.
fn other_in_gdb(name: &str, before: Option<&[&str]>) -> String {
    let other = Other::start();
    let mut command = tool(name);
    command.args(["-nx", "-q", "-batch", "-ex", "set pagination off", "-ex", "set confirm off"]);
    for line in before.unwrap_or_default() {
        command.args(["-ex", line]);
    }
    command.args(["-ex", &format!("target remote {}", other.address), "-ex", "echo @@here@@\\n"]);
    for line in [
        "info registers",
        "info registers rip",
        "info registers $rip rsp",
        "x/2i $pc",
        "print $_lane",
        "kill",
    ] {
        command.args(["-ex", line]);
    }
    let text = run(&mut command);
    let shown = text.split_once("@@here@@").unwrap_or_else(|| panic!("never came so far: {text}")).1;
    // The process's number differs in each run.
    shown.lines().filter(|line| !line.starts_with("[Inferior ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn lldb_is_as_ever_with_other_targets() {
    let other = Other::start();
    let mut script = Script::new("another target");
    script.say(format!("command script import {}", helper("lldb").display()));
    script.say(format!("gdb-remote {}", other.address));
    for command in ["lane", "lane 3", "lanes", "wave", "waves", "dispatches", "groups", "monitor", "triage"] {
        script.expect(command, NOT_SERVED);
    }
    script.expect("register read rip", "rip = 0x");
    script.say("process kill");
    script.must_pass(&Debugger::Lldb(lldb_name()));
}

/// Existing commands and aliases of the user keep their names.
#[test]
fn the_users_own_commands_stay() {
    let mut script = Script::new("the user's commands");
    script.say("python gdb.execute('define lane\\necho mine\\\\n\\nend')");
    script.say(format!("source {}", helper("gdb").display()));
    script.expect("lane", "mine");
    script.expect("info lanes", NOT_SERVED);
    script.must_pass(&Debugger::Gdb("gdb"));

    let mut script = Script::new("the user's commands");
    script.say("command alias lanes version");
    script.say(format!("command script import {}", helper("lldb").display()));
    script.expect("lanes", "lldb version");
    script.expect("waves", NOT_SERVED);
    script.must_pass(&Debugger::Lldb(lldb_name()));
}

/// clang 22 writes call frame tables without instructions: the code of the functions gives the callers' registers, and
/// the helper marks them. The values are the model's.
#[test]
fn inferred_registers_of_outer_frames_have_marks() {
    let fixture = super::model::named("call-gfx90a-O0");
    let wave = fixture
        .waves
        .iter()
        .find(|wave| wave.expected["called"].as_array().is_some_and(|called| !called.is_empty()));
    let wave = wave.unwrap();
    let frames = 1 + wave.expected["inlined_into"].as_array().map_or(0, Vec::len);
    let register = wave.expected["called"][0]["s33"].as_str().unwrap();
    let value = u64::from_str_radix(register.strip_prefix("0x").unwrap(), 16).unwrap();
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("marks of registers");
        script.say(format!("source {}", helper("gdb").display()));
        script.say(format!("target remote {}", server.address));
        script.say(format!("thread {}", wave.number));
        let row = |text: &str| text.lines().find(|line| line.starts_with("s33 ")).map(str::to_owned);
        script.check("frame 0", "info registers s33", move |text| {
            let found = row(text).ok_or_else(|| text.to_owned())?;
            if found.contains("inferred") { Err(found) } else { Ok(()) }
        });
        script.say(format!("frame {frames}"));
        script.check("caller", "info registers s33", move |text| {
            let found = row(text).ok_or_else(|| text.to_owned())?;
            let shown = found.trim_start_matches("s33").trim().strip_suffix(" (inferred: caller by code)");
            let shown = shown.and_then(|shown| u64::from_str_radix(shown.strip_prefix("0x")?, 16).ok());
            if shown == Some(value) { Ok(()) } else { Err(found) }
        });
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// calls-gfx90a, second wave: `leaf` runs with another EXEC than `launch`, two frames out. The model has the values.
#[test]
fn registers_of_outer_frames_are_those_frames_own() {
    let fixture = super::model::named("calls-gfx90a");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("outer frames");
        script.say(format!("source {}", helper("gdb").display()));
        script.say(format!("target remote {}", server.address));
        script.expect("info registers exec", "0x1111111111111111");
        script.say("frame 2");
        script.expect("info registers exec", "0x5555555555555555");
        script.expect("info registers", "0x5555555555555555");
        script.expect("info registers pc", "0x7f0000101778");
        // gdb's own output: docs/view.md.
        script.expect("p/x $exec", "= 0x1111111111111111");
        script.expect("monitor print/x frame 2 $exec", "= 0x5555555555555555");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

#[test]
fn lanes_that_are_threads_are_not_moved_to() {
    const WORDS: &str = "Lanes are threads here";
    let fixture = super::model::named("saxpy-gfx1100-O0");
    let server = Server::start(&fixture.dump, &["--threads=lanes"]);
    let mut script = Script::new("lanes as threads");
    script.say(format!("source {}", helper("gdb").display()));
    script.say(format!("target remote {}", server.address));
    script.expect("lane 1", WORDS);
    script.expect("lane apply all print 1", WORDS);
    script.expect("lane", "[Current thread is ");
    script.must_pass(&Debugger::Gdb("gdb"));
    let mut script = Script::new("lanes as threads");
    script.say(format!("command script import {}", helper("lldb").display()));
    script.say(format!("gdb-remote {}", server.address));
    script.expect("lane 1", WORDS);
    script.expect("lane", "[Current thread is ");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// In a console of 80 columns no table line is longer, and no cell is lost: one line of a wide console becomes several.
#[test]
fn tables_fit_a_console_of_80_columns() {
    const COLUMNS: usize = 80;
    let helpers = ["info lanes", "info lanes 3", "info waves", "info dispatches", "info workgroups"];
    let monitor = ["lanes", "waves", "dispatches", "arguments", "notices", "help", "thread 2 lanes"];
    for dump in sampled(["regions-gfx90a", "saxpy-gfx90a-O0", "saxpy-gfx1100-O0", "calls-gfx90a"], 2) {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(dump);
        script.say(format!("source {}", helper("gdb").display()));
        script.say(format!("target remote {}", server.address));
        for command in
            helpers.iter().map(ToString::to_string).chain(monitor.map(|name| format!("monitor {name}")))
        {
            script.say("set width 80");
            script.check("", command.clone(), move |text| {
                let long = text.lines().find(|line| line.chars().count() > COLUMNS);
                let is_empty = text.trim().is_empty();
                if is_empty {
                    Err("nothing".to_owned())
                } else {
                    long.map_or(Ok(()), |line| Err(line.to_owned()))
                }
            });
        }
        let words = |text: &str| -> Vec<String> {
            let mut words: Vec<String> =
                text.split_whitespace().filter(|word| *word != "*").map(str::to_owned).collect();
            // A head beside the cell that its rows share.
            words.iter_mut().for_each(|word| *word = word.trim_end_matches(':').to_owned());
            words.sort();
            words.dedup();
            words
        };
        // One row keeps its line: cells that do not fit are above it.
        for command in ["info lanes 3", "info dispatches"] {
            script.say("set width 80");
            script.check("", command, |text| {
                let continued = text.lines().find(|line| line.starts_with("    "));
                continued.map_or(Ok(()), |line| Err(line.to_owned()))
            });
        }
        for command in helpers {
            let wide = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
            let kept = wide.clone();
            script.say("set width 0");
            script.check("", command, move |text| {
                *kept.borrow_mut() = words(text);
                Ok(())
            });
            script.say("set width 80");
            script.check("", command, move |text| {
                let (narrow, wide) = (words(text), wide.borrow());
                if narrow == *wide { Ok(()) } else { Err(format!("{narrow:?}, in a wide console {wide:?}")) }
            });
        }
        // gdb's last output follows the last command.
        script.say("set width 80");
        script.must_pass(&Debugger::Gdb("gdb"));
        server.finish();
    }
}

/// Every group of docs/gdb.md exists, even if none of it was captured.
#[test]
fn info_registers_knows_every_group() {
    for dump in sampled(["saxpy-gfx90a-O0", "saxpy-gfx1100-O0", "calls-gfx90a", "absent-gfx1100"], 3) {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        for name in gdbs() {
            let mut script = Script::new(dump);
            script.say(format!("source {}", helper("gdb").display()));
            script.say(format!("target remote {}", server.address));
            for group in ["general", "scalar", "vector", "accumulator", "system", "trap"] {
                for command in [format!("info registers {group}"), format!("monitor register {group}")] {
                    script.check("", command.clone(), move |text| {
                        let none = format!("No register of the group {group} was captured.");
                        let rows = text
                            .lines()
                            .filter(|line| !line.starts_with("Thread ") && !line.is_empty())
                            .count();
                        let is_right =
                            !text.contains("Invalid") && rows > 0 && (rows == 1 || !text.contains(&none));
                        if is_right { Ok(()) } else { Err(format!("{command}: {text}")) }
                    });
                }
            }
            script.say("set width 80");
            script.must_pass(&Debugger::Gdb(name));
        }
        server.finish();
    }
}
