use super::{beside, continued, folded};
use crate::report::Style;
use crate::work::{Count, done};

/// A location in brackets after a gap stays whole if it fits into a line.
#[test]
fn locations_are_not_broken() {
    let line = "int i = 5  (lane 3: inactive)  [v0[3] (clang xderef)]";
    assert_eq!(folded(line, Some(40)), "int i = 5  (lane 3: inactive)\n    [v0[3] (clang xderef)]");
    let long = folded(&format!("i = 5  [{}]", "word ".repeat(10).trim_end()), Some(30));
    assert!(long.lines().all(|line| line.len() <= 30) && long.lines().count() == 3, "{long}");
    // Styles take no column.
    let styled = format!("int i = 5  (lane 3: inactive){}", Style::Coloured.dim("  [v0[3] (clang xderef)]"));
    let folded_styled = folded(&styled, Some(40));
    assert_eq!(anstream::adapter::strip_str(&folded_styled).to_string(), folded(line, Some(40)));
    assert_eq!(folded(&styled, Some(line.len())), styled);
    // In a value brackets are words of their own.
    assert_eq!(folded("a = [1 2]", Some(6)), "a = [1\n    2]");
}

/// The work is proportional to the length.
#[test]
fn blanks_without_words_are_read_once() {
    let blanks = " ".repeat(1 << 20);
    assert_eq!(folded(&blanks, Some(80)), "");
    let gaps = folded(&"  [".repeat(1 << 18), Some(80));
    assert!(gaps.lines().all(|line| line.len() <= 80));
    assert!(done(Count::Bytes) < 10 << 20, "{}", done(Count::Bytes));
}

/// Keeps every word, and breaks none.
#[test]
fn text_is_folded_between_words() {
    let words: Vec<String> = (0..40).map(|number| "a".repeat(number % 13 + 1)).collect();
    let text = words.join(" ");
    let shown = folded(&text, Some(30));
    assert!(shown.lines().all(|line| line.chars().count() <= 30), "{shown}");
    assert!(shown.lines().skip(1).all(|line| line.starts_with("    a")), "{shown}");
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), text);
    // An indented line continues behind its indent.
    assert_eq!(folded("  one two three", Some(10)), "  one two\n      three");
    assert_eq!(folded(&text, None), text);
    let long = "x".repeat(100);
    assert_eq!(folded(&long, Some(30)), long);
}

#[test]
fn a_command_continues_behind_a_backslash() {
    let command = "lanescope locals 'a folder with blanks/core.1' --log run.log --wave 3 --lane 17";
    let expected = [
        "lanescope locals \\",
        "  'a folder with blanks/core.1' \\",
        "  --log run.log --wave 3 \\",
        "  --lane 17",
    ];
    assert_eq!(continued(command, 32), expected);
    assert_eq!(continued("lanescope info it\\'s a b", 20), ["lanescope info \\", "  it\\'s a b"]);
    assert_eq!(continued("lanescope info", 80), ["lanescope info"]);
}

#[test]
fn a_text_stays_beside_its_first_column() {
    let text = "a text of some words";
    assert_eq!(beside("  one:  ", text, Some(20)), "  one:  a text of\n        some words");
    assert_eq!(beside("  one:  ", text, Some(80)), format!("  one:  {text}"));
    assert_eq!(beside("  one:  ", text, None), format!("  one:  {text}"));
    // A gap at the end of a line is dropped, another one stays.
    assert_eq!(beside("> ", "s_nop 0  ; lanes 0-3  x", Some(12)), "> s_nop 0\n  ; lanes\n  0-3  x");
    // Styles take no column.
    let styled = beside(&Style::Coloured.heading("  one:  "), &Style::Coloured.dim(text), Some(20));
    assert_eq!(anstream::adapter::strip_str(&styled).to_string(), beside("  one:  ", text, Some(20)));
    // A wide column stands above.
    assert_eq!(
        beside("a wide first column  ", text, Some(24)),
        "a wide first column\n        a text of some\n        words"
    );
}
