//! Problems by number, listed, and with `--verbose`.

use super::{MAX_LISTED, is_urgent, lines};
use crate::capture::{FileLocation, Problem, Severity};

const LONG: &str =
    "r_debug at 0x7ffff7a01040: not captured: the list of code objects is in the host's memory";

fn problem(what: &str) -> Problem {
    let place = FileLocation { file: "core.1".to_owned(), ..FileLocation::default() };
    Problem { severity: Severity::Warning, place, what: what.to_owned(), hint: None, hides_waves: false }
}

fn listed(texts: &[&str], is_verbose: bool) -> Vec<String> {
    let problems: Vec<Problem> = texts.iter().map(|text| problem(text)).collect();
    lines(&problems, (" core.1", 80), is_verbose, |_| true)
}

#[test]
fn a_listed_reason_is_folded_and_whole() {
    let found = listed(&["short", LONG], false);
    assert_eq!(found[0], "warning: core.1: short");
    let folded = "warning: core.1: r_debug at 0x7ffff7a01040: not captured: the list of code\n    \
                  objects is in the host's memory";
    assert_eq!(found[1..], [folded]);
    assert_eq!(listed(&[LONG], true), [format!("warning: core.1: {LONG}")]);
}

#[test]
fn a_warning_counts_once() {
    assert_eq!(listed(&["one", "other", "one"], false), ["warning: core.1: one", "warning: core.1: other"]);
    let problems = ["one", "other", "one"].map(problem);
    assert_eq!(
        lines(&problems, (" core.1", 80), false, is_urgent),
        ["warning: 2 problems: lanescope info core.1"]
    );
    assert_eq!(
        lines(&problems[..1], (" core.1", 80), false, is_urgent),
        ["warning: 1 problem: lanescope info core.1"]
    );
    assert!(lines(&[], (" core.1", 80), false, is_urgent).is_empty());
}

/// `info` without the option has no problem of it, and the command of a dump without waves fails.
#[test]
fn options_and_missing_waves_are_listed_beside_the_number() {
    let place = FileLocation { key: Some("--processor".to_owned()), ..problem("").place };
    let option = Problem { place, ..problem("without effect") };
    let fatal = Problem { severity: Severity::Error, ..problem("no waves") };
    assert_eq!(
        lines(&[problem("one"), option, fatal], (" core.1", 80), false, is_urgent),
        [
            "warning: core.1: --processor: without effect",
            "error: core.1: no waves",
            "warning: 1 more problem: lanescope info core.1"
        ]
    );
}

/// A command wider than a line is below the number, in lines that a shell reads as one.
#[test]
fn the_command_of_the_number_is_to_copy() {
    let typed = " tests/fixtures/gpucore/gfx1100.core --host-core 'a long name/core' --log run.log";
    let expected = "warning: 1 problem:\n  lanescope info tests/fixtures/gpucore/gfx1100.core \\\n    \
                    --host-core 'a long name/core' --log run.log";
    assert_eq!(lines(&[problem("one")], (typed, 80), false, is_urgent), [expected]);
}

#[test]
fn many_problems_end_with_the_number_of_the_others() {
    let texts: Vec<String> = (0..MAX_LISTED + 3).map(|number| format!("{number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = listed(&texts, false);
    assert_eq!(found.len(), MAX_LISTED + 1);
    assert_eq!(found[MAX_LISTED], "warning: 3 more problems: lanescope info core.1");
    assert_eq!(listed(&texts, true).len(), texts.len());
}
