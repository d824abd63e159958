//! Text in UTF-16, as Windows PowerShell's `>` writes it: decoded to UTF-8 by blocks.

use std::io::{self, Read};

/// Bytes of a block.
const BLOCK: usize = 64 << 10;

/// Byte order of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Order {
    Little,
    Big,
}

impl Order {
    /// The order by a file's first bytes (Unicode, 23.8, "Byte Order Mark"); `None`: no UTF-16 mark.
    pub(in crate::import) fn of(start: &[u8]) -> Option<Self> {
        match start {
            // The mark of UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }
}

/// A source in UTF-16, as UTF-8 without the mark; invalid units become U+FFFD.
#[derive(Debug)]
pub(in crate::import) struct Utf16<R> {
    source: R,
    order: Order,
    /// Undecoded bytes: part of a unit or of a pair.
    raw: Vec<u8>,
    text: String,
    /// Number of returned bytes of `text`.
    given: usize,
    is_begun: bool,
}

impl<R: Read> Utf16<R> {
    /// Creates a decoder for a source at its start.
    pub(in crate::import) fn new(source: R, order: Order) -> Self {
        Self { source, order, raw: Vec::new(), text: String::new(), given: 0, is_begun: false }
    }

    /// Decodes another block; `false`: at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let is_end = self.source.by_ref().take(BLOCK as u64).read_to_end(&mut self.raw)? == 0;
        if is_end && self.raw.is_empty() {
            return Ok(false);
        }
        let (pairs, rest) = self.raw.as_chunks::<2>();
        let mut units: Vec<u16> = pairs
            .iter()
            .map(|pair| match self.order {
                Order::Little => u16::from_le_bytes(*pair),
                Order::Big => u16::from_be_bytes(*pair),
            })
            .collect();
        let mut left = rest.to_vec();
        if !is_end && let Some([first, second]) = pairs.last() {
            // The other half of a surrogate pair is in the next block.
            if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
                units.pop();
                left.splice(0..0, [*first, *second]);
            }
        }
        let mut characters = char::decode_utf16(units);
        if !self.is_begun {
            self.is_begun = true;
            characters.next();
        }
        self.text.clear();
        self.given = 0;
        self.text.extend(characters.map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)));
        if is_end && !left.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            left.clear();
        }
        self.raw = left;
        Ok(true)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given >= self.text.len() && !buffer.is_empty() {
            if !self.fill()? {
                return Ok(0);
            }
        }
        let rest = self.text.as_bytes().get(self.given..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
