//! Files composed of parts: the code object's parts stay memory-mapped, and the bytes that replace code take no memory.

use std::io::{self, Write};

use crate::codeobject::Bytes;

/// A run of bytes in a view's file.
#[derive(Clone, Debug)]
enum Part {
    /// Given bytes.
    Bytes(Bytes),
    /// One byte, repeated.
    Repeated(u8, u64),
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Repeated(_, times) => *times,
        }
    }
}

/// A view's file.
#[derive(Clone, Debug, Default)]
pub struct ViewFile {
    /// Parts with their offsets, ascending; gaps are zero.
    parts: Vec<(u64, Part)>,
    size: u64,
}

impl ViewFile {
    /// Appends a part at the next aligned offset; returns the offset.
    pub(super) fn append(&mut self, part: Bytes, alignment: u64) -> u64 {
        self.size = self.size.next_multiple_of(alignment.max(1));
        self.push(Part::Bytes(part))
    }

    /// Appends one byte, repeated.
    pub(super) fn repeat(&mut self, byte: u8, times: u64) {
        self.push(Part::Repeated(byte, times));
    }

    fn push(&mut self, part: Part) -> u64 {
        let at = self.size;
        self.size = at + part.len();
        self.parts.push((at, part));
        at
    }

    /// Replaces the first part by one of at most its length.
    pub(super) fn replace_first(&mut self, part: Bytes) {
        if let Some((_, first)) = self.parts.first_mut()
            && part.len() as u64 <= first.len()
        {
            *first = Part::Bytes(part);
        }
    }

    /// The file with a part of the same length in place of the one at an offset.
    pub(super) fn with_part(&self, offset: u64, part: Bytes) -> Self {
        let mut file = self.clone();
        if let Some((_, old)) =
            file.parts.iter_mut().find(|(at, old)| *at == offset && old.len() == part.len() as u64)
        {
            *old = Part::Bytes(part);
        }
        file
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Reads from an offset on. Returns the number of bytes: fewer than requested at the end, 0 past it.
    #[must_use]
    pub fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let count = self.size.saturating_sub(offset).min(into.len() as u64) as usize;
        let Some(into) = into.get_mut(..count) else { return 0 };
        into.fill(0);
        let end = offset + count as u64;
        let first = self.parts.partition_point(|(at, part)| at + part.len() <= offset);
        for (at, part) in self.parts.iter().skip(first).take_while(|(at, _)| *at < end) {
            let (from, to) = (offset.max(*at), end.min(at + part.len()));
            let Some(target) = into.get_mut((from - offset) as usize..(to - offset) as usize) else {
                continue;
            };
            match part {
                Part::Repeated(byte, _) => target.fill(*byte),
                Part::Bytes(bytes) => {
                    if let Some(source) = bytes.get((from - at) as usize..(to - at) as usize) {
                        target.copy_from_slice(source);
                    }
                }
            }
        }
        count
    }

    /// Writes the whole file.
    ///
    /// # Errors
    /// The writer's error.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut at = 0;
        for (start, part) in &self.parts {
            io::copy(&mut io::Read::take(io::repeat(0), start - at), out)?;
            match part {
                Part::Bytes(bytes) => out.write_all(bytes)?,
                Part::Repeated(byte, times) => {
                    io::copy(&mut io::Read::take(io::repeat(*byte), *times), out)?;
                }
            }
            at = start + part.len();
        }
        Ok(())
    }
}
