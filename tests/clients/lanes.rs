//! Lanes as threads, and lanes with their own stacks under one wave's thread, in gdb and lldb, against the models.

use serde_json::{Value, json};

use super::gdb::bytes;
use super::harness::{Server, lldb_name};
use super::lldb::{MONITOR, choose};
use super::many;
use super::model::{Fixture, Wave, named};
use super::script::{Debugger, Script};
use crate::support::{least, sample::sampled};

/// An expected thread.
struct Wanted<'a> {
    number: usize,
    wave: &'a Wave,
    /// `None`: the whole wave.
    lane: Option<usize>,
    is_active: bool,
}

/// Active lanes, and inactive lanes at the PC of `lane_pc`, in the expanded waves.
fn wanted(fixture: &Fixture, expanded: impl Fn(&Wave) -> bool) -> Vec<Wanted<'_>> {
    let mut all = Vec::new();
    for wave in &fixture.waves {
        if !expanded(wave) {
            all.push(Wanted { number: all.len() + 1, wave, lane: None, is_active: false });
            continue;
        }
        for lane in 0..wave.lanes {
            let is_active = wave.exec().unwrap() >> lane & 1 == 1;
            if is_active || wave.expected["lane_pc"][lane].is_string() {
                all.push(Wanted { number: all.len() + 1, wave, lane: Some(lane), is_active });
            }
        }
    }
    all
}

impl Wanted<'_> {
    /// `AMDGPU Lane 1:1:1:2/3 (1,0,0)[3,0,0]`; all groups of these dumps have one axis.
    fn name(&self) -> String {
        let suffix = self.wave.name_suffix().unwrap();
        let (group, in_group) = suffix.split_once('/').unwrap();
        let id = &self.wave.expected["id"];
        let Some(lane) = self.lane else { return format!("AMDGPU Wave 1:1:1:{id} {suffix}") };
        let item = in_group.parse::<usize>().unwrap() * self.wave.lanes + lane;
        format!("AMDGPU Lane 1:1:1:{id}/{lane} {group}[{item},0,0]")
    }

    /// Text after the name in gdb's list: a wave's state is its stop reason.
    fn state(&self) -> &'static str {
        match (self.lane, self.is_active) {
            (None, _) => "",
            (_, true) => "active, ",
            (_, false) => "inactive, ",
        }
    }

    fn stack(&self) -> Value {
        let lane = self.lane.unwrap_or_default();
        stack_of(self.wave, lane)
    }
}

/// Function, PC and line (null: any) of each frame of a lane. Without lane stacks in the model, the wave's innermost.
fn stack_of(wave: &Wave, lane: usize) -> Value {
    match wave.expected["lane_stacks"].get(lane) {
        Some(stack) => {
            let mut stack = stack.clone();
            // A lane inactive in a call has the call's line; a debugger has its frame 0 at the return address.
            if stack[0][0] != wave.expected["function"] {
                stack[0][2] = Value::Null;
            }
            stack
        }
        None => {
            json!([[wave.expected["function"], wave.expected["pc"], wave.expected["line"]]])
        }
    }
}

/// `#0  region () at ./tests/fixtures/kernels/regions.hip:3`
fn gdb_frames(stack: &Value, text: &str) -> Result<(), String> {
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    let wanted = stack.as_array().unwrap();
    let right =
        lines.len() == wanted.len() && lines.iter().zip(wanted).all(|(line, frame)| gdb_frame(frame, line));
    let complains = text.contains("Backtrace stopped") || text.contains("Cannot access");
    if right && !complains { Ok(()) } else { Err(format!("expected {stack}, got {text}")) }
}

fn gdb_frame(frame: &Value, line: &str) -> bool {
    let function = format!(" {} (", frame[0].as_str().unwrap());
    line.contains(&function) && ends_at(frame, line)
}

fn ends_at(frame: &Value, line: &str) -> bool {
    frame[2].is_null() || line.ends_with(&format!(":{}", frame[2]))
}

/// `    frame #1: 0x00007f0000101634 regions-gfx90a.hsaco`::launch() at regions.hip:18`
fn lldb_frames(stack: &Value, text: &str) -> Result<(), String> {
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("frame #")).collect();
    let wanted = stack.as_array().unwrap();
    let is_frame = |(level, (line, frame)): (usize, (&&str, &Value))| {
        let pc = u64::from_str_radix(frame[1].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
        line.contains(&format!("frame #{level}: 0x{pc:016x} "))
            && line.contains(&format!("{}(", frame[0].as_str().unwrap()))
            && ends_at(frame, line)
    };
    let right = lines.len() == wanted.len() && lines.iter().zip(wanted).enumerate().all(is_frame);
    if right { Ok(()) } else { Err(format!("expected {stack}, got {text}")) }
}

/// `  2    Thread 2 "AMDGPU Lane 1:1:1:1/1 (0,0,0)[1,0,0]" (active, breakpoint, launch)    region () at regions.hip:3`
fn gdb_list(wanted: &[(String, Value)], text: &str) -> Result<(), String> {
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" Thread ")).collect();
    if rows.len() != wanted.len() {
        return Err(format!("expected {} threads, got {}: {text}", wanted.len(), rows.len()));
    }
    let wrong = wanted
        .iter()
        .zip(rows)
        .find(|((words, frame), row)| !(row.contains(words.as_str()) && gdb_frame(frame, row.trim_end())));
    wrong.map_or(Ok(()), |((words, frame), row)| Err(format!("expected {words} at {frame}, got {row}")))
}

/// The first lane of a wave with each stack, and the last lane of all.
fn each_stack(wave: &Wave) -> Vec<usize> {
    let mut lanes: Vec<usize> = Vec::new();
    for lane in 0..wave.lanes {
        if lanes.iter().all(|other| stack_of(wave, *other) != stack_of(wave, lane)) {
            lanes.push(lane);
        }
    }
    lanes.push(wave.lanes - 1);
    lanes
}

#[test]
fn gdb_shows_lanes_as_threads_with_stacks_of_their_own() {
    for (name, gdb) in [("regions-gfx90a", "gdb"), ("regions-gfx1100", "gdb-multiarch")] {
        let fixture = named(name);
        let server = Server::start(&fixture.dump, &["--threads", "lanes"]);
        let mut script = Script::new(name);
        let all = wanted(&fixture, |_| true);
        assert!(all.iter().any(|thread| !thread.is_active), "{name}: no lane waits");
        let first = all.iter().find(|thread| thread.is_active).unwrap();
        let lanes = format!(", {} lanes as threads.", all.len());
        script.expect(format!("target remote {}", server.address), lanes);
        script.expect("thread", format!("Current thread is {} (Thread {})", first.number, first.number));
        let row = |thread: &Wanted<'_>| {
            let words = format!("Thread {} \"{}\" ({}", thread.number, thread.name(), thread.state());
            (words, thread.stack()[0].clone())
        };
        let rows: Vec<(String, Value)> = all.iter().map(row).collect();
        script.check("threads", "info threads", move |text| gdb_list(&rows, text));
        // Active and inactive ones.
        for thread in sampled(&all, 5).chain(all.last()) {
            let (number, lane) = (thread.number, thread.lane.unwrap());
            script.expect(format!("thread {number}"), format!("(Thread {number})"));
            let stack = thread.stack();
            script.check(thread.name(), "bt", move |text| gdb_frames(&stack, text));
            script.expect("p $lane", format!(" = {lane}"));
            script.expect("monitor wave", format!("Thread {number}: {}, ", thread.name()));
        }
        // The last thread is its own lane.
        let last = all.last().unwrap();
        let own = last.lane.unwrap();
        let refused = format!("this thread is lane {own}; lane {} is thread {}", own - 1, last.number - 1);
        script.expect(format!("set var $lane = {}", own - 1), refused.clone());
        script.expect(format!("monitor lane {}", own - 1), refused.replacen("this", "This", 1));
        let none = format!("this thread is lane {own}; no thread is lane {}", last.wave.lanes - 1);
        script.expect(format!("set var $lane = {}", last.wave.lanes - 1), none);
        script.expect("p $lane", format!(" = {own}"));
        for wave in &fixture.waves {
            for memory in wave.memory().into_iter().filter(|memory| memory.space == 5) {
                let lane = memory.lane.unwrap() as usize;
                let of =
                    |thread: &&Wanted<'_>| thread.wave.thread == wave.thread && thread.lane == Some(lane);
                let Some(thread) = all.iter().find(of) else { continue };
                script.say(format!("thread {}", thread.number));
                let command = format!("x/{}xb {:#x}", memory.bytes.len(), memory.focused_address());
                script.check(thread.name(), command, move |text| bytes(&memory, text));
            }
        }
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
}

#[test]
fn lldb_shows_lanes_as_threads_with_stacks_of_their_own() {
    for name in ["regions-gfx90a", "regions-gfx1100"] {
        let fixture = named(name);
        let server = Server::start(&fixture.dump, &["--threads", "lanes"]);
        let mut script = Script::new(name);
        let all = wanted(&fixture, |_| true);
        script.say(format!("gdb-remote {}", server.address));
        let rows: Vec<(String, String)> = all
            .iter()
            .map(|thread| (format!(": tid = {},", thread.number), format!("name = '{}, ", thread.name())))
            .collect();
        script.check("threads", "thread list", move |text| {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(": tid = ")).collect();
            let is_there = |(id, name): &&(String, String)| {
                !lines.iter().any(|line| line.contains(id.as_str()) && line.contains(name.as_str()))
            };
            match rows.iter().find(is_there) {
                None if lines.len() == rows.len() => Ok(()),
                None => Err(format!("expected {} threads, got {}", rows.len(), lines.len())),
                Some(missing) => Err(format!("no {missing:?} in {text}")),
            }
        });
        // Active and inactive ones.
        for thread in sampled(&all, 5).chain(all.last()) {
            script.say(format!("script lldb.process.SetSelectedThreadByID({})", thread.number));
            let stack = thread.stack();
            script.check(thread.name(), "bt", move |text| lldb_frames(&stack, text));
            script.expect("register read lane", format!("lane = {}", thread.lane.unwrap()));
        }
        let last = all.last().unwrap();
        script.expect(format!("register write lane {}", last.lane.unwrap() - 1), "Failed to write register");
        script.expect(format!("{MONITOR} wave {}", last.number), format!("{}, ", last.name()));
        let refused = format!("This thread is lane {}", last.lane.unwrap());
        script.expect(format!("{MONITOR} lane {}", last.lane.unwrap() - 1), refused);
        script.expect("detach", "Process 1 detached");
        script.must_pass(&Debugger::Lldb(lldb_name()));
        server.finish();
    }
}

/// Integers of a wave: their text is the same in every debugger.
fn integers(wave: &Wave) -> Vec<(&str, &str, &Value)> {
    let all = wave.expected["locals"].as_array().unwrap().iter();
    let integer = |variable: &&Value| {
        variable["state"] == "ok" && ["int", "unsigned int"].contains(&variable["type"].as_str().unwrap())
    };
    let word = |variable: &'_ Value, key: &str| variable[key].as_str().unwrap().to_owned().leak() as &str;
    all.filter(integer).map(|one| (word(one, "type"), word(one, "name"), &one["values"])).collect()
}

/// The value of a lane, if the model has it.
fn value_in(wave: &Wave, values: &Value, lane: usize) -> Option<String> {
    let index = wave.shown_lanes().iter().position(|shown| *shown == lane)?;
    values[index].as_str().map(str::to_owned)
}

/// A thread's lane is the one that the server names: of many threads lldb leaves out names.
#[test]
fn each_of_many_lanes_has_its_own_values() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &["--threads", "lanes"]);
    let (mut in_gdb, mut in_lldb) = (Script::new("saxpy in gdb"), Script::new("saxpy in lldb"));
    in_gdb.say(format!("target remote {}", server.address));
    in_lldb.say(format!("gdb-remote {}", server.address));
    let active = wanted(&fixture, |_| true).into_iter().filter(|thread| thread.is_active);
    for thread in sampled(active, 16) {
        let number = thread.number;
        in_gdb.say(format!("thread {number}"));
        in_gdb.expect("monitor wave", format!("Thread {number}: {}, ", thread.name()));
        in_lldb.say(format!("script lldb.process.SetSelectedThreadByID({number})"));
        in_lldb.expect(choose(number as u64), format!("{}, ", thread.name()));
        for (type_name, variable, values) in integers(thread.wave) {
            let Some(value) = value_in(thread.wave, values, thread.lane.unwrap()) else { continue };
            in_gdb.expect(format!("p {variable}"), format!(" = {value}\n"));
            let shown = format!("({type_name}) {variable} = {value}\n");
            in_lldb.expect(format!("frame variable {variable}"), shown);
        }
    }
    assert!(in_lldb.checks() > least(400, 30), "{} checks", in_lldb.checks());
    in_gdb.must_pass(&Debugger::Gdb("gdb"));
    in_lldb.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

#[test]
fn variables_of_a_lane_thread_are_the_lanes() {
    for (name, gdb) in [("saxpy-gfx90a-O0", "gdb"), ("saxpy-gfx1030-O0", "gdb-multiarch")] {
        let fixture = named(name);
        let wave = &fixture.waves[0];
        // The first wave only: its lanes are the only threads.
        let id = wave.expected["id"].to_string();
        let server = Server::start(&fixture.dump, &["--threads", "lanes", "--wave", &id]);
        let all: Vec<Wanted<'_>> = wanted(&fixture, |_| true)
            .into_iter()
            .filter(|thread| thread.wave.thread == wave.thread)
            .collect();
        let variables = integers(wave);
        assert!(all.len() > 16 && variables.len() > 2, "{name}: {} threads", all.len());
        let mut script = Script::new(name);
        let mut in_lldb = Script::new(name);
        script.say(format!("target remote {}", server.address));
        in_lldb.say(format!("gdb-remote {}", server.address));
        for (index, (type_name, variable, values)) in sampled(variables.iter().enumerate(), 2) {
            let mut shown = Vec::new();
            for thread in all.iter().rev() {
                let Some(value) = value_in(wave, values, thread.lane.unwrap()) else { continue };
                shown.push((thread.number, value.clone()));
                if ![0, all.len() / 2, all.len() - 1].contains(&(thread.number - 1)) {
                    continue;
                }
                in_lldb.say(format!("script lldb.process.SetSelectedThreadByID({})", thread.number));
                in_lldb.expect(
                    format!("frame variable {variable}"),
                    format!("({type_name}) {variable} = {value}\n"),
                );
            }
            script.check(*variable, format!("thread apply all p {variable}"), move |text| {
                thread_values(&shown, text)
            });
            // The same for one selected thread, after iterating over all.
            let thread = &all[index % all.len()];
            if let Some(value) = value_in(wave, values, thread.lane.unwrap()) {
                script.say(format!("thread {}", thread.number));
                script.expect(format!("p {variable}"), format!(" = {value}\n"));
            }
        }
        script.expect("detach", "detached");
        in_lldb.expect("detach", "Process 1 detached");
        script.must_pass(&Debugger::Gdb(gdb));
        in_lldb.must_pass(&Debugger::Lldb(lldb_name()));
        server.finish();
    }
}

/// `Thread 25 (Thread 25 "..." (...)):` and `$3 = 24`
fn thread_values(wanted: &[(usize, String)], text: &str) -> Result<(), String> {
    for (number, value) in wanted {
        let head = format!("Thread {number} (");
        let rest = text.split("\nThread ").find(|part| format!("Thread {part}").starts_with(&head));
        let got = rest.and_then(|rest| rest.rsplit_once(" = ")).map(|(_, value)| value.trim());
        if got != Some(value) {
            return Err(format!("thread {number}: expected {value}, got {got:?} in {text}"));
        }
    }
    Ok(())
}

#[test]
fn in_focus_the_lanes_of_the_faulting_wave_stand_beside_the_other_waves() {
    let fixture = named("saxpy-gfx90a-O0");
    let faulted = super::gdb::the_one_that_stopped(&fixture.waves).unwrap().thread;
    let server = Server::start(&fixture.dump, &["--threads", "focus"]);
    let all = wanted(&fixture, |wave| wave.thread == faulted);
    assert!(all.iter().any(|thread| thread.lane.is_none()) && all.iter().any(|thread| thread.lane.is_some()));
    let mut script = Script::new("saxpy in focus");
    let mut in_lldb = Script::new("saxpy in focus");
    script.say(format!("target remote {}", server.address));
    in_lldb.say(format!("gdb-remote {}", server.address));
    let row = |thread: &Wanted<'_>| {
        let words = format!("Thread {} \"{}\" ({}", thread.number, thread.name(), thread.state());
        (words, thread.stack()[0].clone())
    };
    let rows: Vec<(String, Value)> = all.iter().map(row).collect();
    script.check("threads", "info threads", move |text| gdb_list(&rows, text));
    // A wave's lanes still take turns.
    let wave = all.last().unwrap();
    script.say(format!("thread {}", wave.number));
    script.say("set var $lane = 17");
    script.expect("p $lane", " = 17\n");
    script.expect("monitor lane 5", format!("Lane 5 of thread {}", wave.number));
    for thread in [&all[0], wave] {
        in_lldb.say(format!("script lldb.process.SetSelectedThreadByID({})", thread.number));
        in_lldb.expect("thread info", format!("name = '{}, ", thread.name()));
    }
    script.must_pass(&Debugger::Gdb("gdb"));
    in_lldb.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

#[test]
fn a_lane_in_focus_has_its_own_stack() {
    for name in ["regions-gfx90a", "regions-gfx1100"] {
        let fixture = named(name);
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(name);
        let mut in_lldb = Script::new(name);
        script.say(format!("target remote {}", server.address));
        in_lldb.say(format!("gdb-remote {}", server.address));
        for wave in &fixture.waves {
            script.say(format!("thread {}", wave.number));
            in_lldb.say(format!("script lldb.process.SetSelectedThreadByID({})", wave.thread));
            let lanes = each_stack(wave);
            for lane in &lanes {
                let what = format!("wave {} lane {lane}", wave.expected["id"]);
                let stack = stack_of(wave, *lane);
                script.say(format!("set var $lane = {lane}"));
                script.check(what.clone(), "bt", move |text| gdb_frames(&stack, text));
                script.expect("p $lane", format!(" = {lane}\n"));
                let stack = stack_of(wave, *lane);
                script.expect("p/x $rip", format!(" = {}\n", stack[0][1].as_str().unwrap()));
                in_lldb.say(format!("register write lane {lane}"));
                in_lldb.check(what, "bt", move |text| lldb_frames(&stack, text));
            }
            // gdb keeps its cached stack, independent of the lane of `monitor`.
            let (from, to) = (lanes[0], lanes[1]);
            script.say(format!("set var $lane = {from}"));
            let stack = stack_of(wave, from);
            script.expect(
                format!("monitor lane {to}"),
                format!("`set var $lane = {to}` to see lane {to} in gdb."),
            );
            script.say("maint flush register-cache");
            script.check("after `monitor lane`", "bt", move |text| gdb_frames(&stack, text));
            let stack = stack_of(wave, to);
            script.say(format!("set var $lane = {to}"));
            script.check("after a write", "bt", move |text| gdb_frames(&stack, text));
        }
        in_lldb.expect(choose(1), ": AMDGPU Wave ");
        // lane 63 was the previous one.
        in_lldb.expect(format!("{MONITOR} lane 0"), "`register write lane 0` to see lane 0 in lldb");
        if name == "regions-gfx90a" {
            in_lldb.must_pass(&Debugger::Lldb(lldb_name()));
        }
        script.must_pass(&Debugger::Gdb("gdb"));
        server.finish();
    }
}

/// `DW_AT_LLVM_lane_pc` of every function is undefined for the odd lanes: without frames, they are at the wave's place.
#[test]
fn a_lane_that_entered_no_function_is_seen_where_the_wave_is() {
    let fixture = named("user-ops-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("user-ops");
    let mut in_lldb = Script::new("user-ops");
    script.say(format!("target remote {}", server.address));
    in_lldb.say(format!("gdb-remote {}", server.address));
    for wave in &fixture.waves {
        script.say(format!("thread {}", wave.number));
        in_lldb.say(format!("script lldb.process.SetSelectedThreadByID({})", wave.thread));
        let mut frames = vec![json!([wave.expected["function"], wave.expected["pc"], wave.expected["line"]])];
        let callers = wave.expected["callers"].as_array().into_iter().flatten();
        frames.extend(callers.map(|caller| json!([caller["function"], caller["pc"], caller["line"]])));
        assert!(wave.expected["lane_pc"].as_array().unwrap().iter().any(Value::is_null));
        for lane in wave.shown_lanes() {
            script.say(format!("set var $lane = {lane}"));
            in_lldb.say(format!("register write lane {lane}"));
            let what = format!("wave {} lane {lane}", wave.expected["id"]);
            let stack = json!(frames);
            script.check(what.clone(), "bt", move |text| gdb_frames(&stack, text));
            let stack = json!(frames);
            in_lldb.check(what, "bt", move |text| lldb_frames(&stack, text));
        }
    }
    script.must_pass(&Debugger::Gdb("gdb"));
    in_lldb.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// In `scripts/test --long` the default limit of lanes, minus a part of a wave: gdb's time for it must not be quadratic.
#[test]
fn gdb_lists_thousands_of_lanes() {
    let waves = least(312, 78);
    let lanes = waves * 64;
    let server = Server::start(&many::dump(), &["--threads", "lanes", "--wave", &format!("1-{waves}")]);
    let mut script = Script::new("many lanes");
    script.say(format!("target remote {}", server.address));
    script.check("threads", "info threads", move |text| {
        let rows = text.lines().filter(|line| line.contains("AMDGPU Lane ")).count();
        if rows == lanes { Ok(()) } else { Err(format!("expected {lanes} lanes, got {rows}")) }
    });
    for thread in [1, 3809, lanes] {
        script
            .expect(format!("thread {thread}"), format!("[Switching to thread {thread} (Thread {thread})]"));
        script.expect("p $lane", format!(" = {}\n", (thread - 1) % 64));
        script.expect("monitor wave", format!("AMDGPU Lane 1:1:1:{}/", (thread - 1) / 64 + 1));
    }
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}
