//! Code without any debug information in stock debuggers: functions, offsets and callers by the view's symbols. The
//! frames are those of the model that executed the code (tests/fixtures/models/stacks.py); names and offsets are of
//! llvm-nm.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::harness::{Server, lldb_name, scratch, tool};
use super::script::{Debugger, Script, gdbs, half};
use crate::support::newest;

const LOAD: u64 = 0x7f00_0010_0000;
const GPUS: [&str; 2] = ["gfx90a", "gfx1100"];
/// Moments of the run that are compared, evenly distributed.
const MOMENTS: usize = 9;

/// Frames of a wave, innermost first: demangled function and offset of the PC.
struct Moment {
    wave: u64,
    frames: Vec<(String, u64)>,
}

/// Function symbols by llvm-nm, demangled: address, size and name.
fn functions(object: &Path) -> Vec<(u64, u64, String)> {
    let output = tool(newest("llvm-nm")).args(["-C", "-S", "--defined-only"]).arg(object).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().filter_map(|line| {
        let mut words = line.splitn(4, ' ');
        let [value, size, kind, name] = [words.next()?, words.next()?, words.next()?, words.next()?];
        let number = |text| u64::from_str_radix(text, 16).ok();
        kind.eq_ignore_ascii_case("t").then_some((number(value)?, number(size)?, name.to_owned()))
    });
    rows.collect()
}

/// The dump of code at -O0 without debug information, and its moments.
fn dump(gpu: &str) -> (PathBuf, Vec<Moment>) {
    let folder = scratch(&format!("release-{gpu}"));
    let archive = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/stacks.zip");
    zip::ZipArchive::new(File::open(archive).unwrap()).unwrap().extract(&folder).unwrap();
    let name = format!("stacks-{gpu}-O0");
    let dump = folder.join(&name);
    let object = dump.join(format!("{name}.hsaco"));
    let sections = tool(newest("llvm-readelf")).args(["-S", "-W"]).arg(&object).output().unwrap();
    assert!(!String::from_utf8(sections.stdout).unwrap().contains(".debug"), "{name}");
    let functions = functions(&object);
    let hex = |value: &Value| {
        u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap() - LOAD
    };
    let truth: Vec<Value> = serde_json::from_slice(&std::fs::read(dump.join("truth.json")).unwrap()).unwrap();
    let moments = truth.iter().step_by(truth.len() / MOMENTS).map(|one| {
        let callers = one["calls"].as_array().unwrap().iter().map(|call| hex(&call["pc"]));
        let frames = std::iter::once(hex(&one["pc"])).chain(callers).enumerate().map(|(level, pc)| {
            // A return address belongs to the call before it.
            let at = pc - u64::from(level > 0);
            let of = functions.iter().find(|(start, size, _)| (*start..start + size).contains(&at));
            let (start, _, name) = of.unwrap_or_else(|| panic!("no function at {pc:#x}"));
            (name.clone(), pc - start)
        });
        Moment { wave: one["wave"].as_u64().unwrap(), frames: frames.collect() }
    });
    let moments: Vec<Moment> = moments.collect();
    assert!(moments.iter().any(|moment| moment.frames.len() > 2), "{name}");
    (dump, moments)
}

fn shows_functions(debugger: &Debugger, gpu: &str) {
    let (dump, moments) = dump(gpu);
    let server = Server::start(&dump, &[]);
    let mut script = Script::new(gpu);
    let is_gdb = matches!(debugger, Debugger::Gdb(_));
    script.say(format!("{} {}", if is_gdb { "target remote" } else { "gdb-remote" }, server.address));
    for Moment { wave, frames } in moments {
        let number = format!("lldb.process.GetThreadByID({wave}).GetIndexID()");
        let chosen = format!("script lldb.debugger.HandleCommand('thread select %d' % {number})");
        script.say(if is_gdb { format!("thread {wave}") } else { chosen });
        let names: Vec<String> = frames.iter().map(|(name, _)| name.clone()).collect();
        script.check(format!("wave {wave}"), "bt", move |text| {
            let mut rest = text;
            for name in &names {
                rest = rest.split_once(name.as_str()).ok_or_else(|| format!("no {name} in {text}"))?.1;
            }
            let count =
                text.lines().filter(|line| line.contains(if is_gdb { "#" } else { "frame #" })).count();
            (count == names.len())
                .then_some(())
                .ok_or_else(|| format!("expected {} frames: {text}", names.len()))
        });
        for (level, (name, offset)) in frames.iter().enumerate() {
            let at = format!("{name} + {offset}");
            if is_gdb {
                script.say(format!("frame {level}"));
                script.expect("info symbol $pc", if *offset == 0 { format!("{name} in") } else { at });
            } else {
                script.expect(format!("frame select {level}"), if *offset == 0 { name.clone() } else { at });
            }
        }
    }
    script.must_pass(debugger);
    server.finish();
    std::fs::remove_dir_all(dump.parent().unwrap()).unwrap();
}

#[test]
fn gdb_shows_functions_with_offsets_without_debug_information() {
    for gdb in gdbs().map(Debugger::Gdb) {
        half(GPUS, &gdb).for_each(|gpu| shows_functions(&gdb, gpu));
    }
}

#[test]
fn lldb_shows_functions_with_offsets_without_debug_information() {
    let lldb = Debugger::Lldb(lldb_name());
    half(GPUS, &lldb).for_each(|gpu| shows_functions(&lldb, gpu));
}
