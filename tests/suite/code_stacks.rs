//! Stacks of code without call frame information, at many moments of a wave's run: compared with the calls of the model
//! that executed the code (tests/fixtures/models/stacks.py). At -O0 the code has no debug information either.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;

use lanescope::debuginfo::format::Letter;
use lanescope::session::print::Query;
use lanescope::session::{
    InferredBy, Session, StackEnd, Stacks as _, ValueState, Variables as _, Waves as _,
};
use lanescope::units::{LaneSet, WaveId};
use serde_json::Value;

use crate::fixtures::{fixtures, open};
use crate::slim::{answer, said, words};
use crate::support::sample::sampled;

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

/// The dumps of the models, in a folder of their own; the first and the fourth differ in GPU and level.
fn dumps(folder: &Path) -> BTreeSet<String> {
    let mut archive = zip::ZipArchive::new(File::open(fixtures().join("stacks.zip")).unwrap()).unwrap();
    archive.extract(folder).unwrap();
    archive.file_names().map(|name| name.unwrap().split_once('/').unwrap().0.to_owned()).collect()
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

/// All registers and private memory were captured: a register of a caller without a value was lost in a call.
#[test]
fn a_missing_register_of_a_caller_has_the_frame_that_lost_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in sampled(dumps(folder.path()), 3) {
        let dump = folder.path().join(&name);
        let session = Session::new(open(&dump), None).unwrap();
        let (mut lost, mut printed) = (0, false);
        for wave in session.waves().iter() {
            let frames = session.backtrace(*wave, None).unwrap().frames.len();
            for frame in 2..frames {
                for register in ["v0", "v1", "v40", "v41", "s4", "s16", "s40", "vcc"] {
                    let query = Query { path: format!("${register}"), letter: None };
                    let found = session.print(*wave, LaneSet(1), frame, &query).unwrap();
                    let at = format!("{name} wave {wave} frame {frame} {register}");
                    let why = match &found.lanes[0].value.state {
                        ValueState::Value(_) => continue,
                        ValueState::Unavailable(why) => {
                            assert!(why.contains("called others, which may have changed"), "{at}: {why}");
                            continue;
                        }
                        ValueState::OptimizedOut(why) => why,
                        ValueState::Error(why) => panic!("{at}: {why}"),
                    };
                    let end =
                        why.split_once("the function of frame ").unwrap_or_else(|| panic!("{at}: {why}")).1;
                    let (number, rest) = end.split_once(" does not preserve ").unwrap();
                    assert!(rest.ends_with(" for its caller"), "{at}: {why}");
                    assert!(number.parse::<usize>().unwrap() < frame, "{at}: {why}");
                    lost += 1;
                    if !std::mem::replace(&mut printed, true) {
                        let (id, frame) = ((wave.0 + 1).to_string(), frame.to_string());
                        let path = format!("${register}");
                        let asked =
                            ["print", words(&dump), "--wave", &id, "--frame", &frame, "--lane", "0", &path];
                        let (shown, complaint) = said(&asked);
                        assert!(
                            shown.contains("does not preserve ") && complaint.is_empty(),
                            "{at}: {shown}{complaint}"
                        );
                    }
                }
            }
        }
        assert!(lost > 10, "{name}: {lost}");
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
            assert_eq!(frame.inferred.sources(), [InferredBy::CallerCode], "{at}");
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

/// llvm-nm has the symbols' addresses. The offset of a frame is that of its PC, as in gdb and in `disassemble`.
#[test]
fn offsets_of_callers_are_those_of_their_pcs() {
    const LOADED: &str = "0x7f0000100000";
    let folder = tempfile::tempdir().unwrap();
    dumps(folder.path());
    let dump = folder.path().join("stacks-gfx90a-O0");
    let object = dump.join("stacks-gfx90a-O0.hsaco");
    let nm = Command::new(crate::ci::lanescope_tools("llvm-nm")).arg("-n").arg(&object).output().unwrap();
    let symbols: BTreeMap<u64, String> = String::from_utf8(nm.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| Some((u64::from_str_radix(line.split_once(' ')?.0, 16).ok()?, line.to_owned())))
        .collect();
    assert!(symbols.len() > 4, "{symbols:?}");
    let loaded = u64::from_str_radix(&LOADED[2..], 16).unwrap();
    let mut callers = 0;
    let stacks = answer(&["backtrace", words(&dump), "--wave", "1-9", "--json"]);
    let stacks: Value = serde_json::from_str(&stacks).unwrap();
    let stacks = stacks["answers"].as_array().unwrap();
    assert_eq!(stacks.len(), 9);
    for (wave, stack) in (1..).zip(stacks) {
        for (level, frame) in stack["frames"].as_array().unwrap().iter().enumerate() {
            let pc = hex(&frame["pc"]) - loaded;
            // A call may be the last instruction of its function; the wave may be at the first one.
            let (start, _) = symbols.range(..=pc - u64::from(level > 0)).next_back().unwrap();
            assert_eq!(frame["offset"].as_u64(), Some(pc - start), "wave {wave}: {frame}");
            callers += usize::from(level > 0);
        }
    }
    assert!(callers > 5, "{callers}");
}
