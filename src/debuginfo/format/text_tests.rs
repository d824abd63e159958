//! Strings in values: gdb's escapes (its manual, "Strings"; octal for each unprintable byte).

use super::*;

#[test]
fn what_a_terminal_obeys_is_escaped() {
    let narrow = |text: &[u8]| string(text, CharKind::NARROW, Quotes::Double, 200, None);
    for (bytes, shown) in [
        (&b"\x1b[31mred\x07"[..], r#""\033[31mred\a""#),
        (b"a\r\nb", r#""a\r\nb""#),
        // A byte of C1, and the same character in UTF-8.
        (b"\x9b1m", r#""\2331m""#),
        ("\u{9b}".as_bytes(), r#""\302\233""#),
        ("x\u{202e}y".as_bytes(), r#""x\342\200\256y""#),
        ("\u{2066}\u{200b}\u{feff}".as_bytes(), r#""\342\201\246\342\200\213\357\273\277""#),
        ("größe 変数".as_bytes(), "\"größe 変数\""),
    ] {
        assert_eq!(narrow(bytes), shown);
    }
    let units = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    assert_eq!(string(&units("a\u{202e}"), CharKind::UTF16, Quotes::Double, 200, None), r#"u"a\x202e""#);
    // gdb 13 for a Fortran program.
    let fortran = |text: &[u8]| string(text, CharKind::NARROW, Quotes::Single, 200, Some(10));
    let long = format!("it's {:a<19}      ", "");
    assert_eq!(fortran(long.as_bytes()), r"'it\'s ', 'a' <repeats 19 times>, '      '");
    assert_eq!(fortran(b"d \0"), r"'d \000'");
    assert_eq!(character(0x1b, CharKind::NARROW), r"'\033'");
    assert_eq!(character(0x202e, CharKind::UTF32), r"U'\x202e'");
}
