//! Warnings in a terminal, in a pipe and with `--verbose`.

use super::{CUT, MAX_LINES, lines};

const LONG: &str =
    "warning: core.1: the log does not name its GPU; it is read as gfx900's (expected --processor NAME)";

fn of(texts: &[&str], width: Option<usize>, is_verbose: bool) -> Vec<String> {
    lines(texts.iter().map(|text| (*text).to_owned()), width, is_verbose)
}

#[test]
fn a_terminal_has_one_line_for_each_warning() {
    let found = of(&["warning: short", LONG, "warning: two\nlines"], Some(80), false);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], "warning: short");
    assert!(found[1].ends_with(CUT) && found[1].chars().count() <= 80, "{}", found[1]);
    assert_eq!(found[2], format!("warning: two{CUT}"));
    // A narrow terminal cuts more.
    assert!(of(&[LONG], Some(0), false)[0].ends_with(CUT));
}

#[test]
fn a_pipe_and_verbose_have_whole_warnings() {
    assert_eq!(of(&[LONG], None, false), [LONG]);
    assert_eq!(of(&[LONG], Some(40), true), [LONG]);
}

#[test]
fn a_warning_is_printed_once() {
    assert_eq!(of(&[LONG, "warning: other", LONG], None, false), [LONG, "warning: other"]);
}

#[test]
fn many_warnings_end_with_their_count() {
    let texts: Vec<String> = (0..MAX_LINES + 3).map(|number| format!("warning: {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = of(&texts, None, false);
    assert_eq!(found.len(), MAX_LINES + 1);
    assert_eq!(found[MAX_LINES], "and 3 more problems (--verbose for all)");
    assert_eq!(of(&texts, None, true).len(), texts.len());
}
