//! Escaping of untrusted text for output.
//!
//! Names from captures, code objects and tools may contain terminal controls and invisible characters. They are escaped
//! in Rust's notation: `\n`, `\u{1b}`, `\u{202e}`. Values of variables are escaped by [`crate::debuginfo`] in gdb's
//! notation, for the same characters.
//!
//! Text is cleaned when its bytes become a `String`, so that comparison, lookup and output use the same name.

use std::borrow::Cow;

/// Ranges of escaped characters, first and last, in order. Unicode 16: general categories Cc, Cf, Zl and Zp, and
/// `Default_Ignorable_Code_Point` (terminal and direction controls, line ends, zero-width characters).
const UNCLEAN: [(u32, u32); 27] = [
    (0x0, 0x1f),
    (0x7f, 0x9f),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Whether a character is a terminal control or invisible.
#[must_use]
pub(crate) fn is_unclean(character: char) -> bool {
    let code = u32::from(character);
    let after = UNCLEAN.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).and_then(|index| UNCLEAN.get(index)).is_some_and(|(_, last)| code <= *last)
}

/// Escapes one line of text, including line ends.
#[must_use]
pub(crate) fn clean<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    escaped(text.into(), is_unclean)
}

/// Escapes lines of text, except line ends.
#[must_use]
pub fn clean_lines<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    escaped(text.into(), |character| character != '\n' && is_unclean(character))
}

/// Escapes lines of source text, except line ends and tabs; CRLF becomes LF.
#[must_use]
pub(crate) fn clean_text<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    let text = text.into();
    let text = if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { text };
    escaped(text, |character| !matches!(character, '\n' | '\t') && is_unclean(character))
}

fn escaped(text: Cow<'_, str>, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Fast path: almost all names are plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(&is_escaped) {
        return text;
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match is_escaped(character) {
            // Own escapes for line ends and tabs; `escape_debug` leaves some of the characters unchanged.
            true if matches!(character, '\0' | '\t' | '\r' | '\n') => clean.extend(character.escape_debug()),
            true => clean.extend(character.escape_unicode()),
            false => clean.push(character),
        }
    }
    Cow::Owned(clean)
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
