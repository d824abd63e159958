//! Stock debuggers without the helpers on GPU code: no x86-64 instruction, and the code's real bytes.

use std::collections::BTreeMap;

use super::disassembly::{LOADED, words};
use super::harness::{Server, lldb_name};
use super::model::{Fixture, Register, Wave, fixtures_folder, named};
use super::script::{Debugger, Script, gdbs, half, in_each};
use super::x86_facade::x86_view;
use crate::support::least;

const DUMPS: [&str; 4] = ["saxpy-gfx90a-O0", "saxpy-gfx942-O2", "saxpy-gfx1100-O0", "calls-gfx90a"];
/// Bytes of a line in gdb's code cache.
const LINE: u64 = 64;

fn dumps() -> Vec<Fixture> {
    DUMPS.iter().map(|name| named(name)).collect()
}

/// Text after the address and symbol of each line that has both: `=> 0x7f0000101500 <leaf()+4>: (bad)`.
fn instructions(text: &str) -> Vec<&str> {
    let listed = text.lines().filter(|line| line.trim_start_matches(['=', '-', '>', ' ']).starts_with("0x"));
    let parts = listed.filter_map(|line| line.split_once(":\t").or_else(|| line.split_once(">:")));
    parts.map(|(_, instruction)| instruction.trim()).collect()
}

/// Asserts that a listing has at least `least` lines, and no text except the marks of "no instruction".
fn none_of(words: &'static str, least: usize) -> impl Fn(&str) -> Result<(), String> {
    move |text| {
        let found = instructions(text);
        let other = found.iter().find(|instruction| **instruction != words);
        match other {
            Some(other) => Err(format!("an instruction of x86-64: {other:?} in {text}")),
            None if found.len() < least => Err(format!("{} lines: {text}", found.len())),
            None => Ok(()),
        }
    }
}

/// Asserts that gdb rejects disassembly at an address and prints no instruction.
fn refused(at: u64) -> impl Fn(&str) -> Result<(), String> {
    move |text| {
        let found = instructions(text);
        let words = format!("Cannot access memory at address {at:#x}");
        // `x/i` prints the error on the line of the address.
        let other = found.iter().find(|instruction| !instruction.is_empty() && **instruction != words);
        match other {
            Some(other) => Err(format!("an instruction of x86-64: {other:?} in {text}")),
            None if text.contains(&words) => Ok(()),
            None => Err(text.to_owned()),
        }
    }
}

/// The code object's bytes from an address on, from the file.
fn bytes(code: &BTreeMap<u64, Vec<u8>>, from: u64, count: usize) -> Vec<u8> {
    code.range(from..).flat_map(|(_, bytes)| bytes.iter().copied()).take(count).collect()
}

fn gdb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("target remote {address}"));
    let code = words(&fixture.name);
    for wave in &fixture.waves {
        let Some(pc) = wave.pc() else { continue };
        script.say(format!("thread {}", wave.number));
        let same = |expected: Vec<u8>| {
            move |text: &str| {
                let digits = text.split_once(":\t").map_or("", |(_, digits)| digits);
                let got: Vec<u8> = digits
                    .split_whitespace()
                    .filter_map(|digits| u8::from_str_radix(digits.strip_prefix("0x")?, 16).ok())
                    .collect();
                if got == expected { Ok(()) } else { Err(format!("expected {expected:x?}, got {text}")) }
            }
        };
        script.check("before", "x/8xb $pc", same(bytes(&code, pc, 8)));
        script.check("x/i", "x/4i $pc", refused(pc));
        script.check("bytes after instructions", "x/8xb $pc", same(bytes(&code, pc, 8)));
        script.check("x/i again", "x/4i $pc", refused(pc));
        script.check("a range", "disassemble $pc,+16", refused(pc));
        script.check("with sources", "disassemble /s $pc,+8", refused(pc));
        script.check("raw bytes", "disassemble /r $pc,+8", refused(pc));
        script.check("the function", "disassemble", |text| {
            let last = text.rsplit_once("Cannot access memory at address 0x").ok_or(text)?.1;
            let at = last.split_whitespace().next().and_then(|digits| u64::from_str_radix(digits, 16).ok());
            refused(at.ok_or(text)?)(text)
        });
        // A front end's listing.
        script.check(
            "MI",
            "interpreter-exec mi \"-data-disassemble -s $pc -e \\\"$pc + 16\\\" -- 0\"",
            |text| {
                let is_refused = text.contains("^error,msg=\"Cannot access memory at address 0x");
                if is_refused && !text.contains("inst=") { Ok(()) } else { Err(text.to_owned()) }
            },
        );
        // The server rejects the disassembler's read of a line once, with the next read of a byte in it. No byte
        // differs.
        let line = pc - pc % LINE;
        let whole = bytes(&code, line, LINE as usize);
        if code.contains_key(&line) && whole.len() == LINE as usize {
            let read = format!("p/x *(unsigned char (*)[{LINE}]) {line:#x}");
            let all: Vec<String> = whole.iter().map(|byte| format!("0x{byte:x}")).collect();
            for at in [line, pc, line + LINE - 1] {
                let byte = whole[(at - line) as usize];
                script.expect(&read, format!("Cannot access memory at address {line:#x}"));
                let refused = format!("Cannot access memory at address {at:#x}");
                script.expect(format!("p/x *(unsigned char *) {at:#x}"), refused);
                script.expect(format!("p/x *(unsigned char *) {at:#x}"), format!("= {byte:#x}\n"));
            }
            script.expect(&read, format!("Cannot access memory at address {line:#x}"));
            script.expect(&read, format!("= {{{}}}", all.join(", ")));
            script.expect(&read, format!("Cannot access memory at address {line:#x}"));
            let read = format!("p/x *(unsigned char (*)[{}]) {line:#x}", LINE - 1);
            script.expect(read, format!("= {{{}}}", all[..all.len() - 1].join(", ")));
            let find = format!("find /b {line:#x}, +{LINE}, {}", all[0]);
            script.expect(&find, "halting search");
            script.expect(&find, format!("{line:#x} <"));
        }
    }
    let pc = fixture.waves[0].pc().unwrap();
    script.say("thread 1");
    // A user's write over code is read back, and does not print an instruction either.
    script.say(format!("set var {{unsigned int}}{pc:#x} = 0xbf800007"));
    script.expect(format!("x/xw {pc:#x}"), "0xbf800007");
    script.check("what if", format!("x/4i {pc:#x}"), refused(pc));
    script.say("monitor reset");
    script.expect("x/i 0x10", "Cannot access memory at address 0x10");
    script
}

#[test]
fn gdb_shows_no_instructions_of_x86() {
    let each = |gdb: Debugger| in_each(half(dumps(), &gdb), &[], &gdb, gdb_script, least(60, 30));
    gdbs().map(Debugger::Gdb).for_each(each);
}

/// The raw bytes beside the helper's instructions are the GPU's.
#[test]
fn the_helper_of_gdb_shows_the_bytes_of_instructions() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let code = words(&fixture.name);
    let mut script = Script::new(&fixture.name);
    script.say(format!("source {}", super::disassembly::helper("gdb").display()));
    script.say(format!("target remote {}", server.address));
    let pc = fixture.waves[0].pc().unwrap();
    let first: Vec<String> = code[&pc].iter().map(|byte| format!("{byte:02x}")).collect();
    script.expect(format!("disassemble /r {pc:#x},+4"), first.join(" "));
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

/// Without a view gdb has no file with code. A PC outside of all code objects counts as code, too.
#[test]
fn code_without_a_view_is_no_x86_either() {
    for name in gdbs() {
        let fixture = named("calls-gfx90a");
        let server = Server::start(&fixture.dump, &["--view", "off"]);
        let mut script = Script::new("view off");
        script.say(format!("target remote {}", server.address));
        let pcs = fixture.waves.iter().filter_map(Wave::pc);
        // The result is the same for any selected thread.
        for pc in pcs {
            script.check("x/i", format!("x/4i {pc:#x}"), refused(pc));
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    // gdb takes the prologue of a function from other debug information.
    for name in gdbs() {
        let fixture = named("saxpy-gfx90a-O0");
        let server = Server::start(&fixture.dump, &["--view", "off"]);
        let symbols = x86_view(&fixtures_folder().join("code/saxpy-gfx90a-O0.hsaco"));
        let mut script = Script::new("symbols of the user");
        script.say("set architecture i386:x86-64");
        script.say(format!("symbol-file -o {LOADED:#x} {}", symbols.display()));
        script.say(format!("target remote {}", server.address));
        for wave in &fixture.waves {
            script.expect(format!("thread {}", wave.number), format!(":{}", wave.expected["line"]));
            script.expect("step", "captured state");
            script.check("the function", "x/4i saxpy", |text| {
                let at =
                    text.trim().split(' ').next().and_then(|at| u64::from_str_radix(at.get(2..)?, 16).ok());
                refused(at.ok_or(text)?)(text)
            });
            script.check("x/i", "x/4i $pc", refused(wave.pc().unwrap()));
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
        std::fs::remove_file(symbols).unwrap();
    }
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &["--view", "off"]);
    let mut script = Script::new("view off");
    script.say("settings set target.process.disable-memory-cache true");
    script.say(format!("gdb-remote {}", server.address));
    let pc = fixture.waves[0].pc().unwrap();
    script.expect("disassemble --start-address $pc --count 4", "error: Failed to disassemble memory at");
    script
        .expect(format!("memory read --count 16 {pc:#x}"), format!("error: memory read failed for {pc:#x}"));
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

fn lldb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    // Default settings: lldb disassembles at a stop without sources.
    script.say("settings set stop-disassembly-display always");
    script.say(format!("gdb-remote {address}"));
    let code = words(&fixture.name);
    for wave in &fixture.waves {
        let Some(pc) = wave.pc() else { continue };
        script.say(format!("thread select --thread-id {}", wave.thread));
        script.check("shown by itself", "frame select 0", none_of("<unknown>", 1));
        script.check("at the PC", "disassemble --pc", none_of("<unknown>", 4));
        script.check("some", "disassemble --count 8", none_of("<unknown>", 8));
        script.check("the frame", "disassemble --frame", none_of("<unknown>", 16));
        script.check("mixed", "disassemble --mixed --count 4", none_of("<unknown>", 4));
        // lldb 22 reads memory and code in the same way. Its answer has no byte of the code, and marks that.
        script.expect(format!("memory read --count 16 {pc:#x}"), "????????????????");
        let bytes: Vec<String> = bytes(&code, pc, 8).iter().map(|byte| format!("{byte:02x}")).collect();
        script.expect(
            format!("process plugin packet monitor memory global {pc:#x} 8"),
            format!(": {}", bytes.join(" ")),
        );
        let callers = wave.expected["callers"].as_array().map_or(0, Vec::len);
        script.check("the stack", "thread backtrace", move |text| {
            let frames = text.matches("frame #").count();
            if frames > callers { Ok(()) } else { Err(format!("{frames} frames: {text}")) }
        });
    }
    script
}

#[test]
fn lldb_shows_no_instructions_of_x86() {
    let lldb = Debugger::Lldb(lldb_name());
    in_each(half(dumps(), &lldb), &[], &lldb, lldb_script, least(60, 20));
}

/// LLDB has no lane type: it prints lanes, but has no bytes of a single lane.
#[test]
fn lldb_shows_lanes_of_vectors_and_no_registers_of_x86() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(&fixture.name);
    script.say(format!("gdb-remote {}", server.address));
    let vector = |wave: &Wave| {
        let whole = |(name, register)| match register {
            Register::Lanes(lanes) => Some((name, lanes.into_iter().collect::<Option<Vec<u32>>>()?)),
            Register::Absent | Register::Scalar(_) => None,
        };
        wave.registers().into_iter().find_map(whole)
    };
    let found = fixture.waves.iter().find_map(|wave| Some((wave.thread, vector(wave)?)));
    let (thread, (name, lanes)) = found.expect("a vector that was captured in all lanes");
    script.say(format!("thread select --thread-id {thread}"));
    let all: Vec<String> = lanes.iter().map(|lane| format!("{lane:#010x}")).collect();
    let all = format!("{{{}}}", all.join(" "));
    script.expect(format!("register read {name}"), format!("{name} = {all}"));
    script.expect(format!("p ${name}"), &all);
    script.expect(format!("frame variable ${name}"), &all);
    for command in [format!("p ${name}[17]"), format!("frame variable ${name}[17]")] {
        script.expect(command, "error: ");
    }
    // The replacement in docs/lldb.md.
    script.expect(format!("process plugin packet monitor print/x ${name}[17]"), format!("{:#x}", lanes[17]));
    script.check("registers", "register read --all", |text| {
        let names: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
        let x86 = names.iter().find(|name| ["rsp", "esp", "sp", "spl", "rax", "eax"].contains(name));
        match x86 {
            Some(name) => Err(format!("{name} is of x86-64")),
            None if names.len() > 100 => Ok(()),
            None => Err(format!("{} registers: {text}", names.len())),
        }
    });
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// A member function cannot be called, and the client's own message reports it.
#[test]
fn member_functions_are_rejected_with_a_reason() {
    let fixture = named("call-gfx90a-O0");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(&fixture.name);
        script.say(format!("target remote {}", server.address));
        script.say("thread 2");
        let words = "no function can be called: nothing runs in a captured state";
        script.expect("call this->advance(body, 1)", words);
        script.expect("print advance(body, 3)", words);
        script.expect("print ((float (*)(long)) 0x7f0000101a00)(1)", words);
        script.expect("interpreter-exec mi \"-data-evaluate-expression this->advance(body,1)\"", words);
        // The session is unchanged.
        script.expect("frame", "#0  sky::Mover::advance (this=");
        script.expect("print this->steps", "= 3");
        script.expect("set var $rax = 1", "the wave has no rax: there is nothing to write");
        script.expect("x/xb $sp - 129", "Cannot access memory");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(&fixture.name);
    script.say(format!("gdb-remote {}", server.address));
    script.say("thread select 2");
    script.expect("call this->advance(body, 1)", "Can't evaluate the expression without a running target");
    script.expect("expression advance(body, 1)", "Can't evaluate the expression without a running target");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// gdb 13's behaviour with registers of an x86-64 description, from docs/clients.md.
#[test]
fn gdb_lists_the_registers_of_its_own_architecture_first() {
    let fixture = named("saxpy-gfx90a-O0");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(&fixture.name);
        script.say(format!("target remote {}", server.address));
        script.check("all", "info registers", |text| {
            let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
            let at = |name: &str| names.iter().position(|one| *one == name);
            let right = at("rax") == Some(0) && at("gs") == Some(23) && at("exec") == Some(25);
            if right { Ok(()) } else { Err(format!("{:?}", names.get(..30))) }
        });
        script.check("a group", "info registers scalar", |text| {
            if text.trim().is_empty() { Ok(()) } else { Err(text.to_owned()) }
        });
        // The working alternative.
        script.check("some", "info registers exec vcc m0 s0", |text| {
            let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
            if names == ["exec", "vcc", "m0", "s0"] { Ok(()) } else { Err(text.to_owned()) }
        });
        let registers = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("AMDGPU Wave") && !line.starts_with('['));
            lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
        };
        script.check("a group of the server", "monitor register scalar", move |text| {
            let names = registers(text);
            let right = names.len() > 20
                && names.iter().all(|name| name.starts_with('s'))
                && names[..2] == ["s0", "s1"];
            if right { Ok(()) } else { Err(text.to_owned()) }
        });
        script.check("a range", "monitor register s2-s4 exec", move |text| {
            let names = registers(text);
            if names == ["s2", "s3", "s4", "exec"] { Ok(()) } else { Err(text.to_owned()) }
        });
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// Files of `lanescope view` have no x86-64 instructions before a connection.
#[test]
fn a_view_alone_has_no_instructions_of_x86() {
    let fixture = named("calls-gfx90a");
    let folder = super::harness::scratch("views");
    let mut command = std::process::Command::new(super::harness::lanescope());
    let made = command.arg("view").arg(&fixture.dump).arg("-o").arg(&folder).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let file = folder.join("calls-gfx90a.hsaco");
    let pc = fixture.waves[1].pc().unwrap() - LOADED;
    for name in gdbs() {
        let mut script = Script::new("view");
        script.say(format!("file {}", file.display()));
        script.check("disassemble", format!("disassemble {pc:#x},+16"), none_of("(bad)", 16));
        script.must_pass(&Debugger::Gdb(name));
    }
    let mut script = Script::new("view");
    script.say(format!("target create {}", file.display()));
    script.check("disassemble", "disassemble --name leaf", |text| {
        let (all, unknown) = (text.matches(">: ").count(), text.matches("<unknown>").count());
        if unknown > 16 && all == unknown { Ok(()) } else { Err(text.to_owned()) }
    });
    script.must_pass(&Debugger::Lldb(lldb_name()));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Answers about registers and stacks fit the 80 columns of a console.
#[test]
fn registers_and_ends_of_stacks_fit_the_console() {
    for dump in ["saxpy-gfx90a-O0", "calls-gfx90a", "lds-gfx1100-O0", "absent-gfx1100"] {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(dump);
        script.say(format!("target remote {}", server.address));
        let registers = |text: &str| {
            let rows: Vec<&str> = text.lines().skip(1).collect();
            let long = rows.iter().find(|row| row.chars().count() > 80);
            match long {
                Some(row) => Err((*row).to_owned()),
                None if rows.is_empty() => Err("no registers".to_owned()),
                None => Ok(()),
            }
        };
        for wave in &fixture.waves {
            let number = wave.number;
            script.check("", format!("monitor thread {number} register vector scalar system"), registers);
            script.check("", format!("monitor thread {number} backtrace"), |text| {
                let from = text.find("The stack ends here").unwrap_or(text.len());
                let long = text[from..].lines().find(|row| row.chars().count() > 80);
                long.map_or(Ok(()), |row| Err(row.to_owned()))
            });
            // Its call frame information defines no CFA; the code of the kernel's body gives the kernel.
            if dump == "lds-gfx1100-O0" {
                let words = "(inferred: caller by code)";
                script.expect(format!("monitor thread {number} backtrace"), words);
            }
        }
        // Lane 17 of v0, in the row of lanes 16 to 23.
        if let Some((_, Register::Lanes(lanes))) =
            fixture.waves[0].registers().into_iter().find(|(name, _)| name == "v0")
            && let Some(lane) = lanes.get(17).copied().flatten()
        {
            script.check("lane 17", "monitor thread 1 register v0", move |text| {
                let row =
                    text.lines().find_map(|row| row.trim_start_matches("v0").trim().strip_prefix("[16] "));
                let word = row.and_then(|row| row.split(' ').nth(1));
                if word == Some(&format!("{lane:08x}")) { Ok(()) } else { Err(text.to_owned()) }
            });
        }
        script.must_pass(&Debugger::Gdb("gdb"));
        server.finish();
    }
}

/// An address of `monitor` is a number or a register: `$pc` is the PC that the client shows.
#[test]
fn an_address_of_monitor_may_be_a_register() {
    let fixture = named("calls-gfx90a");
    let code = words(&fixture.name);
    let server = Server::start(&fixture.dump, &[]);
    for gdb in gdbs() {
        let mut script = Script::new("registers");
        script.say(format!("target remote {}", server.address));
        for wave in &fixture.waves {
            let pc = wave.pc().unwrap();
            let bytes: Vec<String> = bytes(&code, pc, 4).iter().map(|byte| format!("{byte:02x}")).collect();
            let shown = format!("{pc:#x}: {}", bytes.join(" "));
            script.expect(format!("monitor thread {} memory global $pc 4", wave.number), shown);
            let shown = format!("=> {pc:#018x} ");
            script.expect(format!("monitor thread {} disassemble $pc count 1", wave.number), shown);
        }
        script.expect(
            "monitor memory global $no_such 4",
            "`$no_such` is not an address: write 0x40, 64 or a register, `$pc`.",
        );
        script.expect(
            "monitor memory global here 4",
            "`here` is not an address: write 0x40, 64 or a register, `$pc`.",
        );
        script.must_pass(&Debugger::Gdb(gdb));
    }
    server.finish();
}
