//! Characters and strings in gdb's notation.

use std::fmt::Write as _;

use super::value::Notation;
use crate::clean::is_unclean;

/// A kind of character type, by width and the prefix of its literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CharKind {
    /// Bytes per character: 1, 2 or 4.
    pub(super) width: usize,
    /// `L`, `u`, `U` or nothing.
    pub(super) prefix: &'static str,
}

impl CharKind {
    pub(super) const NARROW: Self = Self { width: 1, prefix: "" };
    pub(super) const WIDE: Self = Self { width: 4, prefix: "L" };
    pub(super) const UTF16: Self = Self { width: 2, prefix: "u" };
    pub(super) const UTF32: Self = Self { width: 4, prefix: "U" };
}

/// The marks around a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// C's, whose strings may end with a NUL.
    Double,
    /// Fortran's: each character counts.
    Single,
}

impl Quotes {
    pub(super) fn of(notation: Notation) -> Self {
        match notation {
            Notation::C => Self::Double,
            Notation::Fortran => Self::Single,
        }
    }

    fn mark(self) -> char {
        match self {
            Self::Double => '"',
            Self::Single => '\'',
        }
    }
}

/// One character of a string, or an invalid unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A character, and its number of units in the string.
    Char(char),
    /// A unit that is invalid in its encoding.
    Raw(u32),
}

/// A character after its number: `'A'`, `L'A'`, `'\000'`.
pub(super) fn character(code: u32, kind: CharKind) -> String {
    let unit = match kind.width {
        // A single byte above ASCII is not a character by itself.
        1 if code > 0x7f => Unit::Raw(code),
        _ => char::from_u32(code).map_or(Unit::Raw(code), Unit::Char),
    };
    let mut text = format!("{}'", kind.prefix);
    escape(&mut text, unit, '\'', kind, &mut false);
    text.push('\'');
    text
}

/// An array of characters as a string. One final NUL of C's is omitted, runs beyond `repeats` are elided, and `...` replaces
/// the part after `max` characters.
pub(super) fn string(
    bytes: &[u8],
    kind: CharKind,
    quotes: Quotes,
    max: usize,
    repeats: Option<usize>,
) -> String {
    let mut units = decode(bytes, kind.width);
    let quote = quotes.mark();
    if quotes == Quotes::Double && units.last() == Some(&Unit::Char('\0')) {
        units.pop();
    }
    if units.is_empty() {
        return format!("{}\"\"", kind.prefix);
    }
    // gdb counts whole runs: the last printed run may pass the limit. Without elision the limit cuts within a run.
    let mut runs: Vec<(Unit, usize)> = Vec::new();
    let (mut shown, mut rest) = (0, units.as_slice());
    while shown < max
        && let [first, ..] = rest
    {
        let run = rest.iter().take_while(|unit| *unit == first).count();
        let run = if repeats.is_some_and(|threshold| run > threshold) { run } else { run.min(max - shown) };
        runs.push((*first, run));
        shown += run;
        rest = rest.get(run..).unwrap_or(&[]);
    }
    let mut parts = Vec::new();
    let mut open: Option<String> = None;
    let mut was_hex = false;
    for (unit, run) in runs {
        if repeats.is_some_and(|threshold| run > threshold) {
            parts.extend(open.take().map(|text| format!("{text}{quote}")));
            let mut text = format!("{}'", kind.prefix);
            escape(&mut text, unit, '\'', kind, &mut false);
            let _ = write!(text, "' <repeats {run} times>");
            parts.push(text);
            was_hex = false;
        } else {
            let text = open.get_or_insert_with(|| format!("{}{quote}", kind.prefix));
            for _ in 0..run {
                escape(text, unit, quote, kind, &mut was_hex);
            }
        }
    }
    parts.extend(open.map(|text| format!("{text}{quote}")));
    let more = if rest.is_empty() { "" } else { "..." };
    format!("{}{more}", parts.join(", "))
}

/// Splits bytes into characters: UTF-8, UTF-16 or UTF-32.
fn decode(bytes: &[u8], width: usize) -> Vec<Unit> {
    match width {
        1 => {
            let chunks = bytes.utf8_chunks();
            let units = chunks.flat_map(|chunk| {
                let raw = chunk.invalid().iter().map(|byte| Unit::Raw(u32::from(*byte)));
                chunk.valid().chars().map(Unit::Char).chain(raw)
            });
            units.collect()
        }
        2 => {
            let words =
                bytes.chunks_exact(2).map(|word| word.first_chunk().copied().map_or(0, u16::from_le_bytes));
            let decoded = char::decode_utf16(words);
            decoded
                .map(|unit| unit.map_or_else(|bad| Unit::Raw(bad.unpaired_surrogate().into()), Unit::Char))
                .collect()
        }
        _ => {
            let words =
                bytes.chunks_exact(4).map(|word| word.first_chunk().copied().map_or(0, u32::from_le_bytes));
            words.map(|code| char::from_u32(code).map_or(Unit::Raw(code), Unit::Char)).collect()
        }
    }
}

/// Writes one character between quotes. `was_hex`: the character before is a hex escape, which a digit would extend.
fn escape(text: &mut String, unit: Unit, quote: char, kind: CharKind, was_hex: &mut bool) {
    let extends = *was_hex;
    *was_hex = false;
    match unit {
        Unit::Char('\x07') => text.push_str("\\a"),
        Unit::Char('\x08') => text.push_str("\\b"),
        Unit::Char('\x0c') => text.push_str("\\f"),
        Unit::Char('\n') => text.push_str("\\n"),
        Unit::Char('\r') => text.push_str("\\r"),
        Unit::Char('\t') => text.push_str("\\t"),
        Unit::Char('\x0b') => text.push_str("\\v"),
        Unit::Char(c) if !(is_unclean(c) || extends && c.is_ascii_hexdigit()) => {
            if c == quote || c == '\\' {
                text.push('\\');
            }
            text.push(c);
        }
        Unit::Char(c) if kind.width == 1 => {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
        Unit::Char(c) => number(text, u32::from(c), was_hex),
        Unit::Raw(code) => number(text, code, was_hex),
    }
}

/// Writes three octal digits if they suffice, else hex.
fn number(text: &mut String, code: u32, was_hex: &mut bool) {
    *was_hex = code > 0o777;
    let _ = if *was_hex { write!(text, "\\x{code:x}") } else { write!(text, "\\{code:03o}") };
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
