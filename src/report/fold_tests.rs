use super::{beside, continued, folded, folded_message, wrapped};
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
    // So is a mark; a gap at the fold adds no indent.
    let mark = format!("i = {}  (lanes 25-63: inactive)", "5".repeat(28));
    assert_eq!(folded(&mark, Some(32)), format!("i = {}\n    (lanes 25-63: inactive)", "5".repeat(28)));
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

/// A quoted name or command stays whole if it fits into a line; an apostrophe is no quote.
#[test]
fn messages_keep_quoted_text() {
    let text =
        "core.1: no wave has the id 99; `lanescope waves` lists them, 'a b' and (`c d`), but it isn't x's";
    for limit in 24..60 {
        let shown = folded_message(text, limit);
        assert!(shown.lines().all(|line| line.chars().count() <= limit), "{limit}: {shown}");
        assert!(
            ["`lanescope waves`", "'a b'", "(`c d`),"].iter().all(|quoted| shown.contains(quoted)),
            "{shown}"
        );
        assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), text);
    }
    // A mark stays below its column.
    let marked = "error: no operation\n    DW_OP_lit0; DW_OP_none; DW_OP_lit1\n                ^";
    assert_eq!(folded_message(marked, 30), marked);
    let long = format!("no `{}`", "word ".repeat(20).trim_end());
    assert!(folded_message(&long, 40).lines().all(|line| line.len() <= 40));
    // The work is proportional to the length.
    let quotes = folded_message(&"'a ".repeat(1 << 18), 80);
    assert!(quotes.lines().all(|line| line.len() <= 80) && done(Count::Bytes) < 100 << 20);
}

/// An equation has one line.
#[test]
fn equations_are_not_broken() {
    let text = "elements of 4 bytes; index i = 1024; n = 1024 (argument)";
    let expected = ["elements of 4 bytes; index", "i = 1024; n = 1024", "(argument)"];
    assert_eq!(wrapped(text, 26), expected);
    assert_eq!(wrapped("xx = yyyyyyyy", 6), ["xx =", "yyyyyyyy"]);
    assert_eq!(wrapped("a = b", 80), ["a = b"]);
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
    assert_eq!(continued("lldb -o 'a b' -o 'c d'", 16), ["lldb -o 'a b' \\", "  -o 'c d'"]);
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
