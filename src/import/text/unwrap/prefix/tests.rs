//! Clocks by their formats, and other prefixes.

use super::{Keyed, MAX_BLANKS, MAX_PREFIX, clock, end, is_prefix};

#[test]
fn clocks_are_recognised_by_their_shapes() {
    // ISO 8601 and RFC 3339 with any fraction, Python's logging, syslog (RFC 3164), dmesg, seconds of a run.
    for text in [
        "2026-11-20T09:00:01Z",
        "2026-11-20T09:00:01.123456789Z",
        "2026-11-20T09:00:01+02:00",
        "2026-11-20 09:00:01,250",
        "2026/11/20 09:00:01",
        "2026-11-20",
        "09:00:01",
        "9:00:01.5",
        "Nov 20 09:00:01",
        "Jan  9 09:00:01",
        "Nov 20",
        "999.5",
        "   999.500012",
        "10.0s",
    ] {
        for after in ["", " rank", "] ", ": "] {
            let whole = format!("{text}{after}");
            assert_eq!(clock(whole.as_bytes()), Some(text.len()), "{whole}");
        }
    }
    for text in [
        "",
        "12",
        "12: ",
        "1,0",
        "10.0.0.1",
        "09:00",
        "3:17:",
        "2026",
        "v1.5x",
        "Nov",
        "Novem 3",
        "0x10",
        "09:00:01x",
        "1.",
        "  s0: 00000001",
    ] {
        assert_eq!(clock(text.as_bytes()), None, "{text}");
    }
    let set = |blanks: usize| clock(format!("{}1.5", " ".repeat(blanks)).as_bytes());
    assert_eq!((set(MAX_BLANKS), set(MAX_BLANKS + 1)), (Some(MAX_BLANKS + 3), None));
}

#[test]
fn a_key_has_all_but_the_clock() {
    let key = |line: &str, most| {
        let mut keyed = Keyed::default();
        keyed.read(line.as_bytes(), most);
        let ends = (0..=keyed.key.len()).map(|length| keyed.end(length).unwrap()).collect::<Vec<_>>();
        (String::from_utf8(keyed.key).unwrap().replace('\0', "T"), ends)
    };
    assert_eq!(key("09:00:01 [r0] ", 99), key("19:00:01 [r0] ", 99));
    assert_eq!(key("[   9.5] x", 99), ("[T] x".to_owned(), vec![0, 1, 7, 8, 9, 10]));
    assert_eq!(key("app[1234]: ", 4), ("app[".to_owned(), vec![0, 1, 2, 3, 4]));
    assert_ne!(key("09:00:01 [r0] ", 99).0, key("09:00:01 [r1] ", 99).0);
    // A clock cannot begin inside a word.
    assert_eq!(key("gfx90a1.5", 99).0, "gfx90a1.5");
}

#[test]
fn numbers_of_a_prefix_may_differ() {
    for (prefix, line, rest) in [
        ("", "\ta: 1 |", Some("\ta: 1 |")),
        ("> ", ">  > SGPRS", Some(" > SGPRS")),
        ("[12.5] ", "[ 9.75] \t[0", Some("\t[0")),
        ("2026-11-20T09:59:59.5Z ", "2026-11-20T10:00:00.00012Z x", Some("x")),
        ("Nov  9 09:59:59 host umr[77]: ", "Nov 10 00:00:00 host umr[77]: 0 0 1", Some("0 0 1")),
        // A row's own numbers are not part of the prefix.
        ("12:00:01 ", "12:00:02 0 0 1", Some("0 0 1")),
        ("[1] ", "(1) x", None),
        ("> ", "", None),
    ] {
        let found = end(prefix.as_bytes(), line.as_bytes()).map(|end| &line[end..]);
        assert_eq!(found, rest, "{prefix:?} {line:?}");
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
    assert!(is_prefix(&[b'-'; MAX_PREFIX]) && !is_prefix(&[b'-'; MAX_PREFIX + 1]));
}

#[test]
fn what_begins_a_line_is_found_by_its_prefix() {
    let rest = |prefix: &str, line: &str| end(prefix.as_bytes(), line.as_bytes());
    assert_eq!(rest("12: ", "12: x"), Some(4));
    assert_eq!(rest("9: ", "10: x"), Some(4));
    assert_eq!(rest("09:00:01 ", "09:00:01.25 x"), Some(12));
    assert_eq!(rest("9: ", "10: 0 0 1"), Some(4));
    assert_eq!((rest("12: ", "13x"), rest("> ", ">x"), rest("long", "lo")), (None, None, None));
}
