//! A core equals the lanescope dump of all of it (`slim --whole`), except for the list in docs/slim.md.

use std::path::Path;
use std::time::Duration;

use lanescope::import::Options;
use lanescope::session::{Bounds, Dump};
use lanescope::slim::{self, Choice};
use serde_json::Value;

use super::compare::{self, Opened};
use crate::core_writer::matrix;
use crate::core_writer::plan::Plan;
use crate::cores::{SAMPLES, core};

/// The export without parts that a copy cannot share: its name and creation, and the problems of the read file.
fn comparable(mut export: Value) -> Value {
    for key in ["name", "provenance", "problems"] {
        export[key] = Value::Null;
    }
    for object in export["code_objects"].as_array_mut().unwrap() {
        // For an object without bytes, the reason.
        if object["size"].is_null() {
            object["problem"] = Value::Null;
        }
    }
    export
}

/// The differences, key by key.
fn differences(path: &str, before: &Value, after: &Value, all: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) if before.keys().eq(after.keys()) => {
            for (key, value) in before {
                differences(&format!("{path}.{key}"), value, &after[key], all);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                differences(&format!("{path}[{index}]"), before, after, all);
            }
        }
        _ if before == after => {}
        _ => all.push(format!("{path}: {before:.200} is {after:.200}")),
    }
}

fn check(name: &str, opened: &Opened, to: &Path) {
    let options = slim::Options {
        basis: slim::Basis::default(),
        choice: Choice::All,
        kind: None,
        bounds: Bounds { steps: 2, pages: 1, pointers: 1, values: 1, time: Duration::ZERO },
        memory: Vec::new(),
        global: true,
        whole: true,
        notes: Vec::new(),
        sources: slim::Sources::default(),
    };
    let report = slim::slim(&opened.dump, &options, to, &mut |_| ()).unwrap();
    assert_eq!((report.left.waves, report.left.private, report.left.global), (0, 0, 0), "{name}");
    let again = compare::open(to, &Options::default()).unwrap();
    assert_eq!(again.problems, Vec::<String>::new(), "{name}");
    let has_all =
        |dump: &Dump| dump.capture().workgroups.iter().map(|group| group.has_all_waves).collect::<Vec<_>>();
    assert_eq!(has_all(&opened.dump), has_all(&again.dump), "{name}");
    let mut all = Vec::new();
    differences("", &comparable(opened.export.clone()), &comparable(again.export), &mut all);
    assert!(all.is_empty(), "{name}: {} values differ:\n{}", all.len(), all[..all.len().min(20)].join("\n"));
}

#[test]
fn samples_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (index, name) in SAMPLES.iter().enumerate() {
        let opened = compare::open(&core(name), &Options::default()).unwrap();
        let to = folder.path().join(format!("{name}{}", if index % 2 == 0 { ".zip" } else { "" }));
        check(name, &opened, &to);
    }
}

#[test]
fn written_cores_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut outside = 0;
    // Private memory of lightweight cores is inferred: the mark is copied.
    let plans: Vec<Plan> = matrix::all(1).into_iter().chain(matrix::lightweight(1)).collect();
    for (index, plan) in plans.iter().enumerate() {
        let (_, opened) = compare::written(folder.path(), plan);
        outside += outside_of_their_grids(plan, &opened);
        let groups = &opened.dump.capture().workgroups;
        assert!(groups.iter().all(|group| group.has_all_waves), "{}", plan.name);
        check(&plan.name, &opened, &folder.path().join(format!("{index}.zip")));
    }
    // Positions outside of the grid are only in the samples; here they are as planned.
    assert_eq!(outside, 0);
}

fn outside_of_their_grids(plan: &Plan, opened: &Opened) -> usize {
    let text = "dispatch's grid: ";
    assert!(!plan.queues.is_empty());
    opened.problems.iter().filter(|problem| problem.contains(text)).count()
}
