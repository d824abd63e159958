//! The wave of each line in a log with prefixes: a rank, a time, a test's number.
//!
//! A header has a prefix ([`super::line_prefix`]: the part that its report repeats). A line with the same prefix, apart
//! from clocks ([`Keyed`]), belongs to that header's wave: this separates ranks whose output is interleaved. A line
//! that differs in other digits, such as a line number, belongs to the only header whose prefix resembles it most. Any
//! other line belongs to the header without a prefix, or to the only header.

use std::collections::{BTreeMap, HashMap};

use crate::import::text::prefix::{Keyed, MAX_PREFIX};

/// Maximum number of open streams; if more ranks fault at the same time, rows of the oldest are lost.
pub(super) const MAX_STREAMS: usize = 1024;

/// Streams by the keys of their prefixes.
#[derive(Debug)]
pub(super) struct Streams<T> {
    open: HashMap<Box<[u8]>, Open<T>>,
    /// Number of streams by key length.
    lengths: BTreeMap<usize, usize>,
    /// Keys by their shapes (keys without digits).
    shapes: HashMap<Vec<u8>, Vec<Box<[u8]>>>,
    /// Number of streams by shape length.
    shape_lengths: BTreeMap<usize, usize>,
    begun: u64,
    line: Keyed,
}

#[derive(Debug)]
struct Open<T> {
    id: u64,
    shape: Shape,
    /// Rows had other digits: the prefix contains a counter, and no other header repeats it.
    varies: bool,
    wave: T,
}

/// A stream, until the next header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stream(u64);

/// A line's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found<'l> {
    pub(super) stream: Stream,
    key: Box<[u8]>,
    resembles: bool,
    /// The line without its prefix.
    pub(super) line: &'l [u8],
}

impl Found<'_> {
    /// The same stream for another part of the line.
    pub(super) fn at<'l>(&self, line: &'l [u8]) -> Found<'l> {
        Found { stream: self.stream, key: self.key.clone(), resembles: self.resembles, line }
    }
}

/// The owner of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner<'l> {
    /// That stream.
    One(Found<'l>),
    /// It resembles several streams, or none of several; the line after the known part of its prefix.
    Unclear(&'l [u8]),
    /// No stream is open.
    Nobody,
}

impl<T> Streams<T> {
    pub(super) fn new() -> Self {
        Self {
            open: HashMap::new(),
            lengths: BTreeMap::new(),
            shapes: HashMap::new(),
            shape_lengths: BTreeMap::new(),
            begun: 0,
            line: Keyed::default(),
        }
    }

    /// Whether rows of a report have had that prefix.
    pub(super) fn knows(&self, prefix: &[u8]) -> bool {
        let key = key(prefix);
        self.open.contains_key(&*key) || self.counted(&key).is_some()
    }

    /// Opens a stream for a header with that prefix; returns the replaced stream and its wave.
    pub(super) fn begin(&mut self, prefix: &[u8], wave: T) -> Option<(Stream, T)> {
        let key = if prefix.len() > MAX_PREFIX { Box::default() } else { key(prefix) };
        let before = if self.open.contains_key(&*key) { Some(key.clone()) } else { self.counted(&key) };
        let varies = before.as_ref().and_then(|before| self.open.get(before)).is_some_and(|one| one.varies);
        let full = || {
            let oldest = self.open.iter().min_by_key(|(_, one)| one.id);
            oldest.filter(|_| self.open.len() >= MAX_STREAMS).map(|(key, _)| key.clone())
        };
        let gone = before.or_else(full);
        let done = gone.and_then(|gone| self.close(&gone));
        self.begun += 1;
        let shape = Shape::of(&key);
        *self.lengths.entry(key.len()).or_insert(0) += 1;
        *self.shape_lengths.entry(shape.text.len()).or_insert(0) += 1;
        self.shapes.entry(shape.text.clone()).or_default().push(key.clone());
        self.open.insert(key, Open { id: self.begun, shape, varies, wave });
        done
    }

    /// Removes a stream.
    fn close(&mut self, key: &[u8]) -> Option<(Stream, T)> {
        let one = self.open.remove(key)?;
        let counts = [(&mut self.lengths, key.len()), (&mut self.shape_lengths, one.shape.text.len())];
        for (counts, length) in counts {
            if let Some(count) = counts.get_mut(&length) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&length);
                }
            }
        }
        if let Some(keys) = self.shapes.get_mut(&one.shape.text) {
            keys.retain(|other| **other != *key);
            if keys.is_empty() {
                self.shapes.remove(&one.shape.text);
            }
        }
        Some((Stream(one.id), one.wave))
    }

    /// The stream whose counter continues in this prefix.
    fn counted(&self, key: &[u8]) -> Option<Box<[u8]>> {
        let shape = Shape::of(key);
        let found = self.resembling(&shape, shape.text.len())?.ok()?;
        self.open.get(&found).is_some_and(|one| one.varies).then_some(found)
    }

    /// The stream that resembles the first `length` bytes of a shape most; `Err`: several do.
    fn resembling(&self, shape: &Shape, length: usize) -> Option<Result<Box<[u8]>, ()>> {
        let numbers = shape.numbers(length);
        let keys = self.shapes.get(shape.text.get(..length)?).filter(|_| !numbers.is_empty())?;
        if let [one] = keys.as_slice() {
            return Some(Ok(one.clone()));
        }
        // A number at the start may count lines; the others distinguish ranks.
        let rest = numbers.get(1..).filter(|rest| !rest.is_empty());
        let is_same = |key: &[u8]| self.open.get(key).is_some_and(|one| one.shape.numbers.get(1..) == rest);
        let mut same = keys.iter().filter(|key| rest.is_some() && is_same(key));
        match (same.next(), same.next()) {
            (Some(one), None) => Some(Ok(one.clone())),
            _ => Some(Err(())),
        }
    }

    /// The owner of a line.
    pub(super) fn find<'l>(&mut self, line: &'l [u8]) -> Owner<'l> {
        let found = |key: &[u8], one: &Open<T>, resembles, line| {
            Owner::One(Found { stream: Stream(one.id), key: key.into(), resembles, line })
        };
        let Some(longest) = self.lengths.keys().next_back().copied() else { return Owner::Nobody };
        if longest > 0 {
            self.line.read(line, MAX_PREFIX);
            let lengths = self.lengths.keys().rev().filter(|length| **length > 0);
            for length in lengths {
                let Some(start) = self.line.key.get(..*length) else { continue };
                if let (Some(one), Some(end)) = (self.open.get(start), self.line.end(*length)) {
                    return found(start, one, false, line.get(end..).unwrap_or_default());
                }
            }
            let shape = Shape::of(&self.line.key);
            for length in self.shape_lengths.keys().rev().filter(|length| **length > 0) {
                let Some(match_) = self.resembling(&shape, *length) else { continue };
                let end = shape.ends.get(length - 1).and_then(|end| self.line.end(*end));
                let rest = end.and_then(|end| line.get(end..)).unwrap_or_default();
                return match match_.map(|key| self.open.get_key_value(&key)) {
                    Ok(Some((key, one))) => found(key, one, true, rest),
                    _ => Owner::Unclear(rest),
                };
            }
        }
        match (self.open.get(&[][..]), self.open.len()) {
            (Some(bare), _) => found(&[], bare, false, line),
            (None, 1) => {
                let only = self.open.iter().next();
                only.map_or(Owner::Nobody, |(key, one)| found(key, one, false, line))
            }
            _ => Owner::Unclear(line),
        }
    }

    /// The wave of that stream.
    pub(super) fn wave(&mut self, found: &Found<'_>) -> Option<&mut T> {
        self.open.get_mut(&found.key).map(|stream| &mut stream.wave)
    }

    /// Marks that stream: the line was a row of its wave.
    pub(super) fn was_row(&mut self, found: &Found<'_>) {
        if found.resembles
            && let Some(stream) = self.open.get_mut(&found.key)
        {
            stream.varies = true;
        }
    }

    /// The waves of all open streams, in the order of their headers.
    pub(super) fn finish(self) -> impl Iterator<Item = T> {
        let mut open: Vec<Open<T>> = self.open.into_values().collect();
        open.sort_unstable_by_key(|one| one.id);
        open.into_iter().map(|stream| stream.wave)
    }
}

fn key(prefix: &[u8]) -> Box<[u8]> {
    let mut keyed = Keyed::default();
    keyed.read(prefix, MAX_PREFIX);
    keyed.key.into()
}

/// A key without its digits, and the digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    /// The key; each number and its alignment blanks are one byte.
    text: Vec<u8>,
    /// For each byte of `text`, the end of its part of the key.
    ends: Vec<usize>,
    /// Numbers with their offsets in `text`.
    numbers: Vec<(usize, Box<[u8]>)>,
}

/// Placeholder of a number in a shape; no text contains it.
const NUMBER: u8 = 1;

impl Shape {
    fn of(key: &[u8]) -> Self {
        let mut shape = Self::default();
        let mut at = 0;
        while let Some(rest) = key.get(at..)
            && let Some(byte) = rest.first()
        {
            let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
            let digits = rest.iter().skip(blanks).take_while(|byte| byte.is_ascii_digit()).count();
            if digits > 0 {
                let number = rest.get(blanks..blanks + digits).unwrap_or_default();
                shape.numbers.push((shape.text.len(), number.into()));
            }
            shape.text.push(if digits > 0 { NUMBER } else { *byte });
            at += if digits > 0 { blanks + digits } else { 1 };
            shape.ends.push(at);
        }
        shape
    }

    /// Numbers in the first `length` bytes.
    fn numbers(&self, length: usize) -> &[(usize, Box<[u8]>)] {
        let count = self.numbers.iter().take_while(|(at, _)| *at < length).count();
        self.numbers.get(..count).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
