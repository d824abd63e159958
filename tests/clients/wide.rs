//! gfx1250: vector registers beyond v255 in stock debuggers. The values are those of tests/fixtures/models/wide.py.

use super::harness::{Server, lldb_name};
use super::model::fixtures_folder;
use super::script::{Debugger, Script};

/// In wave 2 v300 is `a399`: 299 * 0.5 + 49 * 0.015625 in lane 17, whose work-item is 49.
const VALUE: f64 = 150.265_625;

#[test]
fn gdb_shows_registers_beyond_v255() {
    let server = Server::start(&fixtures_folder().join("dumps/wide-gfx1250-O2"), &[]);
    let mut script = Script::new("gfx1250");
    script.say(format!("target remote {}", server.address));
    script.say("thread 2");
    script.expect("p/f $v300[17]", format!("= {VALUE}"));
    script.expect("p/x $v300[17]", format!("= {:#x}", (VALUE as f32).to_bits()));
    // `weight`: 49 * 4 - 8.
    script.expect("p/f $v321[17]", "= 188");
    script.expect("monitor locals 17 explain", "float weight = 188  [VGPR321 lane 17");
    script.say("thread 1");
    script.expect("monitor disassemble around 1", "global_load_b32 v44 /*v300*/, v0, s[4:5]");
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

#[test]
fn lldb_shows_registers_beyond_v255() {
    let server = Server::start(&fixtures_folder().join("dumps/wide-gfx1250-O2"), &[]);
    let mut script = Script::new("gfx1250");
    script.say(format!("gdb-remote {}", server.address));
    let number = "lldb.process.GetThreadByID(2).GetIndexID()";
    script.say(format!("script lldb.debugger.HandleCommand('thread select %d' % {number})"));
    script.check("v300", "register read v300", |text| {
        let words: Vec<&str> = text.split(['{', '}', ' ']).filter(|word| word.starts_with("0x")).collect();
        let expected = format!("{:#010x}", (VALUE as f32).to_bits());
        match words.get(17) {
            Some(word) if *word == expected => Ok(()),
            found => Err(format!("lane 17 is {found:?}, not {expected}: {text}")),
        }
    });
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
