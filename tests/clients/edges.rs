//! Error messages, and the limits of a capture: each is reported at its place, and the session continues. The test
//! writes the dump, and every byte of it is known.

use std::fs;
use std::path::PathBuf;

use super::harness::{Server, lldb_name, scratch};
use super::script::{Debugger, Script, gdbs};

/// v3 has four lanes; v4 has all, as floats; the bounds of memory are not aligned.
fn dump() -> PathBuf {
    let folder = scratch("edges");
    fs::create_dir_all(&folder).unwrap();
    let floats: Vec<String> = (0..64).map(|lane| format!("{:.2}", f64::from(lane) * 0.75 - 2.25)).collect();
    let manifest = format!(
        "format = 1\n\
         [[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
         [[wave]]\nid = 7\nagent = 1\nstop = [\"breakpoint\"]\n\
         [wave.registers]\npc = \"0x7f0000100000\"\nexec = \"0xf0f0\"\nv3 = [1, 2, 3, 4]\nv4 = {{ f32 = [{}] }}\n\
         [[memory]]\naddress = \"0x2010\"\nhex = \"01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10\"\n",
        floats.join(", ")
    );
    fs::write(folder.join("manifest.toml"), manifest).unwrap();
    folder
}

#[test]
fn gdb_reports_missing_data() {
    gdbs().for_each(in_gdb);
}

fn in_gdb(name: &'static str) {
    let dump = dump();
    let server = Server::start(&dump, &[]);
    let mut script = Script::new("edges");
    script.say(format!("target remote {}", server.address));
    // The beginning and the end of memory.
    script.expect("x/2xb 0x2010", "0x2010:\t0x01\t0x02");
    script.expect("x/4xb 0x200e", "Cannot access memory at address 0x200e");
    script.expect("x/4xb 0x201e", "0x201e:\t0x0f\t0x10\tCannot access memory at address 0x2020");
    script.expect("find 0x2010, 0x201f, (char)5", "0x2014");
    script.expect("info mem", "0x0000000000002010 0x0000000000002020");
    // Tags without an address space, and spaces without memory of the wave.
    script.expect("x/xb 0x9900000000000000", "Cannot access memory at address 0x9900000000000000");
    script.expect("x/xb 0x0500007f00000000", "Cannot access memory at address 0x500007f00000000");
    // Lanes as floats, by gdb's own formats.
    script.expect("p/f $v4[0]", "= -2.25");
    script.expect("p/f $v4[63]", "= 45");
    script.expect("p $v3", "= <unavailable>");
    script.expect("p $rax", "= <unavailable>");
    script.expect("p $v4[64]", "no such vector element");
    // Impossible changes without effect: no memory, no such register, no syntax for a lane without a value in gdb.
    script.expect("set var {char}0x2020 = 1", "Cannot access memory at address 0x2020");
    script.expect("set var $rax = 1", "the wave has no rax: there is nothing to write");
    script.expect("set var $v3[1] = 3", "not all lanes of v3 were captured");
    script.expect("monitor set $v3[64] = 1", "There is no lane 64 in `$v3`: it has 64.");
    script.expect("monitor set $v3[1]", "The target or the value is missing.");
    script.expect("monitor changes", "Nothing is changed: everything reads as it was captured.");
    script.expect("p/x $exec", "= 0xf0f0");
    script.expect("p/x $pc", "= 0x7f0000100000");
    script.expect("x/xb 0x2010", "0x2010:\t0x01");
    // The server's own commands.
    script.expect("monitor nonsense", "No command \"nonsense\"");
    script.expect("monitor lane 64", "no lane 64");
    script.expect("monitor lane", "Lane 4 of thread 1");
    script.expect("monitor locals", "No variables: ");
    script.expect("monitor memory private_lane 0x10 16", "was not captured");
    script.expect("monitor memory global 0x2018 4", "09 0a 0b 0c");
    script.expect("monitor register v3 full", "00000001 00000002 00000003 00000004 xxxxxxxx");
    script.expect("monitor register v900", "no register v900");
    script.expect("thread 2", "Unknown thread 2");
    // Possible changes.
    script.expect("monitor set $v3[5] = 77", "unsigned int $v3[5] = 77  [VGPR3 lane 5]");
    script.expect("monitor register v3 full", "00000004 xxxxxxxx 0000004d xxxxxxxx");
    script.expect("monitor changes", "wave 7 v3[lane 5]: not captured -> 0x4d");
    script.say("set var {char}0x2010 = 9");
    script.expect("x/2xb 0x2010", "0x2010:\t0x09\t0x02");
    script.expect("monitor reset", "Dropped 1 changed dword of registers and 1 changed byte of memory.");
    script.expect("x/2xb 0x2010", "0x2010:\t0x01\t0x02");
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb(name));
    server.finish();
    fs::remove_dir_all(dump).unwrap();
}

#[test]
fn lldb_reports_missing_data() {
    let dump = dump();
    let server = Server::start(&dump, &[]);
    let mut script = Script::new("edges");
    // lldb reads lines of 512 bytes and fails on a line without its first byte, unless a setting disables lines.
    script.say("settings set target.process.disable-memory-cache true");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("memory read --size 1 --format x --count 2 0x2010", ": 0x01 0x02");
    script.expect("memory read --size 1 --format x --count 2 0x200e", "error: ");
    script.expect("memory read --size 1 --format x --count 4 0x201e", "Not all bytes (2/4)");
    script.expect("memory region 0x2010", "[0x0000000000002010-0x0000000000002020) r--");
    script.expect("memory region 0x2020", "---");
    script.expect("register read --format float32[] v4", "{-2.25 -1.5 -0.75 0 ");
    script.expect("register read v3", "error: unavailable");
    script.expect("memory write 0x2020 5", "error: Memory write to 0x2020 failed");
    script.expect("memory write 0x201f 5 6", "error: Memory write to 0x201f failed");
    script.expect("register read exec", "exec = 0x000000000000f0f0");
    script.expect("expression $exec", "= 61680");
    script.expect("detach", "Process 1 detached");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    fs::remove_dir_all(dump).unwrap();
}
