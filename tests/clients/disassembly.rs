//! `x/i` and `disassemble` in gdb with the helper, and the text commands in both debuggers, against llvm-objdump.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use super::harness::{Server, lldb_name};
use super::model::{Fixture, fixtures_folder, named};
use super::script::{Debugger, Script, fail_with, half};
use crate::support::{newest, sample::sampled};

/// One fixture per family of GPUs, and of both wave sizes.
const DUMPS: [&str; 5] =
    ["saxpy-gfx90a-O0", "saxpy-gfx942-O2", "saxpy-gfx1100-O0", "diverge-gfx1030-O0", "calls-gfx90a"];
/// Load address of the fixtures' code objects.
pub(crate) const LOADED: u64 = 0x7f00_0010_0000;

pub(crate) fn helper(client: &str) -> PathBuf {
    crate::support::root().join(format!("clients/{client}/lanescope.py"))
}

/// The instructions of a fixture's code object, by llvm-objdump.
fn objdump(name: &str) -> String {
    let file = fixtures_folder().join(format!("code/{name}.hsaco"));
    let output =
        Command::new(newest("llvm-objdump")).args(["-d", "-z", "-j", ".text"]).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The text of each instruction of a fixture's code object, by run-time address.
fn listing(name: &str) -> BTreeMap<u64, String> {
    let text = objdump(name);
    let one = |line: &str| {
        let (text, comment) = line.strip_prefix('\t')?.rsplit_once("//")?;
        let address = u64::from_str_radix(comment.trim().split_once(':')?.0, 16).ok()?;
        Some((LOADED + address, text.trim().to_owned()))
    };
    let found: BTreeMap<u64, String> = text.lines().filter_map(one).collect();
    assert!(found.len() > 20, "{text}");
    found
}

/// The bytes of each instruction, by run-time address.
pub(crate) fn words(name: &str) -> BTreeMap<u64, Vec<u8>> {
    let text = objdump(name);
    let one = |line: &str| {
        let (address, words) = line.strip_prefix('\t')?.rsplit_once("//")?.1.trim().split_once(':')?;
        // A branch target may follow: `BF820001 <saxpy+0x10>`.
        let words = words.split_whitespace().map_while(|word| u32::from_str_radix(word, 16).ok());
        let address = u64::from_str_radix(address, 16).ok()?;
        Some((LOADED + address, words.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()))
    };
    let found: BTreeMap<u64, Vec<u8>> = text.lines().filter_map(one).collect();
    assert!(found.len() > 20 && found.values().all(|bytes| !bytes.is_empty()), "{text}");
    found
}

/// `=> 0x7f0000102798 <saxpy+3480>: v_mov_b32 v0, v1  # 0x...`: each address and the text after it.
fn shown(text: &str) -> Vec<(u64, String)> {
    let one = |line: &str| {
        let line = line.trim_start_matches("=>").trim_start_matches("->").trim();
        let address = line.strip_prefix("0x")?.split([' ', ':']).next()?;
        let (_, rest) = line.split_once(">:").or_else(|| line.split_once(':'))?;
        let code = rest.split("  # ").next()?.split("  ; ").next()?.trim();
        Some((u64::from_str_radix(address, 16).ok()?, code.to_owned()))
    };
    text.lines().filter_map(one).collect()
}

/// Asserts that the output has `count` instructions from an address on, with the text of the listing.
fn check(listing: &BTreeMap<u64, String>, from: u64, count: usize, text: &str) -> Result<(), String> {
    let expected: Vec<_> =
        listing.range(from..).take(count).map(|(address, text)| (*address, text.clone())).collect();
    let got = shown(text);
    if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {text}")) }
}

fn each(
    dumps: impl IntoIterator<Item = &'static str>,
    debugger: &Debugger,
    script: fn(&Fixture, &str) -> Script,
) {
    let mut wrong = Vec::new();
    for name in dumps {
        let fixture = named(name);
        let server = Server::start(&fixture.dump, &[]);
        let script = script(&fixture, &server.address);
        assert!(script.checks() > 4);
        wrong.extend(script.run(debugger));
        server.finish();
    }
    fail_with(wrong);
}

fn gdb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("source {}", helper("gdb").display()));
    script.say(format!("target remote {address}"));
    let listing = listing(&fixture.name);
    for wave in &fixture.waves {
        let Some(pc) = wave.pc() else { continue };
        script.say(format!("thread {}", wave.number));
        let of = listing.clone();
        script.check("x/i", "x/4i $pc", move |text| check(&of, pc, 4, text));
        let of = listing.clone();
        script.check("monitor", format!("monitor disassemble {pc:#x} count 6 full"), move |text| {
            let marked = text.lines().filter(|line| line.starts_with("=> ")).count();
            if marked == 1 { check(&of, pc, 6, text) } else { Err(format!("{marked} marks: {text}")) }
        });
    }
    let pc = fixture.waves[0].pc().unwrap();
    script.say("thread 1");
    let of = listing.clone();
    // The view gives gdb the function; the marker is gdb's own.
    script.check("disassemble", "disassemble", move |text| {
        let got = shown(text);
        let first = got.first().map_or(0, |(address, _)| *address);
        let is_marked = text.lines().any(|line| line.starts_with("=> ") && shown(line)[0].0 == pc);
        if got.len() < 4 || !is_marked {
            return Err(format!("no listing with a mark at {pc:#x}: {text}"));
        }
        check(&of, first, got.len(), &text.replace("End of", ""))
    });
    script.check("disassemble /s", "disassemble /s $pc,+8", |text| {
        if text.contains(".hip:") { Ok(()) } else { Err(format!("no source lines: {text}")) }
    });
    // s_nop 7: a user's write over code is disassembled, and is gone after the reset.
    script.say("set var {unsigned int}$pc = 0xbf800007");
    script.check("what if", "x/i $pc", move |text| {
        if shown(text) == [(pc, "s_nop 7".to_owned())] { Ok(()) } else { Err(text.to_owned()) }
    });
    script.say("monitor reset");
    script.check("after the reset", "x/2i $pc", move |text| check(&listing, pc, 2, text));
    script.expect("x/i 0x10", "Cannot access memory at address 0x10");
    script.expect("x/i $pc + 2", "multiples of 4 bytes");
    script.expect("monitor disassemble frame 99", "There is no frame 99");
    script
}

#[test]
fn gdb_shows_instructions() {
    each(sampled(DUMPS, 2), &Debugger::Gdb("gdb"), gdb_script);
}

#[test]
fn gdb_multiarch_shows_instructions() {
    each(sampled(DUMPS, 5), &Debugger::Gdb("gdb-multiarch"), gdb_script);
}

fn lldb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("command script import {}", helper("lldb").display()));
    script.say(format!("gdb-remote {address}"));
    let listing = listing(&fixture.name);
    for wave in &fixture.waves {
        let Some(pc) = wave.pc() else { continue };
        script.say(format!("thread select --thread-id {}", wave.thread));
        let of = listing.clone();
        script
            .check("disasm", format!("disasm {pc:#x} --count 6 --full"), move |text| check(&of, pc, 6, text));
        let of = listing.clone();
        script.check("around", "disasm --around 2 --full", move |text| {
            let first = of.range(..pc).rev().take(2).last().map_or(pc, |(address, _)| *address);
            // Before a function the listing has unrequested instructions.
            let first = shown(text).first().map_or(first, |(address, _)| (*address).max(first));
            let before = of.range(first..pc).count();
            let marked = text.lines().filter(|line| line.starts_with("=> ")).count();
            if marked == 1 {
                check(&of, first, before + 3, text)
            } else {
                Err(format!("{marked} marks: {text}"))
            }
        });
    }
    script.expect("disasm nonsense", "`nonsense` is not an address");
    script.expect("disasm --frame 99", "There is no frame 99");
    script
}

#[test]
fn lldb_shows_instructions() {
    let lldb = Debugger::Lldb(lldb_name());
    each(half(DUMPS, &lldb), &lldb, lldb_script);
}

/// regions.hip with `DW_AT_LLVM_lane_pc`: lanes at another PC than the wave have the mark of all lists, `inactive`.
#[test]
fn lanes_of_other_instructions_are_inactive() {
    let fixture = named("regions-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    for (client, connect, monitor) in [
        (Debugger::Gdb("gdb"), "target remote", "monitor"),
        (Debugger::Lldb(lldb_name()), "gdb-remote", "process plugin packet monitor"),
    ] {
        let mut script = Script::new("inactive");
        script.say(format!("{connect} {}", server.address));
        script.expect(format!("{monitor} thread 2 disassemble"), "inactive: lanes ");
        script.never(format!("{monitor} thread 2 disassemble"), "waiting");
        script.must_pass(&client);
    }
    server.finish();
}
