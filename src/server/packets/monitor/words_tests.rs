//! Error of a path, below the path.

use super::wrong_path;
use crate::session::print::ParseError;

#[test]
fn a_short_path_is_shown_whole_with_its_error_below() {
    let why = ParseError { column: 3, words: "expected a member's name, found `5`".to_owned() };
    let answered = wrong_path("a.5", &why);
    assert_eq!(answered, "a.5\n  ^\nThe path is wrong at column 3: expected a member's name, found `5`.");
}

#[test]
fn a_long_path_is_cut_around_what_is_wrong() {
    let path = format!("{}!{}", "a".repeat(4999), "b".repeat(5000));
    let why = ParseError { column: 5000, words: format!("found `{}`", "b".repeat(5000)) };
    let answered = wrong_path(&path, &why);
    let lines: Vec<&str> = answered.lines().collect();
    assert!(answered.len() < 600, "{} letters", answered.len());
    assert_eq!(lines[0].len(), 3 + 68 + 3);
    let at = lines[1].find('^').unwrap();
    assert_eq!(lines[0].as_bytes()[at], b'!', "{answered}");
    // At the beginning and at the end the context is shorter.
    for column in [1, path.len()] {
        let answered = wrong_path(&path, &ParseError { column, words: String::new() });
        let lines: Vec<&str> = answered.lines().collect();
        let at = lines[1].find('^').unwrap();
        assert!(
            lines[0].len() <= 74 && lines[0].as_bytes().get(at).is_some_and(|c| b"ab".contains(c)),
            "{answered}"
        );
    }
}
