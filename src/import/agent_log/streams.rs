//! Which wave a line belongs to, where other programs put something before each line: a rank, a time, a test's number.
//!
//! A header says what stands before it. A line that begins with the same text belongs to that header's wave. One that
//! differs only in digits, as times do, belongs to the last header with such a text; an exact match comes first, so that
//! the ranks of a program whose output is interleaved line by line stay apart. A line that begins otherwise belongs to the
//! header without a text before it, else to the last one.

/// The most streams that are followed at once; where more ranks fault at the same moment, their rows are lost.
pub(super) const MOST_STREAMS: usize = 1024;

/// A longer text before a header is a program's line that was not ended, and no prefix.
pub(super) const MOST_PREFIX: usize = 160;

/// Streams, the one whose header came last at the back.
#[derive(Debug)]
pub(super) struct Streams<T> {
    open: Vec<Open<T>>,
}

#[derive(Debug)]
struct Open<T> {
    prefix: Box<[u8]>,
    /// Rows came with other digits in it: it is a time or a counter, which no other header will repeat.
    varies: bool,
    wave: T,
}

/// A stream, until the next header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stream(usize);

/// A line's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<'l> {
    at: usize,
    resembles: bool,
    /// The line without what stands before it.
    pub(super) line: &'l [u8],
}

impl Found<'_> {
    pub(super) fn stream(self) -> Stream {
        Stream(self.at)
    }
}

impl<T> Streams<T> {
    pub(super) fn new() -> Self {
        Self { open: Vec::new() }
    }

    /// A header with that text before it: its wave takes the stream's place; what had it before is done with.
    pub(super) fn begin(&mut self, prefix: &[u8], wave: T) -> Option<T> {
        let prefix = if prefix.len() > MOST_PREFIX { &[] } else { prefix };
        let exact = self.open.iter().position(|stream| *stream.prefix == *prefix);
        let same_clock = || self.open.iter().rposition(|one| one.varies && alike(&one.prefix, prefix));
        let full = (self.open.len() >= MOST_STREAMS).then_some(0);
        let at = exact.or_else(same_clock);
        let varies = at.and_then(|at| self.open.get(at)).is_some_and(|stream| stream.varies);
        let done = at.or(full).map(|at| self.open.remove(at).wave);
        self.open.push(Open { prefix: prefix.into(), varies, wave });
        done
    }

    /// The stream of a line.
    pub(super) fn find<'l>(&self, line: &'l [u8]) -> Option<Found<'l>> {
        let last = self.open.len().checked_sub(1)?;
        let some = |stream: &Open<T>| !stream.prefix.is_empty();
        let exact = self.open.iter().rposition(|one| some(one) && line.starts_with(&one.prefix));
        let resembling = || {
            let alike = |one: &Open<T>| line.get(..one.prefix.len()).is_some_and(|s| alike(&one.prefix, s));
            self.open.iter().rposition(|one| some(one) && alike(one))
        };
        let (at, resembles) = match exact {
            Some(at) => (Some(at), false),
            None => {
                let at = resembling();
                (at, at.is_some())
            }
        };
        let Some(at) = at else {
            let bare = self.open.iter().rposition(|stream| !some(stream));
            return Some(Found { at: bare.unwrap_or(last), resembles: false, line });
        };
        let length = self.open.get(at)?.prefix.len();
        Some(Found { at, resembles, line: line.get(length..)? })
    }

    /// The wave of that stream.
    pub(super) fn wave(&mut self, found: Found<'_>) -> Option<&mut T> {
        self.open.get_mut(found.at).map(|stream| &mut stream.wave)
    }

    /// A line of that stream was a row of its wave.
    pub(super) fn was_row(&mut self, found: Found<'_>) {
        if found.resembles
            && let Some(stream) = self.open.get_mut(found.at)
        {
            stream.varies = true;
        }
    }

    /// All that are still open, in the order of their headers.
    pub(super) fn finish(self) -> impl Iterator<Item = T> {
        self.open.into_iter().map(|stream| stream.wave)
    }
}

/// Whether two texts differ in digits only, and have at least one.
fn alike(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().any(u8::is_ascii_digit)
        && one.iter().zip(other).all(|(a, b)| a == b || (a.is_ascii_digit() && b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
