//! A file made of parts: those of the code object stay where they are mapped.

use std::io::{self, Write};

use crate::codeobject::Bytes;

/// A view's file.
#[derive(Clone, Debug, Default)]
pub struct ViewFile {
    /// Where each part begins, ascending, with the part; what lies between two is zero.
    parts: Vec<(u64, Bytes)>,
    size: u64,
}

impl ViewFile {
    /// Appends a part at the next boundary; where it begins.
    pub(super) fn append(&mut self, part: Bytes, alignment: u64) -> u64 {
        let at = self.size.next_multiple_of(alignment.max(1));
        self.size = at + part.len() as u64;
        self.parts.push((at, part));
        at
    }

    /// Puts another part of the same length, or a shorter one, in the place of the first.
    pub(super) fn replace_first(&mut self, part: Bytes) {
        if let Some((_, first)) = self.parts.first_mut()
            && part.len() <= first.len()
        {
            *first = part;
        }
    }

    /// Bytes of the file.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Reads from an offset on; how many bytes: fewer than asked for at the end, 0 past it.
    #[must_use]
    pub fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let count = self.size.saturating_sub(offset).min(into.len() as u64) as usize;
        let Some(into) = into.get_mut(..count) else { return 0 };
        into.fill(0);
        let end = offset + count as u64;
        let first = self.parts.partition_point(|(at, part)| at + part.len() as u64 <= offset);
        for (at, part) in self.parts.iter().skip(first).take_while(|(at, _)| *at < end) {
            let (from, to) = (offset.max(*at), end.min(at + part.len() as u64));
            let source = part.get((from - at) as usize..(to - at) as usize);
            let target = into.get_mut((from - offset) as usize..(to - offset) as usize);
            if let (Some(source), Some(target)) = (source, target) {
                target.copy_from_slice(source);
            }
        }
        count
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// As the writer says.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut at = 0;
        for (start, part) in &self.parts {
            let gap = usize::try_from(start - at).map_err(io::Error::other)?;
            io::copy(&mut io::Read::take(io::repeat(0), gap as u64), out)?;
            out.write_all(part)?;
            at = start + part.len() as u64;
        }
        Ok(())
    }
}
