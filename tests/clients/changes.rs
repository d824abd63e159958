//! What-if changes of a debugger user: visible in registers, memory, variables, lanes and call stacks; gone after a
//! reset; invisible to other clients and to the dump's files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::harness::{Server, lldb_name};
use super::lldb::{MONITOR, choose};
use super::model::{fixtures_folder, named};
use super::script::{Debugger, Script, gdbs};
use crate::support::GDB_PATIENCE;

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().flatten();
    files
        .map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap()))
        .collect()
}

#[test]
fn gdb_asks_what_if() {
    gdbs().for_each(in_gdb);
}

/// calls-gfx90a: `launch` calls `middle`, which calls `leaf`; s30 and s31 hold the return address. Values are those
/// of tests/fixtures/expected/calls-gfx90a.json.
fn in_gdb(name: &'static str) {
    let dump = fixtures_folder().join("dumps/calls-gfx90a");
    let before = files(&dump);
    let server = Server::start(&dump, &[]);
    let mut script = Script::new("what if");
    script.say(format!("target remote {}", server.address));
    script.say("thread 1");
    script.expect("p/x $s30", "= 0x1016ac");
    script.expect("monitor backtrace", "#1  middle");
    // In `launch`, after its call.
    script.say("set var $s30 = 0x101778");
    script.expect("p/x $s30", "= 0x101778");
    script.expect("monitor backtrace", "#1  launch");
    script.say("set var $exec = 5");
    script.expect("monitor lanes full", "*  0      active");
    script.expect("monitor lanes full", "   1      inactive");
    script.expect("monitor lanes full", "   2      active");
    script.expect("monitor lanes full", "   4      inactive");
    // A variable in a vector register, by its own name and by its location.
    script.expect("monitor locals 5 explain", "int y = 505  (lane 5: inactive)  [VGPR40 lane 5]");
    script.say("set var $v40[5] = 77");
    script.expect("p $v40[5]", "= 77");
    script.expect("monitor locals 5 explain", "int y = 77  (lane 5: inactive)  [VGPR40 lane 5]");
    script.expect("monitor set lane 5 y = -3", "gdb does not report which thread is selected now");
    script.expect("monitor thread 1 set lane 5 y = -3", "int y = -3");
    script.say("maint flush register-cache");
    script.expect("p $v40[5]", "= 4294967293");
    // Global memory: the kernel's argument.
    script.say("set var {int}0x7f0000400000 = 5");
    script.expect("x/2xw 0x7f0000400000", "0x00000005\t0x00000000");
    // Private memory of lane 5, and the same bytes in the wave's layout: 4 lanes of 4 bytes after lane 1.
    script.say("set var {int}0x0500000500000040 = 0x01020304");
    script.expect("x/xw 0x0600000000001014", "0x01020304");
    script.expect("x/xw 0x0500000500000040", "0x01020304");
    script.expect("monitor changes", "wave 1 s30: 0x1016ac -> 0x101778");
    script.expect("monitor changes", "wave 1 exec[31:0]: 0x11111111 -> 0x5");
    script.expect("monitor changes", "wave 1 v40[lane 5]: 0x1f9 -> 0xfffffffd");
    script.expect("monitor changes", "global memory at 0x7f0000400000: 00 -> 05");
    script.expect("monitor changes", "private_lane[5]#0x40 of wave 1: ");
    // Another client of the same server, at the same time.
    let other = |ask: &str| {
        format!(
            "shell {name} -nx -q -batch {} '{}' -ex 'target remote {}' -ex 'thread 1' -ex '{ask}'",
            GDB_PATIENCE[0], GDB_PATIENCE[1], server.address
        )
    };
    script.expect(other("p/x $s30"), "$1 = 0x1016ac");
    script.expect(other("x/xw 0x7f0000400000"), "0x7f0000400000:\t0x00000000");
    script.expect(other("monitor changes"), "Nothing is changed");
    script.expect(other("monitor backtrace"), "#1  middle");
    script.expect("monitor reset registers", "Dropped 4 changed dwords of registers.");
    script.say("maint flush register-cache");
    script.expect("p/x $s30", "= 0x1016ac");
    script.expect("p/x $exec", "= 0x1111111111111111");
    script.expect("monitor backtrace", "#1  middle");
    script.expect("x/xw 0x7f0000400000", "0x00000005");
    script.expect("monitor reset", "Dropped 0 changed dwords of registers and ");
    script.expect("x/xw 0x7f0000400000", "0x00000000");
    script.expect("monitor changes", "Nothing is changed: everything reads as it was captured.");
    // gdb's own stack follows the PC.
    script.say("set var $pc = 0x7f0000101600");
    script.expect("p/x $pc", "= 0x7f0000101600");
    script.expect("monitor backtrace", "#0  middle (0x7f0000101600)");
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb(name));
    server.finish();
    assert!(files(&dump) == before, "the dump has changed");
}

#[test]
fn lldb_asks_what_if() {
    let dump = fixtures_folder().join("dumps/calls-gfx90a");
    let before = files(&dump);
    let server = Server::start(&dump, &[]);
    let mut script = Script::new("what if");
    script.say(format!("gdb-remote {}", server.address));
    script.say("script lldb.process.SetSelectedThreadByID(1)");
    script
        .expect(format!("{MONITOR} set lane 5 y = 77"), "lldb does not report which thread is selected now");
    script.say(choose(1));
    script.expect("register read s30", "s30 = 0x001016ac");
    script.say("register write s30 0x101778");
    script.expect("register read s30", "s30 = 0x00101778");
    script.expect(format!("{MONITOR} backtrace"), "#1  launch");
    script.say("register write exec 5");
    script.expect(format!("{MONITOR} lanes full"), "   4      inactive");
    script.expect(format!("{MONITOR} set lane 5 y = 77"), "int y = 77");
    // The step does not run the wave, but makes lldb read all state again.
    script.say("thread step-inst");
    script.expect("register read v40", "0x0000004d 0x0000004d 0x000001fa");
    script.say("memory write 0x7f0000400000 1 2 3");
    script.expect("memory read --size 1 --format x --count 4 0x7f0000400000", ": 0x01 0x02 0x03 0x00");
    script.say("memory write --size 4 0x0500008500000040 0x01020304");
    script.expect("memory read --size 4 --format x --count 1 0x0600008000001014", ": 0x01020304");
    script.expect(format!("{MONITOR} changes"), "wave 1 s30: 0x1016ac -> 0x101778");
    script.expect(format!("{MONITOR} changes"), "wave 1 v40[lane 5]: 0x1f9 -> 0x4d");
    script.expect(format!("{MONITOR} changes"), "global memory at 0x7f0000400000: 00 00 00 -> 01 02 03");
    script.expect(format!("{MONITOR} reset"), "Dropped 4 changed dwords of registers and 7 changed bytes");
    script.say("thread step-inst");
    script.expect("register read s30", "s30 = 0x001016ac");
    script.expect("memory read --size 1 --format x --count 4 0x7f0000400000", ": 0x00 0x00 0x00 0x00");
    script.expect(format!("{MONITOR} changes"), "Nothing is changed");
    script.expect("detach", "Process 1 detached");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    assert!(files(&dump) == before, "the dump has changed");
}

/// calls-gfx90a, third wave: `count`, 1, is in s34 (tests/fixtures/kernels/calls.hip). lldb caches a variable's memory.
#[test]
fn a_variable_follows_the_register_that_it_is_in() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    for gdb in gdbs() {
        let mut script = Script::new("s34");
        script.say(format!("target remote {}", server.address));
        script.say("thread 3");
        script.expect("print count", "= 1\n");
        script.say("set var $s34 = 55");
        script.expect("print count", "= 55\n");
        script.must_pass(&Debugger::Gdb(gdb));
    }
    let select = "script lldb.process.SetSelectedThreadByID(3)";
    for (setting, until_the_next_stop) in [("false", 1), ("true", 55)] {
        let mut script = Script::new("s34");
        script.say(format!("settings set target.process.disable-memory-cache {setting}"));
        script.say(format!("gdb-remote {}", server.address));
        script.say(select);
        script.expect("frame variable count", "count = 1\n");
        script.say("register write s34 55");
        script.expect("frame variable count", format!("count = {until_the_next_stop}\n"));
        script.say("thread step-inst");
        script.say(select);
        script.expect("frame variable count", "count = 55\n");
        script.must_pass(&Debugger::Lldb(lldb_name()));
    }
    server.finish();
}

/// lds-gfx90a-O0, second wave, lldb's first thread: `best->key` is the work-group's number, 1, in LDS
/// (tests/fixtures/kernels/lds.cl). lldb caches memory; `monitor set` prints the command that clears its cache.
#[test]
fn lldb_reads_lds_again_after_the_command_that_monitor_set_names() {
    let fixture = named("lds-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    for (setting, until_the_next_stop) in [("false", 1), ("true", 99)] {
        let mut script = Script::new("LDS");
        script.say(format!("settings set target.process.disable-memory-cache {setting}"));
        script.say(format!("gdb-remote {}", server.address));
        script.expect("expr best->key", " = 1\n");
        script.expect(
            format!("{MONITOR} thread 1 set best->key = 99"),
            "lldb keeps what it has read: `thread step-inst` runs nothing here, and makes it read anew.",
        );
        script.expect("expr best->key", format!(" = {until_the_next_stop}\n"));
        script.say("thread step-inst");
        script.expect("expr best->key", " = 99\n");
        script.expect("frame variable best->key", " = 99\n");
        script.expect("expr ((entry_t *)best)[0].key", " = 99\n");
        script.expect(format!("{MONITOR} print best->key"), " = 99 ");
        script.must_pass(&Debugger::Lldb(lldb_name()));
    }
    server.finish();
}
