//! Unmodified debuggers as clients of the synthetic capture. A debugger that is not installed is a failure: scripts/setup
//! installs them.

use std::ffi::OsStr;
use std::process::Command;

use super::sockets::{address, start};
use crate::support::{GDB_PATIENCE, LLDB_PATIENCE, newest, sample::sampled};
use lanescope::server::ServeOptions;

/// The output of a debugger that runs these commands, and then ends.
///
/// `PORT` in a command is the server's. A debugger that hangs is ended after a minute and fails the test by its
/// missing output.
fn session(debugger: impl AsRef<OsStr>, arguments: &[&str], option: &str, commands: &[&str]) -> String {
    let (endpoints, _server) = start(ServeOptions::default());
    let port = address(&endpoints).port().to_string();
    let mut command = Command::new("timeout");
    let debugger = debugger.as_ref();
    command.arg("60").arg(debugger).args(arguments).current_dir(env!("LANESCOPE_ROOT"));
    for line in commands {
        command.arg(option).arg(line.replace("PORT", &port));
    }
    let output = command.output().unwrap();
    // timeout(1): the command was not found.
    assert_ne!(output.status.code(), Some(127), "{debugger:?} is not installed: scripts/setup installs it");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    said.into_owned()
}

fn gdb(debugger: &str, commands: &[&str]) -> String {
    let first = ["set debuginfod enabled off", "set width 0", "target remote :PORT"];
    session(debugger, &[GDB_PATIENCE, &["-q", "-nx", "-batch"]].concat(), "-ex", &[&first, commands].concat())
}

fn lldb(commands: &[&str]) -> String {
    let first = ["settings set stop-disassembly-display never", "gdb-remote PORT"];
    session(newest("lldb"), &[LLDB_PATIENCE, &["-x", "--batch"]].concat(), "-o", &[&first, commands].concat())
}

#[track_caller]
fn expect_lines(said: &str, lines: &[&str]) {
    for line in lines {
        assert!(said.contains(line), "{line:?} is not in what the debugger said:\n{said}");
    }
}

#[test]
fn gdb_shows_waves_registers_and_tagged_memory() {
    for debugger in ["gdb", "gdb-multiarch"] {
        let commands = [
            "info threads",
            "p/x $exec",
            "p $v0[3]",
            "p $v1",
            "x/4xb 0x0500007f00000010",
            "set var $lane = 3",
            "x/4xb 0x0500007f00000010",
            "x/8xb 0x11fffe",
        ];
        let said = gdb(debugger, &commands);
        expect_lines(
            &said,
            &[
                "Captured state of synthetic.toml: 4 waves of gfx90a (wave64).",
                "* 2    Thread 2 \"AMDGPU Wave 1:1:1:2 (0,0,0)/1\" (memory violation (page fault), saxpy) 0x00007fff00001010 in ?? ()",
                "= 0xffffffffffffffff",
                "= 65539",
                "<unavailable>",
                "0x500007f00000010:\t0x10\t0x11\t0x12\t0x13",
                "0x500007f00000010:\t0x13\t0x14\t0x15\t0x16",
                "0x11fffe:\t0xc5\t0xc6\t",
                "Cannot access memory at address 0x120000",
            ],
        );
        assert!(!said.contains("rejected"), "{said}");
    }
}

#[test]
fn gdb_steps_a_wave_at_a_breakpoint_without_end_in_sight() {
    // A plain repeat of the stop makes `step` go on for ever where there is line information.
    let commands = [
        // gdb 13 aborts at AMD's frame information.
        "maint set dwarf unwinders off",
        "add-symbol-file tests/fixtures/code/saxpy-gfx90a-O0.hsaco -s .text 0x7fff00001000",
        "thread 3",
        "step",
        "next",
        "stepi",
        "continue",
        "monitor wave",
    ];
    let said = gdb("gdb", &commands);
    expect_lines(&said, &["saxpy.hip:36", "Thread 3: AMDGPU Wave 1:1:1:3 (0,0,0)/2, breakpoint."]);
    let refused = said.matches("This is a captured state: nothing can run").count();
    assert_eq!(refused, 4, "each command is refused once:\n{said}");
}

#[test]
fn gdb_knows_which_thread_the_monitor_is_about() {
    let commands = ["info threads", "monitor wave", "thread 3", "thread apply all p $pc", "monitor wave"];
    let said = gdb("gdb", &commands);
    let about: Vec<&str> = said
        .lines()
        .filter(|line| line.ends_with("breakpoint.") || line.ends_with("(page fault)."))
        .collect();
    assert_eq!(about.len(), 2, "{said}");
    assert!(about[0].starts_with("Thread 2:") && about[1].starts_with("Thread 3:"), "{said}");
}

#[test]
fn gdb_changes_registers_and_memory_for_itself() {
    let commands = [
        "set var $s0 = 1",
        "p $s0",
        "set var $v0[3] = 77",
        "p $v0[3]",
        "p $v0[4]",
        "set var *(int *)0x100000 = 4",
        "x/xw 0x100000",
        "set var *(char *)0x0500007f00000010 = 9",
        "x/2xb 0x0500007f00000010",
        "set var $v1[3] = 1",
        "set var $rax = 1",
        "set var *(int *)0x10 = 4",
        "monitor changes",
        "monitor reset",
        "maint flush register-cache",
        "p $s0",
        "x/xw 0x100000",
    ];
    for debugger in sampled(["gdb", "gdb-multiarch"], 2) {
        let said = gdb(debugger, &commands);
        expect_lines(
            &said,
            &[
                "$1 = 1",
                "$2 = 77",
                "$3 = 65540",
                "0x100000:\t0x00000004",
                "0x500007f00000010:\t0x09\t0x11",
                "not all lanes of v1 were captured, and gdb would write zeros to the others",
                "the wave has no rax: there is nothing to write",
                "Cannot access memory at address 0x10",
                "wave 2 s0: 0x100 -> 0x1",
                "wave 2 v0[lane 3]: 0x10003 -> 0x4d",
                "global memory at 0x100000: 95 96 97 98 -> 04 00 00 00",
                "$4 = 256",
                "0x100000:\t0x98979695",
            ],
        );
        // The lanes of v0 that were not set are as they were, and no others changed.
        assert_eq!(said.matches("wave 2 v").count(), 1, "{said}");
    }
}

#[test]
fn lldb_shows_waves_registers_and_tagged_memory() {
    let commands = [
        "thread list",
        "register read exec v1",
        "memory read 0x0500007f00000010 -c 4",
        "memory region 0x100000",
        "process plugin packet monitor memory local 0x10 4",
        "process plugin packet send qlanescope.Version",
    ];
    let said = lldb(&commands);
    expect_lines(
        &said,
        &[
            "stop reason = memory violation",
            "thread #3: tid = 3, 0x00007fff00001020, name = 'AMDGPU Wave 1:1:1:3 (0,0,0)/2, saxpy'",
            "exec = 0xffffffffffffffff",
            "= error: unavailable",
            "0x500007f00000010: 10 11 12 13",
            "[0x0000000000100000-0x0000000000120000) r-- heap",
            "local#0x00000010: 10 11 12 13",
            "\"client\":\"lldb\"",
        ],
    );
}

#[test]
fn lldb_changes_registers_and_memory_for_itself() {
    let commands = [
        "register write s0 1",
        "register read s0",
        "memory write 0x100000 1 2 3",
        "memory read 0x100000 -c 4",
        "memory write 0x0500009100000010 9",
        "memory read 0x0500009100000010 -c 2",
        "process plugin packet monitor changes",
        "process plugin packet monitor reset",
    ];
    let said = lldb(&commands);
    expect_lines(
        &said,
        &[
            "s0 = 0x00000001",
            "0x00100000: 01 02 03 98",
            "0x500009100000010: 09 22",
            "wave 2 s0: 0x100 -> 0x1",
            "global memory at 0x100000: 95 96 97 -> 01 02 03",
            "Dropped 1 changed dword of registers and 4 changed bytes of memory.",
        ],
    );
}

#[test]
fn lldb_stays_when_it_resumes() {
    // --batch ends at a stop that looks like a crash, so the commands come from a file.
    let script = std::env::temp_dir().join(format!("lanescope-lldb-{}", std::process::id()));
    std::fs::write(&script, "thread select 3\nthread step-inst\nthread step-over\ncontinue\nthread list\n")
        .unwrap();
    let source = format!("command source -s 0 {}", script.display());
    let first =
        ["settings set stop-disassembly-display never", "settings set target.process.stop-on-exec false"];
    let said = session(
        newest("lldb"),
        &["-x"],
        "-o",
        &[&first[..], &["gdb-remote PORT", &source, "detach", "quit"]].concat(),
    );
    std::fs::remove_file(&script).unwrap();
    expect_lines(
        &said,
        &["stop reason = breakpoint (a captured state: nothing can run)", "Process 1 detached"],
    );
    assert!(!said.contains("lost connection"), "{said}");
}
