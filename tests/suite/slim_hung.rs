//! Small dumps of hangs, and lines about waves that a small dump lacks.

use std::fs;
use std::path::Path;

use lanescope::slim::{self, Choice};
use serde_json::Value;

use crate::fixtures::fixtures;
use crate::slim::{Scratch, lanescope, said, words};
use crate::slim_messages::options;
use crate::support::{least, sample::sampled};
use crate::triage::cases::{Moment, load_where};

const MOMENT: Moment = Moment { distance: 0, has_report: false, lacks_memory: false };

fn analysis(dump: &Path) -> Value {
    serde_json::from_str(&said(&["triage", words(dump), "--json"]).0).unwrap()
}

/// The results of lines about a dump, as in JSON.
fn outcomes(scratch: &Scratch, dump: &Path, lines: &[&str]) -> Vec<String> {
    let file = scratch.path("lines.scope");
    fs::write(&file, format!("dump {}\n{}\n", words(dump), lines.join("\n"))).unwrap();
    let output = lanescope(&["check", words(&file), "--format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = found["files"][0]["dumps"][0]["lines"].as_array().unwrap_or_else(|| panic!("{found}"));
    lines.iter().map(|line| line["verdict"]["result"].as_str().unwrap().to_owned()).collect()
}

/// The verdict of a hang is one about all waves of a dispatch: the small dump has them.
#[test]
fn hangs_are_kept() {
    let stems = ["hangs", "polls", "locks"];
    let cases = load_where(|name| {
        name.split_once('-')
            .is_some_and(|(stem, rest)| stems.contains(&stem) && rest.starts_with("gfx90a-O2."))
    });
    let scratch = Scratch::new("slim-hung");
    let mut count = 0;
    // The sample has a barrier, loops, polled variables and locks, of which one is a proven deadlock.
    for case in sampled(cases.hangs.iter().filter(|case| case.hangs == Some(true)), 2) {
        let (whole, small) = (scratch.path(&case.name), scratch.path(&format!("{}-small", case.name)));
        let all = slim::Options { choice: Choice::All, ..options() };
        slim::slim(&cases.open(case, MOMENT), &all, &whole, &mut |_| {}).unwrap();
        said(&["slim", words(&whole), "-o", words(&small)]);
        let (before, after) = (analysis(&whole), analysis(&small));
        assert_eq!(before["hang"]["hang"], true, "{}", case.name);
        for member in ["sentence", "cause"] {
            assert_eq!(before[member], after[member], "{}", case.name);
        }
        assert_eq!(before["hang"]["deadlock"], after["hang"]["deadlock"], "{}", case.name);
        count += 1;
    }
    assert!(count >= least(12, 6), "{count} hangs");
}

/// Lines about all waves are not decided by the waves that are left.
#[test]
fn lines_about_waves_that_slim_left_out_are_unchecked() {
    let scratch = Scratch::new("slim-absent");
    let small = scratch.path("small.zip");
    let demo = fixtures().join("demo.zip");
    said(&["slim", words(&demo), "-o", words(&small), "--wave", "1"]);
    let lines =
        ["faulted 1", "waves 1", "stacks 1", "work-groups 1", "hang none", "wave every", "  $exec != 0"];
    assert_eq!(outcomes(&scratch, &demo, &["faulted 1", "waves 8"]), ["holds", "holds"]);
    let found = outcomes(&scratch, &small, &lines);
    assert_eq!(found[0], "holds", "{found:?}");
    assert_eq!(&found[1..5], ["not_checked"; 4], "{found:?}");
    assert_eq!(found.last().unwrap(), "not_checked", "{found:?}");
}
