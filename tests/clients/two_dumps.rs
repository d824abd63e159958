//! Several consecutive dumps in one debugger: each has its own code, lines, stacks and variables, also under the same
//! file name. And gdb's selection after a change of lane or PC.

use std::fs;
use std::path::PathBuf;

use super::harness::{Server, lldb_name, scratch};
use super::mi::Mi;
use super::model::{Fixture, named};
use super::script::{Debugger, Script, gdbs};

const DUMPS: [&str; 4] = ["regions-gfx90a", "saxpy-gfx90a-O0", "call-gfx90a-O0", "saxpy-gfx90a-O0"];

/// Function, line, and integers of the client's first wave, in its first lane.
fn seen(fixture: &Fixture) -> (String, u64, Vec<(String, String)>) {
    let wave = &fixture.waves[0];
    let locals = wave.expected["locals"].as_array().into_iter().flatten();
    let numbers =
        locals.filter(|local| local["type"] == "int" && local["state"] == "ok").filter_map(|local| {
            Some((local["name"].as_str()?.to_owned(), local["values"][0].as_str()?.to_owned()))
        });
    let function = wave.expected["function"].as_str().unwrap().to_owned();
    (function, wave.expected["line"].as_u64().unwrap(), numbers.collect())
}

fn judge(script: &mut Script, fixture: &Fixture, bt: &str, print: fn(&str, &str) -> (String, String)) {
    let (function, line, numbers) = seen(fixture);
    let file = fixture.waves[0].expected["file"].as_str().unwrap();
    script.expect(bt, &function);
    script.expect(bt, format!("{file}:{line}"));
    for (name, value) in numbers {
        let (command, expected) = print(&name, &value);
        script.expect(command, expected);
    }
}

#[test]
fn gdb_loads_the_view_of_each_dump() {
    let fixtures: Vec<Fixture> = DUMPS.iter().map(|name| named(name)).collect();
    for name in gdbs() {
        let servers: Vec<Server> = fixtures.iter().map(|fixture| Server::start(&fixture.dump, &[])).collect();
        let mut script = Script::new("several dumps");
        for (fixture, server) in fixtures.iter().zip(&servers) {
            script.say(format!("target remote {}", server.address));
            judge(&mut script, fixture, "bt 1", |name, value| (format!("p {name}"), format!(" = {value}\n")));
            script.say("disconnect");
        }
        script.must_pass(&Debugger::Gdb(name));
        servers.into_iter().for_each(Server::finish);
    }
}

#[test]
fn lldb_loads_the_view_of_each_dump() {
    let fixtures: Vec<Fixture> = DUMPS.iter().map(|name| named(name)).collect();
    let servers: Vec<Server> = fixtures.iter().map(|fixture| Server::start(&fixture.dump, &[])).collect();
    let mut script = Script::new("several dumps");
    for (fixture, server) in fixtures.iter().zip(&servers) {
        script.say(format!("gdb-remote {}", server.address));
        judge(&mut script, fixture, "bt", |name, value| (format!("p {name}"), format!("(int) {value}\n")));
        script.say("process detach");
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    servers.into_iter().for_each(Server::finish);
}

#[test]
fn a_front_end_of_gdb_loads_the_view_of_each_dump() {
    let fixtures: Vec<Fixture> = DUMPS.iter().map(|name| named(name)).collect();
    let mut mi = Mi::start("gdb");
    for fixture in &fixtures {
        let server = Server::start(&fixture.dump, &[]);
        let (class, words, before) = mi.ask(&format!("-target-select remote {}", server.address));
        assert_eq!(class, "connected", "{words}");
        mi.stopped_in(before);
        let (function, line, numbers) = seen(fixture);
        let frames = mi.done("-stack-list-frames");
        let frame = &frames["stack"][0];
        let shown = frame["func"].as_str().unwrap();
        assert!(shown.split('(').next().unwrap().ends_with(&function), "{frame}");
        assert_eq!(frame["line"], line.to_string(), "{frame}");
        for (name, value) in numbers {
            assert_eq!(mi.done(&format!("-data-evaluate-expression {name}"))["value"], value, "{name}");
        }
        mi.done("-target-disconnect");
        server.finish();
    }
    mi.ask("-gdb-exit");
    mi.talk.ends();
}

/// A copy of a dump whose code object has another file name.
fn renamed(fixture: &Fixture, from: &str, to: &str) -> PathBuf {
    let folder = scratch("renamed");
    fs::create_dir(&folder).unwrap();
    for file in fs::read_dir(&fixture.dump).unwrap().flatten() {
        let name = file.file_name().to_string_lossy().replace(from, to);
        fs::copy(file.path(), folder.join(name)).unwrap();
    }
    let manifest = folder.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&manifest, text.replace(from, to)).unwrap();
    folder
}

#[test]
fn views_of_one_name_are_distinguished() {
    let (first, second) = (named("regions-gfx90a"), named("saxpy-gfx90a-O0"));
    let folder = renamed(&second, "saxpy-gfx90a-O0.hsaco", "regions-gfx90a.hsaco");
    let servers = [Server::start(&first.dump, &[]), Server::start(&folder, &[])];
    let gdb = |name: &str, value: &str| (format!("p {name}"), format!(" = {value}\n"));
    let lldb = |name: &str, value: &str| (format!("p {name}"), format!("(int) {value}\n"));
    let script = |connect: &str, leave: &str, bt, print| {
        let mut script = Script::new("one name");
        for (fixture, server) in [(&first, &servers[0]), (&second, &servers[1]), (&first, &servers[0])] {
            script.say(format!("{connect} {}", server.address));
            judge(&mut script, fixture, bt, print);
            script.say(leave);
        }
        script
    };
    for name in gdbs() {
        script("target remote", "disconnect", "bt 1", gdb).must_pass(&Debugger::Gdb(name));
    }
    script("gdb-remote", "process detach", "bt", lldb).must_pass(&Debugger::Lldb(lldb_name()));
    servers.into_iter().for_each(Server::finish);
    fs::remove_dir_all(folder).unwrap();
}

/// All outermost frames have one id in gdb, and it restores its selection by ids.
#[test]
fn gdb_stays_in_frame_0_when_the_lane_or_the_pc_moves() {
    let fixture = named("regions-gfx90a");
    let wave = &fixture.waves[0];
    let stack = |lane: usize| {
        let stacks = wave.expected["lane_stacks"].as_array().unwrap();
        stacks[lane].as_array().unwrap().clone()
    };
    let function = |lane: usize| stack(lane)[0][0].as_str().unwrap().to_owned();
    assert!(stack(0).len() > stack(20).len(), "lane 20 has not entered the function");
    let caller = stack(0)[1][1].as_str().unwrap().to_owned();
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("regions-gfx90a");
        script.say(format!("target remote {}", server.address));
        for lane in [20, 0, 20, 0] {
            script.say(format!("set var $lane = {lane}"));
            script.expect("frame", "#0 ");
            script.expect("frame", format!("{} ()", function(lane)));
            // This adds nothing to the stack.
            script.expect("bt -1", format!("#{} ", stack(lane).len() - 1));
        }
        script.say(format!("set var $pc = {caller}"));
        script.expect("frame", "#0 ");
        script.say(format!("set var $pc = {:#x}", wave.pc().unwrap()));
        script.expect("frame", "#0 ");
        script.expect("frame", format!("{} ()", function(0)));
        script.never("bt", "Backtrace stopped");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}
