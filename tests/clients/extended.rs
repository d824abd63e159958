//! `target extended-remote`: the connection outlives the process, and `run` and `attach` bring the captured state back.

use super::harness::Server;
use super::model::named;
use super::script::{Debugger, Script, unfolded};

const DUMP: &str = "saxpy-gfx90a-O0";
const GDBS: [&str; 2] = ["gdb", "gdb-multiarch"];
const WORDS: &str = "This is a captured state: nothing can run.";
const CLOSED: &str = "Remote connection closed";

/// A command with this text in its output, over a connection that stays open.
fn answers(script: &mut Script, command: &str, words: &'static str) {
    script.check("", command, move |text| {
        let is_right = unfolded(text).contains(words) && !text.contains(CLOSED);
        if is_right { Ok(()) } else { Err(format!("expected {words:?}, got {text}")) }
    });
}

/// A session with the process of a dump, for one command.
fn session(connect: &str, server: &Server) -> Script {
    let mut script = Script::new(DUMP);
    script.expect(format!("{connect} {}", server.address), "Captured state");
    script
}

#[test]
fn gdb_keeps_the_session_of_an_extended_remote() {
    let fixture = named(DUMP);
    let pc = format!(" = {:#x}", fixture.waves[0].pc().unwrap());
    let count = fixture.waves.len();
    for name in GDBS {
        let server = Server::start(&fixture.dump, &[]);
        // The typed command, gdb's output, and whether the process still exists.
        let gestures = [
            ("run", WORDS, true),
            ("start", WORDS, true),
            ("starti", "", true),
            ("attach 1", "Thread 1 \"AMDGPU Wave", true),
            ("attach 12", "Attaching to ", false),
            ("kill", "killed", false),
            ("detach", "detached", false),
        ];
        for (gesture, words, stays) in gestures {
            let mut script = session("target extended-remote", &server);
            answers(&mut script, gesture, words);
            if !stays {
                answers(&mut script, "info threads", "No threads.");
                answers(&mut script, "bt", "No stack.");
                answers(&mut script, "continue", "The program is not being run.");
                answers(&mut script, "stepi", "The program is not being run.");
                answers(&mut script, "run", WORDS);
            }
            script.check("threads", "info threads", move |text| {
                let threads = text.matches("AMDGPU Wave").count();
                if threads == count { Ok(()) } else { Err(format!("{threads} threads: {text}")) }
            });
            script.expect("p/x $pc", &pc);
            answers(&mut script, "bt 1", "saxpy (");
            answers(&mut script, "continue", WORDS);
            answers(&mut script, "monitor wave", "Thread 1: ");
            answers(&mut script, "disconnect", "");
            answers(&mut script, "bt", "No stack.");
            script.must_pass(&Debugger::Gdb(name));
        }
        // The reason for rejecting another process comes with the next text.
        let mut script = session("target extended-remote", &server);
        script.say("attach 12");
        answers(&mut script, "run", "The captured state is process 1: `attach 1` or `run`.");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// The captured state is one process: a second inferior gets it after `kill` in the first.
#[test]
fn one_inferior_of_gdb_has_the_captured_state() {
    const REASON: &str =
        "The captured state is one process, of another inferior: `kill inferiors N` there comes first.";
    let fixture = named(DUMP);
    let threads = fixture.waves.len();
    for name in GDBS {
        let server = Server::start(&fixture.dump, &[]);
        for gesture in ["attach 1", "run"] {
            let mut script = session("target extended-remote", &server);
            script.say("add-inferior");
            script.say("inferior 2");
            answers(&mut script, gesture, "");
            answers(&mut script, "monitor waves", REASON);
            answers(&mut script, "inferior 1", "#0  ");
            script.check("threads", "info threads", move |text| {
                let (all, first) = (text.matches("AMDGPU Wave").count(), text.matches(" 1.").count());
                if all == threads && first == threads { Ok(()) } else { Err(text.to_owned()) }
            });
            answers(&mut script, "bt 1", "saxpy (");
            // The same inferior restarts.
            answers(&mut script, "attach 1", "Thread 1");
            answers(&mut script, "attach 1", "Thread 1");
            answers(&mut script, "bt 1", "saxpy (");
            answers(&mut script, "kill inferiors 1", "");
            script.say("inferior 2");
            answers(&mut script, "attach 1", "Thread 2.1 ");
            answers(&mut script, "bt 1", "saxpy (");
            script.must_pass(&Debugger::Gdb(name));
        }
        server.finish();
    }
}

#[test]
fn gdb_ends_a_remote_with_a_plain_message() {
    let fixture = named(DUMP);
    for name in GDBS {
        let server = Server::start(&fixture.dump, &[]);
        let gestures = [
            ("run", "The \"remote\" target does not support \"run\"", true),
            ("start", "The \"remote\" target does not support \"run\"", true),
            ("kill", "killed", false),
            ("detach", "detached", false),
            ("disconnect", "", false),
        ];
        for (gesture, words, stays) in gestures {
            let mut script = session("target remote", &server);
            answers(&mut script, gesture, words);
            answers(&mut script, "continue", if stays { WORDS } else { "The program is not being run." });
            answers(&mut script, "bt", if stays { "saxpy (" } else { "No stack." });
            script.must_pass(&Debugger::Gdb(name));
        }
        server.finish();
    }
}

/// A server for one client ends with the connection, not with the process.
#[test]
fn a_server_for_one_client_ends_with_the_connection() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &["--once"]);
    let mut script = session("target extended-remote", &server);
    answers(&mut script, "kill", "killed");
    answers(&mut script, "run", WORDS);
    script.must_pass(&Debugger::Gdb("gdb"));
    assert!(server.ended().success());
}
