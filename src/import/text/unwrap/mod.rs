//! Wrappings of a log's text by other programs, from outside to inside: the encoding ([`decoded`]), Docker's JSON and
//! terminal controls of a line ([`line()`]), and a prefix of each line ([`prefix`]): quote signs, ranks, hosts, clocks.

pub(in crate::import) mod prefix;
mod utf16;

use std::borrow::Cow;
use std::io::Read;

use memchr::{memchr, memrchr};
use serde::Deserialize;

pub(in crate::import) use utf16::{Order, Utf16};

/// A text as UTF-8. `order`: byte order of UTF-16; `None`: the source is in UTF-8.
pub(in crate::import) fn decoded<'r>(source: impl Read + 'r, order: Option<Order>) -> Box<dyn Read + 'r> {
    match order {
        Some(order) => Box::new(Utf16::new(source, order)),
        None => Box::new(source),
    }
}

/// A line as the writing program's terminal finally shows it, without its line feed.
pub(in crate::import) fn line(raw: &[u8]) -> Cow<'_, [u8]> {
    match entry(raw) {
        Some(inner) => Cow::Owned(shown(inner.log.as_bytes()).into_owned()),
        None => shown(raw),
    }
}

/// A line of a container's log, or a part of one that the container's runtime split.
#[derive(Debug)]
pub(in crate::import) struct Part<'l> {
    /// Whether it is of the stream for errors.
    pub(in crate::import) is_error: bool,
    pub(in crate::import) is_last: bool,
    /// The text before that of each part; the runtime's tag is left out.
    pub(in crate::import) before: &'l [u8],
    /// The text; owned: the runtime writes it in another form.
    pub(in crate::import) text: Cow<'l, [u8]>,
    /// The runtime's clock, if it is not in the text.
    pub(in crate::import) clock: String,
}

/// The part of a line: `2025-03-04T12:00:01.1Z stderr P text` of Kubernetes (`F`: the last part), and Docker's entries,
/// whose last part ends in a line feed.
pub(in crate::import) fn part(line: &[u8]) -> Option<Part<'_>> {
    if let Some(Entry { log, stream, time }) = entry(line) {
        let clock = time.as_str().unwrap_or_default().to_owned();
        // Other collectors write such entries without the stream, and without the end of a line.
        let (is_error, is_last) = (stream == "stderr", log.ends_with('\n') || stream.is_empty());
        return Some(Part { is_error, is_last, before: &[], text: Cow::Owned(log.into_bytes()), clock });
    }
    if !line.first()?.is_ascii_digit() {
        return None;
    }
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let (clock, stream, tag, text) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_error = stream == b"stderr";
    let is_last = tag == b"F" || tag.starts_with(b"F:");
    let is_part = is_last || tag == b"P" || tag.starts_with(b"P:");
    if !is_part || !is_error && stream != b"stdout" {
        return None;
    }
    let before = line.get(..clock.len() + stream.len() + 2)?;
    let text = if is_last { text } else { text.strip_suffix(b"\n").unwrap_or(text) };
    Some(Part { is_error, is_last, before, text: Cow::Borrowed(text), clock: String::new() })
}

/// An entry of Docker's log.
#[derive(Deserialize)]
struct Entry {
    log: String,
    #[serde(default)]
    stream: String,
    #[serde(default)]
    time: serde_json::Value,
}

/// The entry in a line of Docker's log, with or without blanks between its parts:
/// `{"log":"text\n","stream":"stderr","time":"..."}`.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut rest = line;
    for mark in [&b"{"[..], b"\"log\"", b":"] {
        rest = rest.trim_ascii_start().strip_prefix(mark)?;
    }
    rest.trim_ascii_start().starts_with(b"\"").then(|| serde_json::from_slice(line).ok())?
}

/// A line without terminal controls, its end, and text that a carriage return overwrites (progress bars).
pub(in crate::import) fn shown(line: &[u8]) -> Cow<'_, [u8]> {
    fn last(line: &[u8]) -> &[u8] {
        let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        let line = line.get(..end).unwrap_or_default();
        let from = memrchr(b'\r', line).map_or(0, |at| at + 1);
        line.get(from..).unwrap_or_default()
    }
    match memchr(0x1b, line) {
        None => Cow::Borrowed(last(line)),
        Some(_) => Cow::Owned(last(&without_controls(line)).to_vec()),
    }
}

/// A line without escape sequences (ECMA-48): `ESC [ ... letter`, `ESC ] ... BEL` or `ESC \`, and `ESC` with intermediate
/// bytes.
fn without_controls(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr(0x1b, rest).unwrap_or(rest.len());
        plain.extend_from_slice(rest.get(..length).unwrap_or_default());
        at = if length < rest.len() { after_control(line, at + length + 1) } else { line.len() };
    }
    plain
}

/// Offset after an escape sequence whose second byte is at `at`.
fn after_control(line: &[u8], at: usize) -> usize {
    let rest = line.get(at + 1..).unwrap_or_default();
    let end = match line.get(at) {
        Some(b'[') => rest.iter().position(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
            // ESC \ also ends it.
            end.map(|end| if rest.get(end) == Some(&0x1b) { end + 1 } else { end })
        }
        Some(0x20..=0x2f) => rest.iter().position(|byte| (0x30..=0x7e).contains(byte)),
        Some(_) => return at + 1,
        None => return at,
    };
    // An unterminated sequence takes the rest of the line.
    end.map_or(line.len(), |end| at + 1 + end + 1)
}
