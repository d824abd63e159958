//! Call stacks of every wave of every fixture: compared with the models if call frame information leads to callers,
//! otherwise with the nesting in the debug information.

use lanescope::debuginfo::format::Letter;
use lanescope::report::lanes::Detail;
use lanescope::report::{Style, json, stack, text};
use lanescope::session::print::{PartOwner, PartsQuery, Query};
use lanescope::session::{InferredBy, Session, Stacks as _, ValueState, Variables as _, Waves as _};
use lanescope::units::{LaneSet, Pc, WaveId};
use serde_json::{Value, json};

use crate::fixtures::{each_wave, each_wave_of, expected_of, some_expected};
use crate::json_of;
use crate::slim::{answer, words};
use crate::variables::compare;

fn wave_stack(session: &Session, wave: WaveId) -> Value {
    json_of(stack::WaveStack::of(&session.backtrace(wave, None).unwrap()))
}

/// `{"space": 6, "address": "0x800"}` as in an answer.
fn cfa(expected: &Value) -> Value {
    assert_eq!(expected["space"], 6);
    json!(format!("private_wave+{}", expected["address"].as_str().unwrap()))
}

#[test]
fn callers_agree_with_the_models() {
    let mut seen = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        let Some(callers) = expected["callers"].as_array() else { return };
        let all = wave_stack(session, wave);
        let frames = all["frames"].as_array().unwrap();
        if frames.len() != callers.len() + 1 || all["end"]["reason"] != "outermost" {
            return wrong(format!("{} callers expected, got {all}", callers.len()));
        }
        if expected["cfa"].is_object() && frames[0]["cfa"] != cfa(&expected["cfa"]) {
            wrong(format!("CFA of frame 0: {}", frames[0]));
        }
        for (number, (frame, caller)) in frames[1..].iter().zip(callers).enumerate() {
            for key in ["function", "pc", "line"] {
                if frame[key] != caller[key] {
                    wrong(format!("{key} of caller {number}: {}, expected {}", frame[key], caller[key]));
                }
            }
            if frame["cfa"] != cfa(&caller["cfa"]) {
                wrong(format!("CFA of caller {number}: {}", frame["cfa"]));
            }
            // The variables of the caller, in all lanes of the model.
            let locals = session.locals(wave, session.kind().wave_size.all(), number + 1);
            let locals = locals
                .map(|locals| json_of(json::FrameVariables::of(locals)))
                .map_err(|error| error.to_string());
            let mut caller = caller.clone();
            caller["lanes"] = expected["lanes"].clone();
            compare(locals, &caller, &mut |text| wrong(format!("caller {number}: {text}")));
            seen.set(seen.get() + 1);
        }
        // One frame more does not exist.
        let error = session.locals(wave, LaneSet(1), callers.len() + 1).unwrap_err().to_string();
        if !error.contains("there is no frame") {
            wrong(error);
        }
    });
    assert!(*seen.get_mut() >= 15, "only {} callers", seen.get());
}

#[test]
fn lanes_are_at_the_places_of_the_models() {
    let mut seen = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        let Some(stacks) = expected["lane_stacks"].as_array() else { return };
        for (lane, wanted) in (0u8..).zip(stacks) {
            let lane = lanescope::units::LaneId(lane);
            let stack = json_of(stack::WaveStack::of(&session.backtrace(wave, Some(lane)).unwrap()));
            let frames = stack["frames"].as_array().unwrap().iter();
            let got: Value =
                frames.map(|frame| json!([frame["function"], frame["pc"], frame["line"]])).collect();
            if got != *wanted {
                wrong(format!("lane {lane}: expected {wanted}, got {got}"));
            }
            seen.set(seen.get() + 1);
        }
        // All together equal each one.
        let together = session.lane_stacks(wave, session.kind().wave_size.all()).unwrap();
        let all = together.iter().fold(0, |all, stack| all ^ stack.lanes.0);
        assert_eq!(all, session.kind().wave_size.all().0);
        for group in together {
            for lane in group.lanes.iter() {
                assert_eq!(session.backtrace(wave, Some(lane)).unwrap().frames, group.stack.frames);
            }
        }
    });
    assert!(*seen.get_mut() >= 7 * (64 + 32), "only {} lanes", seen.get());
}

#[test]
fn a_lane_that_never_entered_has_no_frame() {
    each_wave(|session, wave, expected, wrong| {
        let Some(pcs) = expected["lane_pc"].as_array() else { return };
        for (lane, pc) in expected["lanes"].as_array().unwrap().iter().zip(pcs) {
            let lane = lanescope::units::LaneId(lane.as_u64().unwrap() as u8);
            let frames = session.backtrace(wave, Some(lane)).unwrap().frames;
            let innermost = frames.iter().find(|frame| frame.physical == 0);
            let got = innermost.and_then(|frame| frame.pc).map(|pc| pc.to_string());
            if got.as_deref() != pc.as_str() {
                wrong(format!("lane {lane}: expected {pc}, got {got:?}"));
            }
        }
    });
}

/// Whether a source file of the fixtures declares a kernel of that name.
fn is_kernel(function: &str) -> bool {
    let folder = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/kernels");
    let declared = ["__global__ void ", "__kernel void ", ".amdhsa_kernel "];
    let declared = declared.map(|kernel| format!("{kernel}{function}"));
    std::fs::read_dir(folder).unwrap().any(|file| {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let mut rests = declared.iter().flat_map(|name| text.split(name.as_str()).skip(1));
        rests.any(|rest| rest.starts_with(['(', '\n']))
    })
}

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap()
}

/// Memory of static storage is the same in all frames; `upto` is a parameter of the caller.
#[test]
fn static_storage_in_a_caller_has_no_mark() {
    let dump = crate::fixtures::fixtures().join("dumps/call-gfx90a-O0");
    for (path, value, inferred) in [
        ("sky::visits", "7", Value::Null),
        ("sky::gains[1]", "2", Value::Null),
        ("upto", "3", json!(["caller_code"])),
    ] {
        let asked = ["print", words(&dump), "--wave", "1", "--frame", "1", "--lane", "0", path, "--json"];
        let printed: Value = serde_json::from_str(&answer(&asked)).unwrap();
        let lane = &printed["lanes"][0];
        assert_eq!(lane["value"], value, "{printed}");
        assert_eq!(lane["inferred"], inferred, "{printed}");
    }
}

/// The variables of a frame that the code of its callee gives: marks in the heading and in JSON, and of the parts that
/// the analysis of faults compares addresses with.
fn wrong_marks(session: &Session, wave: WaveId, frame: usize, pc: u64, wrong: &mut dyn FnMut(String)) {
    let lanes = session.kind().wave_size.all();
    let locals = session.locals(wave, lanes, frame).unwrap();
    let heading = text::locals(&locals, Detail::Rules, Style::Plain).lines().next().unwrap().to_owned();
    if !heading.ends_with(" (inferred: caller by code)") {
        wrong(format!("heading of frame {frame}: {heading}"));
    }
    let locals = json_of(json::FrameVariables::of(locals));
    if locals["inferred"] != json!(["caller_code"]) {
        wrong(format!("inferences of frame {frame}: {}", locals["inferred"]));
    }
    let asked = PartsQuery {
        wave,
        lanes: LaneSet(1),
        at: Pc(pc - 1),
        names: Vec::new(),
        has_globals: false,
        has_places: false,
        written: Vec::new(),
    };
    for part in session.parts(&asked).unwrap().parts {
        let is_inferred = part.inferred.by().any(|by| by == InferredBy::CallerCode);
        if is_inferred == (part.owner == PartOwner::KernelArgument) {
            wrong(format!("inferences of {} of frame {frame}: {:?}", part.path, part.inferred));
        }
    }
}

/// clang 22 writes call frame tables without instructions: the code of the functions gives the callers, which are those
/// of the model's calls.
#[test]
fn without_call_frame_information_the_code_gives_the_callers() {
    let (mut inlined, mut seen) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    each_wave_of(some_expected(), |session, wave, expected, wrong| {
        if expected["callers"].is_array() || expected["lane_stacks"].is_array() {
            return;
        }
        let stack = wave_stack(session, wave);
        let frames = stack["frames"].as_array().unwrap();
        if expected["pc"].is_null() {
            if stack["end"]["reason"] != "pc_not_captured" || !frames.is_empty() {
                wrong(format!("{stack}"));
            }
            return;
        }
        let Some(function) = expected["function"].as_str() else { return };
        let reason = stack["end"]["reason"].as_str().unwrap();
        let called = expected["called"].as_array().cloned().unwrap_or_default();
        let around = expected["inlined_into"].as_array().cloned().unwrap_or_default();
        let outer = around.last().map_or(function, |of| of["function"].as_str().unwrap());
        // A kernel has no caller, whatever its table says. A model may put a wave into a function without a call: then
        // the return address is a filler.
        let end = if called.is_empty() && !is_kernel(outer) { "bad_caller_pc" } else { "outermost" };
        if reason != end {
            wrong(format!("{called:?}: {stack}"));
        }
        let callers: Vec<&Value> = frames.iter().filter(|frame| frame["physical"] != 0).collect();
        let innermost = |level: usize| frames.iter().find(|frame| frame["physical"] == level);
        for (level, call) in (1..).zip(&called) {
            // The CFA of a frame is the caller's stack pointer.
            let cfa = format!("private_wave+{} (inferred: caller by code)", call["cfa"].as_str().unwrap());
            if innermost(level - 1).map(|frame| &frame["cfa"]) != Some(&json!(cfa)) {
                wrong(format!("CFA of frame {}: expected {cfa}, got {stack}", level - 1));
            }
            let frame = innermost(level).cloned().unwrap_or_default();
            if frame["pc"] != call["pc"] || frame["inferred"] != json!(["caller_code"]) {
                wrong(format!("caller {level}: expected {call}, got {frame}"));
            }
            let number = frame["frame"].as_u64().unwrap_or_default();
            wrong_marks(session, wave, number as usize, hex(&call["pc"]), wrong);
            for register in ["s33", "exec"] {
                let printed = register_of(session, wave, number as usize, register);
                // The lanes of the entry may be unknown: after a loop, for example.
                let is_absent = register == "exec" && printed.is_none();
                if !is_absent && printed.as_deref() != call[register].as_str() {
                    wrong(format!("{register} of caller {level}: {printed:?}, expected {}", call[register]));
                }
            }
            seen.set(seen.get() + 1);
        }
        if callers.iter().any(|frame| frame["physical"].as_u64() > Some(called.len() as u64)) {
            wrong(format!("{called:?}: {stack}"));
        }
        let frames: Vec<&Value> = frames.iter().filter(|frame| frame["physical"] == 0).collect();
        let mut wanted = vec![(function.to_owned(), expected["line"].clone())];
        wanted.extend(
            around.iter().map(|of| (of["function"].as_str().unwrap().to_owned(), of["line"].clone())),
        );
        inlined.set(inlined.get() + around.len());
        if frames.len() != wanted.len() {
            return wrong(format!("expected {wanted:?}, got {stack}"));
        }
        for (index, (frame, (function, line))) in frames.iter().zip(&wanted).enumerate() {
            let name = frame["function"].as_str().unwrap_or_default();
            let named = name == function || name.ends_with(&format!("::{function}"));
            if !named || (line.is_u64() && frame["line"] != *line) {
                wrong(format!("frame {index}: expected {function} line {line}, got {frame}"));
            }
            if frame["inlined"] != json!(index + 1 < wanted.len()) {
                wrong(format!("{frame}"));
            }
        }
    });
    assert!(*inlined.get_mut() > 0, "no inlined frame was seen");
    assert!(*seen.get_mut() >= 30, "only {} callers", seen.get());
}

/// A register of a frame in hexadecimal.
fn register_of(session: &Session, wave: WaveId, frame: usize, register: &str) -> Option<String> {
    let query = Query { path: format!("${register}"), letter: Some(Letter::Hex) };
    let printed = session.print(wave, LaneSet(1), frame, &query).ok()?;
    match &printed.lanes.first()?.value.state {
        ValueState::Value(value) => Some(value.to_string()),
        _ => None,
    }
}

#[test]
fn the_command_shows_the_stack_that_programs_read() {
    let (path, _) = expected_of("calls-gfx90a");
    let run = |arguments: &[&str]| {
        let mut command = crate::support::lanescope();
        let output = command.arg("backtrace").arg(&path).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["--wave", "1"]);
    let lines: Vec<&str> = text.lines().collect();
    let [leaf, middle, launch] = lines.as_slice() else { panic!("{text}") };
    assert!(leaf.starts_with("#0  leaf (0x") && leaf.ends_with("calls.hip:4"), "{leaf}");
    assert!(middle.starts_with("#1  middle (0x") && middle.ends_with("calls.hip:13"), "{middle}");
    assert!(launch.starts_with("#2  launch (0x") && launch.ends_with("calls.hip:26"), "{launch}");
    let json: Value = serde_json::from_str(&run(&["--wave", "1", "--lane", "active", "--json"])).unwrap();
    assert_eq!(json["stacks"].as_array().unwrap().len(), 1);
    assert_eq!(json["stacks"][0]["lanes"].as_array().unwrap().len(), 16);
}
