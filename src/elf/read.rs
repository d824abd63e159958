//! Records and tables of a file in memory, with file offsets in errors.

use std::mem::{offset_of, size_of};

use object::pod::{self, Pod};
use object::read::elf::{Note, NoteIterator};
use thiserror::Error;

use super::{ELFMAG, FileHeader, FileType, Ident, LE, Machine, ProgramHeader, SHN_XINDEX, SectionHeader};

/// First bytes of supported files: magic, 64 bits, little-endian.
pub(crate) const START: &[u8] = b"\x7fELF\x02\x01";

/// An unreadable part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ElfError {
    /// The file ends before a part that its headers announce.
    #[error("{what} at file offset {offset:#x} needs {needed} bytes, the file has {have} there")]
    Truncated { what: String, offset: u64, needed: u64, have: u64 },
    /// A field has a value that the format does not allow.
    #[error("{what} at file offset {offset:#x}: {why}")]
    Malformed { what: String, offset: u64, why: String },
}

/// Returns the record at an offset; `None` if the bytes end before or within it.
pub(crate) fn record<T: Pod>(bytes: &[u8], offset: usize) -> Option<&T> {
    pod::from_bytes(bytes.get(offset..)?).ok().map(|(record, _)| record)
}

/// Returns the whole records of a table; a partial last record is ignored.
pub(crate) fn records<T: Pod>(table: &[u8]) -> &[T] {
    let count = table.len().checked_div(size_of::<T>()).unwrap_or(0);
    pod::slice_from_bytes(table, count).map_or(&[], |(records, _)| records)
}

/// Returns `length` bytes at a file offset.
///
/// # Errors
/// [`ElfError::Truncated`] if the file ends before.
pub(crate) fn range<'a>(file: &'a [u8], what: &str, offset: u64, length: u64) -> Result<&'a [u8], ElfError> {
    let have = (file.len() as u64).saturating_sub(offset);
    let bytes = usize::try_from(offset).ok().and_then(|start| file.get(start..)).unwrap_or(&[]);
    let bytes = usize::try_from(length).ok().and_then(|length| bytes.get(..length));
    bytes.ok_or_else(|| ElfError::Truncated { what: what.to_owned(), offset, needed: length, have })
}

/// Returns the file header, unchecked.
///
/// # Errors
/// [`ElfError::Truncated`] if the file ends within it.
pub(crate) fn file_header(file: &[u8]) -> Result<&FileHeader, ElfError> {
    let needed = size_of::<FileHeader>() as u64;
    let have = file.len() as u64;
    record(file, 0).ok_or_else(|| ElfError::Truncated {
        what: "ELF header".to_owned(),
        offset: 0,
        needed,
        have,
    })
}

/// Returns type and machine of a 64-bit little-endian file; its first 20 bytes suffice.
pub(crate) fn kind(start: &[u8]) -> Option<(FileType, Machine)> {
    let [file_type, machine] = *record::<[object::U16<LE>; 2]>(start, size_of::<Ident>())?;
    start.starts_with(START).then(|| (FileType(file_type.get(LE)), Machine(machine.get(LE))))
}

/// Returns `e_machine` of an ELF file of any class; `None` if the file ends within its header.
pub(crate) fn machine(file: &[u8]) -> Option<Machine> {
    let header = record::<FileHeader>(file, 0)?;
    (header.e_ident.magic == ELFMAG).then(|| header.e_machine.get(LE))
}

/// Returns the program headers.
///
/// # Errors
/// [`ElfError`] if the table leaves the file, or its entry size is wrong.
pub(crate) fn program_headers<'a>(
    file: &'a [u8],
    header: &FileHeader,
) -> Result<&'a [ProgramHeader], ElfError> {
    let (offset, count) = (header.e_phoff.get(LE), u64::from(header.e_phnum.get(LE)));
    if offset == 0 || count == 0 {
        return Ok(&[]);
    }
    let field = offset_of!(FileHeader, e_phentsize);
    entry_size("program header", field, header.e_phentsize.get(LE), size_of::<ProgramHeader>())?;
    range(file, "program headers", offset, count * size_of::<ProgramHeader>() as u64).map(records)
}

/// Returns the section headers, and the index of the section with their names.
///
/// Section 0 holds counts of 0xff00 and more (gABI, `e_shnum`, `e_shstrndx`).
///
/// # Errors
/// [`ElfError`] if the table leaves the file, or its entry size is wrong.
pub(crate) fn section_headers<'a>(
    file: &'a [u8],
    header: &FileHeader,
) -> Result<(&'a [SectionHeader], usize), ElfError> {
    const SIZE: u64 = size_of::<SectionHeader>() as u64;
    let offset = header.e_shoff.get(LE);
    if offset == 0 {
        return Ok((&[], 0));
    }
    let field = offset_of!(FileHeader, e_shentsize);
    entry_size("section header", field, header.e_shentsize.get(LE), size_of::<SectionHeader>())?;
    let table = |length| range(file, "section headers", offset, length).map(records::<SectionHeader>);
    let first = table(SIZE)?.first();
    let count = match header.e_shnum.get(LE) {
        0 => first.map_or(0, |first| first.sh_size.get(LE)),
        count => u64::from(count),
    };
    let names = match header.e_shstrndx.get(LE) {
        SHN_XINDEX => first.map_or(0, |first| first.sh_link.get(LE) as usize),
        index => usize::from(index.0),
    };
    Ok((table(count.saturating_mul(SIZE))?, names))
}

fn entry_size(what: &str, offset: usize, found: u16, expected: usize) -> Result<(), ElfError> {
    if usize::from(found) == expected {
        return Ok(());
    }
    let why = format!("entries of {found} bytes, expected {expected}");
    Err(ElfError::Malformed { what: format!("{what} table"), offset: offset as u64, why })
}

/// Iterates over the notes of a section or segment, up to the first one that does not fit.
///
/// Fields are padded to 4 bytes at any section alignment, as in the files of all AMDGPU producers.
pub(crate) fn notes(bytes: &[u8]) -> impl Iterator<Item = Note<'_, FileHeader>> {
    NoteIterator::new(LE, 4, bytes).into_iter().flatten().map_while(Result::ok)
}
