//! A debug agent's log in stock debuggers, with the code object saved beside it: source line and register variables.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::harness::{Server, lldb_name, scratch};
use super::model::{Fixture, fixtures};
use super::script::{Debugger, Script};

const URI: &str = "file:///nowhere/saxpy#offset=4096&size=8192";
const SAVED: &str = "file____nowhere_saxpy_offset_4096_size_8192";
const FIXTURE: &str = "saxpy-gfx90a-O2";
/// Load address of the fixture's code object.
const LOAD: u64 = 0x7f00_0010_0000;

/// A hex string of bytes, lowest first, in the agent's notation of a number.
fn digits(bytes: &str) -> String {
    let pairs: Vec<&str> = (0..bytes.len()).step_by(2).map(|at| &bytes[at..at + 2]).collect();
    pairs.into_iter().rev().collect()
}

fn fixture() -> Fixture {
    fixtures().into_iter().find(|fixture| fixture.name == FIXTURE).unwrap()
}

/// The log of a fixture's first wave, with its code object beside it.
fn log(fixture: &Fixture) -> PathBuf {
    let root = PathBuf::from(env!("LANESCOPE_ROOT")).join("tests/fixtures");
    let object = root.join(format!("code/{FIXTURE}.hsaco"));
    let output = std::process::Command::new("llvm-readelf-22").arg("-lW").arg(&object).output().unwrap();
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let end = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter(|line| line.trim_start().starts_with("LOAD"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .map(|words| number(words[2]) + number(words[5]))
        .max()
        .unwrap();
    let wave = &fixture.waves[0].expected;
    let pc = wave["pc"].as_str().unwrap();
    let mut text = format!("test 1 of 2\n{}\n", "-".repeat(56));
    writeln!(text, "wave_1: pc={pc} (stopped, reason: MEMORY_VIOLATION)\n\nvector registers:").unwrap();
    for (name, value) in wave["registers"].as_object().unwrap() {
        match value {
            Value::String(bytes) => writeln!(text, "{:>16}{}", format!("{name}: "), digits(bytes)).unwrap(),
            Value::Array(lanes) => {
                write!(text, "{:>15}", format!("{name}:")).unwrap();
                for (lane, bytes) in lanes.iter().enumerate() {
                    write!(text, " [{lane}] {}", digits(bytes.as_str().unwrap())).unwrap();
                }
                text.push('\n');
            }
            _ => {}
        }
    }
    writeln!(text, "\nDisassembly for function saxpy:\n    code object: {URI}").unwrap();
    writeln!(text, "    loaded at: [{LOAD:#x}-{:#x}]\n => {pc} <+0>:    s_nop 0\n", LOAD + end).unwrap();
    text.push_str("End of disassembly.\nAborted (core dumped)\n");
    let folder = scratch("agent-log");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(object, folder.join(SAVED)).unwrap();
    fs::write(folder.join("agent.log"), text).unwrap();
    folder.join("agent.log")
}

/// A variable in a vector register, and its values by lane.
fn in_register(fixture: &Fixture) -> (String, Vec<(u64, String)>) {
    let wave = &fixture.waves[0].expected;
    let variables = wave["locals"].as_array().unwrap();
    let is_one = |one: &&Value| {
        one["form"] == "register"
            && one["state"] == "ok"
            && one["values"].as_array().is_some_and(|all| all.iter().all(Value::is_string))
    };
    let variable = variables.iter().find(is_one).expect("a variable in a register");
    let lanes = wave["lanes"].as_array().unwrap().iter().map(|lane| lane.as_u64().unwrap());
    let values =
        variable["values"].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned());
    (variable["name"].as_str().unwrap().to_owned(), lanes.zip(values).collect())
}

#[test]
fn gdb_shows_a_logs_source_line_and_a_variable_in_a_register() {
    let fixture = fixture();
    let wave = &fixture.waves[0].expected;
    let server = Server::start(&log(&fixture), &[]);
    let mut script = Script::new("agent.log");
    script.say(format!("target remote {}", server.address));
    script.expect("bt 1", format!("{}:{}", wave["file"].as_str().unwrap(), wave["line"]));
    let (name, values) = in_register(&fixture);
    for (lane, value) in values.iter().take(3).chain(values.last()) {
        script.say(format!("set var $lane={lane}"));
        script.expect(format!("p {name}"), format!(" = {value}"));
    }
    script.expect("info threads", "AMDGPU Wave 1:");
    // Data missing in the log has no value: the register, and the target of a pointer.
    script.expect("monitor register v1", "not captured");
    script.expect("monitor memory global 0x7f0000200000 4", "not captured");
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

#[test]
fn lldb_shows_a_logs_source_line_and_a_variable_in_a_register() {
    let fixture = fixture();
    let wave = &fixture.waves[0].expected;
    let server = Server::start(&log(&fixture), &[]);
    let mut script = Script::new("agent.log");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("bt", format!("{}:{}", wave["file"].as_str().unwrap(), wave["line"]));
    let (name, values) = in_register(&fixture);
    let (lane, value) = &values[values.len() / 2];
    script.say(format!("register write lane {lane}"));
    script.expect(format!("frame variable {name}"), format!("{name} = {value}"));
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
