//! Late reports: the wave has left the inlined call or the line of the access. Its frame, line and variables are those of
//! the access. The calls at addresses are those of llvm-symbolizer.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use lanescope::check::{Head, Subject, draft};
use lanescope::postmortem::{self, Options};
use lanescope::report::Style;
use lanescope::session::{FrameAround, Inspect, Session, Stacks as _, Waves as _};
use lanescope::signature::Rules;
use lanescope::triage::{Question, Scene, Step, Suspect, page, triage};
use serde_json::Value;

use super::cases::{Case, Moment, load_where};
use crate::dwarf::ran;
use crate::fixtures::one_line;
use crate::slim::Scratch;
use crate::support::newest;

/// The PC is in `finish`, inlined behind the access of most kernels.
const MOMENT: Moment = Moment { distance: 9, has_report: true, lacks_memory: false };
/// Address of the code object.
const LOADED: u64 = 0x7f00_0010_0000;

/// A call at an address: its function, and the line and column in it.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    function: String,
    place: (u64, u64),
}

/// The calls at addresses, the outermost first; none at an address without a row in the line table.
fn symbolized(name: &str, code: &[u8], addresses: &[u64]) -> Vec<Vec<Call>> {
    let scratch = Scratch::new(name);
    let path = scratch.path("code.hsaco");
    fs::write(&path, code).unwrap();
    let mut command = Command::new(newest("llvm-symbolizer"));
    command.args(["--inlines", "--output-style=JSON", "--no-demangle", "--obj"]).arg(&path);
    command.args(addresses.iter().map(|address| format!("{:#x}", address - LOADED)));
    let answers: Value = serde_json::from_str(&ran(&mut command)).unwrap();
    let call = |of: &Value| Call {
        function: of["FunctionName"].as_str().unwrap().to_owned(),
        place: (of["Line"].as_u64().unwrap(), of["Column"].as_u64().unwrap()),
    };
    let calls = |answer: &Value| {
        let known = answer["Symbol"].as_array().unwrap().iter().rev();
        known.filter(|_| answer["Symbol"][0]["FileName"] != "").map(call).collect()
    };
    answers.as_array().unwrap().iter().map(calls).collect()
}

/// Number of the outer calls that two addresses have in common: an inlined call has its place in the call around it.
fn in_common(one: &[Call], other: &[Call]) -> usize {
    let pairs = one.iter().zip(other).enumerate();
    let is_same = |(level, (own, there)): &(usize, (&Call, &Call))| {
        let around = level.checked_sub(1).map(|level| one[level].place == other[level].place);
        own.function == there.function && around != Some(false)
    };
    pairs.take_while(is_same).count()
}

/// The frame around each instruction of a function, at a PC in the call that is inlined at its end.
#[test]
fn frames_around_instructions_are_those_of_llvm_symbolizer() {
    let cases = load_where(|name| name.starts_with("faults-gfx90a-O2.")).with_sources();
    let case = cases.faults.iter().find(|case| case.name.starts_with("null_member-")).unwrap();
    let session = Session::new(cases.open(case, MOMENT), None).unwrap();
    let wave = session.first_wave();
    let pc = session.wave(wave).unwrap().pc.unwrap().0;
    // The function has less than 256 bytes: others precede and follow it.
    let mut addresses: Vec<u64> = (pc - 256..pc + 256).step_by(4).collect();
    addresses.insert(0, pc);
    let mut calls = symbolized("around", cases.code(case), &addresses).into_iter();
    let here = calls.next().unwrap();
    assert_eq!(here.iter().map(|call| &*call.function).collect::<Vec<_>>(), ["null_member", "_ZL6finishfi"]);
    let (mut left, mut elsewhere) = (0, 0);
    for (address, there) in addresses.iter().skip(1).zip(calls) {
        let found = session.frame_around(wave, *address).unwrap();
        match in_common(&here, &there) {
            0 => {
                assert_eq!(found, None, "{address:#x}: {there:?}");
                elsewhere += 1;
            }
            same => {
                let expected = FrameAround { frame: here.len() - same, left: there.len() - same };
                assert_eq!(found, Some(expected), "{address:#x}: {there:?}");
                left += usize::from(expected.left > 0);
            }
        }
    }
    assert!(
        left > 0 && elsewhere > 0,
        "{left} addresses of a call that the wave left, {elsewhere} of others"
    );
}

/// Kernels whose access and PC are in different calls; the two loads of `chain_walk` are one, which has no line.
const KERNELS: [&str; 6] =
    ["null_member-", "negative_index-", "misaligned-", "chain_walk-", "cl_null-", "cl_wrap-"];

#[test]
fn the_frame_and_line_of_a_late_fault_are_those_of_the_access() {
    let (mut outer, mut left, mut inferred) = (0, 0, 0);
    for level in ["faults-gfx90a-O2.", "faults_cl-gfx1030-O2."] {
        let cases = load_where(|name| name.starts_with(level)).with_sources();
        let is_wanted = |case: &&Case| KERNELS.iter().any(|kernel| case.name.starts_with(kernel));
        let mut answers: Vec<(&Case, Suspect)> = Vec::new();
        for case in cases.faults.iter().filter(is_wanted) {
            let session = Session::new(cases.open(case, MOMENT), None).unwrap();
            let found = triage(&[&session], &Question::default());
            let access = case.waves.iter().find_map(|wave| wave.truth.as_ref()?.access.as_ref()).unwrap();
            let right = found.suspects.into_iter().find(|one| one.instruction == access.instruction);
            answers.push((case, right.unwrap_or_else(|| panic!("{}: no such suspect", case.name))));
        }
        let addresses: Vec<u64> = answers.iter().flat_map(|(_, of)| [of.instruction, of.pc.0]).collect();
        let calls = symbolized("late", cases.code(answers[0].0), &addresses);
        for ((case, suspect), pair) in answers.iter().zip(calls.chunks(2)) {
            let (name, there, here) = (&case.name, &pair[0], &pair[1]);
            let (frame, same) = (suspect.frame.as_ref().unwrap(), in_common(here, there));
            assert_eq!(frame.frame, here.len() - same, "{name}: {there:?}, {here:?}");
            outer += usize::from(frame.frame > 0);
            let (line, _) = there.last().unwrap().place;
            assert_eq!(suspect.at.is_inferred, line == 0, "{name}: {there:?}");
            match line {
                0 => {
                    // By the source of the kernel: one of the two statements that were joined.
                    assert_eq!(suspect.at.text.as_deref(), Some("sum += body->mass;"), "{name}");
                    inferred += 1;
                }
                _ => assert_eq!(suspect.at.line, Some(line), "{name}: {there:?}"),
            }
            // The frame around a call that the wave left has the line of the call.
            let has_left = same < there.len();
            let line = if has_left { Some(there[same - 1].place.0) } else { suspect.at.line };
            assert_eq!((&frame.file, frame.line), (&suspect.at.file, line), "{name}: {there:?}");
            left += usize::from(has_left);
        }
    }
    assert_eq!((outer, left, inferred), (4, 1, 1));
}

/// tests/fixtures/kernels/faults.hip: the line of the access names `body`, which the inlined `finish` has not.
#[test]
fn pages_drafts_and_reports_are_of_the_access() {
    let cases = load_where(|name| name.starts_with("faults-gfx90a-O2.")).with_sources();
    let case = cases.faults.iter().find(|case| case.name.starts_with("null_member-")).unwrap();
    let dump = cases.open(case, MOMENT);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let sessions: [&dyn Inspect; 1] = [&session];
    let found = triage(&sessions, &Question::default());
    let command = |step: &Step| match step {
        Step::Locals { frame, .. } => Some(format!("locals --frame {frame}")),
        Step::Instructions { frame, .. } => Some(format!("disassemble --frame {frame}")),
        _ => None,
    };
    // Inlined calls share the instructions at the PC.
    let page = page::text(&found, &Scene::new(&sessions), &command, Style::Plain);
    assert!(page.contains("locals --frame 1\n"), "{page}");
    assert!(page.contains("disassemble --frame 0\n"), "{page}");
    let subject = Subject {
        name: "dump".to_owned(),
        sessions: sessions.to_vec(),
        dump: Arc::clone(&dump),
        rules: Rules::default(),
    };
    let drafted = one_line(&draft(&Head { dump: "a.zip".to_owned(), ..Head::default() }, &subject).unwrap());
    assert!(drafted.contains("stack ... < null_member "), "{drafted}");
    assert!(!drafted.contains("finish"), "{drafted}");
    let model = postmortem::model(&dump, &sessions, Options::default(), &Rules::default(), &command);
    let wave = model.wave.unwrap();
    assert_eq!(wave.frame, 1);
    let current = wave.source.unwrap().lines.into_iter().find(|line| line.is_current).unwrap();
    assert_eq!(current.text.trim(), "float weight = body->mass;");
    let names: Vec<&str> = wave.variables.iter().map(|variable| &*variable.name).collect();
    assert!(names.contains(&"body") && !names.contains(&"seed"), "{names:?}");
}
