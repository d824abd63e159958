//! Sample cores of ROCm in stock debuggers: stacks and variables, read through the view. The writing program stored the
//! variables' values for every lane (tests/fixtures/gpucore).

use std::path::PathBuf;

use serde_json::Value;

use super::harness::{Server, lldb_name, tool};
use super::script::{Debugger, Script, debuggers, fail_with, gdbs, half};
use crate::support::{least, newest, sample::sampled};

/// Unified cores, and GPU cores with separate code objects.
const SAMPLES: [&str; 5] =
    ["gfx1030-wave32", "gfx1100", "gfx90a-split", "gfx90a-unified", "gfx942-multi-xcc"];

/// Expected warnings: some work-groups are outside of their grids, and GPU cores without a host lack the runtime's
/// list.
const EXPECTED: [&str; 2] = ["dispatch's grid: ", "r_debug at 0x7ffff7a01040: not captured"];

fn folder() -> PathBuf {
    crate::support::root().join("tests/fixtures/gpucore")
}

/// A wave with variables in a sample, and its thread.
struct Wave {
    thread: u64,
    function: String,
    line: u64,
    variables: Vec<(String, Vec<Value>)>,
}

fn waves(name: &str) -> Vec<Wave> {
    let text = std::fs::read(folder().join(format!("{name}.expected.json"))).unwrap();
    let expected: Value = serde_json::from_slice(&text).unwrap();
    let waves = expected["waves"].as_array().unwrap().iter().filter_map(|wave| {
        let writer = &wave["writer"];
        let variables = writer["variables"].as_object()?.iter();
        let variables = variables.filter(|(name, _)| *name != "j" || is_in_loop(&expected, wave));
        let variables = variables.map(|(name, values)| (name.clone(), values.as_array().unwrap().clone()));
        let function = writer["location"]["function"].as_str()?;
        Some(Wave {
            thread: wave["ordinal"].as_u64()? + 1,
            // The kernel's body is a separate function; DWARF has its name in the source.
            function: if function == "leaf" { "leaf" } else { "k" }.to_owned(),
            line: writer["location"]["line"].as_u64()?,
            variables: variables.collect(),
        })
    });
    waves.collect()
}

/// Every lane.
fn lanes(wave: &Wave) -> std::ops::Range<usize> {
    0..wave.variables[0].1.len()
}

/// All numbers of a text, with signs.
fn numbers(text: &str) -> Vec<i64> {
    let mut words = text.split(|c: char| !(c.is_ascii_digit() || c == '-')).filter(|word| !word.is_empty());
    std::iter::from_fn(|| words.next()).filter_map(|word| word.parse().ok()).collect()
}

/// Whether a variable's text has the stored values.
fn shows(value: &Value, text: &str) -> bool {
    match value.as_array() {
        None => numbers(text).first().copied() == value.as_i64(),
        Some(parts) => {
            let fields = ["x", "y", "z"].map(|name| {
                let (_, rest) = text.split_once(&format!("{name} = "))?;
                numbers(rest).first().copied()
            });
            fields.iter().zip(parts).all(|(got, part)| got.is_some() && *got == part.as_i64())
        }
    }
}

/// Whether a wave is in the loop's block, by llvm-dwarfdump's text: `j` exists only there.
fn is_in_loop(expected: &Value, wave: &Value) -> bool {
    let file = expected["code_object_files"][0]["file"].as_str().unwrap();
    let mut dwarfdump = tool(newest("llvm-dwarfdump"));
    let output = dwarfdump.arg("--debug-info").arg(folder().join("code").join(file)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let block = text.split("DW_TAG_lexical_block").nth(1).expect("a block");
    let address = |name: &str| {
        let rest = block.split(name).nth(1).unwrap().trim_start().trim_start_matches("(0x");
        u64::from_str_radix(rest.split(')').next().unwrap(), 16).unwrap()
    };
    let loaded = wave["writer"]["location"]["code_object"].as_u64().unwrap();
    let at = wave["pc"].as_u64().unwrap() - loaded;
    (address("DW_AT_low_pc")..address("DW_AT_high_pc")).contains(&at)
}

#[test]
fn gdb_shows_stacks_and_variables() {
    gdbs().for_each(|name| in_every(&Debugger::Gdb(name), gdb));
}

#[test]
fn lldb_shows_stacks_and_variables() {
    in_every(&Debugger::Lldb(lldb_name()), lldb);
}

/// Without any file every debugger gets the functions from GPU memory.
#[test]
fn a_gpu_core_alone_has_functions() {
    let core = folder().join("gfx90a-split.core");
    let kernel = "__clang_ocl_kern_imp_k";
    let expected =
        [EXPECTED[0], EXPECTED[1], "its file is not available; its symbols come from its image in memory"];
    for debugger in debuggers() {
        let server = Server::start(&core, &[]);
        let mut script = Script::new("gfx90a-split");
        match &debugger {
            Debugger::Gdb(_) => {
                script.say(format!("target remote {}", server.address));
                script.say("thread 2");
                script.expect("bt", format!("in {kernel} ()"));
            }
            Debugger::Lldb(_) => {
                script.say(format!("gdb-remote {}", server.address));
                script.say("thread select --thread-id 2");
                script.expect("bt", format!("`{kernel} + "));
            }
        }
        script.must_pass(&debugger);
        server.finish_after(&expected);
    }
}

fn in_every(debugger: &Debugger, script: fn(&str, &str) -> Script) {
    let (mut wrong, mut checks) = (Vec::new(), 0);
    let code = folder().join("code");
    for name in half(SAMPLES, debugger) {
        let is_alone = ["gfx1030-wave32", "gfx90a-split"].contains(&name);
        let with = ["--symbols", code.to_str().unwrap()];
        let core = folder().join(format!("{name}.core"));
        let server = Server::start(&core, if is_alone { &with } else { &[] });
        let script = script(name, &server.address);
        checks += script.checks();
        wrong.extend(script.run(debugger));
        server.finish_after(&EXPECTED);
    }
    fail_with(wrong);
    assert!(checks > least(3000, 150), "only {checks} answers were judged");
}

fn gdb(name: &str, address: &str) -> Script {
    let mut script = Script::new(name);
    script.say("set width 0");
    script.say(format!("target remote {address}"));
    for wave in waves(name) {
        script.say(format!("thread {}", wave.thread));
        let line = if wave.line == 0 { String::new() } else { format!("k.cl:{}", wave.line) };
        let function = wave.function.clone();
        script.check(format!("wave {} stack", wave.thread), "bt", move |text| {
            let row = text.lines().find(|row| row.starts_with("#0")).unwrap_or_default();
            let right = row.contains(&format!(" {function} (")) && row.trim_end().ends_with(&line);
            if right { Ok(()) } else { Err(format!("expected {function} at {line}, got {text:?}")) }
        });
        for lane in sampled(lanes(&wave), 5) {
            script.say(format!("set var $lane={lane}"));
            for (variable, values) in &wave.variables {
                let value = values[lane].clone();
                let what = format!("wave {} lane {lane} {variable}", wave.thread);
                script.check(what, format!("p {variable}"), move |text| {
                    judged(&value, text.split_once(" = ").map_or("", |(_, shown)| shown))
                });
            }
        }
    }
    script.expect("detach", "detached");
    script
}

fn lldb(name: &str, address: &str) -> Script {
    let mut script = Script::new(name);
    script.say(format!("gdb-remote {address}"));
    for wave in waves(name) {
        script.say(format!("thread select --thread-id {}", wave.thread));
        let function = wave.function.clone();
        script.check(format!("wave {} stack", wave.thread), "bt", move |text| {
            let right =
                text.lines().any(|row| row.contains("frame #0") && row.contains(&format!("`{function}")));
            if right { Ok(()) } else { Err(format!("expected {function}, got {text:?}")) }
        });
        for lane in sampled(lanes(&wave), 5) {
            script.say(format!("register write lane {lane}"));
            for (variable, values) in &wave.variables {
                let value = values[lane].clone();
                let what = format!("wave {} lane {lane} {variable}", wave.thread);
                let command = format!("frame variable --format d {variable}");
                let variable = variable.clone();
                script.check(what, command, move |text| {
                    let shown = text.split_once(&format!("{variable} = ")).map_or("", |(_, rest)| rest);
                    judged(&value, shown).map_err(|why| format!("{why} in {text:?}"))
                });
            }
        }
    }
    script.expect("detach", "Process 1 detached");
    script
}

fn judged(value: &Value, text: &str) -> Result<(), String> {
    if shows(value, text) { Ok(()) } else { Err(format!("laid down {value}, got {text:?}")) }
}
