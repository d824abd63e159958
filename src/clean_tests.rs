//! Which characters are escaped, and how.

use super::*;

#[test]
fn control_and_invisible_characters_are_escaped() {
    // The list, C1's CSI, line separators, the tag block and a variation selector.
    for (raw, shown) in [
        ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
        ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("a\r\nb\tc\0", "a\\r\\nb\\tc\\0"),
        ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
        ("\u{202e}cba\u{202c}", "\\u{202e}cba\\u{202c}"),
        ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
        ("a\u{200b}b\u{feff}\u{200d}", "a\\u{200b}b\\u{feff}\\u{200d}"),
        ("\u{2028}\u{2029}\u{ad}\u{3164}", "\\u{2028}\\u{2029}\\u{ad}\\u{3164}"),
        ("\u{e0041}\u{fe0f}", "\\u{e0041}\\u{fe0f}"),
    ] {
        assert_eq!(clean(raw), shown);
        assert_eq!(clean(clean(raw).into_owned()), shown, "cleaning twice changes nothing");
    }
    assert_eq!(clean_lines("one\n\u{1b}two\n"), "one\n\\u{1b}two\n");
}

/// Rust's own tables determine which characters print; combining marks and letters of every script stay.
#[test]
fn nothing_else_is_escaped() {
    for text in
        ["", "saxpy(float const*)", "größe \\ \"x\" 'y'", "変数→×", "e\u{301}", "переменная", "متغير", "🦀"]
    {
        assert!(matches!(clean(text), Cow::Borrowed(same) if same == text), "{text}");
    }
    for character in '\0'..=char::MAX {
        if character.is_control() {
            assert!(is_unclean(character), "{:#x}", u32::from(character));
        }
        if character.is_alphanumeric() && is_unclean(character) {
            // Letters by category that have no glyph: Hangul fillers.
            assert!(
                matches!(
                    character,
                    '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}'
                ),
                "{character:?}"
            );
        }
    }
    assert!(UNCLEAN.is_sorted_by(|one, next| one.0 <= one.1 && one.1 < next.0));
}
