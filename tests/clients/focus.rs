//! Wave and lane of an answer. The tests cover `monitor` after gestures that send nothing in gdb and lldb, the client's
//! thread numbers, and work-items by grid position. They also cover the mark of an inactive lane, and missing PCs.

use super::harness::{Server, lldb_name};
use super::lldb::{MONITOR, choose};
use super::model::{Fixture, Wave, fixtures_folder, named};
use super::script::{Debugger, Script, gdbs, in_each};
use crate::support::sample::sampled;

const REFUSED: &str = "does not report which thread is selected now";

fn helper(client: &str) -> String {
    format!("{}/clients/{client}/lanescope.py", env!("LANESCOPE_ROOT"))
}

/// The first line of an answer about a wave: `Thread 3: AMDGPU Wave 1:1:1:3 (2,0,0)/0, running.`
fn begins_with(number: usize, wave: &Wave) -> impl Fn(&str) -> Result<(), String> + 'static {
    let (begin, place) = (format!("Thread {number}: AMDGPU Wave "), wave.name_suffix());
    move |text| {
        let first = text.trim_start().lines().next().unwrap_or_default();
        let is_right = first.starts_with(&begin)
            && place.as_ref().is_none_or(|place| first.contains(&format!(" {place}, ")));
        if is_right { Ok(()) } else { Err(format!("expected {begin:?} {place:?}, got {text:?}")) }
    }
}

/// One command of each kind about one wave, including failing ones.
const ABOUT_A_WAVE: [&str; 12] = [
    "lanes",
    "lane",
    "lane 64",
    "backtrace",
    "disassemble count 1",
    "locals",
    "eval DW_OP_lit4",
    "print $exec",
    "print no_such",
    "explain $exec",
    "register exec",
    "memory private_lane 0x10 4",
];

#[test]
fn monitor_names_its_wave_in_gdb() {
    let fixture = named("calls-gfx90a");
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("calls-gfx90a");
        script.say(format!("target remote {}", server.address));
        // The thread of the stop is unambiguous.
        script.expect("monitor set $v3[5] = 78", "$v3[5] = 78");
        script.expect("monitor reset", "Dropped 1 changed dword");
        script.say("thread 3");
        script.say("thread apply 1 print 1");
        // gdb has thread 3 again, without a packet.
        script.expect("thread", "Current thread is 3");
        script.expect("monitor set $v3[5] = 77", REFUSED);
        script.expect("monitor changes", "Nothing is changed");
        for wave in &fixture.waves {
            let number = wave.number;
            for command in ABOUT_A_WAVE {
                let ask = format!("monitor thread {number} {command}");
                script.check("", ask, begins_with(number, wave));
                let ask = format!("monitor wave {} {command}", wave.name_suffix().unwrap());
                script.check("", ask, begins_with(number, wave));
            }
            let exec = format!("= {:#x}  ", wave.exec().unwrap());
            script.expect(format!("monitor wave {number} print/x $exec"), exec);
            script.check("", format!("thread apply {number} -q monitor lane"), begins_with(number, wave));
        }
        for command in ABOUT_A_WAVE {
            script.check("", format!("monitor {command}"), begins_with(5, &fixture.waves[4]));
        }
        script.expect("monitor thread 2 set $v3[5] = 77", "$v3[5] = 77");
        script.expect("monitor changes", "wave 2 v3[lane 5]: ");
        script.never("monitor changes", "wave 3");
        script.expect("monitor wave 3", "type `thread 3`, or `monitor thread 3 COMMAND`");
        script.expect("monitor thread 9 lane", "No thread 9.");
        script.expect("monitor thread 2 thread 3 lane", "names a second wave");
        script.expect("monitor thread 2 waves", "is about the whole dump and takes no thread");
        // A stop names its thread.
        script.say("stepi");
        script.check("", "monitor arguments", begins_with(3, &fixture.waves[2]));
        script.expect("monitor set $v3[5] = 79", "$v3[5] = 79");
        script.expect("monitor changes", "wave 3 v3[lane 5]: ");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
}

/// The helper sends gdb's thread before each command.
#[test]
fn monitor_is_about_gdbs_thread_with_the_helper() {
    let fixture = named("calls-gfx90a");
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("calls-gfx90a");
        script.say(format!("source {}", helper("gdb")));
        script.say(format!("target remote {}", server.address));
        script.say("thread 3");
        script.say("thread apply 1 print 1");
        script.check("", "monitor lane", begins_with(3, &fixture.waves[2]));
        script.expect("monitor set $v3[5] = 77", "$v3[5] = 77");
        script.expect("monitor changes", "wave 3 v3[lane 5]: ");
        for wave in &fixture.waves {
            let ask = format!("thread apply {} -q monitor lane", wave.number);
            script.check("", ask, begins_with(wave.number, wave));
            script.check("", "monitor lane", begins_with(3, &fixture.waves[2]));
        }
        script.expect("continue", "nothing can run");
        script.expect("thread", "Current thread is 3 ");
        // gdb sends no write of an unchanged `$lane`.
        script.say("lane 5");
        script.expect("monitor lane 9", "gdb still shows lane 5; this answer is about lane 9.");
        script.expect("print $_lane", "= 5");
        script.expect("lane", "[Current thread is 3, lane 5 (");
        script.expect("lane apply 5 monitor lane", "Lane 5 of thread 3");
        script.never("monitor lane", "still shows");
        script.expect("monitor lane", "Lane 5 of thread 3");
        script.say("lane 9");
        script.expect("print $lane", "= 9");
        script.expect("print $_lane", "= 9");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
}

/// Each command with a fixed number of words rejects one more, and an unknown word.
#[test]
fn monitor_refuses_arguments_that_a_command_does_not_take() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("arguments");
    script.say(format!("target remote {}", server.address));
    for command in ["waves", "lanes"] {
        let expected = format!("`x` is no argument of `{command}`. Try `monitor {command} full`.");
        script.expect(format!("monitor {command} x"), expected);
    }
    for command in ["dispatches", "changes", "objects", "notices"] {
        script.expect(format!("monitor {command} x"), format!("`monitor {command}` takes no argument."));
    }
    for command in ["lane 1 2", "reset all all", "memory global 0 1 2", "arguments 1 2", "help lane lanes"] {
        script.expect(format!("monitor {command}"), "Too many arguments: monitor ");
    }
    for command in [
        "lane x",
        "backtrace x",
        "backtrace 1 2",
        "groups x",
        "disassemble x",
        "locals x",
        "locals 1 frame 0 x",
        "eval x",
        "print frame 0",
        "set x",
        "reset x",
        "register exec x",
        "memory global 0 x",
        "arguments x",
        "help x",
        "thread x",
        "wave x lane",
        "waves/x",
        "lanes/x",
    ] {
        script.check(command, format!("monitor {command}"), |text| {
            let words = [
                "Expected ",
                "is needed",
                "is missing",
                "is not an address",
                "is no argument of",
                "Too many arguments",
                "is not a number",
                "no operation",
                "no register",
                "There are",
                "There is no",
                "No command",
                "takes no argument",
                "<error: there is no",
                "The path is wrong",
                "is no place",
            ];
            let is_refused = words.iter().any(|words| text.contains(words));
            if is_refused { Ok(()) } else { Err(text.to_owned()) }
        });
    }
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

#[test]
fn lldb_and_the_server_count_threads_alike() {
    let dumps = ["calls-gfx90a", "regions-gfx90a", "saxpy-gfx1100-O0", "mixed-kinds", "absent-gfx90a"];
    let chosen = super::model::fixtures().into_iter();
    let chosen = chosen.filter(|one| dumps.iter().any(|dump| one.name.split(' ').next() == Some(dump)));
    in_each(sampled(chosen, 2), &[], &Debugger::Lldb(lldb_name()), lldb_numbers, 20);
}

#[test]
fn lldb_and_the_server_count_lanes_alike() {
    let fixture = named("calls-gfx90a");
    in_each([fixture], &["--threads=focus"], &Debugger::Lldb(lldb_name()), lldb_numbers, 4);
}

fn lldb_numbers(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("gdb-remote {address}"));
    for number in 1..=fixture.waves.len() {
        let ask = format!("{MONITOR} thread {number} lane");
        let said = format!("Thread {number}: ");
        script.expect(
            format!(
                "script t = lldb.process.GetThreadByIndexID({number}); r = lldb.SBCommandReturnObject(); \
                 lldb.debugger.GetCommandInterpreter().HandleCommand('{ask}', r); \
                 name = '{said}' + t.GetName().split(', ')[0] + ', '; \
                 print('al' + 'ike' if r.GetOutput().startswith(name) else r.GetOutput())"
            ),
            "alike\n",
        );
    }
    script
}

/// calls-gfx90a stops in its second wave, which is lldb's first thread.
#[test]
fn monitor_names_its_wave_in_lldb() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let (first, second) = (&fixture.waves[0], &fixture.waves[1]);
    let mut script = Script::new("calls-gfx90a");
    script.say(format!("gdb-remote {}", server.address));
    script.check("", format!("{MONITOR} wave"), begins_with(1, second));
    script.check("", format!("{MONITOR} wave 2 lane"), begins_with(2, first));
    script.check("", format!("{MONITOR} wave"), begins_with(1, second));
    script.expect(format!("{MONITOR} set $v3[5] = 77"), REFUSED);
    script.expect(format!("{MONITOR} thread 2 set $v3[5] = 77"), "$v3[5] = 77");
    script.expect(format!("{MONITOR} changes"), "wave 1 v3[lane 5]: ");
    script.check("", format!("{MONITOR} wave 2"), begins_with(2, first));
    for command in ABOUT_A_WAVE {
        script.check("", format!("{MONITOR} {command}"), begins_with(2, first));
    }
    script.expect(format!("{MONITOR} set $v3[6] = 78"), "$v3[6] = 78");
    script.expect(format!("{MONITOR} changes"), "wave 1 v3[lane 6]: ");
    script.expect(format!("{MONITOR} waves"), "1       1:1:1:2 ");
    script.expect(format!("{MONITOR} groups"), "thread 1: illegal instruction");
    // A stop selects its thread, which may differ from the given one.
    script.say("thread step-inst");
    script.expect(format!("{MONITOR} set $v3[5] = 77"), REFUSED);
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// saxpy-gfx90a-O0: the kernel's variable `first` is the work-item's id in the grid, `lane_item` the id in its
/// work-group of 128 (tests/fixtures/kernels/saxpy.hip): work-item 70 is lane 6 of the second wave.
#[test]
fn a_work_item_names_wave_and_lane() {
    let fixture = named("saxpy-gfx90a-O0");
    let places = [("(70,0,0)", 70, 70, 2), ("(1,0,0)[ 3 ]", 131, 3, 3), ("(130, 0, 0)", 130, 2, 3)];
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("work-items");
        script.say(format!("source {}", helper("gdb")));
        script.say(format!("target remote {}", server.address));
        for (place, grid, local, thread) in places {
            script.expect(format!("lane {place}"), format!("[{local},0,0])]"));
            script.expect("thread", format!("Current thread is {thread} "));
            script.expect("print first", format!(" = {grid}\n"));
            script.expect("print lane_item", format!(" = {local}\n"));
            script.expect("print $_lane_workgroup_pos", format!("\"[{local},0,0]\""));
            script.check(
                "",
                format!("monitor lane {place}"),
                begins_with(thread, &fixture.waves[thread - 1]),
            );
            script.expect("monitor lane", format!("({grid},0,0) of the grid"));
            script.expect(format!("monitor wave {place} print first"), format!("= {grid}  "));
        }
        script.expect("lane (2,0,0)/1", "[Current thread is 6 ");
        script.expect("print first", " = 320\n");
        script.expect("lane (9999,0,0)", "the grid of AMDGPU Dispatch 1:1:1 is [500,1,1]");
        script.expect("lane (0,0,0)[128,0,0]", "the work-groups of AMDGPU Dispatch 1:1:1 are [128,1,1]");
        script.expect("lane (1,2,3,4)", "is no place in a grid");
        script.must_pass(&Debugger::Gdb(gdb));
        // Without the helper gdb needs two commands.
        let mut script = Script::new("work-items");
        script.say(format!("target remote {}", server.address));
        let gestures = "Type `thread 2`, then `set var $lane = 6` to see lane 6 in gdb.";
        script.expect("monitor lane (70,0,0)", gestures);
        script.expect("monitor lane (64,0,0)", "`thread 2` selects this wave in gdb.");
        script.expect("monitor lane (70,0,0)", gestures);
        script.say("thread 2");
        script.say("set var $lane = 6");
        script.expect("print first", " = 70\n");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("work-items");
    script.say(format!("command script import {}", helper("lldb")));
    script.say(format!("gdb-remote {}", server.address));
    for (place, grid, local, thread) in places {
        script.expect(format!("lane {place}"), format!("[{local},0,0])]"));
        script.expect("frame variable first", format!("= {grid}\n"));
        script.expect("frame variable lane_item", format!("= {local}\n"));
        script.expect(format!("{MONITOR} lane {place}"), format!("({grid},0,0) of the grid"));
        script.expect(format!("{MONITOR} wave"), format!("AMDGPU Wave 1:1:1:{thread} "));
        script.expect("monitor wave", format!("AMDGPU Wave 1:1:1:{thread} "));
        script.expect("monitor set first = 7", "int first = 7");
        script.say("monitor reset");
    }
    script.expect("monitor print 'x' + 0", " = 120\n");
    script.expect("triage", "saxpy reads x[1024]");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

#[test]
fn a_session_begins_at_a_work_item() {
    let fixture = named("saxpy-gfx90a-O0");
    for threads in ["waves", "lanes", "focus"] {
        let options = ["--work-item", "70,0,0", "--threads", threads];
        let server = Server::start(&fixture.dump, &options);
        let mut script = Script::new(threads);
        script.expect(format!("target remote {}", server.address), "Captured state");
        script.expect("print first", " = 70\n");
        script.expect("print $lane", " = 6\n");
        // If lanes are threads, it is another thread.
        script.say(format!("source {}", helper("gdb")));
        script.expect("lane (71,0,0)", if threads == "waves" { "lane 7 (" } else { "[Current thread is " });
        script.expect("print first", " = 71\n");
        script.must_pass(&Debugger::Gdb("gdb"));
        let mut script = Script::new(threads);
        script.say(format!("command script import {}", helper("lldb")));
        script.say(format!("gdb-remote {}", server.address));
        script.expect("frame variable first", "= 70\n");
        script.expect("lane (71,0,0)", "[Switching to thread ");
        script.expect("frame variable first", "= 71\n");
        script.must_pass(&Debugger::Lldb(lldb_name()));
        server.finish();
    }
}

/// calls-gfx90a, first wave: EXEC is 0x1111111111111111, so that lane 1 is not active and lane 4 is.
#[test]
fn a_lane_that_is_not_active_is_marked() {
    const MARK: &str = "lane 1: ";
    let fixture = named("calls-gfx90a");
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("marks");
        script.say(format!("target remote {}", server.address));
        script.never("info threads", "lane ");
        script.say("thread 1");
        script.say("set var $lane = 1");
        script.expect("info threads", "(0,0,0)/0\" (lane 1: ");
        script.expect("thread apply 1 info locals", MARK);
        script.expect("stepi", "The lane in focus is not active (lane 1: ");
        script.say("set var $lane = 4");
        script.never("stepi", "The lane");
        script.never("info threads", "lane ");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("marks");
    script.say(format!("gdb-remote {}", server.address));
    script.never("thread list", "lane ");
    script.say("script lldb.process.SetSelectedThreadByID(1)");
    script.say("register write lane 1");
    script.expect("thread step-inst", "[lane 1: ");
    script.expect("thread list", "(0,0,0)/0, launch [lane 1: ");
    // lldb keeps the reason of this stop while it steps another thread.
    script.say("register write lane 2");
    script.say("script lldb.process.SetSelectedThreadByID(2)");
    script.say("thread step-inst");
    script.expect("thread list", "(0,0,0)/0, launch [lane 2: ");
    script.never("thread list", "[lane 1: ");
    script.say("script lldb.process.SetSelectedThreadByID(1)");
    script.say("register write lane 4");
    script.never("thread step-inst", "[lane ");
    script.never("thread list", "[lane ");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// Every way to show a lane in lldb 22, and its output: saxpy-gfx90a-O0, first wave. Its variable `first` is the
/// work-item's id in the grid, and `small` is `lane_item - 100` (tests/fixtures/kernels/saxpy.hip).
fn lldb_shows_lane(script: &mut Script, lane: i32) {
    script.expect("frame variable first small", format!("first = {lane}\n(short) small = {}\n", lane - 100));
    script.expect("p lane_item", format!(" {lane}\n"));
    script.expect("expr first", format!(" = {lane}\n"));
    script.expect("register read lane", format!("lane = {lane}\n"));
    script.check("", "p $lane", move |text| {
        let is_right = text.split_whitespace().any(|word| word == lane.to_string());
        if is_right { Ok(()) } else { Err(format!("expected {lane}, got {text:?}")) }
    });
    for python in ["FindRegister('lane').GetValueAsUnsigned()", "FindVariable('first').GetValueAsUnsigned()"]
    {
        script.expect(format!("script print('it', 'is', lldb.frame.{python})"), format!("it is {lane}\n"));
    }
}

/// Of the gestures that write the register only `register write` clears lldb's cache.
#[test]
fn lldb_shows_one_lane_whatever_writes_the_register() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("lanes");
    script.say(format!("gdb-remote {}", server.address));
    script.say(format!("command script import {}", helper("lldb")));
    script.expect("frame variable first", "first = 0\n");
    for expression in [
        "p $lane = 6",
        "expr $lane = 6",
        "expr -- (void)($lane += 6)",
        "script print(lldb.frame.EvaluateExpression('$lane = 6'))",
    ] {
        script.expect(expression, "use of undeclared identifier '$lane'");
    }
    let python = |value: &str| format!("script lldb.frame.FindRegister('lane').{value}");
    for write in [
        python("SetValueFromCString('7')"),
        python("SetData(lldb.SBData.CreateDataFromInt(7), lldb.SBError())"),
    ] {
        script.expect(write, "True\n");
        lldb_shows_lane(&mut script, 0);
        let mark = "lldb still shows lane 0; this answer is about lane 7.";
        script.expect(format!("{MONITOR} lane"), mark);
        script.expect(format!("{MONITOR} print first"), mark);
        for command in ["lane", "lanes 7"] {
            script.expect(command, "warning: lldb still shows lane 0: type `lane 7`.\n");
        }
        script.expect("thread step-inst", "lldb shows lane 7 of thread 1 from this stop on.");
        lldb_shows_lane(&mut script, 7);
        script.say("register write lane 0");
        script.expect(format!("{MONITOR} lane"), "Lane 0 of thread 1");
        lldb_shows_lane(&mut script, 0);
    }
    script.say(python("SetValueFromCString('9')"));
    script.say("register write lane 4");
    lldb_shows_lane(&mut script, 4);
    script.never("thread step-inst", "from this stop on");
    lldb_shows_lane(&mut script, 4);
    // After this lldb reads only the PC.
    script.say(python("SetValueFromCString('9')"));
    script.say("script pc = lldb.frame.FindRegister('pc'); pc.SetValueFromCString(pc.GetValue())");
    script.expect("register read pc", "pc = 0x");
    lldb_shows_lane(&mut script, 4);
    script.say("register write lane 5");
    lldb_shows_lane(&mut script, 5);
    script.expect(
        format!("{MONITOR} lane 6"),
        "Type `thread select 1`, then `register write lane 6` to see lane 6 in lldb.",
    );
    script.expect(format!("{MONITOR} print first"), "= 6  ");
    lldb_shows_lane(&mut script, 5);
    script.expect("lane 6", "[Switching to thread 1, lane 6 (");
    script.never("lane", "warning");
    lldb_shows_lane(&mut script, 6);
    // Within a Python command lldb reads nothing after the write.
    let command = |command: &str| format!("lldb.debugger.HandleCommand('{command}')");
    let both = [command("register write lane 3"), command(&format!("{MONITOR} print first"))].join("; ");
    script.expect(format!("script {both}"), "= 3  ");
    lldb_shows_lane(&mut script, 3);
    script.say("register write lane 6");
    script.expect(python("SetValueFromCString('64')"), "False\n");
    script.expect("register write lane 64", "error: Failed to write register 'lane'");
    lldb_shows_lane(&mut script, 6);
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// gdb sends no write of an unchanged `$lane`: its output is of that lane, whatever the lane of `monitor`.
#[test]
fn gdb_shows_one_lane_whatever_monitor_is_about() {
    let fixture = named("saxpy-gfx90a-O0");
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("lanes");
        let shows = |script: &mut Script, lane: u8| {
            script.expect("print $lane", format!(" = {lane}\n"));
            script.expect("print first", format!(" = {lane}\n"));
        };
        script.say(format!("target remote {}", server.address));
        shows(&mut script, 0);
        for lane in [5, 6] {
            let ask = format!("monitor lane {lane}");
            script.expect(&ask, format!("gdb still shows lane 0; this answer is about lane {lane}.\n"));
            script.expect(ask, format!("Type `set var $lane = {lane}` to see lane {lane} in gdb.\n"));
            script.expect("monitor print first", format!("= {lane}  "));
            shows(&mut script, 0);
            script.say("maint flush register-cache");
            shows(&mut script, 0);
            script.say("set var $lane = 0");
            shows(&mut script, 0);
        }
        script.expect("monitor lane", "gdb still shows lane 0; this answer is about lane 6.");
        script.say("set var $lane = 5");
        shows(&mut script, 5);
        script.expect("monitor print first", "= 5  ");
        script.never("monitor lane 5", "gdb");
        script.say("monitor lane 7");
        script.expect("stepi", "gdb shows lane 7 of thread 1 from this stop on.");
        shows(&mut script, 7);
        script.never("stepi", "from this stop on");
        script.expect("monitor thread 2 lane 6", "Type `thread 2`, then `set var $lane = 6`");
        shows(&mut script, 7);
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
}

/// calls-gfx90a: an outer frame keeps its window, and its address has the lane.
#[test]
fn lldb_shows_one_lane_in_outer_frames() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let wave = &fixture.waves[0];
    let lanes = wave.shown_lanes();
    let (from, to) = (0, lanes.len() - 1);
    let mut script = Script::new("outer frames");
    script.say(format!("gdb-remote {}", server.address));
    let select = format!("script lldb.process.SetSelectedThreadByID({})", wave.thread);
    let mut checks = 0;
    let mut locals = |script: &mut Script, index: usize| {
        for local in wave.expected["callers"][0]["locals"].as_array().unwrap() {
            let value = local["values"][index].as_str().filter(|value| value.parse::<i64>().is_ok());
            if let Some(value) = value.filter(|_| local["state"] == "ok") {
                let name = local["name"].as_str().unwrap();
                script.expect(format!("frame variable {name}"), format!(") {name} = {value}\n"));
                checks += 1;
            }
        }
    };
    script.say(select.clone());
    script.say(format!("register write lane {}", lanes[from]));
    script.say("frame select 1");
    let write = |lane| format!("script lldb.frame.FindRegister('lane').SetValueFromCString('{lane}')");
    script.expect(write(lanes[to]), "True\n");
    script.expect("register read lane", format!("lane = {}\n", lanes[from]));
    locals(&mut script, from);
    script.say("thread step-inst");
    script.say(select);
    script.say("frame select 1");
    locals(&mut script, to);
    script.say(format!("register write lane {}", lanes[from]));
    script.say("frame select 1");
    locals(&mut script, from);
    assert!(checks > 3, "{checks}");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// chain-gfx90a-O0: wave 2 is at line 55. lldb steps it off the breakpoint, and shows wave 1, which has a stop reason.
#[test]
fn monitor_is_about_the_thread_that_lldb_shows_at_a_breakpoint() {
    let fixture = named("chain-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("a breakpoint");
    script.say(format!("gdb-remote {}", server.address));
    let shows = |script: &mut Script, number: usize| {
        let selected = "script print('selected', lldb.process.GetSelectedThread().GetIndexID())";
        script.expect(selected, format!("selected {number}\n"));
        script.check("", format!("{MONITOR} lane"), begins_with(number, &fixture.waves[number - 1]));
    };
    script.expect("breakpoint set -l 55", "chain.hip:55");
    for _ in 0..2 {
        script.expect("continue", "nothing can run");
        shows(&mut script, 1);
    }
    script.say("breakpoint delete -f");
    script.say("thread select 3");
    script.say("thread step-inst");
    shows(&mut script, 3);
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// `continue` while a step of a thread is unfinished sends the packets of `thread step-inst`. lldb 22 then shows its
/// first thread with a stop reason, and `monitor` uses the stepping thread. Answers name the wave, and a write without
/// a wave is rejected. `thread plan discard` ends the step.
#[test]
fn monitor_names_the_thread_of_an_unfinished_step_in_lldb() {
    let fixture = named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let selected = "script print('selected', lldb.process.GetSelectedThread().GetIndexID())";
    // lldb's first thread is the second wave.
    let waves = [&fixture.waves[1], &fixture.waves[0]];
    for (discard, shown) in [(false, 1), (true, 2)] {
        let mut script = Script::new("unfinished");
        script.say(format!("gdb-remote {}", server.address));
        script.say("thread select 2");
        script.say("thread step-inst");
        script.expect(selected, "selected 2\n");
        script.check("", format!("{MONITOR} lane"), begins_with(2, waves[1]));
        if discard {
            script.say("thread plan discard 1");
        }
        script.expect("continue", "nothing can run");
        script.expect(selected, format!("selected {shown}\n"));
        script.check("", format!("{MONITOR} lane"), begins_with(2, waves[1]));
        script.check("", format!("{MONITOR} thread 1 lane"), begins_with(1, waves[0]));
        script.expect(format!("{MONITOR} set $v3[5] = 77"), REFUSED);
        script.must_pass(&Debugger::Lldb(lldb_name()));
    }
    server.finish();
}

/// The third wave of absent-gfx90a has no stop reason (tests/fixtures/expected/absent-gfx90a.json).
#[test]
fn an_unknown_stop_reason_is_named_once_in_lldb() {
    let fixture = named("absent-gfx90a");
    let wave = fixture.waves.iter().find(|wave| wave.stop().is_none() && wave.pc().is_some()).unwrap();
    let server = Server::start(&fixture.dump, &["--wave", &wave.thread.to_string()]);
    let mut script = Script::new("unknown");
    script.say(format!("gdb-remote {}", server.address));
    let words = "stop reason = unknown (a captured state: nothing can run)";
    script.say("thread step-inst");
    script.expect("thread list", words);
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// The thread must be selected first: an earlier register write goes to the lane of another wave.
#[test]
fn monitor_lane_names_the_thread_before_the_lane() {
    let fixture = named("saxpy-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("order");
    script.say(format!("gdb-remote {}", server.address));
    script.expect(
        format!("{MONITOR} lane (70,0,0)"),
        "Type `thread select 2`, then `register write lane 6` to see lane 6 in lldb.",
    );
    script.say("thread select 2");
    script.say("register write lane 6");
    script.expect("frame variable first", "first = 70\n");
    script.say("script lldb.process.SetSelectedThreadByID(1)");
    script.expect("frame variable first", "first = 0\n");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    let server = Server::start(&fixture.dump, &["--wave", "1"]);
    let mut script = Script::new("one thread");
    script.say(format!("gdb-remote {}", server.address));
    script.expect(format!("{MONITOR} lane 6"), "Type `register write lane 6` to see lane 6 in lldb.");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    // regions-gfx90a, second wave: lane 20 is inactive in the kernel; the others are in a function that it calls.
    let fixture = named("regions-gfx90a");
    for gdb in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("order");
        script.say(format!("target remote {}", server.address));
        script.say("thread 2");
        script.expect("backtrace", "#1 ");
        script.say("thread 1");
        script.expect(
            "monitor lane (84,0,0)",
            "Type `thread 2`, then `set var $lane = 20` to see lane 20 in gdb.",
        );
        script.say("thread 2");
        script.say("set var $lane = 20");
        script.expect("frame", "#0  launch ");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
}

/// absent-gfx90a: the fifth wave, which comes first, has no PC. gdb does not attach to such a thread.
#[test]
fn a_wave_with_a_pc_is_shown_first() {
    let dump = fixtures_folder().join("dumps/absent-gfx90a");
    for gdb in gdbs() {
        let server = Server::start(&dump, &["--wave", "5-6"]);
        let mut script = Script::new("no PC");
        script.expect(format!("target remote {}", server.address), "saxpy (");
        script.expect("info threads", "* 2    Thread 6 ");
        script.expect("monitor wave", "Thread 2: AMDGPU Wave 1:?:?:6 ");
        script.expect("monitor thread 1 lane", "Thread 1: AMDGPU Wave 1:1:1:5 ");
        script.must_pass(&Debugger::Gdb(gdb));
        server.finish();
    }
    let server = Server::start(&dump, &["--wave", "5-6"]);
    let mut script = Script::new("no PC");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("thread list", "* thread #1: tid = 6, 0x");
    script.expect(choose(5), "AMDGPU Wave 1:1:1:5 ");
    script.never(format!("{MONITOR} notices"), "gdb cannot attach");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    // If every PC is missing, the server reports it before gdb starts; lldb attaches.
    let server = Server::start(&dump, &["--wave", "5"]);
    let mut script = Script::new("no PC");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("thread list", "* thread #1: tid = 5");
    script.expect(format!("{MONITOR} notices"), "the PC of no served wave was captured: gdb cannot attach");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
