//! `step`, `continue` and related commands on a state that cannot run: each must end at once, keep the user's
//! selection, and print the reason. The tests need line information: only then a debugger steps until the line changes.

use std::path::PathBuf;

use super::harness::{Server, lldb_name};
use super::lldb::choose;
use super::model::{Fixture, Wave, fixtures_folder, named};
use super::script::{Debugger, Script, gdbs};
use super::x86_facade::x86_view;

/// A dump whose first wave stopped at a breakpoint, a SIGTRAP, and whose other waves did not stop.
const DUMP: &str = "call-gfx90a-O2";
const LOAD_ADDRESS: u64 = 0x7f00_0010_0000;
/// Text that the user must see.
const WORDS: &str = "captured state";

struct Stage {
    fixture: Fixture,
    symbols: PathBuf,
    server: Server,
}

fn stage() -> Stage {
    let fixture = named(DUMP);
    assert_eq!(fixture.waves[0].stop().unwrap(), ["breakpoint"]);
    assert!(
        fixture.waves.iter().any(|wave| wave.stop().unwrap().is_empty()),
        "no wave of {DUMP} was running"
    );
    let symbols = x86_view(&fixtures_folder().join(format!("code/{DUMP}.hsaco")));
    let server = Server::start(&fixture.dump, &[]);
    Stage { fixture, symbols, server }
}

/// `call.hip:35`
fn line_of(wave: &Wave) -> String {
    format!("{}:{}", wave.expected["file"].as_str().unwrap(), wave.expected["line"])
}

/// A wave that stopped at a breakpoint, and one that was running.
fn waves(fixture: &Fixture) -> [&Wave; 2] {
    let running = fixture.waves.iter().find(|wave| wave.stop().unwrap().is_empty()).unwrap();
    [&fixture.waves[0], running]
}

#[test]
fn gdb_ends_every_step_at_once() {
    gdbs().for_each(in_gdb);
}

fn in_gdb(name: &'static str) {
    let Stage { fixture, symbols, server } = stage();
    let mut script = Script::new(DUMP);
    script.say("set architecture i386:x86-64");
    script.say(format!("symbol-file -o {LOAD_ADDRESS:#x} {}", symbols.display()));
    script.say(format!("target remote {}", server.address));
    for wave in waves(&fixture) {
        let pc = format!("{:#x}", wave.pc().unwrap());
        let line = line_of(wave);
        script.expect(format!("thread {}", wave.number), line.clone());
        // If gdb steps by lines, it must have found the line: otherwise the test is void.
        script.expect("info line *$pc", format!("Line {}", wave.expected["line"]));
        for command in ["stepi", "nexti", "step", "next", "step 5", "until", "continue"] {
            script.expect(command, WORDS);
            script.expect("p/x $pc", format!(" = {pc}"));
            script.expect("thread", format!("Current thread is {} (Thread {})", wave.number, wave.thread));
        }
        // gdb rejects these with its own message; the session must continue.
        for command in
            ["finish", "reverse-step", "reverse-continue", "jump *$pc", "signal 0", "advance *$pc+4"]
        {
            script.say(command);
            script.expect("p/x $pc", format!(" = {pc}"));
        }
    }
    // From a breakpoint at the PC gdb first steps only this thread. If that step does not end like one, gdb 13 waits
    // for its end forever the next time.
    for wave in waves(&fixture) {
        script.say(format!("thread {}", wave.number));
        script.say("break *$pc");
        for command in ["continue", "continue", "step", "stepi", "next", "until", "continue"] {
            script.expect(command, WORDS);
            script.expect("p/x $pc", format!("= {:#x}", wave.pc().unwrap()));
        }
        script.say("set scheduler-locking on");
        script.expect("step", WORDS);
        script.expect("continue", WORDS);
        script.say("set scheduler-locking off");
        script.expect("continue", WORDS);
    }
    script.expect("info threads", "AMDGPU Wave ");
    script.expect("monitor wave", "Thread ");
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb(name));
    server.finish();
    std::fs::remove_file(symbols).unwrap();
}

#[test]
fn lldb_ends_every_step_at_once() {
    let Stage { fixture, symbols, server } = stage();
    let mut script = Script::new(DUMP);
    script.say(format!("target create {}", symbols.display()));
    script.say(format!("gdb-remote {}", server.address));
    script.say(format!("target modules load --file {} --slide {LOAD_ADDRESS:#x}", symbols.display()));
    for wave in waves(&fixture) {
        let pc = format!("= 0x{:016x}", wave.pc().unwrap());
        script.say(format!("thread select --thread-id {}", wave.thread));
        script.expect("thread info", line_of(wave));
        for command in
            ["thread step-inst", "thread step-inst-over", "thread step-in", "thread step-over", "continue"]
        {
            script.say(format!("thread select --thread-id {}", wave.thread));
            script.expect(command, WORDS);
            script.never("process status", "exited");
            script.say(format!("thread select --thread-id {}", wave.thread));
            script.expect("register read pc", pc.clone());
        }
        for command in ["thread step-out", "thread until 1"] {
            script.say(command);
            script.say(format!("thread select --thread-id {}", wave.thread));
            script.expect("register read pc", pc.clone());
        }
    }
    script.say(format!("breakpoint set --address {:#x}", fixture.waves[1].pc().unwrap()));
    script.expect("continue", WORDS);
    script.expect(choose(1), ": AMDGPU Wave ");
    script.expect("detach", "Process 1 detached");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    std::fs::remove_file(symbols).unwrap();
}

/// docs/view.md, "Differences from the source": `finish`, and lldb's `thread return`, which sets the PC.
#[test]
fn returning_from_a_function_is_as_documented() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("gdb");
    script.say(format!("target remote {}", server.address));
    script.expect("finish", WORDS);
    script.expect("frame", "#0  leaf ");
    script.must_pass(&Debugger::Gdb("gdb"));
    let mut script = Script::new("lldb");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("finish", WORDS);
    script.expect("frame info", "frame #0: ");
    script.expect("frame info", "`::leaf() at ");
    script.say("frame select 2");
    script.expect("finish", "Could not create return address breakpoint");
    script.say("frame select 0");
    script.say("thread return");
    script.expect("frame info", "`::middle() at ");
    script.expect("process plugin packet monitor changes", " pc");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
