//! Warnings in lines, and with `--verbose`.

use super::{CUT, MAX_LINES, WHOLE, lines};
use crate::capture::{FileLocation, Problem, Severity};

const LONG: &str = "the log does not name its GPU; it is read as gfx900's (expected --processor NAME)";

fn problem(file: &str, what: &str) -> Problem {
    let place = FileLocation { file: file.to_owned(), ..FileLocation::default() };
    Problem { severity: Severity::Warning, place, what: what.to_owned(), hint: None }
}

fn of(texts: &[&str], width: usize, is_verbose: bool) -> Vec<String> {
    let problems: Vec<Problem> = texts.iter().map(|text| problem("core.1", text)).collect();
    lines(&problems, width, is_verbose)
}

#[test]
fn each_warning_has_one_line_of_the_width() {
    let found = of(&["short", LONG, "two\nlines"], 80, false);
    assert_eq!(found[0], "warning: core.1: short");
    assert_eq!(found[1], "warning: core.1: the log does not name its GPU; it is read as gfx900's (expec...");
    assert_eq!(found[1].chars().count(), 80);
    assert_eq!(found[2..], [format!("warning: core.1: two{CUT}"), WHOLE.to_owned()]);
    // A narrow terminal cuts more.
    assert_eq!(of(&[LONG], 0, false), [CUT, WHOLE]);
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
