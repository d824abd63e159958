//! Positions of the lanes of every fixture, and waves and lanes by call stack, compared with the models.

use std::collections::BTreeMap;

use lanescope::report::{groups as report, json};
use lanescope::server::{Threads, ThreadsAs};
use lanescope::session::{
    DumpFacts as _, GroupBy, Grouping, Inspect, Session, Stacks as _, Variables as _, Waves as _,
};
use serde_json::{Value, json};

use crate::fixtures::{each_wave, expected_of, fixtures, one_line, open};
use crate::json_of;

/// The lanes of a wave as JSON.
fn lanes_json(session: &dyn Inspect, wave: lanescope::units::WaveId) -> Value {
    json_of(json::lanes(&session.lanes(wave).unwrap(), session.focus(wave)))
}

/// EXEC determines the active lanes, an undefined lane_pc the lanes that have not entered. A lane is at its innermost
/// frame.
#[test]
fn lanes_are_at_the_places_of_the_models() {
    let mut seen = std::cell::Cell::new([0; 3]);
    each_wave(|session, wave, expected, wrong| {
        let Some(stacks) = expected["lane_stacks"].as_array() else { return };
        let exec = u64::from_str_radix(&expected["exec"].as_str().unwrap()[2..], 16).unwrap();
        let lanes = lanes_json(session, wave);
        for (number, stack) in stacks.iter().enumerate() {
            let lane = &lanes["lanes"][number];
            let (state, kind) = match (exec >> number & 1, expected["lane_pc"][number].is_null()) {
                (1, _) => ("active", 0),
                (_, false) => ("inactive", 1),
                (_, true) => ("not_entered", 2),
            };
            let mut counts = seen.get();
            counts[kind] += 1;
            seen.set(counts);
            let got = json!([lane["state"], lane["function"], lane["pc"], lane["line"]]);
            let first = &stack[0];
            let wanted = json!([state, first[0], first[1], first[2]]);
            let outer = stacks.iter().map(|stack| stack.as_array().unwrap().len()).max().unwrap();
            let physical = json!(outer - stack.as_array().unwrap().len());
            if got != wanted || (kind == 2) != (lane["physical"] == 1) {
                wrong(format!("lane {number}: expected {wanted} in frame {physical}, got {lane}"));
            }
            if kind < 2 && lane["pc_from"] != "lane_pc" {
                wrong(format!("lane {number}: {lane}"));
            }
        }
    });
    assert!(seen.get_mut().iter().all(|count| *count > 10), "{seen:?}");
}

/// Without lane_pc, active lanes are at the wave's PC, and the positions of the others are unknown: never the wave's.
#[test]
fn without_lane_pc_inactive_lanes_are_nowhere() {
    let mut seen = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        // The functions of these have lane_pc.
        let told = ["lane_stacks", "lane_pc", "lane_states"].iter().any(|key| expected[key].is_array());
        let told = told || expected["file"] == "draft_ops.hip";
        if told || !expected["pc"].is_string() || !expected["exec"].is_string() {
            return;
        }
        let exec = u64::from_str_radix(&expected["exec"].as_str().unwrap()[2..], 16).unwrap();
        for lane in lanes_json(session, wave)["lanes"].as_array().unwrap() {
            let active = exec >> lane["lane"].as_u64().unwrap() & 1 == 1;
            let right = match (active, lane["state"].as_str()) {
                (true, Some("active")) => lane["pc"] == expected["pc"] && lane["pc_from"] == "exec",
                // A caller's EXEC may prove that it is not in the innermost function; its position is unknown.
                (false, Some("inactive" | "not_entered")) => {
                    lane["pc"].is_null() && lane["pc_from"] == "unknown"
                }
                (_, Some("unused")) => lane["pc"].is_null() && lane["pc_from"] == "no_work_item",
                _ => false,
            };
            seen.set(seen.get() + usize::from(!active));
            if !right {
                wrong(format!("{lane}"));
            }
        }
    });
    assert!(*seen.get_mut() > 100, "only {} inactive lanes", seen.get());
}

/// active_lane, lane_pc and EXEC each contribute a part; the last wave of a group has lanes without work-items.
#[test]
fn lanes_are_active_as_the_source_means_it() {
    let mut seen = std::cell::RefCell::new(BTreeMap::<(String, String), usize>::new());
    each_wave(|session, wave, expected, wrong| {
        let Some(states) = expected["lane_states"].as_array() else { return };
        let lanes = lanes_json(session, wave);
        assert_eq!(lanes["lanes"].as_array().unwrap().len(), states.len());
        for (lane, wanted) in lanes["lanes"].as_array().unwrap().iter().zip(states) {
            let got = json!([lane["state"], lane["pc"], lane["pc_from"], lane["local_id"]]);
            if got != *wanted {
                wrong(format!("lane {}: expected {wanted}, got {lane}", lane["lane"]));
            }
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            *seen.borrow_mut().entry((text(&wanted[0]), text(&wanted[2]))).or_default() += 1;
        }
    });
    let seen = seen.get_mut();
    for kind in [
        ("active", "exec"),
        ("active", "active_lane"),
        ("active", "lane_pc"),
        ("inactive", "unknown"),
        ("inactive", "lane_pc"),
        ("unused", "no_work_item"),
    ] {
        let count = seen.get(&(kind.0.to_owned(), kind.1.to_owned())).copied();
        assert!(count >= Some(10), "{kind:?}: {count:?}");
    }
}

/// `DW_AT_LLVM_lanes` as a constant, an expression and a list limits the lane numbers that an expression may push.
#[test]
fn lanes_past_the_functions_have_no_values() {
    let mut refused = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        let Some(beyond) = expected["beyond"].as_array() else { return };
        let locals = session.locals(wave, session.kind().wave_size.all(), 0).unwrap();
        let id = &json_of(json::FrameVariables::of(locals))["variables"][0];
        for lane in beyond {
            let got = &id["lanes"][lane.as_u64().unwrap() as usize];
            let why = got["why"].as_str().unwrap_or_default();
            if got["state"] != "error" || !why.contains("DW_AT_LLVM_lanes") {
                wrong(format!("lane {lane}: {got}"));
            }
            refused.set(refused.get() + 1);
        }
    });
    assert!(*refused.get_mut() > 100, "{refused:?}");
}

/// The model's stacks counted, and the session's groups. By PC lines count too: at a return address one lane is still
/// in the call, and another waits after it.
fn compare(name: &str, by: GroupBy, lanes: bool, model: impl Fn(&Value) -> Vec<Value>) {
    let (path, expected) = expected_of(name);
    let mut wanted: BTreeMap<String, (u64, Vec<u64>)> = BTreeMap::new();
    for wave in expected["waves"].as_array().unwrap() {
        for stack in model(wave) {
            let entry = wanted.entry(stack.to_string()).or_default();
            entry.0 += 1;
            let id = wave["id"].as_u64().unwrap();
            if entry.1.last() != Some(&id) {
                entry.1.push(id);
            }
        }
    }
    let session = Session::new(open(&path), None).unwrap();
    let groups = session.groups(Grouping { by, lanes }).unwrap();
    let groups = json_of(report::json(&groups, String::new(), &|member| vec![u64::from(member.wave.0) + 1]));
    let mut got = BTreeMap::new();
    for group in groups["groups"].as_array().unwrap() {
        let frames = group["frames"].as_array().unwrap().iter();
        let stack: Value = frames.map(|frame| of_frame(by, frame)).collect();
        let runs = group["waves"].as_array().unwrap().iter();
        let waves = runs.flat_map(|run| run[0].as_u64().unwrap()..=run[1].as_u64().unwrap()).collect();
        assert!(got.insert(stack.to_string(), (group["count"].as_u64().unwrap(), waves)).is_none());
    }
    assert_eq!(got, wanted, "{name}");
    let faulted: Vec<bool> =
        groups["groups"].as_array().unwrap().iter().map(|group| group["faulted"] == true).collect();
    assert!(faulted.is_sorted_by(|one, next| one >= next), "{faulted:?}");
    let counts = |of: bool| {
        let all = groups["groups"].as_array().unwrap().iter().filter(move |group| group["faulted"] == of);
        all.map(|group| group["count"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!([true, false].into_iter().all(|of| counts(of).is_sorted_by(|one, next| one >= next)));
}

/// The compared parts of a frame, in the models and in the answers.
fn of_frame(by: GroupBy, frame: &Value) -> Value {
    let pc = if by == GroupBy::Pc { &frame["pc"] } else { &Value::Null };
    json!([frame["function"], frame["line"], pc])
}

#[test]
fn waves_are_grouped_as_the_models_stacks_are() {
    for name in ["calls-gfx90a", "calls-gfx1100"] {
        for by in [GroupBy::Line, GroupBy::Pc] {
            compare(name, by, false, |wave| {
                let callers = wave["callers"].as_array().unwrap().iter();
                vec![std::iter::once(wave).chain(callers).map(|frame| of_frame(by, frame)).collect()]
            });
        }
    }
}

#[test]
fn lanes_are_grouped_as_the_models_stacks_are() {
    for name in ["regions-gfx90a", "regions-gfx1100"] {
        for by in [GroupBy::Line, GroupBy::Pc] {
            compare(name, by, true, |wave| {
                let stacks = wave["lane_stacks"].as_array().unwrap().iter();
                stacks
                    .map(|stack| {
                        let frames = stack.as_array().unwrap().iter();
                        let named =
                            |frame: &Value| json!({"function": frame[0], "pc": frame[1], "line": frame[2]});
                        frames.map(|frame| of_frame(by, &named(frame))).collect()
                    })
                    .collect()
            });
        }
    }
}

fn run(arguments: &[&str]) -> String {
    let output = crate::support::lanescope().args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_commands_print_it_as_text() {
    let dump = fixtures().join("dumps/calls-gfx90a");
    let text = run(&["groups", &dump.to_string_lossy(), "--by", "function"]);
    let heads: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    // Two of the five are in leaf, and one of those has faulted, as has one of the two in middle.
    let [first, second, third] = heads.as_slice() else { panic!("{text}") };
    assert!(first.starts_with("2 waves (1-2): "), "{first}");
    assert!(second.starts_with("2 waves (3-4): "), "{second}");
    assert_eq!(*third, "wave 5: breakpoint");
    let dump = fixtures().join("dumps/regions-gfx1100");
    let text = run(&["lanes", &dump.to_string_lossy(), "--wave", "3", "--full"]);
    let of = |lane: usize| one_line(text.lines().nth(lane + 1).unwrap());
    assert!(of(0).contains("active") && of(0).contains("0x7f0000101528 region at"), "{}", of(0));
    assert!(of(2).contains("inactive") && of(2).contains("0x7f0000101524 region at"), "{}", of(2));
    assert!(of(8).contains("not yet entered") && of(8).contains(" launch at"), "{}", of(8));
}

/// A saved mask of the regions: present after its definition and optimized out before it, as in the model.
#[test]
fn print_explains_operation_by_operation() {
    let dump = fixtures().join("dumps/regions-gfx1100");
    let dump = dump.to_string_lossy();
    let text = run(&["print", &dump, "--wave", "2", "--lane", "0", "--explain", "__lex_1_save_exec"]);
    assert!(text.starts_with("__lex_1_save_exec: "), "{text}");
    assert!(
        text.contains("lane 0:\n") && text.contains("before: empty") && text.contains("so it is at "),
        "{text}"
    );
    // It has no value there, and the exit status reports that.
    let lost = crate::support::lanescope()
        .args(["print", &dump, "--wave", "1", "--lane", "0", "--explain", "__lex_1_save_exec"])
        .output()
        .unwrap();
    let text = String::from_utf8(lost.stdout).unwrap();
    assert!(lost.status.code() == Some(1) && text.contains("optimized out"), "{text}");
    let json: Value = serde_json::from_str(&run(&[
        "print",
        &dump,
        "--wave",
        "2",
        "--lane",
        "0",
        "--explain",
        "--json",
        "__lex_1_save_exec",
    ]))
    .unwrap();
    assert_eq!(json["names"][0]["name"], "__lex_1_save_exec");
    assert_eq!(json["names"][0]["explained"][0]["lanes"], json!([0]));
}

/// A lane is a thread if it is active, or if it waits at a known lane_pc; a wave without EXEC is one thread.
#[test]
fn lanes_that_are_threads_are_those_of_the_models() {
    let mut seen = std::cell::Cell::new([0; 3]);
    each_wave(|session, wave, expected, wrong| {
        let threads = Threads::new(session, ThreadsAs::Lanes, None).unwrap();
        let of_wave: Vec<Option<usize>> = threads
            .all()
            .iter()
            .filter(|thread| thread.wave == wave)
            .map(|thread| thread.lane.map(|lane| usize::from(lane.0)))
            .collect();
        let mut counts = seen.get();
        let Some(exec) = expected["exec"].as_str() else {
            counts[2] += 1;
            seen.set(counts);
            if of_wave != [None] {
                wrong(format!("without EXEC: {of_wave:?}"));
            }
            return;
        };
        let exec = u64::from_str_radix(&exec[2..], 16).unwrap();
        let lanes = expected["wave_size"].as_u64().unwrap() as usize;
        let shown = expected["lanes"].as_array().unwrap();
        for lane in 0..lanes {
            // With attributes for active lanes, the model has the states.
            let states = expected["lane_states"].as_array();
            let is_active = states.map_or(exec >> lane & 1 == 1, |states| states[lane][0] == "active");
            let index = shown.iter().position(|shown| *shown == lane);
            let waits = match states {
                Some(states) => states[lane][0] == "inactive" && states[lane][2] == "lane_pc",
                None => index.is_some_and(|index| expected["lane_pc"][index].is_string()),
            };
            // For lanes that the model does not list, it only knows whether they are active.
            let is_told = states.is_some() || index.is_some() && expected["file"] != "draft_ops.hip";
            if !is_active && !is_told {
                continue;
            }
            counts[usize::from(!is_active)] += usize::from(is_active || waits);
            if of_wave.contains(&Some(lane)) != (is_active || waits) {
                wrong(format!("lane {lane}: active: {is_active}, waits: {waits}, threads: {of_wave:?}"));
            }
        }
        seen.set(counts);
    });
    let [active, waiting, unknown] = *seen.get_mut();
    assert!(active > 1000 && waiting > 10 && unknown > 0, "{active}, {waiting}, {unknown}");
}

#[test]
fn serving_too_many_lanes_or_no_such_wave_has_an_instruction() {
    let dump = fixtures().join("dumps/regions-gfx90a");
    let fails = |options: &[&str]| {
        let mut serve = crate::support::lanescope();
        let output = serve.args(["serve", "--port", "0"]).arg(&dump).args(options).output().unwrap();
        assert!(!output.status.success(), "{options:?} was served");
        one_line(&String::from_utf8(output.stderr).unwrap())
    };
    let said = fails(&["--threads", "lanes", "--max-threads", "55"]);
    for words in
        ["56 lanes of 7 waves", "more than 55", "--wave 3,7-9", "--threads=focus", "--max-threads 56"]
    {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
    assert!(fails(&["--max-threads", "6"]).contains("7 threads, more than --max-threads 6"));
    assert!(fails(&["--wave", "2,9-11"]).contains("has no gfx90a:wave64 wave with the id 9-11"));
    assert!(fails(&["--wave", "7-x"]).contains("expected ids of waves: 3 or 3,7-9; or all, or faulted"));
    assert!(fails(&["--wave", "7-2"]).contains("7 is above 2"));
    assert!(fails(&["--threads", "waves,lanes"]).contains("[possible values: waves, lanes, focus]"));
}

#[test]
fn waves_that_were_not_chosen_are_not_there() {
    let dump = open(&fixtures().join("dumps/saxpy-gfx90a-O0"));
    let session = Session::new(dump, None).unwrap().of_waves(&[3..=3, 7..=8]).unwrap();
    let waves: Vec<u32> = session.waves().iter().map(|wave| wave.0).collect();
    // The ids of this dump are its positions, counted from 1.
    assert_eq!(waves, [2, 6, 7]);
    assert_eq!(session.first_wave().0, 2);
    for (wave, is_there) in (0..9).zip([false, false, true, false, false, false, true, true, false]) {
        let wave = lanescope::units::WaveId(wave);
        assert_eq!((session.has_wave(wave), session.wave(wave).is_ok()), (is_there, is_there), "{wave:?}");
    }
    assert_eq!(session.notices()[0], "3 of 8 waves are served (--wave)");
    let threads = Threads::new(&session, ThreadsAs::Waves, None).unwrap();
    assert_eq!((threads.get(3).map(|thread| thread.wave.0), threads.get(2)), (Some(2), None));
}
