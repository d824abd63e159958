//! The view: source-level output of a stock debugger without plug-in or setup, compared with the models.

use std::collections::BTreeMap;

use serde_json::Value;

use super::harness::{Server, lldb_name};
use super::model::{Fixture, Wave, fixtures, some_fixtures};
use super::script::{Debugger, Script, gdbs, half, in_each};
use crate::support::{least, sample::sampled};

/// gdb's output for files from any remote server.
const FIXED_WARNING: &str = "warning: File transfers from remote targets can be slow. Use \"set sysroot\" to \
                             access files locally instead.";
/// Tested lanes of each wave: the model's first and last.
const ENDS: usize = 2;

#[test]
fn gdb_shows_the_variables_of_every_dump() {
    let gdb = Debugger::Gdb("gdb");
    in_each(half(some_fixtures(), &gdb), &[], &gdb, gdb_script, least(1000, 300));
}

#[test]
fn gdb_multiarch_shows_the_variables_of_dumps() {
    in_each(sampled(fixtures(), 24), &[], &Debugger::Gdb("gdb-multiarch"), gdb_script, least(1000, 100));
}

#[test]
fn lldb_shows_the_variables_of_every_dump() {
    let lldb = Debugger::Lldb(lldb_name());
    in_each(half(some_fixtures(), &lldb), &[], &lldb, lldb_script, least(400, 100));
}

pub(super) fn gdb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.check("attaching", format!("target remote {address}"), |text| {
        let text = text.replace(FIXED_WARNING, "").replace("No such file or directory", "");
        let text = text.replace("warning: No executable has been specified", "").replace("=<error", "");
        let complaint = ["warning", "rror:", "Unsupported", "complaint", "No such"];
        let complaint = complaint.into_iter().find(|word| text.contains(word));
        complaint.map_or(Ok(()), |word| Err(format!("{word:?} in {text:?}")))
    });
    for wave in fixture.waves.iter().filter(|wave| wave.pc().is_some()) {
        script.say(format!("thread {}", wave.number));
        let owned = wave.clone();
        script.check("stack", "bt", move |text| stack(&owned, text));
        let first = fixture.waves.iter().find(|first| group(wave).is_some() && group(first) == group(wave));
        let of_group = first.unwrap_or(wave).thread;
        for (index, lane) in looked_at(wave) {
            script.say(format!("set var $lane={lane}"));
            script.expect("p $lane", format!(" = {lane}"));
            let of = frames(wave);
            for (level, variables) in of {
                script.say(format!("frame {level}"));
                for (command, scope) in [("info args", "argument"), ("info locals", "local")] {
                    let variables: Vec<Value> =
                        variables.iter().filter(|one| one["scope"] == scope).cloned().collect();
                    let what = format!("wave {} lane {lane} frame {level}", wave.expected["id"]);
                    let owners = Owners { thread: wave.thread, lane: lane as u64, of_group };
                    script.check(what, command, move |text| shown(&variables, index, owners, text));
                }
            }
        }
    }
    script.expect("detach", "detached");
    script
}

/// Threads and lane in addresses of private memory and of LDS.
#[derive(Clone, Copy)]
struct Owners {
    thread: u64,
    lane: u64,
    /// The first thread of the work-group.
    of_group: u64,
}

/// Position of a wave's work-group, `(0,0,0)`; `None` if the model has none.
fn group(wave: &Wave) -> Option<&str> {
    Some(wave.expected["name_suffix"].as_str()?.split_once('/')?.0)
}

/// The tested lanes at the wave's PC, with their indices in the model's lists. The model's values are of the wave's PC
/// and do not hold for a lane with its own stack.
fn looked_at(wave: &Wave) -> Vec<(usize, usize)> {
    let pcs = wave.expected["lane_pc"].as_array();
    let is_here = |index: usize| pcs.is_none_or(|pcs| pcs[index] == wave.expected["pc"]);
    let lanes = wave.shown_lanes().into_iter().enumerate().filter(|(index, _)| is_here(*index));
    let lanes: Vec<(usize, usize)> = lanes.collect();
    let mut ends: Vec<(usize, usize)> = lanes.iter().take(1).chain(lanes.last()).copied().collect();
    ends.dedup();
    ends.truncate(ENDS);
    ends
}

/// The variables of each frame in the model, by the frame's number.
fn frames(wave: &Wave) -> Vec<(usize, Vec<Value>)> {
    let list = |of: &Value| of["locals"].as_array().cloned();
    let mut all: Vec<(usize, Vec<Value>)> = list(&wave.expected).into_iter().map(|own| (0, own)).collect();
    let callers = wave.expected["callers"].as_array().into_iter().flatten();
    all.extend(callers.enumerate().filter_map(|(index, caller)| Some((index + 1, list(caller)?))));
    all
}

/// The functions and lines of a backtrace.
fn stack(wave: &Wave, text: &str) -> Result<(), String> {
    let word = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let mut wanted = vec![wave.expected.clone()];
    wanted.extend(wave.expected["callers"].as_array().into_iter().flatten().cloned());
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    for (level, frame) in wanted.iter().enumerate() {
        let Some(row) = rows.get(level) else { return Err(format!("there is no frame {level} in {text}")) };
        let function = word(frame, "function");
        let place = format!("{}:{}", word(frame, "file"), frame["line"]);
        let named = row.contains(&format!(" {function} (")) || row.contains(&format!("::{function} ("));
        if !(function.is_empty() || named && row.trim_end().ends_with(&place)) {
            return Err(format!("frame {level}: expected {function} at {place}, got {row}"));
        }
    }
    Ok(())
}

/// The lines `NAME = VALUE` of a client, by name, the innermost first.
fn by_name(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once(" = ")) {
        values.entry(name.trim()).or_default().push(value.trim());
    }
    values
}

fn shown(variables: &[Value], index: usize, owners: Owners, text: &str) -> Result<(), String> {
    let mut got = by_name(text);
    let mut wrong = Vec::new();
    for variable in variables.iter().rev() {
        let name = variable["name"].as_str().unwrap();
        let values = got.get_mut(name).filter(|values| !values.is_empty());
        let Some(value) = values.map(|values| values.remove(0)) else {
            wrong.push(format!("{name} is not shown"));
            continue;
        };
        // The members of a union are the same bytes.
        let is_union = variable["type"] == "Word"
            && variable["values"][index].as_str().is_some_and(|v| v.contains("node"));
        let of = |value: &str| match tagged(value, owners) {
            value if is_union => with_bits(&value),
            value => value,
        };
        let wanted = variable["values"][index].as_str().map(of);
        if let Some(why) = differs(variable, wanted.as_deref(), value) {
            wrong.push(format!("{name}: {why}"));
        }
    }
    wrong.extend(
        got.iter().filter(|(_, left)| !left.is_empty()).map(|(name, _)| format!("{name} is too much")),
    );
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The error of a variable's text in a lane.
fn differs(variable: &Value, value: Option<&str>, got: &str) -> Option<String> {
    let name = variable["name"].as_str().unwrap();
    let state = variable["state"].as_str().unwrap();
    let refused =
        got.starts_with(&format!("<error reading variable {name} (Cannot access memory at address 0x7"));
    let right = match (state, value) {
        ("ok", Some(value)) => {
            without_symbol(got) == value || is_same_address(value, got) || is_same_struct(value, got)
        }
        ("partly_unavailable" | "partly_optimized_out", Some(value)) => {
            got == value || refused || got.contains("<error")
        }
        ("optimized_out", _) => got == "<optimized out>" || refused,
        ("unavailable" | "error", _) | ("partly_unavailable", None) => got.contains("<error"),
        _ => !got.is_empty(),
    };
    (!right).then(|| format!("expected {state} {}, got {got:?}", value.unwrap_or_default()))
}

/// A value with its pointers into LDS and private memory in the form for clients (docs/protocol.md). Space, wave and
/// lane replace the aperture; for LDS, lane 0 of the work-group's first wave (docs/view.md).
fn tagged(value: &str, owners: Owners) -> String {
    let mut parts = value.split("0x");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (digits, rest) = part.split_at(digits);
        let number = u64::from_str_radix(digits, 16).unwrap_or(0);
        let space = [0_u64, 3, 5].get((number >> 48) as usize).filter(|_| !text.ends_with('#'));
        match space.filter(|space| **space > 0) {
            Some(&space) => {
                let Owners { thread, lane, of_group } = owners;
                let (thread, lane) = if space == 3 { (of_group, 0) } else { (thread, lane) };
                let number = space << 56 | thread << 39 | lane << 32 | number & 0xffff_ffff;
                text.push_str(&format!("{number:#x}{rest}"));
            }
            None => text.push_str(&format!("0x{part}")),
        }
    }
    text
}

/// `{node = 0x30, bits = 48}` with the bits of the pointer.
fn with_bits(value: &str) -> String {
    let pointer = value.split_once("= 0x").and_then(|(_, rest)| rest.split_once(','));
    let pointer = pointer.and_then(|(digits, _)| u64::from_str_radix(digits, 16).ok()).unwrap();
    format!("{{node = {pointer:#x}, bits = {pointer}}}")
}

/// An address without gdb's symbol.
fn without_symbol(got: &str) -> &str {
    let symbol = got.strip_suffix('>').and_then(|got| got.split_once(" <"));
    symbol.filter(|(address, _)| address.starts_with("0x")).map_or(got, |(address, _)| address)
}

/// A struct whose pointers into address spaces, `local#0x10`, are printed as offsets.
fn is_same_struct(value: &str, got: &str) -> bool {
    let parts = value.split_inclusive([',', '}']).map(|part| {
        let Some((before, pointer)) = part.split_once('#') else { return part.to_owned() };
        let (digits, after) = pointer.split_at(pointer.find([',', '}']).unwrap_or(pointer.len()));
        let number = digits.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let head = before.rsplit_once(' ').map_or("", |(head, _)| head);
        number.map_or(part.to_owned(), |number| format!("{head} {{offset = {number}}}{after}"))
    });
    value.starts_with('{') && value.contains('#') && parts.collect::<String>() == got
}

/// A pointer into an address space, `local#0x10`. A stock debugger prints it with our tag and the same offset.
fn is_same_address(value: &str, got: &str) -> bool {
    let number =
        |text: &str| u64::from_str_radix(text.split_whitespace().next()?.strip_prefix("0x")?, 16).ok();
    let wanted = value.split_once('#').and_then(|(_, offset)| number(offset));
    wanted.is_some_and(|wanted| number(got).is_some_and(|got| got & 0xffff_ffff == wanted))
}

pub(super) fn lldb_script(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.check("attaching", format!("gdb-remote {address}"), |text| {
        let complaint = ["error", "warning"].into_iter().find(|word| text.contains(word));
        complaint.map_or(Ok(()), |word| Err(format!("{word:?} in {text:?}")))
    });
    for wave in fixture.waves.iter().filter(|wave| wave.pc().is_some()) {
        script.say(format!("thread select --thread-id {}", wave.thread));
        for (index, lane) in looked_at(wave) {
            script.say(format!("register write lane {lane}"));
            for (level, variables) in frames(wave) {
                script.say(format!("frame select {level}"));
                let what = format!("wave {} lane {lane} frame {level}", wave.expected["id"]);
                script.check(what, "frame variable", move |text| numbers(&variables, index, text));
            }
        }
    }
    script.expect("detach", "Process 1 detached");
    script
}

/// Compares the numbers: LLDB has its own notation for everything else.
fn numbers(variables: &[Value], index: usize, text: &str) -> Result<(), String> {
    let mut got: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('(')) {
        if let Some((name, value)) = line.split_once(") ").and_then(|(_, rest)| rest.split_once(" = ")) {
            got.entry(name).or_default().push(value.trim());
        }
    }
    let mut wrong = Vec::new();
    for variable in variables {
        let (name, state) = (variable["name"].as_str().unwrap(), variable["state"].as_str().unwrap());
        let Some(value) =
            got.get_mut(name).filter(|values| !values.is_empty()).map(|values| values.remove(0))
        else {
            // An unreadable address has no value, and LLDB does not list compiler-made variables.
            if state == "ok" && !name.starts_with("__") {
                wrong.push(format!("{name} is not shown"));
            }
            continue;
        };
        // An absent value is printed as absent: `<read memory from 0x7000... failed>`.
        if matches!(state, "unavailable" | "error") && value.parse::<f64>().is_ok() {
            wrong.push(format!("{name}: expected {state}, got {value:?}"));
        }
        let wanted = variable["values"][index].as_str().unwrap_or_default();
        let right = match (wanted.parse::<f64>(), value.parse::<f64>()) {
            (Ok(wanted), Ok(got)) => (wanted - got).abs() <= wanted.abs() * 1e-6,
            (Ok(_), Err(_)) => state != "ok",
            (Err(_), _) => true,
        };
        if !right || state == "optimized_out" && value.parse::<f64>().is_ok() {
            wrong.push(format!("{name}: expected {state} {wanted}, got {value:?}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// A write to a variable in a register changes the register; a reset restores it.
#[test]
fn clients_write_variables_that_no_memory_has() {
    let fixture = super::model::named("calls-gfx90a");
    // Its second wave is in `leaf`, whose `y` is VGPR40: the model has 500 in lane 0.
    let gdb = |name| {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("writing");
        script.say(format!("target remote {}", server.address));
        script.say("set var $lane=0");
        script.expect("p y", " = 500");
        script.never("set var y = 12345", "Cannot");
        script.expect("p y", " = 12345");
        script.expect("p $v40[0]", " = 12345");
        script.expect("monitor changes", "v40");
        script.say("set var $lane=5");
        script.expect("p y", " = 505");
        script.say("set var $lane=0");
        script.say("monitor reset");
        script.say("maint flush register-cache");
        script.expect("p y", " = 500");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    };
    gdbs().for_each(gdb);
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("writing");
    script.say(format!("gdb-remote {}", server.address));
    script.say("register write lane 0");
    script.expect("frame variable y", "(int) y = 500");
    script.say("expression y = 12345");
    script.expect("frame variable y", "(int) y = 12345");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// gdb compares a view's sections with memory at the addresses of the run, 0x7f0000100000 above those of the file.
#[test]
fn gdb_compares_sections_at_their_run_time_addresses() {
    for name in gdbs() {
        let server = Server::start(std::path::Path::new("tests/fixtures/demo.zip"), &[]);
        let mut script = Script::new("sections");
        script.say(format!("target remote {}", server.address));
        let rodata = "Section .rodata, range 0x7f0000100980 -- 0x7f00001009c0: ";
        script.expect("compare-sections .rodata", format!("{rodata}matched."));
        script.say("set var *(unsigned char *) 0x7f0000100981 ^= 1");
        script.expect("compare-sections .rodata", format!("{rodata}MIS-MATCHED!"));
        script.say("monitor reset");
        script.say("maint flush dcache");
        script.expect("compare-sections .rodata", format!("{rodata}matched."));
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// Memory after a variable, and memory without one, cannot be read. Calls are impossible: each client reports it at
/// once.
#[test]
fn gdb_reports_the_end_of_a_variable_and_rejects_calls() {
    let fixture = super::model::named("calls-gfx90a");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("ends");
        script.say(format!("target remote {}", server.address));
        // The second wave is in `leaf`, whose `y` is VGPR40: the model has 500 in lane 0.
        script.say("set var $lane=0");
        script.expect("x/4dw &y", "\t500\tCannot access memory at address 0x70");
        script.expect("x/xb $sp", "Cannot access memory");
        script.expect("x/gx $sp + 0x800000", "Cannot access memory");
        for function in ["leaf()", "middle()", "launch()"] {
            let words = "which does not follow the target calling convention.";
            script.expect(format!("print {function}"), words);
            script.expect(format!("call {function}"), words);
        }
        script.expect("return", "the stack pointer encodes the wave, lane and frame");
        script.expect("bt", "#2  0x00007f0000101778 in launch () at ./tests/fixtures/kernels/calls.hip:26");
        script.expect("finish", "nothing can run");
        script.expect("bt 1", "#0  leaf () at ./tests/fixtures/kernels/calls.hip:2");
        // Missing data adds no frame: the frame after it has the reason for the end of the stack.
        script.say("set var $pc = 0");
        script.check("a PC in no code object", "bt", |text| {
            let ends = text.contains(" in no_code_object ()") && text.matches('#').count() == 2;
            if ends { Ok(()) } else { Err(format!("an invented frame: {text}")) }
        });
        script.expect("stepi", "The PC is not the captured one: a what-if write changed it.");
        script.say("monitor reset");
        script.say("maint flush register-cache");
        script.never("stepi", "not the captured one");
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("calls");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("expression leaf()", "error: ");
    script.expect("frame variable y", "(int) y = ");
    script.expect("thread backtrace", "frame #2: 0x00007f0000101778");
    script.expect("expression y + 1", "(int) $");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// LLDB's lines of 512 bytes: a missing part of an array is not zero, and a variable at the end has one address.
#[test]
fn lldb_reads_lines_and_no_zero_for_what_is_missing() {
    let fixture = super::model::named("calls-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("addresses");
    script.say(format!("gdb-remote {}", server.address));
    script.say("register write lane 0");
    script.say("frame select 2");
    // Private memory of lane 0 of the second wave, at 0x10.
    script.expect("expression (unsigned long)&slot == 0x0500010000000010", "= true");
    script.expect("frame variable slot", "(int) slot = 1000");
    script.say("memory write --size 4 0x0500010000000010 0x4d");
    script.say("thread step-inst");
    script.say("frame select 2");
    script.expect("frame variable slot", "(int) slot = 77");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    let fixture = super::model::named("absent-gfx90a");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("missing");
    script.say(format!("gdb-remote {}", server.address));
    script.say("thread select 2");
    // The second of four elements was not captured.
    script.check("a missing element", "expression history[1]", |text| {
        if text.contains("error:") { Ok(()) } else { Err(format!("a value: {text}")) }
    });
    script.say("settings set target.process.disable-memory-cache true");
    script.say("thread step-inst");
    script.say("thread select 2");
    script.expect("frame variable history[2]", "= 640");
    script.expect("frame variable history[1]", "failed");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
