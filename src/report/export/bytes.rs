//! Captured memory of any length as hex digits, written while it is read.

use std::io::{self, Write};

use crate::capture::{Capture, MemoryMap, joined};
use crate::codeobject::hex;

/// Bytes of memory in one read and one write.
const CHUNK: usize = 1 << 16;

/// A memory with its captured runs.
pub(super) struct Memory<'a> {
    /// Captured runs in order, first and last address of each.
    pub(super) runs: Vec<(u64, u64)>,
    /// Its size in bytes, captured or not.
    pub(super) size: Option<u64>,
    /// Whether its stores hold all of its runs, so that no read is short.
    pub(super) is_stored: bool,
    /// Reads from an address on; 0 if the first byte cannot be read.
    pub(super) read: &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<usize>,
}

/// Whether the stores of a map's segments have the length of the segments.
pub(super) fn is_stored(capture: &Capture, map: &MemoryMap) -> bool {
    map.segments().iter().all(|segment| {
        let end = segment.extent.offset.checked_add(segment.extent.length);
        let store = capture.backing(segment.extent.backing);
        store.zip(end).is_some_and(|(store, end)| end <= store.len())
    })
}

impl Memory<'_> {
    /// Writes hex digits if all bytes from 0 to the size were captured, else the captured pieces; null for none.
    ///
    /// # Errors
    /// The error of the writer or of a store; `UnexpectedEof` if a store became shorter while it was read.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        match joined(self.runs.clone()).as_slice() {
            [(0, last)] if self.is_stored && self.size == last.checked_add(1) => self.whole(*last, out),
            _ => self.pieces(out),
        }
    }

    fn whole(self, last: u64, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\"")?;
        let mut next = Some(0);
        let mut chunk = Vec::new();
        while let Some(at) = next.filter(|at| *at <= last) {
            resize(&mut chunk, at, last);
            let got = (self.read)(at, &mut chunk)?;
            if got == 0 {
                let words = format!("memory ends at {at:#x} of {last:#x}: its file became shorter");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, words));
            }
            chunk.truncate(got);
            out.write_all(hex(&chunk).as_bytes())?;
            next = at.checked_add(got as u64);
        }
        out.write_all(b"\"")
    }

    fn pieces(self, out: &mut dyn Write) -> io::Result<()> {
        // Whether a piece has begun, and the address after its last byte.
        let (mut begun, mut end) = (false, None);
        let mut chunk = Vec::new();
        for (first, last) in self.runs {
            let mut next = Some(first);
            while let Some(at) = next.filter(|at| *at <= last) {
                resize(&mut chunk, at, last);
                let got = (self.read)(at, &mut chunk)?;
                if got == 0 {
                    break;
                }
                if !begun || end != Some(at) {
                    out.write_all(if begun { b"\"}," } else { b"[" })?;
                    write!(out, "{{\"address\":\"{at:#x}\",\"bytes\":\"")?;
                    begun = true;
                }
                chunk.truncate(got);
                out.write_all(hex(&chunk).as_bytes())?;
                next = at.checked_add(got as u64);
                end = next;
            }
        }
        out.write_all(if begun { b"\"}]" } else { b"null" })
    }
}

/// Capacity for the bytes from an address to the last one, at most a chunk.
fn resize(chunk: &mut Vec<u8>, at: u64, last: u64) {
    let left = usize::try_from(last - at).unwrap_or(usize::MAX).saturating_add(1);
    chunk.resize(left.min(CHUNK), 0);
}

#[cfg(test)]
mod tests;
