//! Lines of a log as people post it: terminal colours, carriage returns, lines without an end.

use std::borrow::Cow;
use std::io::{self, BufRead};

use memchr::{memchr, memrchr};
use serde::Deserialize;

/// The most bytes of a line that are looked at; the rest of it is passed over. The longest that a format has is a row of a
/// vector register (1 KB, three times that in colour); the names of C++ functions may take some 100 KB.
pub(super) const MOST_LINE: usize = 1 << 20;

/// A line, without its end and without terminal controls.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Line<'l> {
    /// From 1.
    pub(in crate::import) number: usize,
    /// Its text; any bytes.
    pub(in crate::import) text: &'l [u8],
    /// Whether a line feed ended it: where none did, the file may have been cut inside a word.
    pub(in crate::import) ended: bool,
    /// Whether it was longer than what is looked at.
    pub(in crate::import) cut: bool,
}

/// Lines one after the other; one is in memory at a time.
#[derive(Debug)]
pub(in crate::import) struct Lines<R> {
    source: R,
    number: usize,
    raw: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(in crate::import) fn new(source: R) -> Self {
        Self { source, number: 0, raw: Vec::new() }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// What the operating system says of the file.
    pub(in crate::import) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.raw.clear();
        let limit = MOST_LINE as u64 + 1;
        if io::Read::take(&mut self.source, limit).read_until(b'\n', &mut self.raw)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut ended = self.raw.last() == Some(&b'\n');
        let cut = !ended && self.raw.len() > MOST_LINE;
        if cut {
            self.raw.truncate(MOST_LINE);
            self.source.skip_until(b'\n')?;
            ended = true;
        }
        if let Some(inner) = of_a_container(&self.raw) {
            self.raw = inner;
        }
        if memchr(0x1b, &self.raw).is_some() {
            strip_controls(&mut self.raw);
        }
        Ok(Some(Line { number: self.number, text: shown(&self.raw), ended, cut }))
    }
}

/// A line as [`Lines`] gives it.
pub(in crate::import) fn uncoloured(line: &[u8]) -> Cow<'_, [u8]> {
    if let Some(inner) = of_a_container(line) {
        return Cow::Owned(without_controls(&inner).into_owned());
    }
    without_controls(line)
}

fn without_controls(line: &[u8]) -> Cow<'_, [u8]> {
    if memchr(0x1b, line).is_none() {
        return Cow::Borrowed(shown(line));
    }
    let mut line = line.to_vec();
    strip_controls(&mut line);
    Cow::Owned(shown(&line).to_vec())
}

/// What a program wrote, of a line in which Docker keeps it: `{"log":"text\n","stream":"stderr","time":"..."}`, with or
/// without blanks between the parts.
fn of_a_container(line: &[u8]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Kept {
        log: String,
    }
    let inside = line.trim_ascii_start().strip_prefix(b"{")?;
    let value = inside.trim_ascii_start().strip_prefix(b"\"log\"")?;
    let text = value.trim_ascii_start().strip_prefix(b":")?;
    text.trim_ascii_start()
        .starts_with(b"\"")
        .then(|| serde_json::from_slice::<Kept>(line).ok())?
        .map(|kept| kept.log.into())
}

/// What a terminal shows of a line in the end: its end left out, and what a progress bar wrote before it drew over itself.
fn shown(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    let line = line.get(..end).unwrap_or_default();
    let from = memrchr(b'\r', line).map_or(0, |at| at + 1);
    line.get(from..).unwrap_or_default()
}

/// Takes out escape sequences (ECMA-48): `ESC [ ... letter`, `ESC ] ... BEL` or `ESC \`, and `ESC` with intermediate bytes.
fn strip_controls(line: &mut Vec<u8>) {
    let mut out = 0;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if byte == 0x1b {
            at = after_control(line, at + 1);
            continue;
        }
        if let Some(place) = line.get_mut(out) {
            *place = byte;
        }
        out += 1;
        at += 1;
    }
    line.truncate(out);
}

/// Where the text goes on after the escape sequence whose second byte is at `at`.
fn after_control(line: &[u8], at: usize) -> usize {
    let rest = line.get(at + 1..).unwrap_or_default();
    let end = match line.get(at) {
        Some(b'[') => rest.iter().position(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
            // ESC \ ends it, too.
            end.map(|end| if rest.get(end) == Some(&0x1b) { end + 1 } else { end })
        }
        Some(0x20..=0x2f) => rest.iter().position(|byte| (0x30..=0x7e).contains(byte)),
        Some(_) => return at + 1,
        None => return at,
    };
    // One that does not end is all there is of the line.
    end.map_or(line.len(), |end| at + 1 + end + 1)
}
