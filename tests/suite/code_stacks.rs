//! Stacks of code without call frame information, at many moments of a wave's run: compared with the calls of the model
//! that executed the code (tests/fixtures/models/stacks.py). At -O0 the code has no debug information either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use lanescope::debuginfo::format::Letter;
use lanescope::session::print::Query;
use lanescope::session::{
    InferredBy, Session, StackEnd, Stacks as _, ValueState, Variables as _, Waves as _,
};
use lanescope::units::{LaneSet, WaveId};
use serde_json::Value;

use crate::fixtures::{fixtures, open};
use crate::slim::{answer, words};

/// A register of a frame in a lane.
fn register(session: &Session, wave: WaveId, frame: usize, path: &str, lane: u8) -> Option<u64> {
    let query = Query { path: path.to_owned(), letter: Some(Letter::Hex) };
    // Paths need debug information.
    let printed = session.print(wave, LaneSet(1 << lane), frame, &query).ok()?;
    let value = &printed.lanes[0].value;
    match &value.state {
        ValueState::Value(text) => {
            assert!(value.inferred.by().any(|by| by == InferredBy::CallerCode), "{path} has no mark");
            Some(u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap())
        }
        ValueState::Error(why) => panic!("{path}: {why}"),
        _ => None,
    }
}

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

/// Known and unknown values.
#[derive(Debug, Default)]
struct Counts {
    callers: usize,
    frame: usize,
    exec: [usize; 2],
    vectors: [usize; 2],
}

/// The dumps of the models, in a folder of their own.
fn dumps(folder: &Path) -> BTreeSet<String> {
    let mut archive = zip::ZipArchive::new(File::open(fixtures().join("stacks.zip")).unwrap()).unwrap();
    archive.extract(folder).unwrap();
    archive.file_names().map(|name| name.unwrap().split_once('/').unwrap().0.to_owned()).collect()
}

/// A run of LLVM's tool takes 50 ms for one function as for fifty. The first run is for the first wave alone.
#[test]
fn functions_of_other_waves_are_decoded_in_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let (tool, log, written) =
        (folder.path().join("objdump"), folder.path().join("log"), folder.path().join("script"));
    let llvm = crate::ci::lanescope_tools("llvm-objdump");
    std::fs::write(
        &written,
        format!("#!/bin/sh\necho run >> '{}'\nexec {} \"$@\"\n", log.display(), llvm.display()),
    )
    .unwrap();
    crate::install(&written, &tool);
    for name in dumps(folder.path()) {
        let dump = folder.path().join(&name);
        let groups = answer(&["groups", words(&dump), "--json", "--disassembler", words(&tool)]);
        let runs = std::fs::read_to_string(&log).unwrap().lines().count();
        std::fs::remove_file(&log).unwrap();
        let groups: Value = serde_json::from_str(&groups).unwrap();
        let groups =
            groups["kinds"].as_array().unwrap().iter().flat_map(|kind| kind["groups"].as_array().unwrap());
        let innermost: BTreeSet<String> =
            groups.map(|group| group["frames"][0]["function"].to_string()).collect();
        assert!(innermost.len() >= 5, "{name}: {innermost:?}");
        assert!(runs < innermost.len(), "{name}: {runs} runs for {innermost:?}");
    }
}

#[test]
fn callers_are_those_of_the_models_calls() {
    let folder = tempfile::tempdir().unwrap();
    let names = dumps(folder.path());
    let all: BTreeMap<&String, Counts> =
        names.iter().map(|name| (name, compared(&folder.path().join(name)))).collect();
    assert_eq!(all.len(), 4);
    for (name, counts) in &all {
        assert!(counts.callers >= 40, "{name}: {counts:?}");
        if name.ends_with("O2") {
            assert!(counts.frame >= 40, "{name}: {counts:?}");
            let has_more = |[known, unknown]: [usize; 2]| known > unknown;
            assert!(has_more(counts.exec) && has_more(counts.vectors), "{name}: {counts:?}");
        }
    }
}

fn compared(folder: &Path) -> Counts {
    let truth: Vec<Value> =
        serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
    let session = Session::new(open(folder), None).unwrap();
    let lanes = session.kind().wave_size.lanes();
    let mut counts = Counts::default();
    for (index, one) in (0..).zip(&truth) {
        let (wave, at) = (WaveId(index), format!("{} {}", folder.display(), one["step"]));
        let stack = session.backtrace(wave, None).unwrap();
        let calls = one["calls"].as_array().unwrap();
        let pcs: Vec<u64> = stack.frames.iter().map(|frame| frame.pc.unwrap().0).collect();
        let expected: Vec<u64> =
            std::iter::once(&one["pc"]).chain(calls.iter().map(|call| &call["pc"])).map(hex).collect();
        assert_eq!(pcs, expected, "{at}: {}", stack.end);
        assert_eq!(stack.end, StackEnd::Outermost, "{at}");
        assert_eq!(stack.frames.last().unwrap().function.as_deref(), Some("stacks"), "{at}");
        for (level, call) in (1..).zip(calls) {
            let at = format!("{at} caller {level}");
            let frame = &stack.frames[level];
            assert_eq!(frame.inferred.names(), ["caller_code"], "{at}");
            let cfa = format!("private_wave+{} (inferred: caller by code)", call["cfa"].as_str().unwrap());
            assert_eq!(stack.frames[level - 1].cfa.as_deref(), Some(&*cfa), "{at}");
            let s33 = register(&session, wave, level, "$s33", 0);
            assert!(s33.is_none() || s33 == call["s33"].as_u64(), "{at}: s33 {s33:x?}");
            counts.frame += usize::from(s33.is_some());
            counts.callers += 1;
            let exec = register(&session, wave, level, "$exec", 0);
            assert!(exec.is_none_or(|exec| exec == hex(&call["exec"])), "{at}: {exec:x?}");
            counts.exec[usize::from(exec.is_none())] += 1;
            for (name, dwords) in call["vectors"].as_object().unwrap() {
                for lane in [0, 7, lanes - 1] {
                    let value = register(&session, wave, level, &format!("${name}[{lane}]"), lane);
                    let expected = dwords[usize::from(lane)].as_u64();
                    assert!(value.is_none() || value == expected, "{at}: {name} lane {lane} {value:x?}");
                    counts.vectors[usize::from(value.is_none())] += 1;
                }
            }
        }
    }
    counts
}
