//! ELF64 little-endian headers, read field by field with their file offsets.
//!
//! `object`'s typed headers are views that need the file aligned to 8 bytes; a code object inside a dump, a bundle or a
//! URI range starts anywhere. So fields are read here, and `object` gives names to constants and unpacks sections.
//! ELF gABI, chapters "ELF Header", "Sections", "Symbol Table", "Program Header".

use super::error::{CodeObjectError, Result};
use crate::clean::clean;

/// Bytes of an ELF64 header.
pub(super) const HEADER_SIZE: usize = 64;
const PROGRAM_HEADER_SIZE: usize = 56;
const SECTION_HEADER_SIZE: usize = 64;
const SYMBOL_SIZE: usize = 24;

/// A reader of little-endian fields at byte offsets of one slice.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn u8(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    pub(super) fn u16(self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    pub(super) fn u64(self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }

    /// Callers slice the record to its full size first, so the zeros of a short slice are never seen.
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
}

/// `length` bytes at a file offset, or the error that names them.
pub(super) fn range<'a>(file: &'a [u8], what: &str, offset: u64, length: u64) -> Result<&'a [u8]> {
    let size = file.len() as u64;
    let have = size.saturating_sub(offset);
    if length > have {
        return Err(CodeObjectError::Truncated { what: what.to_owned(), offset, needed: length, have });
    }
    // Both fit usize, since they are at most the slice's length.
    let start = offset.min(size) as usize;
    Ok(file.get(start..).and_then(|rest| rest.get(..length as usize)).unwrap_or(&[]))
}

/// The table offsets of an ELF header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    pub(super) program_offset: u64,
    pub(super) section_offset: u64,
    program_size: u16,
    program_count: u16,
    section_size: u16,
    section_count: u16,
    names_index: u16,
}

impl Tables {
    pub(super) fn read(header: Fields<'_>) -> Self {
        Self {
            program_offset: header.u64(32),
            section_offset: header.u64(40),
            program_size: header.u16(54),
            program_count: header.u16(56),
            section_size: header.u16(58),
            section_count: header.u16(60),
            names_index: header.u16(62),
        }
    }

    /// The program headers' bytes, one record after the other.
    pub(super) fn program_headers<'a>(&self, file: &'a [u8]) -> Result<std::slice::ChunksExact<'a, u8>> {
        let bytes = match (self.program_offset, self.program_count) {
            (0, _) | (_, 0) => &[][..],
            (offset, count) => {
                entry_size("program header", 54, self.program_size, PROGRAM_HEADER_SIZE)?;
                range(file, "program headers", offset, u64::from(count) * PROGRAM_HEADER_SIZE as u64)?
            }
        };
        Ok(bytes.chunks_exact(PROGRAM_HEADER_SIZE))
    }

    /// The section headers' bytes and the index of the section with their names.
    ///
    /// Counts of 0xff00 and more stand in section 0 (gABI, `e_shnum`, `e_shstrndx`).
    pub(super) fn section_headers<'a>(
        &self,
        file: &'a [u8],
    ) -> Result<(std::slice::ChunksExact<'a, u8>, usize)> {
        if self.section_offset == 0 {
            return Ok(([].chunks_exact(SECTION_HEADER_SIZE), 0));
        }
        entry_size("section header", 58, self.section_size, SECTION_HEADER_SIZE)?;
        let first = Fields(range(file, "section headers", self.section_offset, SECTION_HEADER_SIZE as u64)?);
        let count = match self.section_count {
            0 => first.u64(32),
            count => u64::from(count),
        };
        let names = match self.names_index {
            0xffff => first.u32(40) as usize,
            index => usize::from(index),
        };
        let length = count.saturating_mul(SECTION_HEADER_SIZE as u64);
        let bytes = range(file, "section headers", self.section_offset, length)?;
        Ok((bytes.chunks_exact(SECTION_HEADER_SIZE), names))
    }
}

fn entry_size(what: &str, offset: u64, found: u16, expected: usize) -> Result<()> {
    if usize::from(found) == expected {
        return Ok(());
    }
    let why = format!("entries of {found} bytes, expected {expected}");
    Err(CodeObjectError::Malformed { what: format!("{what} table"), offset, why })
}

/// The records of a symbol table section.
pub(super) fn symbols(table: &[u8]) -> std::slice::ChunksExact<'_, u8> {
    table.chunks_exact(SYMBOL_SIZE)
}

/// Bytes of names that are read out of a string table, as a multiple of the table. Linkers let names share their ends; a
/// hostile file lets all of them share one that is long.
const MAX_SHARING: usize = 16;
/// Bytes of a name past that bound.
const SHORT_NAME: usize = 64;

/// The names in a string table.
pub(super) struct Names<'a> {
    table: &'a [u8],
    /// Bytes that may still be read.
    left: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(table: &'a [u8]) -> Self {
        Self { table, left: table.len().saturating_mul(MAX_SHARING) }
    }

    /// The NUL-terminated string at an offset, cleaned; not UTF-8 or not terminated reads as what there is. A name past the bound of all
    /// names together is cut, with `...` at its end.
    pub(super) fn at(&mut self, offset: u64) -> String {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.table.get(offset..)).unwrap_or(&[]);
        let most = self.left.max(SHORT_NAME);
        let within = rest.get(..most).unwrap_or(rest);
        let end = memchr::memchr(0, within);
        let name = within.get(..end.unwrap_or(within.len())).unwrap_or(&[]);
        self.left = self.left.saturating_sub(name.len());
        let mut text = clean(String::from_utf8_lossy(name)).into_owned();
        if end.is_none() && within.len() < rest.len() {
            text.push_str("...");
        }
        text
    }
}
