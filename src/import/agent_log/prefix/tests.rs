//! Clocks by their shapes, and what is none.

use super::{Keyed, MOST_BLANKS, clock};

#[test]
fn clocks_are_told_by_their_shapes() {
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
    assert_eq!((set(MOST_BLANKS), set(MOST_BLANKS + 1)), (Some(MOST_BLANKS + 3), None));
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
    // In the middle of a word nothing is a clock.
    assert_eq!(key("gfx90a1.5", 99).0, "gfx90a1.5");
}
