//! lldb's debug adapter as editors use it: a session over the real adapter and the real server, compared with the
//! models. A request to resume must be followed by `stopped` at once, or the editor shows a running program forever.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use serde_json::{Value, json};

use super::conversation::Talk;
use super::harness::{Server, tool};
use super::helpers::active;
use super::model::{Fixture, Register, Wave, named};
use crate::support::{LLDB_PATIENCE, newest, sample::sampled};

const DUMPS: [&str; 3] = ["saxpy-gfx1100-O0", "calls-gfx90a", "diverge-gfx90a-O0"];
const WORDS: &str = "captured state";
/// LLDB may resume a few times per command; more is a loop.
const MAX_SAID: usize = 5;

#[test]
fn an_editor_shows_stacks_and_variables_through_lldb() {
    // The next test has the second one.
    for dump in sampled(DUMPS, 2) {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        let address = server.address.clone();
        session(
            &fixture,
            &json!({ "attachCommands": [format!("gdb-remote {address}")], "stopOnEntry": true }),
        );
        server.finish();
    }
}

/// Attaches by the adapter's own settings, without attachCommands.
#[test]
fn an_editor_attaches_by_host_and_port() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let port: u16 = server.address.rsplit(':').next().unwrap().parse().unwrap();
    let settings =
        json!({ "gdb-remote-hostname": "127.0.0.1", "gdb-remote-port": port, "stopOnEntry": true });
    session(&fixture, &settings);
    server.finish();
}

/// File that an editor opens for the first wave's frame.
pub(super) fn source_of_first_frame(address: &str) -> String {
    let mut dap = Dap::start();
    dap.ask(
        "initialize",
        &json!({ "adapterID": "lldb-dap", "linesStartAt1": true, "columnsStartAt1": true }),
    );
    dap.send("attach", &json!({ "attachCommands": [format!("gdb-remote {address}")], "stopOnEntry": true }));
    dap.event("initialized");
    dap.send("configurationDone", &json!({}));
    dap.event("stopped");
    let stack = dap.ask("stackTrace", &json!({ "threadId": 1, "startFrame": 0, "levels": 1 }));
    let path = stack["stackFrames"][0]["source"]["path"].as_str().expect("a file").to_owned();
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    path
}

/// The register pane has lanes. Neither it nor the instruction view has x86-64.
#[test]
fn an_editor_shows_lanes_of_registers_and_no_instructions_of_x86() {
    for dump in ["calls-gfx90a", "saxpy-gfx90a-O0"] {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        let commands = [format!("gdb-remote {}", server.address)];
        let mut dap = attached(&fixture, &json!({ "attachCommands": commands, "stopOnEntry": true }));
        dap.ask("threads", &json!({}));
        for wave in &fixture.waves {
            let Some(pc) = wave.pc() else { continue };
            let frame = frames(&mut dap, wave)[0]["id"].clone();
            // The waves of the first dump have vectors with all lanes. In the second one's code LLDB reads whole lines.
            if dump == "calls-gfx90a" {
                registers(&mut dap, wave, &frame);
                continue;
            }
            let asked = json!({ "memoryReference": format!("{pc:#x}"), "instructionCount": 12 });
            // No instruction, and no byte that differs from the code.
            let answer = dap.refused("disassemble", &asked);
            assert!(!answer.contains("instruction\""), "{answer}");
        }
        dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
        dap.talk.ends();
        server.finish();
    }
}

/// The register pane: each value, and the reference of its group.
fn pane(dap: &mut Dap, frame: &Value) -> BTreeMap<String, (String, Value)> {
    let scopes = dap.ask("scopes", &json!({ "frameId": frame }));
    let scope = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == "Registers");
    let mut children = |parent: &Value| {
        let asked = json!({ "variablesReference": parent["variablesReference"] });
        dap.ask("variables", &asked)["variables"].as_array().unwrap().clone()
    };
    let mut shown = BTreeMap::new();
    for set in children(scope.expect("Registers")) {
        for register in children(&set) {
            let value = register["value"].as_str().unwrap_or_default().to_owned();
            let group = set["variablesReference"].clone();
            shown.insert(register["name"].as_str().unwrap().to_owned(), (value, group));
        }
    }
    shown
}

fn registers(dap: &mut Dap, wave: &Wave, frame: &Value) {
    let shown = pane(dap, frame);
    for name in ["rsp", "esp", "sp", "spl", "rax", "eax"] {
        assert!(!shown.contains_key(name), "{name} is of x86-64");
    }
    let mut vectors = 0;
    for (name, register) in wave.registers() {
        let Register::Lanes(lanes) = register else { continue };
        if !lanes.contains(&None) {
            let lanes: Vec<String> = lanes.iter().flatten().map(|lane| format!("{lane:#010x}")).collect();
            assert_eq!(shown[&name].0, format!("{{{}}}", lanes.join(" ")), "{name}");
            vectors += 1;
        }
    }
    assert!(vectors > 1);
}

/// A typed call of a member function is rejected like other calls.
#[test]
fn an_editor_gets_an_error_for_a_call_of_a_member_function() {
    let fixture = named("call-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let commands = [format!("gdb-remote {}", server.address)];
    let mut dap = attached(&fixture, &json!({ "attachCommands": commands, "stopOnEntry": true }));
    dap.ask("threads", &json!({}));
    let frame = frames(&mut dap, &fixture.waves[1])[0]["id"].clone();
    dap.ask("scopes", &json!({ "frameId": frame }));
    for (context, expression, words) in [
        ("repl", "`p this->advance(body, 1)", "without a running target"),
        ("watch", "this->advance(body, 1)", "without a running target"),
        // For the text under the mouse the adapter reads only names, members and elements.
        ("hover", "this->advance(body, 1)", "unrecognized token"),
    ] {
        let asked = json!({ "expression": expression, "frameId": frame, "context": context });
        let sent = dap.send("evaluate", &asked);
        let is_it = |message: &Value| (message["request_seq"] == sent).then(|| message.clone());
        let (answer, _) = dap.talk.wait("evaluate", is_it);
        let said = answer.to_string();
        assert!(said.contains("error") && said.contains(words), "{said}");
    }
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

/// saxpy-gfx90a-O0, first wave: `first` is the lane (tests/fixtures/kernels/saxpy.hip). The adapter's own writes of
/// `lane` do not clear lldb's cache, and an expression is rejected.
#[test]
fn an_editor_shows_one_lane_whatever_it_writes() {
    let fixture = named("saxpy-gfx90a-O0");
    let wave = &fixture.waves[0];
    let server = Server::start(&fixture.dump, &[]);
    let commands = [format!("gdb-remote {}", server.address)];
    let mut dap = attached(&fixture, &json!({ "attachCommands": commands, "stopOnEntry": true }));
    dap.ask("threads", &json!({}));
    let frame = frames(&mut dap, wave)[0]["id"].clone();
    one_lane(&mut dap, &frame, "0");
    for (context, words) in [
        ("watch", "undeclared identifier"),
        ("repl", "undeclared identifier"),
        ("hover", "unrecognized token"),
    ] {
        let asked = json!({ "expression": "$lane = 3", "frameId": frame, "context": context });
        assert!(dap.refused("evaluate", &asked).contains(words), "{context}");
    }
    one_lane(&mut dap, &frame, "0");
    let group = pane(&mut dap, &frame)["lane"].1.clone();
    let set = json!({ "variablesReference": group, "name": "lane", "value": "7" });
    assert_eq!(dap.ask("setVariable", &set)["value"], "0", "it is lane 0 that is shown");
    one_lane(&mut dap, &frame, "0");
    resume(&mut dap, wave, "next");
    let said = dap.talk.transcript();
    assert!(said.contains("lldb shows lane 7 of thread 1 from this stop on."), "{said}");
    let frame = frames(&mut dap, wave)[0]["id"].clone();
    one_lane(&mut dap, &frame, "7");
    // The adapter keeps the frame's variables after a command, and evaluates watches again.
    let write = json!({ "expression": "`register write lane 3", "frameId": frame, "context": "repl" });
    dap.ask("evaluate", &write);
    let watch = json!({ "expression": "first", "frameId": frame, "context": "watch" });
    assert_eq!(dap.ask("evaluate", &watch)["result"], "3");
    resume(&mut dap, wave, "next");
    let frame = frames(&mut dap, wave)[0]["id"].clone();
    one_lane(&mut dap, &frame, "3");
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

/// Asserts that panes and watches are of `lane`.
fn one_lane(dap: &mut Dap, frame: &Value, lane: &str) {
    assert_eq!(pane(dap, frame)["lane"].0, lane);
    let scopes = dap.ask("scopes", &json!({ "frameId": frame }));
    let scope = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == "Locals");
    let asked = json!({ "variablesReference": scope.expect("Locals")["variablesReference"] });
    let listed = dap.ask("variables", &asked);
    let first = listed["variables"].as_array().unwrap().iter().find(|one| one["name"] == "first");
    assert_eq!(first.unwrap()["value"], lane);
    for expression in ["$lane", "first", "lane_item", "first + 0"] {
        let asked = json!({ "expression": expression, "frameId": frame, "context": "watch" });
        assert_eq!(dap.ask("evaluate", &asked)["result"], lane, "{expression}");
    }
}

/// The adapter ignores the frame of a command.
#[test]
fn a_command_in_the_console_is_about_the_frame_that_was_shown_last() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let commands = [format!("gdb-remote {}", server.address)];
    let mut dap = attached(&fixture, &json!({ "attachCommands": commands, "stopOnEntry": true }));
    dap.ask("threads", &json!({}));
    let tops: Vec<Value> =
        fixture.waves[..3].iter().map(|wave| frames(&mut dap, wave)[0]["id"].clone()).collect();
    for (shown, top) in tops.iter().enumerate() {
        dap.ask("scopes", &json!({ "frameId": top }));
        for frame in &tops {
            let asked = json!({ "expression": "`thread info", "frameId": frame, "context": "repl" });
            let said = dap.ask("evaluate", &asked)["result"].as_str().unwrap().to_owned();
            assert!(said.contains(&format!(": tid = {},", fixture.waves[shown].thread)), "{said}");
        }
    }
    // A command may choose the thread itself.
    let select = |dap: &mut Dap, command: &str| {
        let asked = json!({ "expression": command, "frameId": tops[2], "context": "repl" });
        dap.ask("evaluate", &asked)["result"].as_str().unwrap().to_owned()
    };
    select(&mut dap, "`thread select 1");
    let said = select(&mut dap, "`thread info");
    assert!(said.contains("thread #1: tid = 2,"), "{said}");
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

/// After a stop an editor first requests the names of threads.
#[test]
fn an_editor_lists_the_lanes_of_a_stop_at_once() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let commands = [format!("gdb-remote {}", server.address)];
    let mut dap = attached(&fixture, &json!({ "attachCommands": commands, "stopOnEntry": true }));
    dap.ask("threads", &json!({}));
    let waves = &fixture.waves;
    for (of, stepped, lane) in [(0, 0, 1), (0, 1, 2), (1, 1, 1), (1, 0, 3), (0, 1, 4)] {
        let top = frames(&mut dap, &waves[of])[0]["id"].clone();
        dap.ask("scopes", &json!({ "frameId": top }));
        let command = format!("`register write lane {lane}");
        dap.ask("evaluate", &json!({ "expression": command, "frameId": top, "context": "repl" }));
        let sent = dap.send("next", &json!({ "threadId": waves[stepped].thread }));
        let (mut answered, mut stopped) = (false, false);
        while !(answered && stopped) {
            let message = dap.next("next");
            answered |= message["request_seq"] == sent;
            stopped |= message["event"] == "stopped" && message["body"]["threadId"] == waves[stepped].thread;
        }
        marked(&mut dap, &waves[of], lane);
    }
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

fn session(fixture: &Fixture, attach: &Value) {
    let mut dap = attached(fixture, attach);
    let threads = dap.ask("threads", &json!({}));
    let threads = threads["threads"].as_array().unwrap().clone();
    assert_eq!(threads.len(), fixture.waves.len());
    for wave in &fixture.waves {
        let thread = threads.iter().find(|thread| thread["id"] == wave.thread).expect("the thread");
        let name = thread["name"].as_str().unwrap();
        assert!(
            name.starts_with("AMDGPU Wave ") && name.contains(&format!(" {}, ", wave.name_suffix().unwrap())),
            "{name}"
        );
        stack(&mut dap, wave);
        call(&mut dap, wave);
    }
    for wave in &fixture.waves {
        for command in ["continue", "next", "stepIn"] {
            resume(&mut dap, wave, command);
        }
        // The outermost frame has no caller to step out to.
        if wave.expected["callers"].as_array().is_some_and(|callers| !callers.is_empty()) {
            resume(&mut dap, wave, "stepOut");
        }
    }
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
}

/// An adapter after attaching and reporting the stop.
pub(crate) fn attached(fixture: &Fixture, attach: &Value) -> Dap {
    let mut dap = Dap::start();
    dap.ask(
        "initialize",
        &json!({ "adapterID": "lldb-dap", "linesStartAt1": true, "columnsStartAt1": true }),
    );
    let attached = dap.send("attach", attach);
    dap.event("initialized");
    let path = format!("tests/fixtures/kernels/{}", fixture.waves[0].expected["file"].as_str().unwrap());
    let path = crate::support::root().join(path);
    let line = fixture.waves[0].expected["line"].clone();
    let set =
        dap.ask("setBreakpoints", &json!({ "source": { "path": path }, "breakpoints": [{ "line": line }] }));
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    dap.ask("setExceptionBreakpoints", &json!({ "filters": [] }));
    let configured = dap.send("configurationDone", &json!({}));
    // The adapter may report the stop at entry before it answers either.
    let mut stopped = false;
    let mut open = vec![attached, configured];
    while !(stopped && open.is_empty()) {
        let message = dap.next("attach, configurationDone and a stop");
        stopped |= message["event"] == "stopped";
        if message["type"] == "response" {
            assert_eq!(message["success"], true, "{message}");
            open.retain(|sent| message["request_seq"] != *sent);
        }
    }
    dap
}

pub(crate) fn frames(dap: &mut Dap, wave: &Wave) -> Vec<Value> {
    let stack = dap.ask("stackTrace", &json!({ "threadId": wave.thread, "startFrame": 0, "levels": 20 }));
    stack["stackFrames"].as_array().unwrap().clone()
}

/// Frames, variables and expressions of a wave, in the model's first and last lane.
fn stack(dap: &mut Dap, wave: &Wave) {
    let mut wanted = vec![wave.expected.clone()];
    wanted.extend(wave.expected["callers"].as_array().into_iter().flatten().cloned());
    let shown = wave.shown_lanes();
    for index in [0, shown.len() - 1] {
        let top = frames(dap, wave)[0]["id"].clone();
        // A click on a frame makes the editor request its scopes. That selects the console's thread; the frame does
        // not.
        dap.ask("scopes", &json!({ "frameId": top }));
        let command = format!("`register write lane {}", shown[index]);
        dap.ask("evaluate", &json!({ "expression": command, "frameId": top, "context": "repl" }));
        // The adapter keeps its variables until the next stop; a step is one.
        resume(dap, wave, "next");
        marked(dap, wave, shown[index]);
        let frames = frames(dap, wave);
        for (level, model) in wanted.iter().enumerate() {
            let frame = &frames[level];
            let name = frame["name"].as_str().unwrap();
            let name = name.trim_start_matches("::").split('(').next().unwrap();
            assert_eq!(name, model["function"].as_str().unwrap(), "{frame}");
            assert_eq!(frame["line"], model["line"], "{frame}");
            if let Some(locals) = model["locals"].as_array() {
                variables(dap, &frame["id"], locals, index);
            }
        }
    }
}

/// The thread name has the lane's state if the lane is not active.
fn marked(dap: &mut Dap, wave: &Wave, lane: usize) {
    let threads = dap.ask("threads", &json!({}))["threads"].as_array().unwrap().clone();
    let thread = threads.iter().find(|thread| thread["id"] == wave.thread).expect("the thread");
    let is_marked = thread["name"].as_str().unwrap().contains(&format!(" [lane {lane}: "));
    let is_active = active(wave).expect("EXEC was captured").contains(&lane);
    assert_eq!(is_marked, !is_active, "lane {lane} of {thread}");
}

fn variables(dap: &mut Dap, frame: &Value, locals: &[Value], index: usize) {
    let scopes = dap.ask("scopes", &json!({ "frameId": frame }));
    let scope = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == "Locals");
    let reference = &scope.expect("Locals")["variablesReference"];
    let listed = dap.ask("variables", &json!({ "variablesReference": reference }));
    let listed = listed["variables"].as_array().unwrap().clone();
    for local in locals {
        let name = local["name"].as_str().unwrap();
        let alone = locals.iter().filter(|one| one["name"] == name).count() == 1;
        let value = local["values"][index].as_str().filter(|value| value.parse::<i64>().is_ok());
        let is_char =
            local["type"].as_str().is_some_and(|name| name.contains("char") || name.contains("bool"));
        let Some(value) = value.filter(|_| local["state"] == "ok" && alone && !is_char) else { continue };
        let variable = listed.iter().find(|one| one["name"] == name);
        let Some(variable) = variable else { panic!("{name} is not listed: {listed:?}") };
        assert_eq!(variable["value"], value, "{name} in the model's lane {index}");
        let asked = json!({ "expression": name, "frameId": frame, "context": "watch" });
        assert_eq!(dap.ask("evaluate", &asked)["result"], value, "{name}");
    }
}

/// A call is impossible: the answer is an error with a reason, and the frame is unchanged.
fn call(dap: &mut Dap, wave: &Wave) {
    let before = frames(dap, wave);
    let function = wave.expected["function"].as_str().unwrap();
    for context in ["watch", "hover", "repl"] {
        let expression =
            if context == "repl" { format!("`expression {function}()") } else { format!("{function}()") };
        let asked = json!({ "expression": expression, "frameId": before[0]["id"], "context": context });
        let sent = dap.send("evaluate", &asked);
        let is_it = |message: &Value| (message["request_seq"] == sent).then(|| message.clone());
        let (answer, _) = dap.talk.wait("evaluate", is_it);
        let said = answer.to_string();
        assert!(answer["success"] == false || said.contains("error:"), "{context}: {answer}");
        assert!(said.contains("error"), "{context}: {answer}");
    }
    assert_eq!(frames(dap, wave)[0]["line"], before[0]["line"]);
}

/// A request to resume gets an answer with the reason, and the thread stops at the same place.
pub(crate) fn resume(dap: &mut Dap, wave: &Wave, command: &str) {
    let sent = dap.send(command, &json!({ "threadId": wave.thread }));
    let (mut answered, mut stopped, mut said) = (false, false, 0);
    while !(answered && stopped && said > 0) {
        let message = dap.next(command);
        if message["request_seq"] == sent {
            assert_eq!(message["success"], true, "{command}: {message}");
            answered = true;
        }
        stopped |= message["event"] == "stopped";
        said += usize::from(is_output(&message));
        assert!(
            said < MAX_SAID,
            "{command} of thread {} goes on and on:\n{}",
            wave.thread,
            dap.talk.transcript()
        );
        let over = ["exited", "terminated"].iter().any(|event| message["event"] == *event);
        assert!(!over, "{command} ends the session: {message}");
    }
    // If two threads stop, the adapter reports each.
    let rest = dap.talk.rest();
    let more = rest.iter().any(|message| message["event"] == "terminated" || is_output(message));
    assert!(!more, "after {command}: {rest:?}");
    assert_eq!(frames(dap, wave)[0]["line"], wave.expected["line"], "after {command}");
}

fn is_output(message: &Value) -> bool {
    let output = message["body"]["output"].as_str();
    message["event"] == "output" && output.is_some_and(|words| words.contains(WORDS))
}

/// lldb-dap at the other end of a pipe.
pub(crate) struct Dap {
    pub(crate) talk: Talk<Value>,
    sent: u64,
}

impl Dap {
    fn start() -> Self {
        let talk = Talk::start(&mut tool(newest("lldb-dap")), |output| {
            let mut length = None;
            loop {
                let mut line = String::new();
                if !matches!(output.read_line(&mut line), Ok(read) if read > 0) {
                    return None;
                }
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                if let Some(number) = line.strip_prefix("Content-Length:") {
                    length = number.trim().parse::<usize>().ok();
                }
            }
            let mut body = vec![0; length?];
            output.read_exact(&mut body).ok()?;
            serde_json::from_slice(&body).ok()
        });
        Self { talk, sent: 0 }
    }

    fn send(&mut self, command: &str, arguments: &Value) -> u64 {
        self.sent += 1;
        let mut arguments = arguments.clone();
        if command == "attach" {
            arguments["initCommands"] = json!(LLDB_PATIENCE[1..]);
        }
        let body = json!({ "seq": self.sent, "type": "request", "command": command, "arguments": arguments });
        let body = body.to_string();
        self.talk.send(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.sent
    }

    fn next(&mut self, what: &str) -> Value {
        self.talk.wait(what, |message| Some(message.clone())).0
    }

    /// The answer, whether the request succeeds or not.
    fn answer(&mut self, command: &str, arguments: &Value) -> Value {
        let sent = self.send(command, arguments);
        let is_it = |message: &Value| (message["request_seq"] == sent).then(|| message.clone());
        self.talk.wait(command, is_it).0
    }

    /// Error message of the answer.
    pub(crate) fn refused(&mut self, command: &str, arguments: &Value) -> String {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], false, "{command} {arguments}: {answer}");
        answer.to_string()
    }

    /// The body of the answer.
    pub(crate) fn ask(&mut self, command: &str, arguments: &Value) -> Value {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], true, "{command} {arguments}: {answer}:\n{}", self.talk.transcript());
        answer["body"].clone()
    }

    fn event(&mut self, name: &str) {
        self.talk.wait(name, |message| (message["event"] == name).then_some(()));
    }
}
