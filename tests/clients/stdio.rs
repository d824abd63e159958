//! `target remote | lanescope serve --stdio DUMP`: the server on gdb's pipe.

use std::fs;
use std::path::Path;

use super::harness::{lanescope, scratch};
use super::locals;
use super::model::named;
use super::script::{Debugger, Script};
use crate::support::until;

const DUMP: &str = "saxpy-gfx1100-O0";

#[test]
fn gdb_reads_a_dump_through_a_pipe_and_takes_the_server_with_it() {
    for name in ["gdb", "gdb-multiarch"] {
        let fixture = named(DUMP);
        let pid_file = scratch("pid");
        let mut script = Script::new(DUMP);
        // The shell becomes the server, so that the test can find its process afterwards.
        script.check(
            "attaching",
            format!(
                "target remote | echo $$ > '{}'; exec '{}' serve --stdio '{}'",
                pid_file.display(),
                lanescope(),
                fixture.dump.display()
            ),
            |text| {
                if text.contains("Captured state") { Ok(()) } else { Err(format!("no greeting in {text:?}")) }
            },
        );
        for wave in &fixture.waves {
            script.expect(format!("thread {}", wave.number), format!("(Thread {})", wave.thread));
            script.expect("p/x $pc", format!(" = {:#x}", wave.pc().unwrap()));
            let (model, lanes) = (wave.clone(), wave.shown_lanes());
            script.check("locals", "monitor locals all full", move |text| {
                locals::compare(&model, &lanes, text)
            });
        }
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(name));
        gone(&pid_file);
    }
}

#[test]
fn the_server_of_a_pipe_ends_with_a_client_that_does_not_detach() {
    let fixture = named(DUMP);
    let pid_file = scratch("pid");
    let mut script = Script::new(DUMP);
    script.say(format!(
        "target remote | echo $$ > '{}'; exec '{}' serve --stdio '{}'",
        pid_file.display(),
        lanescope(),
        fixture.dump.display()
    ));
    script.expect("p/x $pc", format!(" = {:#x}", fixture.waves[0].pc().unwrap()));
    // An end without the debugger's own packets: no D, no k.
    script.say("python import os; os.kill(os.getpid(), 9)");
    script.say("echo still here");
    let wrong = script.run(&Debugger::Gdb("gdb"));
    assert!(wrong.len() == 1 && wrong[0].contains("ended before `python"), "{wrong:?}");
    gone(&pid_file);
}

/// Waits until the process of a pid file has ended.
fn gone(pid_file: &Path) {
    let pid: u32 = fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    until(format!("the end of the server {pid}, whose client is gone"), || {
        let status = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (!status.contains("--stdio")).then_some(())
    });
    fs::remove_file(pid_file).unwrap();
}
