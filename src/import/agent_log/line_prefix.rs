//! The prefix of a report's lines, found by the lines after its header.
//!
//! Another program may put a prefix before each line, and a program's unterminated line may precede a header. The lines
//! of the report repeat the prefix only.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::line;
use crate::import::text::prefix::{self, MAX_PREFIX};
use crate::import::text::{Line, Lines};

/// Maximum number of lines that are searched after a header: several for each rank that may write at the same time.
pub(super) const MAX_LINES: usize = 2048;

/// Maximum number of bytes of these lines.
pub(super) const MAX_BYTES: usize = 2 << 20;

/// Maximum number of searched lines for all headers together; the text before later headers is used unchanged. Only
/// logs with program output inside thousands of headers reach it.
pub(super) const MAX_LOOKED: u64 = 4 << 20;

/// A buffered line.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    number: usize,
    text: Vec<u8>,
    ended: bool,
    cut: bool,
    clock: String,
}

impl Waiting {
    pub(super) fn of(line: Line<'_>) -> Self {
        let Line { number, text, ended, cut, clock } = line;
        Self { number, text: text.to_vec(), ended, cut, clock: clock.to_owned() }
    }

    pub(super) fn line(&self) -> Line<'_> {
        let Self { number, text, ended, cut, clock } = self;
        Line { number: *number, text, ended: *ended, cut: *cut, clock }
    }
}

/// Lines with a buffer for lookahead.
#[derive(Debug)]
pub(super) struct Ahead<R> {
    lines: Lines<R>,
    waiting: VecDeque<Waiting>,
    bytes: usize,
    current: Waiting,
    error: Option<io::Error>,
    looked: u64,
}

impl<R: BufRead> Ahead<R> {
    pub(super) fn new(source: R) -> Self {
        let (waiting, current) = (VecDeque::new(), Waiting::default());
        Self { lines: Lines::new(source), waiting, bytes: 0, current, error: None, looked: 0 }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if let Some(next) = self.waiting.pop_front() {
            self.bytes -= next.text.len();
            self.current = next;
            return Ok(Some(self.current.line()));
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.lines.next(),
        }
    }

    /// The length of the text before a header that its report's lines repeat.
    pub(super) fn repeated(&mut self, prefix: &[u8]) -> usize {
        if self.looked >= MAX_LOOKED {
            return prefix.len();
        }
        let mut best = 0;
        for index in 0..MAX_LINES {
            if index >= self.waiting.len() && !self.fill() {
                break;
            }
            let Some(next) = self.waiting.get(index) else { break };
            self.looked += 1;
            if prefix.len() <= MAX_PREFIX && follows(prefix, &next.text) {
                return prefix.len();
            }
            best = best.max(before_class(prefix, &next.text));
        }
        best
    }

    /// Buffers one more line; `false`: at the end, or if the buffer is full.
    fn fill(&mut self) -> bool {
        if self.bytes >= MAX_BYTES || self.error.is_some() {
            return false;
        }
        match self.lines.next() {
            Ok(Some(line)) => {
                self.bytes += line.text.len();
                self.waiting.push_back(Waiting::of(line));
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

/// Whether a line after that prefix is the report's. Other headers do not count: a program may also have written into
/// them.
fn follows(prefix: &[u8], text: &[u8]) -> bool {
    let Some(end) = prefix::end(prefix, text) else { return false };
    // A heading is the whole word; the prefix may contain a part of it.
    text.get(end..).is_some_and(line::is_row) || line::class_heading(text) == Some(end)
}

/// The length of a line's prefix before `scalar registers:` or a similar heading, which follows every header.
fn before_class(prefix: &[u8], text: &[u8]) -> usize {
    let Some(at) = line::class_heading(text).filter(|at| *at <= MAX_PREFIX) else { return 0 };
    text.get(..at).filter(|start| !start.is_empty()).and_then(|start| prefix::end(start, prefix)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
