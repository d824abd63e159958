//! State of each value's lane in its frame, and the lanes of each frame, compared with the models.

use std::cell::Cell;
use std::process::Output;

use lanescope::report::lanes::Detail;
use lanescope::report::{Style, groups, json, print, stack, text};
use lanescope::session::print::Query;
use lanescope::session::{Grouping, Session, StackEnd, Stacks as _, Variables as _, Waves as _};
use lanescope::units::{LaneId, LaneSet, WaveId};
use serde_json::Value;

use crate::fixtures::{each_wave, expected, fixtures, one_line, open};
use crate::json_of;

/// State of each lane in a model; `None`: the model has none.
fn states(expected: &Value) -> Option<Vec<&str>> {
    if let Some(states) = expected["lane_states"].as_array() {
        return states.iter().map(|state| state[0].as_str()).collect();
    }
    let exec = u64::from_str_radix(expected["exec"].as_str()?.strip_prefix("0x")?, 16).ok()?;
    let of = |(lane, pc): (usize, &Value)| match (exec >> lane & 1, pc.is_null()) {
        (1, _) => "active",
        (_, false) => "inactive",
        (_, true) => "not_entered",
    };
    Some(expected["lane_pc"].as_array()?.iter().enumerate().map(of).collect())
}

#[test]
fn values_have_the_states_of_their_lanes() {
    let seen = Cell::new([0; 4]);
    each_wave(|session, wave, expected, wrong| {
        let Some(states) = states(expected) else { return };
        let all = session.kind().wave_size.all();
        let locals = json_of(json::FrameVariables::of(session.locals(wave, all, 0).unwrap()));
        let Some(name) = locals["variables"][0]["name"].as_str() else { return };
        let query = Query { path: name.to_owned(), letter: None };
        let printed = json_of(print::json(&session.print(wave, all, 0, &query).unwrap(), None));
        for (lane, wanted) in states.iter().enumerate() {
            let got = &locals["variables"][0]["lanes"][lane]["lane_state"];
            let shown = &printed["lanes"][lane];
            if got != wanted || shown["lane_state"] != *got || shown["active"] != (*wanted == "active") {
                wrong(format!("lane {lane}: expected {wanted}, got {got} and {shown}"));
            }
            let kind = ["active", "inactive", "not_entered", "unused"].iter().position(|one| one == wanted);
            let mut counts = seen.get();
            counts[kind.unwrap()] += 1;
            seen.set(counts);
        }
    });
    assert!(seen.get().iter().all(|count| *count > 10), "{seen:?}");
}

/// EXEC of callers, compared with the models.
#[test]
fn active_lanes_are_those_of_the_frame() {
    let seen = Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        for (index, caller) in expected["callers"].as_array().into_iter().flatten().enumerate() {
            let Some(hex) = caller["registers"]["exec"].as_str() else { continue };
            let mut bytes = hex.as_bytes().chunks(2).rev().map(|pair| std::str::from_utf8(pair).unwrap());
            let exec =
                bytes.try_fold(0, |all, byte| u64::from_str_radix(byte, 16).map(|byte| all << 8 | byte));
            let got = session.active_lanes(wave, index + 1);
            if got != Ok(LaneSet(exec.unwrap())) {
                wrong(format!("frame {}: expected {hex}, got {got:?}", index + 1));
            }
            seen.set(seen.get() + 1);
        }
    });
    assert!(seen.get() > 10, "{seen:?}");
}

fn calls() -> Vec<(String, Session, Value)> {
    let mut all = Vec::new();
    for (name, path, expected) in expected() {
        if name.starts_with("calls-") {
            all.push((name, Session::new(open(&path), None).unwrap(), expected));
        }
    }
    assert!(all.len() >= 2);
    all
}

/// Odd lanes never ran middle (calls.py): `launch` calls it for the even ones, and middle's call frame information has
/// that EXEC from its save on, which is after the prologue.
#[test]
fn lanes_that_a_caller_left_out_are_not_in_the_call() {
    for (name, session, expected) in calls() {
        for (ordinal, wave) in expected["waves"].as_array().unwrap().iter().enumerate() {
            let callers = wave["callers"].as_array().unwrap();
            let (odd, even) = (LaneId(1), LaneId(2));
            let ordinal_of = WaveId(ordinal as u32);
            let functions = |lane| {
                let stack = session.backtrace(ordinal_of, Some(lane)).unwrap();
                stack.frames.into_iter().map(|frame| frame.function.unwrap()).collect::<Vec<_>>()
            };
            let all: Vec<&str> = std::iter::once(wave)
                .chain(callers)
                .map(|frame| frame["function"].as_str().unwrap())
                .collect();
            assert_eq!(functions(even), all, "{name} wave {ordinal}");
            let lanes = session.lanes(ordinal_of).unwrap();
            let state = json_of(json::lanes(&lanes, session.focus(ordinal_of)))["lanes"][1]["state"].clone();
            let saved = ordinal < 3;
            if saved {
                assert_eq!(functions(odd), ["launch"], "{name} wave {ordinal}");
                assert_eq!(state, "not_entered", "{name} wave {ordinal}");
            } else {
                assert_eq!(functions(odd), all, "{name} wave {ordinal}");
                assert_eq!(state, "inactive", "{name} wave {ordinal}");
            }
        }
    }
}

/// The address error of wave 4 and the illegal instruction of wave 2 are those of the lanes that ran.
#[test]
fn groups_of_lanes_blame_those_that_ran() {
    for (name, session, _) in calls() {
        let found = session.groups(Grouping { lanes: true, ..Grouping::default() }).unwrap();
        let faulted: Vec<&_> = found.groups.iter().filter(|group| group.faulted).collect();
        assert_eq!(faulted.len(), 2, "{name}");
        let json = json_of(groups::json(&found, String::new(), &|member| vec![u64::from(member.wave.0) + 1]));
        for (group, json) in found.groups.iter().zip(json["groups"].as_array().unwrap()) {
            let ran = json["states"].as_array().unwrap().iter().any(|state| state["state"] == "active");
            assert_eq!(ran, !group.causes.is_empty(), "{json}");
            assert!(ran || !group.faulted, "{json}");
        }
    }
}

#[test]
fn unused_lanes_have_no_stack() {
    let seen = Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        let Some(states) = expected["lane_states"].as_array() else { return };
        let unused: LaneSet = (0u8..)
            .zip(states)
            .filter(|(_, state)| state[0] == "unused")
            .map(|(lane, _)| LaneId(lane))
            .collect();
        let stacks = session.lane_stacks(wave, session.kind().wave_size.all()).unwrap();
        let without: Vec<_> = stacks.iter().filter(|one| one.stack.end == StackEnd::NoWorkItem).collect();
        match without.as_slice() {
            [] if unused.is_empty() => {}
            [only] if only.lanes == unused && only.stack.frames.is_empty() => seen.set(seen.get() + 1),
            other => wrong(format!("expected {unused:?}, got {other:?}")),
        }
        if stacks.iter().any(|one| !one.stack.frames.is_empty() && one.lanes.0 & unused.0 != 0) {
            wrong("an unused lane has frames".to_owned());
        }
        if let Some(lane) = unused.first() {
            let text = stack::text(&session.backtrace(wave, Some(lane)).unwrap(), Style::Plain);
            assert_eq!(text, "No frames: unused, no work-item of the group or the grid.\n");
        }
    });
    assert!(seen.get() > 0);
}

fn run(arguments: &[&str]) -> Output {
    crate::support::lanescope().current_dir(fixtures()).args(arguments).output().unwrap()
}

fn text_of(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Lanes 0, 4 .. run in middle, 2 and 6 wait, odd ones never entered it: calls.py. `count` is 1 in a scalar register,
/// and `x` was in a register that leaf does not preserve.
#[test]
fn text_marks_lanes_that_are_not_active() {
    let calls = ["dumps/calls-gfx90a", "--wave", "1", "--frame", "1"];
    let with = |command: &str, rest: &[&str]| text_of(&[&[command], &calls[..], rest].concat());
    assert_eq!(
        with("print", &["--lane", "1,3,60", "count"]),
        "int count:\n  lanes 1, 3, 60: 1  (lanes 1, 3: not yet entered)\n"
    );
    let active = with("print", &["--lane", "active", "count"]);
    assert_eq!(active, "int count:\n  lanes 0, 4, ..., 60: 1\n");
    assert_eq!(
        with("print", &["--lane", "1", "count"]),
        "int count = 1  (lane 1: not yet entered)  [SGPR34]\n"
    );
    assert_eq!(
        with("print", &["--lane", "1,3,60", "--full", "count"]),
        "int count:\n  lanes 1, 3 (not yet entered): 1  [SGPR34]\n  lane 60: 1  [SGPR34]\n"
    );
    for (form, behind) in [("--explain", "  ["), ("--full", "\n")] {
        let locals = with("locals", &["--lane", "0-3", form]);
        for value in ["lane 0: 0", "lane 2 (inactive): 4"] {
            assert!(locals.contains(&format!("\n  {value}{behind}")), "{locals}");
        }
        assert!(
            one_line(&locals).contains(
                " lanes 1, 3 (not yet entered): <optimized out> [the function of frame 0 does not preserve VGPR1"
            ),
            "{locals}"
        );
    }
    let gone = run(&[&["print"], &calls[..], &["x"]].concat());
    let words = String::from_utf8(gone.stdout).unwrap();
    let gone = "int x = <optimized out>  [the function of frame 0 does not preserve VGPR1 for its caller]\n";
    assert_eq!(words, gone);
}

#[test]
fn backtraces_begin_where_they_are_asked_to() {
    let from = text_of(&["backtrace", "dumps/calls-gfx90a", "--wave", "1", "--frame", "1"]);
    let whole = text_of(&["backtrace", "dumps/calls-gfx90a", "--wave", "1"]);
    assert!(from.starts_with("#1  middle") && whole.ends_with(&from), "{from}");
    let none = run(&["backtrace", "dumps/calls-gfx90a", "--wave", "1", "--frame", "3"]);
    assert_eq!(none.status.code(), Some(1));
    let words = String::from_utf8(none.stderr).unwrap();
    assert_eq!(words, "lanescope: there is no frame 3; the stack ends with frame 2\n");
}

/// For scripts: exit status 0 if some lane has a value, 1 if none has; the answer is printed in both cases.
#[test]
fn print_fails_where_no_lane_has_a_value() {
    let status = |rest: &[&str]| {
        let output = run(&[&["print", "dumps/calls-gfx90a", "--wave", "1"], rest].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(status(&["y"]).0, Some(0));
    let (code, text) = status(&["nothing"]);
    assert!(code == Some(1) && text.contains("there is no `nothing`"), "{text}");
    let (code, text) = status(&["--frame", "1", "--json", "x"]);
    assert!(code == Some(1) && text.contains("\"state\": \"optimized_out\""), "{text}");
    // A misspelt name of a dump is taken for a path in the demo, and the message has both.
    let output = run(&["print", "nofile.zip"]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        words.contains("`nofile.zip` is the only argument, and so a path in the embedded demo"),
        "{words}"
    );
}

/// LDS pointers have their space, as in `locals`: by DWARF, and by the metadata alone.
#[test]
fn arguments_have_the_space_of_pointers() {
    let text = text_of(&["arguments", "dumps/lds-gfx90a-O0"]);
    assert!(text.contains("tile  local#0x0\n") && text.contains("best  local#0x100\n"), "{text}");
}

/// Lines of `locals` as text; the lanes of a run have equal states, too.
#[test]
fn a_single_lane_is_printed_with_its_state() {
    let dump = fixtures().join("dumps/user-ops-gfx1100");
    let session = Session::new(open(&dump), None).unwrap();
    let locals = session.locals(WaveId(1), LaneSet::one(LaneId(1)), 0).unwrap();
    let line = "argument int id = 33  (lane 1: not yet entered)";
    for (detail, place) in [(Detail::Rules, ""), (Detail::Full, ""), (Detail::Located, "  [VGPR1 lane 1]")] {
        let text = text::locals(&locals, detail, Style::Plain);
        assert!(text.contains(&format!("{line}{place}\n")), "{detail:?}: {text}");
    }
}

/// EXEC of the demo's first wave is 0x1ffffff (saxpy.hip's model): lanes from 25 on are inactive. A mark names the lane
/// of the value, and no lane if none matters.
#[test]
fn a_mark_names_the_lane_that_the_value_is_of() {
    let print =
        |lanes: &str, path: &str| text_of(&["print", "demo.zip", "--wave", "1", "--lane", lanes, path]);
    for path in
        ["$exec", "$s0", "$v3[17]", "*(float *) 0x7f0000200000", "1 + 2", "saxpy", "(local int *) 0x10"]
    {
        let line = print("30", path);
        assert!(line.contains(" = ") && !line.contains("inactive"), "{path}: {line}");
    }
    for path in ["$v3", "n", "i", "x[0]", "*(private_lane int *) 0xa8", "private_lane#0xa8 + i"] {
        let line = print("30", path);
        assert!(line.contains("(lane 30: inactive)"), "{path}: {line}");
        assert!(!print("3", path).contains("inactive"), "{path}");
    }
    // Another lane's value, from any lane.
    for lane in ["3", "30", "40"] {
        let line = print(lane, "$v3[40]");
        assert!(
            line.contains("  (lane 40: inactive)  [VGPR3 lane 40]\n") && !line.contains("lane 30"),
            "{line}"
        );
    }
    assert!(print("30", "x[$v3[40] - $v3[40]]").contains("  (lanes 30, 40: inactive)"));
    let all = print("all", "$v3[40]");
    assert!(all.contains("\n  lanes 0-63: ") && all.ends_with("  (lane 40: inactive)\n"), "{all}");
    assert!(print("all", "$exec").contains("\n  lanes 0-63: 33554431\n"));
    assert!(print("all", "n").contains("\n  lanes 0-63: 1024  (lanes 25-63: inactive)\n"));
    let json = text_of(&["print", "--json", "demo.zip", "--wave", "1", "--lane", "3,30", "$v3[40]"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    for (index, state) in ["active", "inactive"].iter().enumerate() {
        let lane = &json["lanes"][index];
        assert_eq!(lane["marks"], serde_json::json!([{ "lanes": [40], "lane_state": "inactive" }]), "{lane}");
        assert_eq!(lane["lane_state"], *state);
    }
    let json = text_of(&["print", "--json", "demo.zip", "--wave", "1", "--lane", "30", "$exec"]);
    assert!(!json.contains("marks"), "{json}");
}
