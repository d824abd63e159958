//! Estimates the memory of a parsed TOML document by its text: the parser keeps a tree of it, in which a key part of
//! two characters takes more than a kilobyte.

/// Maximum bytes of memory of the parser for a document.
pub(super) const MAX_MEMORY: u64 = 512 << 20;

// Bytes of memory, measured with documents of one kind each: a table, a key with its value, a list element.
const TABLE: u64 = 1280;
const ENTRY: u64 = 640;
const ELEMENT: u64 = 240;

/// Estimated bytes of memory of the parser.
pub(super) fn estimate(text: &str) -> u64 {
    let mut cost = text.len() as u64;
    let mut rest = text.as_bytes();
    // Dots since the end of the last key or value: dots of a key create tables, one in a value belongs to a number.
    let mut dots = 0;
    let mut line_begins = true;
    let mut in_header = false;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' | b'\'' => rest = after_string(*byte, after),
            b'#' => rest = memchr::memchr(b'\n', after).and_then(|end| after.get(end..)).unwrap_or_default(),
            b'.' => dots += 1,
            b'=' => (cost, dots) = (cost + ENTRY + dots * TABLE, 0),
            b'{' => (cost, dots) = (cost + TABLE, 0),
            b'[' if line_begins => (cost, in_header) = (cost + TABLE, true),
            b'\n' if in_header => (cost, dots, in_header) = (cost + dots * TABLE, 0, false),
            b'[' | b',' => (cost, dots) = (cost + ELEMENT, 0),
            b'}' | b']' | b'\n' if !in_header => dots = 0,
            _ => {}
        }
        line_begins = *byte == b'\n' || line_begins && matches!(byte, b' ' | b'\t' | b'\r');
    }
    cost
}

/// The text after a string; its first quote is already read: `"` with escapes or `'` without, one or three of them.
fn after_string(quote: u8, after: &[u8]) -> &[u8] {
    let is_long = after.starts_with(&[quote, quote]);
    let end: &[u8] = if is_long { &[quote; 3] } else { &[quote] };
    let mut at = if is_long { 2 } else { 0 };
    while let Some(rest) = after.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(end) {
            return rest.get(end.len()..).unwrap_or_default();
        }
        // A short string ends at its line's end at the latest: the parser rejects it.
        if !is_long && rest.starts_with(b"\n") {
            return rest;
        }
        at += if quote == b'"' && rest.starts_with(b"\\") { 2 } else { 1 };
    }
    &[]
}
