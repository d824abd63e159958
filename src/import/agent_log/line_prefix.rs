//! The prefix of a report's lines, found by the lines after its header.
//!
//! The text before a header may be a prefix that another program puts before each line, a program's line without an end, or
//! both. The lines of the report repeat the prefix only.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use super::line;
use crate::import::text::prefix::{self, MAX_PREFIX};
use crate::import::text::{Line, Lines};

/// Maximum number of lines that are searched after a header: some for each rank that may write at the same moment.
pub(super) const MAX_LINES: usize = 2048;

/// Maximum number of their bytes.
pub(super) const MAX_BYTES: usize = 2 << 20;

/// The most lines that are looked at for all headers together; what stands before later ones is taken as it is. Logs come
/// here only if programs wrote into thousands of headers.
pub(super) const MAX_LOOKED: u64 = 4 << 20;

/// A line that waits to be read.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    number: usize,
    text: Vec<u8>,
    ended: bool,
    cut: bool,
}

impl Waiting {
    pub(super) fn of(line: Line<'_>) -> Self {
        Self { number: line.number, text: line.text.to_vec(), ended: line.ended, cut: line.cut }
    }

    pub(super) fn line(&self) -> Line<'_> {
        Line { number: self.number, text: &self.text, ended: self.ended, cut: self.cut }
    }
}

/// Lines of which some may be looked at before they are read.
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

    /// The length of the text before a header that the lines of its report repeat.
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

    /// Takes one more line in; `false`: there is none, or no capacity.
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

/// Whether a line is the report's behind that prefix. Other headers do not count: a program may have written into them, too.
fn follows(prefix: &[u8], text: &[u8]) -> bool {
    let Some(end) = prefix::end(prefix, text) else { return false };
    // A heading is the whole word, part of which may stand in the prefix.
    text.get(end..).is_some_and(line::is_row) || line::class_heading(text) == Some(end)
}

/// The length of the prefix that a line has before `scalar registers:` or its like, which follows every header.
fn before_class(prefix: &[u8], text: &[u8]) -> usize {
    let Some(at) = line::class_heading(text).filter(|at| *at <= MAX_PREFIX) else { return 0 };
    text.get(..at).filter(|start| !start.is_empty()).and_then(|start| prefix::end(start, prefix)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
