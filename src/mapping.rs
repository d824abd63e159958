//! Maps ranges of files: the package's only `unsafe`.
//!
//! Debug sections of a code object reach hundreds of megabytes and are read here and there, so they are mapped rather
//! than read. Everything else is read by range and never comes here.
//!
//! **What mapping costs in safety.** A mapped file is memory that somebody else can change. Truncating it while it is
//! mapped turns the next touch of a page beyond the new end into SIGBUS, which ends the process; writing to it changes
//! bytes that Rust believes to be immutable. No check can rule that out from here: advisory locks bind nobody, and
//! a copy is what mapping is to avoid. What is done instead: the range is checked against the file's size at the
//! time of mapping, so that a dump that is short *already* is an error and not a signal; the mapping is private and
//! read-only; small ranges are not mapped at all (the importers read them). The rest is a condition on the user, and
//! docs/dump-format.md says it: a dump must not be changed while it is open. Replacing a file by renaming a new one
//! over it is safe, the mapping keeps the old one.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

/// A mapped range of a file.
#[derive(Debug)]
pub struct Mapped(memmap2::Mmap);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps `length` bytes from `offset`, read-only.
///
/// # Errors
/// `UnexpectedEof` where the range leaves the file, or what the operating system says.
pub fn map(file: &File, offset: u64, length: u64) -> io::Result<Mapped> {
    let size = file.metadata()?.len();
    let inside = offset.checked_add(length).is_some_and(|end| end <= size);
    let length = usize::try_from(length).ok().filter(|length| inside && *length > 0);
    let length = length.ok_or(io::ErrorKind::UnexpectedEof)?;
    // SAFETY: the range lies within the file as it is now, so every byte of the slice is backed. That it stays so, and
    // stays the same, is the condition named above, which no caller in this process breaks: lanescope opens dumps
    // read-only and never writes to them. The bytes are only ever parsed with checked reads (gimli and object over
    // &[u8]); no invariant of a Rust type rests on their content, so that a change by another process gives wrong
    // answers, not undefined control flow of ours.
    let mapped = unsafe { memmap2::MmapOptions::new().offset(offset).len(length).map(file)? };
    Ok(Mapped(mapped))
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
