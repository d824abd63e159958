//! Views that gdb would not find, or drops: `set sysroot`, `file`, `symbol-file`, `nosharedlibrary`; a PC without code.

use super::harness::Server;
use super::model::{Fixture, Wave, named};
use super::script::{Debugger, Script, gdbs};
use crate::support::sample::sampled;

/// The commands that restore the views.
const ADVICE: &str = "gdb has dropped the view of this code: `sharedlibrary` or `stepi` loads it again.";

/// File and line of a wave.
fn place(wave: &Wave) -> String {
    format!("{}:{}", wave.expected["file"].as_str().unwrap(), wave.expected["line"])
}

/// Asserts that each wave has its file and line.
fn all_are_placed(script: &mut Script, fixture: &Fixture) {
    for wave in &fixture.waves {
        script.say(format!("thread {}", wave.number));
        script.expect("bt 1", place(wave));
        script.never("bt", "Cannot access memory");
    }
}

/// Asserts that frame 0 has its variables.
fn is_whole(script: &mut Script, fixture: &Fixture) {
    script.expect("bt 1", place(&fixture.waves[0]));
    script.never("bt", "Cannot access memory");
    let locals = fixture.waves[0].expected["locals"].as_array().unwrap();
    let known = locals.iter().find(|local| local["type"] == "int" && local["state"] == "ok").unwrap();
    let (name, value) = (known["name"].as_str().unwrap(), known["values"][0].as_str().unwrap());
    script.expect(format!("p {name}"), format!(" = {value}\n"));
}

#[test]
fn gdb_finds_views_whatever_its_sysroot_is() {
    let sysroots = ["set sysroot", "set sysroot /", "set sysroot /nowhere", "set sysroot target:/nowhere"];
    let begins = sysroots.map(|sysroot| ["echo", "file /bin/true"].map(|first| (sysroot, first)));
    // One code object, and several. The sample has each of these words.
    let dumps = ["saxpy-gfx90a-O0", "mixed-vgprs"].into_iter();
    let all = dumps.flat_map(|dump| begins.as_flattened().iter().map(move |begin| (dump, *begin)));
    for (dump, (sysroot, first)) in sampled(all, 3) {
        let fixture = named(dump);
        for name in gdbs() {
            let server = Server::start(&fixture.dump, &[]);
            let mut script = Script::new(dump);
            script.say(sysroot);
            script.say(first);
            script.never(format!("target remote {}", server.address), "No such file");
            script.never("info sharedlibrary", "No  ");
            all_are_placed(&mut script, &fixture);
            // The same while gdb is connected.
            script.say("set sysroot /usr");
            all_are_placed(&mut script, &fixture);
            script.must_pass(&Debugger::Gdb(name));
            server.finish();
        }
    }
}

#[test]
fn gdb_loads_dropped_views_again() {
    let fixture = named("saxpy-gfx90a-O0");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let gestures = [
            ("echo", "file /bin/true"),
            ("echo", "file"),
            ("echo", "symbol-file /bin/true"),
            ("echo", "symbol-file"),
            ("file /bin/true", "nosharedlibrary"),
            ("file /bin/true", "symbol-file"),
        ];
        for (index, (before, gesture)) in gestures.into_iter().enumerate() {
            // In the sample one of both, by turns.
            let remedies = ["sharedlibrary", "stepi"].into_iter().cycle().skip(index).take(2);
            for remedy in sampled(remedies, 2) {
                let mut script = Script::new(gesture);
                script.say(before);
                script.say(format!("target remote {}", server.address));
                is_whole(&mut script, &fixture);
                // Reads of the user are not gdb's own.
                script.say("p *(char(*)[64])$sp");
                script.say("x/gx $sp");
                script.say("p *(char(*)[64])$sp");
                script.never("monitor wave", ADVICE);
                script.never("stepi", ADVICE);
                // With a program of the user's gdb has the main view as a library, otherwise never.
                if before == "echo" {
                    script.never("info sharedlibrary", "lanescope/lib/");
                }
                script.never("monitor wave", ADVICE);
                script.say(gesture);
                script.expect("bt", "#0  0x");
                script.expect("monitor wave", ADVICE);
                script.say(remedy);
                is_whole(&mut script, &fixture);
                script.never("monitor wave", ADVICE);
                script.never("stepi", ADVICE);
                is_whole(&mut script, &fixture);
                script.must_pass(&Debugger::Gdb(name));
            }
        }
        server.finish();
    }
}

/// `file` with the view's name loads it at the file's addresses: the library stays, and `run` moves it to the waves.
#[test]
fn a_view_is_the_program_again() {
    const LIBRARY: &str = "target:/lanescope/lib/";
    let fixture = named("saxpy-gfx90a-O0");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("file");
        script.say(format!("target extended-remote {}", server.address));
        script.say("symbol-file");
        script.expect("bt", "#0  0x");
        script.say("stepi");
        script.expect("info sharedlibrary", LIBRARY);
        is_whole(&mut script, &fixture);
        script.say("file target:/lanescope/saxpy-gfx90a-O0.hsaco");
        for _ in 0..2 {
            script.say("stepi");
            is_whole(&mut script, &fixture);
        }
        script.expect("info sharedlibrary", LIBRARY);
        script.say("run");
        is_whole(&mut script, &fixture);
        script.never("info sharedlibrary", LIBRARY);
        script.say("stepi");
        is_whole(&mut script, &fixture);
        // Dropped again.
        script.say("symbol-file");
        script.expect("bt", "#0  0x");
        script.say("stepi");
        script.expect("info sharedlibrary", LIBRARY);
        is_whole(&mut script, &fixture);
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// The stack of a PC outside of all code objects ends in a frame that reports it.
#[test]
fn a_pc_without_code_ends_the_stack_with_a_reason() {
    let fixture = named("saxpy-gfx90a-O0");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("pc");
        script.say(format!("target remote {}", server.address));
        for pc in ["0", "0x1234", "0x7f0000900000"] {
            script.say(format!("set var $pc = {pc}"));
            script.expect("bt", "#0  0x");
            script.expect("bt", " in no_code_object ()");
            script.never("bt", "Cannot access memory");
            script.never("bt", "#2 ");
            script.never("monitor wave", ADVICE);
            script.expect("stepi", "The PC is not the captured one");
        }
        script.say("monitor reset");
        script.say("maint flush register-cache");
        is_whole(&mut script, &fixture);
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}
