//! Unwrapped lines of a text, of any length, with or without a line feed.

use std::borrow::Cow;
use std::io::{self, BufRead};

use super::unwrap;
use crate::import::problem::Problems;
use crate::work::{self, Count};

/// Maximum bytes of a line; the rest is skipped. A longer line that a program overwrote with carriage returns, such as a
/// progress bar, is several lines of one number. The longest row is that of a vector register (1 KB, three times that
/// in colour); names of C++ functions may have about 100 KB.
pub(super) const MAX_LINE: usize = 1 << 20;

/// A line without its end, its container and terminal controls.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Line<'l> {
    /// Number from 1.
    pub(in crate::import) number: usize,
    /// Its text; any bytes.
    pub(in crate::import) text: &'l [u8],
    /// Whether it ends in a line feed; otherwise the file may be truncated inside a word.
    pub(in crate::import) ended: bool,
    /// Whether it was longer than [`MAX_LINE`].
    pub(in crate::import) cut: bool,
    /// The container's clock, if it is not in the text; else empty.
    pub(in crate::import) clock: &'l str,
}

impl Line<'_> {
    /// Reports a line whose rest was skipped.
    pub(in crate::import) fn report_cut(&self, problems: &mut Problems) {
        if self.cut {
            let what = "the line is too long; its rest is ignored";
            problems.line(self.number, what, "lines of at most 1 MiB");
        }
    }
}

/// Iterator of lines; one is in memory at a time.
#[derive(Debug)]
pub(in crate::import) struct Lines<R> {
    source: R,
    number: usize,
    raw: Vec<u8>,
    /// The part of the last line that was read behind a carriage return.
    rest: Vec<u8>,
    /// The text of a wrapped line.
    inner: Vec<u8>,
    /// The first parts of a line that a container's runtime split, of both streams.
    output: Vec<u8>,
    errors: Vec<u8>,
    clock: String,
}

/// The end of a line, as in [`Line`].
#[derive(Clone, Copy, Debug)]
struct End {
    ended: bool,
    cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(in crate::import) fn new(source: R) -> Self {
        Self {
            source,
            number: 0,
            raw: Vec::new(),
            rest: Vec::new(),
            inner: Vec::new(),
            output: Vec::new(),
            errors: Vec::new(),
            clock: String::new(),
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(in crate::import) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut found = self.read()?;
        self.clock.clear();
        while found.is_some()
            && let Some(part) = unwrap::part(&self.raw)
        {
            self.clock = part.clock;
            let begun = if part.is_error { &mut self.errors } else { &mut self.output };
            if part.is_last && begun.is_empty() {
                if let Cow::Owned(text) = part.text {
                    self.raw = text;
                }
                break;
            }
            if begun.is_empty() {
                begun.extend_from_slice(part.before);
            }
            begun.extend_from_slice(&part.text);
            begun.truncate(MAX_LINE);
            if part.is_last {
                self.raw = std::mem::take(begun);
                break;
            }
            found = self.read()?;
        }
        // The last parts of a text that ends within a line.
        let begun = [&mut self.output, &mut self.errors].into_iter().find(|begun| !begun.is_empty());
        if let (None, Some(begun)) = (found, begun) {
            self.raw = std::mem::take(begun);
            found = Some(End { ended: false, cut: false });
        }
        let Some(End { ended, cut }) = found else { return Ok(None) };
        let text = match unwrap::shown(&self.raw) {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => {
                self.inner = text;
                &self.inner
            }
        };
        Ok(Some(Line { number: self.number, text, ended, cut, clock: &self.clock }))
    }

    /// Reads a line of the source; `None`: its end.
    fn read(&mut self) -> io::Result<Option<End>> {
        self.raw.clear();
        self.raw.append(&mut self.rest);
        let is_same = !self.raw.is_empty();
        let limit = (MAX_LINE + 1 - self.raw.len()) as u64;
        let read = io::Read::take(&mut self.source, limit).read_until(b'\n', &mut self.raw)?;
        if read == 0 && !is_same {
            return Ok(None);
        }
        work::count(Count::Bytes, read as u64);
        self.number += usize::from(!is_same);
        let mut ended = self.raw.last() == Some(&b'\n');
        let is_long = !ended && self.raw.len() > MAX_LINE;
        // The part behind the last carriage return is shorter than the limit.
        let end = self.raw.get(..MAX_LINE).filter(|_| is_long).and_then(|raw| memchr::memrchr(b'\r', raw));
        let end = end.map(|at| at + 1);
        let cut = is_long && end.is_none();
        if let Some(end) = end {
            self.rest = self.raw.split_off(end);
            ended = true;
        } else if cut {
            self.raw.truncate(MAX_LINE);
            self.source.skip_until(b'\n')?;
            ended = true;
        }
        Ok(Some(End { ended, cut }))
    }
}
