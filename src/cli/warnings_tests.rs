//! Warnings in lines, and with `--verbose`.

use super::{CUT, MAX_LINES, WHOLE, lines};
use crate::capture::{FileLocation, Problem, Severity};

const LONG: &str = "the log does not name its GPU; it is read as gfx900's (expected --processor NAME)";

fn problem(file: &str, what: &str) -> Problem {
    let place = FileLocation { file: file.to_owned(), ..FileLocation::default() };
    Problem { severity: Severity::Warning, place, what: what.to_owned(), hint: None, hides_waves: false }
}

fn of(texts: &[&str], width: usize, is_verbose: bool) -> Vec<String> {
    let problems: Vec<Problem> = texts.iter().map(|text| problem("core.1", text)).collect();
    lines(&problems, width, is_verbose)
}

#[test]
fn each_warning_has_one_line_of_the_width() {
    let found = of(&["short", LONG, "two\nlines"], 80, false);
    assert_eq!(found[0], "warning: core.1: short");
    assert_eq!(found[1], "warning: core.1: the log does not name its GPU...");
    assert_eq!(found[2..], [format!("warning: core.1: two{CUT}"), WHOLE.to_owned()]);
    // A narrow terminal cuts more.
    assert_eq!(of(&[LONG], 0, false), [CUT, WHOLE]);
}

/// The hint is left out first, then the last clauses, the file, and the middle: the beginning and the effect remain.
#[test]
fn cut_warnings_keep_their_point() {
    let with_hint =
        |file: &str, what: &str| Problem { hint: Some("expected a thing".repeat(5)), ..problem(file, what) };
    let core = "/cores/gfx90a-split.core";
    let of = |what: &str| lines(&[with_hint(core, what)], 80, false).remove(0);
    assert_eq!(of("r_debug: not captured"), "warning: gfx90a-split.core: r_debug: not captured...");
    let r_debug = "r_debug at 0x7ffff7a01040: not captured: the list of code objects is in the host's memory";
    assert_eq!(of(r_debug), "warning: gfx90a-split.core: r_debug at 0x7ffff7a01040: not captured...");
    let object = "code object at 0x7f1000000000: its file is not available; its symbols come from its image";
    assert_eq!(of(object), "warning: code object at 0x7f1000000000: its file is not available...");
    let group = "queue 1: 2 work-groups are outside of their dispatch's grid: the first is (11, 0, 0), and the grid has \
                 (10, 4, 2) work-groups; the work-items of their lanes are not known";
    assert_eq!(of(group), "warning: queue 1: 2 work-groups are outside of their dispatch's grid...");
    // Without a clause that fits, the beginning and the end are left.
    let long =
        "queue 1: a sentence without any clause that goes on for more columns than a line of a terminal has";
    let short = of(long);
    assert!(
        short.starts_with("warning: queue 1: a sentence") && short.ends_with("a terminal has"),
        "{short}"
    );
    assert!(short.chars().count() <= 80, "{short}");
    assert_eq!(lines(&[with_hint(core, group)], 80, false)[1], WHOLE);
}

/// A path of more than a line leaves no place for the problem.
#[test]
fn a_long_path_is_cut_to_its_name() {
    let path = format!("/{}/core.1", "folder".repeat(20));
    let found = lines(&[problem(&path, "short")], 80, false);
    assert_eq!(found, ["warning: core.1: short", WHOLE]);
    assert_eq!(lines(&[problem(&path, "short")], 80, true), [format!("warning: {path}: short")]);
}

#[test]
fn verbose_warnings_are_whole() {
    assert_eq!(of(&[LONG], 40, true), [format!("warning: core.1: {LONG}")]);
}

#[test]
fn a_warning_is_printed_once() {
    let expected = ["warning: core.1: one", "warning: core.1: other"];
    assert_eq!(of(&["one", "other", "one"], 80, false), expected);
}

#[test]
fn many_warnings_end_with_their_count() {
    let texts: Vec<String> = (0..MAX_LINES + 3).map(|number| format!("{number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = of(&texts, 80, false);
    assert_eq!(found.len(), MAX_LINES + 1);
    assert_eq!(found[MAX_LINES], "and 3 more problems (--verbose for all)");
    assert_eq!(of(&texts, 80, true).len(), texts.len());
}
