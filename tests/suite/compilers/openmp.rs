//! Target regions of OpenMP by clang 22 and flang 22: stacks with the source's names, and the symbols beside them.

use std::path::Path;

use lanescope::report::print;
use lanescope::session::Variables as _;
use lanescope::session::print::Query;
use lanescope::units::{LaneId, LaneSet};
use serde_json::{Value, json};

use super::fortran::text;
use super::offload::{asked, cases};
use crate::fixtures::{one_line, open, session};
use crate::json_of;
use crate::slim::{Scratch, answer, words};
use crate::support::sample::sampled;

/// The source's names of a stack's functions, by their symbols.
const NAMES: [(&str, &[(&str, &str)]); 3] = [
    (
        "fields",
        &[
            ("_QMfieldsPtotal", "fields::total"),
            ("_QMfieldsPsmooth", "fields::smooth"),
            ("", "fields::update, target region at line 56"),
        ],
    ),
    (
        "loops",
        &[
            ("..omp_par", "scale, target region at line 7 [outlined body]"),
            ("..omp_par.1", "scale, target region at line 7 [outlined body 1]"),
            ("..omp_par.2", "scale, target region at line 7 [outlined body 2]"),
            ("..omp_par.3", "scale, target region at line 7 [outlined body 3]"),
            ("", "scale, target region at line 7"),
        ],
    ),
    (
        "regions",
        &[
            ("_ZL5twicei", "twice"),
            (
                "_debug___omp_outlined_debug___omp_outlined_debug__",
                "grid::Mesh::smooth, target region at line 15 [outlined body, depth 2]",
            ),
            (
                "_debug___omp_outlined_debug___omp_outlined",
                "grid::Mesh::smooth, target region at line 15 [call of outlined body, depth 2]",
            ),
            ("_debug___omp_outlined_debug__", "grid::Mesh::smooth, target region at line 15 [outlined body]"),
            ("_debug___omp_outlined", "grid::Mesh::smooth, target region at line 15 [call of outlined body]"),
            ("_debug__", "grid::Mesh::smooth, target region at line 15 [body]"),
            ("", "grid::Mesh::smooth, target region at line 15"),
        ],
    ),
];

/// The calls by the model's run, with the source's names; the symbol stands beside a name of a region.
#[test]
fn stacks_have_the_names_and_lines_of_the_source() {
    for (source, names) in NAMES {
        let (_scratch, cases) = cases(source);
        // gfx90a, gfx942 and gfx1100.
        for case in sampled(&cases, 2) {
            let kernel = case.expected["kernel"].as_str().unwrap();
            let waves = case.expected["waves"].as_array().unwrap();
            let ids: Vec<String> = waves.iter().map(|wave| wave["id"].to_string()).collect();
            let stacks = asked(&["backtrace", &case.dump, "--wave", &ids.join(","), "--json"]);
            let stacks = stacks["answers"].as_array().map_or(std::slice::from_ref(&stacks), Vec::as_slice);
            assert_eq!(stacks.len(), waves.len(), "{}", case.dump);
            for (wave, stack) in waves.iter().zip(stacks) {
                let named = |frame: &Value| {
                    let symbol = frame[0].as_str().unwrap();
                    let suffix = symbol.strip_prefix(kernel);
                    let found = names.iter().find(|(end, _)| *end == suffix.unwrap_or(symbol));
                    let name = found.map_or(symbol, |(_, name)| name);
                    json!([name, suffix.map(|_| symbol), frame[1]])
                };
                let expected: Vec<Value> = wave["frames"].as_array().unwrap().iter().map(named).collect();
                let frames = stack["frames"].as_array().unwrap().iter();
                let found: Vec<Value> =
                    frames.map(|frame| json!([frame["function"], frame["symbol"], frame["line"]])).collect();
                assert_eq!(found, expected, "{} wave {}", case.dump, wave["id"]);
                assert_eq!(stack["frames"][0]["pc"], wave["pc"], "{}: {stack}", case.dump);
                assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack}", case.dump);
            }
        }
    }
}

/// A variable with the frames that have it.
type InFrames = (&'static str, &'static [usize]);

/// The model's variables; `fields` is in `fortran`.
const VARIABLES: [(&str, &[InFrames]); 2] = [
    ("loops", &[("a", &[3, 6]), ("i", &[3]), ("x", &[3])]),
    ("regions", &[("n", &[1, 4, 6, 7]), ("result", &[0]), ("value", &[0])]),
];
/// Those with a value for each lane.
const BY_LANE: [&str; 3] = ["i", "result", "value"];

#[test]
fn variables_have_the_values_of_the_source() {
    for (source, variables) in VARIABLES {
        let (_scratch, cases) = cases(source);
        for case in sampled(&cases, 2) {
            let values = case.expected["values"].as_object().unwrap();
            let mut names: Vec<&str> = values.keys().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, variables.iter().map(|(name, _)| *name).collect::<Vec<_>>());
            let (session, wave) = session(&open(Path::new(&case.dump)), 1);
            let each = names.iter().find(|name| BY_LANE.contains(*name)).unwrap();
            let with_values = values[*each].as_array().unwrap().iter().filter(|value| !value.is_null());
            let lanes: LaneSet = (0..with_values.count() as u8).map(LaneId).collect();
            for (name, frames) in variables {
                for frame in *frames {
                    let query = Query { path: (*name).to_owned(), letter: None };
                    let printed = session.print(wave, lanes, *frame, &query).unwrap();
                    let printed = json_of(print::json(&printed, None));
                    let shown = printed["lanes"].as_array().unwrap();
                    assert_eq!(shown.len(), lanes.iter().count(), "{name} of {}", case.dump);
                    for (lane, shown) in shown.iter().enumerate() {
                        let whole = &values[*name];
                        let expected = if BY_LANE.contains(name) { &whole[lane] } else { whole };
                        assert_eq!(shown["lane"], lane, "{name} of {}", case.dump);
                        assert_eq!(shown["value"], text(expected), "{name} of {}: {shown}", case.dump);
                    }
                }
            }
        }
    }
}

/// Commands that name a function have the source's name, and no device or inode.
#[test]
fn a_target_region_has_its_name_in_every_command() {
    let (_scratch, cases) = cases("regions");
    let case = &cases[0];
    let name = "grid::Mesh::smooth, target region at line 15";
    for arguments in [
        &["backtrace", &case.dump][..],
        &["arguments", &case.dump],
        &["triage", &case.dump],
        &["waves", &case.dump],
        &["dispatches", &case.dump],
        &["locals", &case.dump, "--frame", "7"],
        &["report", &case.dump, "--format", "text"],
    ] {
        let text = answer(arguments);
        let joined = one_line(&text);
        assert!(joined.contains(name), "{arguments:?}: {text}");
        assert!(!joined.contains("__omp_offloading_"), "{arguments:?}: {text}");
    }
    let scope = Scratch::new("offload-check");
    let file = scope.path("regions.scope");
    let kernel = case.expected["kernel"].as_str().unwrap();
    let mut text = format!("dump {}\n", case.dump);
    for kernel in [kernel, "grid::Mesh::smooth", name] {
        text += &format!("wave kernel {kernel}\n  at regions.cpp:4\n");
    }
    text += &format!("wave every\n  stack twice < ... < {name} [body] < {name}\n");
    std::fs::write(&file, text).unwrap();
    answer(&["check", words(&file)]);
}
