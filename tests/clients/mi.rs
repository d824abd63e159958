//! gdb's machine interface as front ends use it: the commands of Visual Studio Code's cppdbg in their order, compared
//! with the models. A request to resume must get a stop at once, or the front end waits forever.

use std::fs;
use std::io::BufRead;
use std::path::Path;

use serde_json::{Map, Value};

use super::conversation::Talk;
use super::harness::{Server, lanescope, run, scratch, tool};
use super::model::{Fixture, Wave, named};
use super::script::gdbs;
use crate::support::sample::sampled;

const DUMPS: [&str; 3] = ["calls-gfx90a", "diverge-gfx90a-O0", "saxpy-gfx1100-O0"];
/// The user's text in the debug console.
const WORDS: &str = "captured state";

#[test]
fn a_front_end_of_gdb_shows_stacks_and_variables() {
    for name in gdbs() {
        for dump in sampled(DUMPS, 2) {
            let fixture = named(dump);
            let server = Server::start(&fixture.dump, &[]);
            session(&mut Mi::start(name), &fixture, &server, None);
            server.finish();
        }
    }
}

/// With the view as the front end's `program`, which cppdbg requires.
#[test]
fn a_front_end_of_gdb_takes_the_view_as_its_program() {
    let fixture = named("calls-gfx90a");
    let folder = scratch("view");
    let mut command = std::process::Command::new(lanescope());
    command
        .args(["view", "-o"])
        .arg(&folder)
        .arg(&fixture.dump)
        .env_remove("RUST_LOG")
        .stdin(std::process::Stdio::null());
    let said = run(&mut command);
    let program = folder.join("calls-gfx90a.hsaco");
    assert!(program.exists(), "no view: {said}");
    with_program(&fixture, &program);
    fs::remove_dir_all(folder).unwrap();
}

/// A session with a front end's program.
pub(super) fn with_program(fixture: &Fixture, program: &Path) {
    let server = Server::start(&fixture.dump, &[]);
    session(&mut Mi::start("gdb"), fixture, &server, Some(program));
    server.finish();
}

/// File that a front end opens for the first wave's frame.
pub(super) fn source_of_first_frame(name: &str, address: &str) -> String {
    let mut mi = Mi::start(name);
    let (class, _, before) = mi.ask(&format!("-target-select remote {address}"));
    assert_eq!(class, "connected", "{}", mi.talk.transcript());
    mi.stopped_in(before);
    let frames = mi.done("-stack-list-frames 0 0");
    let path = frames["stack"][0]["fullname"].as_str().expect("a file").to_owned();
    mi.done("-target-detach");
    mi.ask("-gdb-exit");
    mi.talk.ends();
    path
}

/// The helper's commands under the machine interface, sourced by a user's script.
#[test]
fn a_front_end_of_gdb_has_the_helpers_commands() {
    let fixture = named("saxpy-gfx90a-O0");
    let helper = crate::support::root().join("clients/gdb/lanescope.py");
    let outer = scratch("outer.py");
    fs::write(&outer, format!("import gdb\ngdb.execute('source {}')\n", helper.display())).unwrap();
    let server = Server::start(&fixture.dump, &[]);
    for name in gdbs() {
        let mut mi = Mi::start(name);
        mi.done(&format!("-interpreter-exec console \"source {}\"", outer.display()));
        let (class, _, before) = mi.ask(&format!("-target-select remote {}", server.address));
        assert_eq!(class, "connected", "{}", mi.talk.transcript());
        mi.stopped_in(before);
        for (command, words) in [
            ("info lanes 17", "AMDGPU Lane 1:1:1:1/17 (0,0,0)[17,0,0]"),
            ("lane 17", "[Switching to thread 1, lane 17 (AMDGPU Lane 1:1:1:1/17"),
            ("lane", "[Current thread is 1, lane 17 (AMDGPU Lane 1:1:1:1/17"),
            ("lane apply 3 -q print $lane", "= 3"),
            ("info waves", "AMDGPU Wave 1:1:1:8"),
            ("info dispatches", "saxpy"),
            ("info workgroups", "AMDGPU Workgroup 1:1:1 (3,0,0)"),
            ("info registers exec", "0x1ffffff"),
        ] {
            let (class, results, before) = mi.ask(&format!("-interpreter-exec console \"{command}\""));
            assert_eq!(class, "done", "{command}: {results}");
            let shown = before.concat();
            assert!(shown.contains(words), "{command}: expected {words:?} in {shown}");
        }
        let value = mi.done("-data-evaluate-expression --thread 1 --frame 0 $lane");
        assert_eq!(value["value"], "17", "the lane that `lane 17` chose");
        mi.done("-target-detach");
        mi.ask("-gdb-exit");
        mi.talk.ends();
    }
    server.finish();
    fs::remove_file(outer).unwrap();
}

fn session(mi: &mut Mi, fixture: &Fixture, server: &Server, program: Option<&Path>) {
    mi.done("-interpreter-exec console \"set pagination off\"");
    mi.done("-gdb-set auto-solib-add on");
    mi.done("-gdb-set mi-async on");
    mi.done("-enable-pretty-printing");
    mi.done("-environment-cd /");
    if let Some(program) = program {
        mi.done(&format!("-file-exec-and-symbols {}", program.display()));
    }
    mi.done("-interpreter-exec console \"show architecture\"");
    // The view has no such function; the front end continues.
    mi.done("-break-insert -f main");
    let (class, _, before) = mi.ask(&format!("-target-select remote {}", server.address));
    assert_eq!(class, "connected", "{}", mi.talk.transcript());
    let greeting = before.iter().any(|line| line.starts_with("@\"Captured state"));
    assert!(greeting, "no greeting: {}", mi.talk.transcript());
    mi.stopped_in(before);

    let threads = mi.done("-thread-info");
    let listed = threads["threads"].as_array().unwrap();
    assert_eq!(listed.len(), fixture.waves.len());
    for (wave, thread) in fixture.waves.iter().zip(listed) {
        assert_eq!(thread["id"], wave.number.to_string());
        assert_eq!(thread["state"], "stopped");
        let name = thread["name"].as_str().unwrap();
        assert!(name.starts_with("AMDGPU Wave ") && name.ends_with(&wave.name_suffix().unwrap()), "{name}");
    }
    for wave in &fixture.waves {
        stack(mi, wave);
    }
    mi.breakpoints(&fixture.waves[0]);
    for wave in &fixture.waves {
        resume(mi, wave);
    }
    lane(mi, &fixture.waves[0]);
    mi.done("-target-detach");
    let (class, _, _) = mi.ask("-gdb-exit");
    assert_eq!(class, "exit");
    mi.talk.ends();
}

/// Frames, variables, variable objects and expressions of a wave in its selected lane.
fn stack(mi: &mut Mi, wave: &Wave) {
    let of = format!("--thread {}", wave.number);
    let mut wanted = vec![wave.expected.clone()];
    wanted.extend(wave.expected["callers"].as_array().into_iter().flatten().cloned());
    let frames = mi.done(&format!("-stack-list-frames {of} 0 1000"));
    let frames = frames["stack"].as_array().unwrap().clone();
    for (level, model) in wanted.iter().enumerate() {
        let frame = &frames[level];
        let address =
            |value: &Value| u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16);
        assert_eq!(address(&frame["addr"]), address(&model["pc"]), "{frame} of wave {}", wave.number);
        let function = frame["func"].as_str().unwrap();
        let function = function.split(['(', ' ']).next().unwrap();
        assert_eq!(function, model["function"].as_str().unwrap(), "{frame}");
        assert_eq!(frame["line"], model["line"].to_string(), "{frame}");
        assert!(
            frame["file"].as_str().unwrap().ends_with(wave.expected["file"].as_str().unwrap()),
            "{frame}"
        );
    }
    mi.done(&format!("-stack-list-arguments {of} 2 0 {}", frames.len() - 1));
    let shown = wave.shown_lanes();
    // The server's focused lane, if the model has it; otherwise the test selects one.
    mi.done(&format!("-interpreter-exec {of} console \"set var $lane = {}\"", shown[0]));
    for (level, model) in wanted.iter().enumerate() {
        let Some(locals) = model["locals"].as_array() else { continue };
        let here = format!("{of} --frame {level}");
        let listed = mi.done(&format!("-stack-list-variables {here} --simple-values"));
        let listed = listed["variables"].as_array().unwrap().clone();
        for local in locals {
            let name = local["name"].as_str().unwrap();
            let alone = locals.iter().filter(|one| one["name"] == name).count() == 1;
            let Some(value) = local["values"][0].as_str().filter(|_| local["state"] == "ok" && alone) else {
                continue;
            };
            let is_number = value.parse::<i64>().is_ok();
            let Some(variable) = listed.iter().find(|one| one["name"] == name) else {
                panic!("{name} is not listed: {}", mi.talk.transcript())
            };
            if !is_number || local["type"].as_str().is_some_and(|name| name.contains("char")) {
                continue;
            }
            assert_eq!(variable["value"], value, "{name} of wave {}", wave.number);
            let made = mi.done(&format!("-var-create {here} - * \"{name}\""));
            assert_eq!(made["value"], value, "{name}");
            let object = made["name"].as_str().unwrap().to_owned();
            assert_eq!(mi.done(&format!("-var-evaluate-expression {object}"))["value"], value);
            let update = mi.done(&format!("-var-update --all-values {object}"));
            assert_eq!(
                update["changelist"].as_array().map(Vec::len),
                Some(0),
                "nothing has changed: {update}"
            );
            mi.done(&format!("-var-delete {object}"));
            assert_eq!(mi.done(&format!("-data-evaluate-expression {here} {name}"))["value"], value);
        }
    }
}

/// Each request to resume, forward and out: `^running`, the reason, and a stop of the same wave at the same place.
fn resume(mi: &mut Mi, wave: &Wave) {
    let number = wave.number;
    mi.done(&format!("-thread-select {number}"));
    for command in [
        "-exec-continue".to_owned(),
        format!("-exec-continue --thread {number}"),
        format!("-exec-next --thread {number} --frame 0"),
        format!("-exec-step --thread {number}"),
        format!("-exec-next-instruction --thread {number}"),
        format!("-exec-step-instruction --thread {number}"),
        format!("-exec-until --thread {number}"),
        "-interpreter-exec console \"continue\"".to_owned(),
        "-interpreter-exec console \"advance *$pc+64\"".to_owned(),
    ] {
        mi.resumes(&command, wave);
    }
    if wave.expected["callers"].as_array().is_some_and(|callers| !callers.is_empty()) {
        mi.resumes(&format!("-exec-finish --thread {number} --frame 0"), wave);
    } else {
        let (class, words, _) = mi.ask(&format!("-exec-finish --thread {number} --frame 0"));
        assert!(
            class == "error" && words["msg"].as_str().unwrap().contains("outermost frame"),
            "{class} {words}"
        );
    }
    // Pause button, while nothing runs.
    mi.ask("-exec-interrupt");
    assert_eq!(mi.done("-thread-info")["threads"].as_array().unwrap()[number - 1]["state"], "stopped");
}

/// A change of the lane in the debug console applies to all later output.
fn lane(mi: &mut Mi, wave: &Wave) {
    mi.done(&format!("-thread-select {}", wave.number));
    let index = wave.shown_lanes().len() - 1;
    let lane = wave.shown_lanes()[index];
    mi.done(&format!("-interpreter-exec console \"set var $lane = {lane}\""));
    assert_eq!(mi.done("-data-evaluate-expression $lane")["value"], lane.to_string());
    // gdb sends no write of an unchanged value.
    mi.done(&format!("-interpreter-exec console \"monitor lane {}\"", wave.shown_lanes()[0]));
    mi.done(&format!("-interpreter-exec console \"set var $lane = {lane}\""));
    assert_eq!(mi.done("-data-evaluate-expression $lane")["value"], lane.to_string());
    let locals = wave.expected["locals"].as_array().unwrap();
    let found = locals.iter().find(|one| one["state"] == "ok" && one["type"] == "int");
    let found = found.expect("a whole number");
    let name = found["name"].as_str().unwrap();
    let value =
        &mi.done(&format!("-data-evaluate-expression --frame 0 --thread {} {name}", wave.number))["value"];
    assert_eq!(*value, found["values"][index], "{name} in lane {lane}");
}

/// A front end selects threads without an event: the helper's variables are another thread's, its function is right.
#[test]
fn a_front_end_evaluates_in_each_thread_with_the_helper() {
    let fixture = named("calls-gfx90a");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut mi = Mi::start(name);
        let helper = concat!(env!("LANESCOPE_ROOT"), "clients/gdb/lanescope.py");
        mi.done(&format!("-interpreter-exec console \"source {helper}\""));
        let (class, _, before) = mi.ask(&format!("-target-select remote {}", server.address));
        assert_eq!(class, "connected", "{}", mi.talk.transcript());
        mi.stopped_in(before);
        for wave in fixture.waves.iter().chain(fixture.waves.iter().rev()) {
            let of = format!("--thread {}", wave.number);
            let asked = format!("-data-evaluate-expression {of} \"$_focus(\\\"dispatch_pos\\\")\"");
            let place = wave.name_suffix().unwrap();
            assert_eq!(mi.done(&asked)["value"], format!("\"{place}\""));
            assert_eq!(mi.done(&format!("-data-evaluate-expression {of} $_wave"))["value"], "void");
            let (_, _, lines) = mi.ask(&format!("-interpreter-exec {of} console \"monitor lane\""));
            let first = lines.iter().find(|line| line.contains("Thread ")).cloned().unwrap_or_default();
            assert!(first.contains(&format!("Thread {}: AMDGPU Wave ", wave.number)), "{lines:?}");
            assert!(first.contains(&format!(" {place}, ")), "{lines:?}");
        }
        server.finish();
    }
}

/// gdb at the other end of a pipe.
pub(crate) struct Mi {
    pub(crate) talk: Talk<String>,
    token: u32,
}

impl Mi {
    pub(crate) fn start(name: &str) -> Self {
        let mut command = tool(name);
        command.args(["-nx", "--interpreter=mi"]);
        let talk = Talk::start(&mut command, |output| {
            let mut line = String::new();
            match output.read_line(&mut line) {
                Ok(read) if read > 0 => Some(line.trim_end().to_owned()),
                _ => None,
            }
        });
        Self { talk, token: 1000 }
    }

    /// The class and results of a command's answer, and the lines before it.
    pub(crate) fn ask(&mut self, command: &str) -> (String, Value, Vec<String>) {
        self.token += 1;
        let begin = format!("{}^", self.token);
        self.talk.send(&format!("{}{command}\n", self.token));
        let (answer, before) = self.talk.wait(command, |line| line.strip_prefix(&begin).map(str::to_owned));
        let (class, results) = record(&answer);
        (class, results, before)
    }

    pub(crate) fn done(&mut self, command: &str) -> Value {
        let (class, results, _) = self.ask(command);
        assert_eq!(class, "done", "{command}: {results}:\n{}", self.talk.transcript());
        results
    }

    /// The stop among these lines, or the next one.
    pub(crate) fn stopped_in(&mut self, before: Vec<String>) -> Value {
        let stop =
            |line: &String| line.strip_prefix("*stopped").map(|rest| record(&format!("stopped{rest}")).1);
        if let Some(found) = before.iter().find_map(stop) {
            return found;
        }
        self.talk.wait("a stop", stop).0
    }

    fn resumes(&mut self, command: &str, wave: &Wave) {
        let (class, results, mut lines) = self.ask(command);
        // The answer to console commands is `done`, and gdb reports the stop before or after it.
        assert!(class == "running" || class == "done", "{command}: {class} {results}");
        if !lines.iter().any(|line| line.starts_with("*stopped")) {
            let (stop, between) =
                self.talk.wait("a stop", |line| line.starts_with("*stopped").then(|| line.clone()));
            lines.extend(between);
            lines.push(stop);
        }
        let said = lines.iter().any(|line| line.starts_with('@') && line.contains(WORDS));
        assert!(said, "{command}: no words:\n{}", self.talk.transcript());
        let stop = self.stopped_in(lines);
        assert_eq!(stop["thread-id"], wave.number.to_string(), "{command}: {stop}");
        assert_eq!(stop["stopped-threads"], "all", "{command}: {stop}");
        let address = format!("0x{:016x}", wave.pc().unwrap());
        assert_eq!(stop["frame"]["addr"], address, "{command}: {stop}");
    }

    /// Breakpoints by line and by name are resolved; continuing still ends.
    fn breakpoints(&mut self, wave: &Wave) {
        let place = format!("{}:{}", wave.expected["file"].as_str().unwrap(), wave.expected["line"]);
        let function = wave.expected["function"].as_str().unwrap().to_owned();
        for place in [place, function] {
            let made = self.done(&format!("-break-insert -f {place}"));
            assert!(made["bkpt"]["addr"].as_str().is_some_and(|at| at != "<PENDING>"), "{place}: {made}");
        }
        let none = self.talk.rest();
        assert!(!none.iter().any(|line| line.starts_with("*running")), "{none:?}");
    }
}

/// `done,name="value",list=[{...}]` as class and object.
fn record(text: &str) -> (String, Value) {
    let (class, rest) = text.split_once(',').unwrap_or((text, ""));
    let mut parser = Parser { rest };
    let results = parser.results(None);
    (class.to_owned(), Value::Object(results))
}

/// Parser of results of gdb's machine interface.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn take(&mut self, character: char) -> bool {
        let taken = self.rest.strip_prefix(character);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn results(&mut self, end: Option<char>) -> Map<String, Value> {
        let mut results = Map::new();
        while !self.rest.is_empty() && !end.is_some_and(|end| self.take(end)) {
            let (name, value) = self.result();
            results.insert(name, value);
            self.take(',');
        }
        results
    }

    fn result(&mut self) -> (String, Value) {
        let (name, rest) = self.rest.split_once('=').unwrap_or_else(|| panic!("no result: {}", self.rest));
        let name = name.to_owned();
        self.rest = rest;
        (name, self.value())
    }

    fn value(&mut self) -> Value {
        if self.take('{') {
            return Value::Object(self.results(Some('}')));
        }
        if !self.take('[') {
            return Value::String(self.text());
        }
        let mut list = Vec::new();
        while !self.take(']') {
            // A list may have results, `frame={...}`, with equal names.
            let value = if self.rest.starts_with(['{', '[', '"']) { self.value() } else { self.result().1 };
            list.push(value);
            self.take(',');
        }
        Value::Array(list)
    }

    fn text(&mut self) -> String {
        assert!(self.take('"'), "no value: {}", self.rest);
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return text;
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                other => text.push(other),
            }
        }
        panic!("no end: {}", self.rest)
    }
}
