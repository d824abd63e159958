//! `--client` with the name of another client than the connected one: the server uses the dialect of the connected
//! client, or prints the command to type.

use super::harness::{Server, lldb_name};
use super::lldb::MONITOR;
use super::model::named;
use super::script::{Debugger, Script, gdbs};

const DUMP: &str = "saxpy-gfx90a-O0";

#[test]
fn gdb_is_served_as_gdb() {
    let fixture = named(DUMP);
    for name in gdbs() {
        for chosen in ["lldb", "amdgcn-lldb"] {
            let server = Server::start(&fixture.dump, &["--client", chosen]);
            let mut script = Script::new(chosen);
            script.expect(
                format!("target remote {}", server.address),
                format!("This client is gdb, and the server was started with --client {chosen}: gdb is served as gdb."),
            );
            script.expect("p/x $pc", format!(" = {:#x}", fixture.waves[0].pc().unwrap()));
            script.expect("bt 1", "saxpy (n=1024, ");
            script.never("monitor wave", "--client");
            script.must_pass(&Debugger::Gdb(name));
            server.finish_after(&[&format!("the client is gdb, not {chosen}: it is served as gdb")]);
        }
    }
}

#[test]
fn lldb_is_served_as_lldb() {
    let fixture = named(DUMP);
    for chosen in ["gdb", "amdgcn-gdb"] {
        let server = Server::start(&fixture.dump, &["--client", chosen]);
        let mut script = Script::new(chosen);
        script.say("settings set stop-disassembly-display always");
        // No x86-64 instructions at the stop.
        script.never(format!("gdb-remote {}", server.address), "%");
        script.expect("register read pc", format!("pc = 0x{:016x}", fixture.waves[0].pc().unwrap()));
        script.expect("bt", "saxpy(n=1024, ");
        script.expect(
            format!("{MONITOR} wave"),
            format!("This client is lldb, and the server was started with --client {chosen}: lldb is served as lldb."),
        );
        script.never(format!("{MONITOR} wave"), "--client");
        script.must_pass(&Debugger::Lldb(lldb_name()));
        server.finish_after(&[&format!("the client is lldb, not {chosen}: it is served as lldb")]);
    }
}

/// The handshake of a stock gdb equals that of a gdb with amdgcn support.
#[test]
fn gdb_reads_that_it_does_not_know_amdgcn() {
    let fixture = named(DUMP);
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &["--client", "amdgcn-gdb"]);
        let mut script = Script::new("amdgcn-gdb");
        // The greeting is folded at 80 columns.
        script.check("", format!("target remote {}", server.address), |text| {
            let advice = "If gdb has warned of an unknown architecture, it does not know amdgcn: start the server without --client.";
            let words: Vec<&str> = text.split_whitespace().collect();
            if words.join(" ").contains(advice) { Ok(()) } else { Err(format!("no advice in {text:?}")) }
        });
        script.must_pass(&Debugger::Gdb(name));
        server.finish_after(&[
            "a gdb left at its first stop: if it does not know amdgcn, start without --client amdgcn-gdb",
        ]);
    }
}

/// lldb 22 takes the registers of an unknown architecture in the wrong byte order.
#[test]
fn lldb_reads_that_it_does_not_know_amdgcn() {
    const WORDS: &str =
        "this lldb does not know amdgcn and has no registers: start the server without --client";
    let fixture = named(DUMP);
    let swapped = fixture.waves[0].pc().unwrap().swap_bytes();
    let server = Server::start(&fixture.dump, &["--client", "amdgcn-lldb"]);
    let mut script = Script::new("amdgcn-lldb");
    script.say(format!("gdb-remote {}", server.address));
    let swapped = format!("{swapped:x}");
    script.check(
        "no PC",
        "bt",
        move |text| {
            if text.contains(&swapped) { Err(text.to_owned()) } else { Ok(()) }
        },
    );
    script.expect(format!("{MONITOR} wave"), WORDS);
    script.expect("continue", WORDS);
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish_after(&[WORDS]);
}
