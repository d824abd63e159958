use super::{MOST_PREFIX, after, is_prefix};

#[test]
fn numbers_of_a_prefix_may_differ() {
    for (prefix, line, rest) in [
        ("", "\ta: 1 |", Some("\ta: 1 |")),
        ("> ", ">  > SGPRS", Some(" > SGPRS")),
        ("[12.5] ", "[ 9.75] \t[0", Some("\t[0")),
        ("2026-11-20T09:59:59.5Z ", "2026-11-20T10:00:00.00012Z x", Some("x")),
        ("Nov  9 09:59:59 host umr[77]: ", "Nov 10 00:00:00 host umr[77]: 0 0 1", Some("0 0 1")),
        // A row's own numbers are not the prefix's.
        ("12:00:01 ", "12:00:02 0 0 1", Some("0 0 1")),
        ("[1] ", "(1) x", None),
        ("> ", "", None),
    ] {
        let found = after(prefix.as_bytes(), line.as_bytes());
        assert_eq!(found, rest.map(str::as_bytes), "{prefix:?} {line:?}");
    }
}

#[test]
fn a_sentence_is_no_prefix() {
    for (text, is) in [
        ("", true),
        ("    ", true),
        ("> ", true),
        ("12:00:01 ", true),
        ("umr-1  | ", true),
        ("2026-11-20T09:59:59Z stderr F ", true),
        ("the wave is at ", false),
        ("1", false),
        ("x", false),
    ] {
        assert_eq!(is_prefix(text.as_bytes()), is, "{text:?}");
    }
    assert!(is_prefix(&[b'-'; MOST_PREFIX]) && !is_prefix(&[b'-'; MOST_PREFIX + 1]));
}
