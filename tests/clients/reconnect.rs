//! Clients connect, disconnect, reconnect and overlap: each has its own session over one dump.

use std::process::Command;

use super::harness::{Server, lldb_name, start, tool};
use super::lldb::MONITOR;
use super::model::{Fixture, named};
use super::script::{Debugger, Script};

const DUMP: &str = "saxpy-gfx90a-O0";
const GDBS: [&str; 2] = ["gdb", "gdb-multiarch"];

/// PC of the client's first wave, in the form of `p/x`.
fn first_pc(fixture: &Fixture) -> String {
    format!(" = {:#x}", fixture.waves[0].pc().unwrap())
}

#[test]
fn gdb_comes_back_after_detach_kill_and_disconnect() {
    let fixture = named(DUMP);
    for name in GDBS {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(DUMP);
        for goodbye in ["detach", "kill", "disconnect", "detach"] {
            script.expect(format!("target remote {}", server.address), "Captured state");
            // A new session does not depend on the focus of the previous one.
            script.expect("monitor lane", "Lane 0 of thread 1");
            script.expect("monitor lane 9", "Lane 9 of thread 1");
            script.expect("p/x $pc", first_pc(&fixture));
            script.say(goodbye);
            script.expect("info registers", "The program has no registers now");
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

#[test]
fn lldb_comes_back_after_detach_and_kill() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    let pc = format!("pc = 0x{:016x}", fixture.waves[0].pc().unwrap());
    for goodbye in ["detach", "process kill", "detach"] {
        script.say(format!("gdb-remote {}", server.address));
        script.expect("register read pc", pc.clone());
        script.expect(format!("{MONITOR} lane"), "Lane 0 of thread 1");
        script.expect(format!("{MONITOR} lane 9"), "Lane 9 of thread 1");
        script.say(goodbye);
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

#[test]
fn clients_at_the_same_time_do_not_disturb_each_other() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    // One client that stays, with its focus on lane 5 of wave 3.
    let stays = |name: &str, lines: &[String]| {
        let mut command: Command = tool(name);
        command.args(["-nx", "-q", "-batch", "-ex", "set pagination off"]);
        for line in lines {
            command.args(["-ex", line]);
        }
        start(&mut command)
    };
    let go = super::harness::scratch("go");
    let first = stays(
        "gdb",
        &[
            format!("target remote {}", server.address),
            "thread 3".to_owned(),
            "monitor lane 5".to_owned(),
            // Waits for the others. The test does not read from gdb meanwhile, and the server must not wait for gdb.
            format!("shell until [ -e '{}' ]; do sleep 0.01; done", go.display()),
            "monitor lane".to_owned(),
            "p/x $pc".to_owned(),
            "detach".to_owned(),
        ],
    );
    first.wait_for("Lane 5 of thread 3");
    let mut script = Script::new(DUMP);
    script.expect(format!("target remote {}", server.address), "Captured state");
    script.expect("monitor lane", "Lane 0 of thread 1");
    script.expect("monitor lane 7", "Lane 7 of thread 1");
    script.expect("p/x $pc", first_pc(&fixture));
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb("gdb-multiarch"));
    let mut script = Script::new(DUMP);
    script.say(format!("gdb-remote {}", server.address));
    script.expect(format!("{MONITOR} lane"), "Lane 0 of thread 1");
    script.expect("process kill", "exited");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    std::fs::write(&go, "").unwrap();
    let said = first.transcript();
    assert_eq!(said.matches("Lane 5 of thread 3").count(), 2, "{said}");
    assert!(said.contains(&format!(" = {:#x}", fixture.waves[2].pc().unwrap())), "{said}");
    std::fs::remove_file(&go).unwrap();
    server.finish();
}

#[test]
fn the_server_outlives_a_client_that_is_killed() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    for name in GDBS {
        let mut command = tool(name);
        command.args(["-nx", "-q", "-batch", "-ex"]).arg(format!("target remote {}", server.address));
        let client = start(command.args(["-ex", "monitor lane 3", "-ex", "shell sleep 600"]));
        client.wait_for("Lane 3 of thread 1");
        client.kill();
        let mut script = Script::new(DUMP);
        script.expect(format!("target remote {}", server.address), "Captured state");
        script.expect("p/x $pc", first_pc(&fixture));
        script.must_pass(&Debugger::Gdb(name));
    }
    server.finish();
}

#[test]
fn a_server_for_one_client_ends_with_it() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &["--once"]);
    let mut script = Script::new(DUMP);
    script.expect(format!("target remote {}", server.address), "Captured state");
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb("gdb"));
    let status = server.ended();
    assert!(status.success(), "{status}");
}
