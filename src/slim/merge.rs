//! Puts the debug sections of a separate file into a code object's file.
//!
//! The original file stays unchanged up to its end, so its headers and segments stay valid. The sections follow, then
//! new tables of section names and section headers; the file header names the new tables. gABI chapter 4, "Sections".

use crate::elf::{
    FileHeader, LE, SHN_LORESERVE, SHT_NOBITS, SectionHeader, bytes_of, bytes_of_slice, read, write::Strings,
};

/// The reason that debug sections cannot be put into a code object's file.
#[derive(Debug, thiserror::Error)]
pub(super) enum MergeError {
    #[error("the code object: {0}")]
    Code(TableError),
    #[error("the debug file: {0}")]
    Debug(TableError),
    #[error("the debug file has no debug sections that the code object lacks")]
    NothingToAdd,
    #[error("{0} sections; expected fewer than {SHN_LORESERVE}")]
    TooMany(usize),
}

/// A malformed table of sections, with its file offset.
#[derive(Debug, thiserror::Error)]
pub(super) enum TableError {
    #[error("no little-endian 64-bit ELF file")]
    NoElf,
    #[error("offset {at:#x}: the {count} section headers leave the file")]
    Headers { at: u64, count: usize },
    #[error("there is no table of section names")]
    NoNames,
    #[error("offset {at:#x}: a section of {size} bytes leaves the file")]
    Section { at: u64, size: u64 },
}

struct Section<'a> {
    name: &'a [u8],
    header: &'a SectionHeader,
}

/// The file of `code`, with those debug sections of `debug` that it lacks.
///
/// # Errors
/// The malformed table and its file.
pub(super) fn merge(code: &[u8], debug: &[u8]) -> Result<Vec<u8>, MergeError> {
    let (header, own) = sections(code).map_err(MergeError::Code)?;
    let (_, more) = sections(debug).map_err(MergeError::Debug)?;
    let is_debug = |section: &&Section<'_>| {
        let kept = [&b".debug_"[..], b".zdebug_"].iter().any(|start| section.name.starts_with(start));
        let has_bytes = section.header.sh_type.get(LE) != SHT_NOBITS;
        kept && has_bytes && !own.iter().any(|known| known.name == section.name)
    };
    let added: Vec<&Section<'_>> = more.iter().filter(is_debug).collect();
    if added.is_empty() {
        return Err(MergeError::NothingToAdd);
    }
    let all = own.len() + added.len();
    let count = u16::try_from(all).ok().filter(|count| *count < SHN_LORESERVE);
    let count = count.ok_or(MergeError::TooMany(all))?;
    let mut file = code.to_vec();
    let mut headers: Vec<SectionHeader> = own.iter().map(|section| *section.header).collect();
    let names_at = usize::from(header.e_shstrndx.get(LE).0);
    let names = own.get(names_at).map_or(Ok(&[][..]), |section| contents(code, section.header));
    let names = names.map_err(MergeError::Code)?;
    if names.is_empty() {
        return Err(MergeError::Code(TableError::NoNames));
    }
    let mut names = Strings::after(names);
    for section in added {
        let bytes = contents(debug, section.header).map_err(MergeError::Debug)?;
        headers.push(SectionHeader {
            sh_name: names.add(section.name).into(),
            sh_offset: aligned(&mut file).into(),
            // Links and infos are indexes in the other file; debug sections of a linked file need none.
            sh_link: 0.into(),
            sh_info: 0.into(),
            ..*section.header
        });
        file.extend_from_slice(bytes);
    }
    let (at, names) = (aligned(&mut file), names.into_bytes());
    if let Some(header) = headers.get_mut(names_at) {
        (header.sh_offset, header.sh_size) = (at.into(), (names.len() as u64).into());
    }
    file.extend_from_slice(&names);
    let header = FileHeader { e_shoff: aligned(&mut file).into(), e_shnum: count.into(), ..*header };
    file.extend_from_slice(bytes_of_slice(&headers));
    drop(file.splice(..size_of::<FileHeader>(), bytes_of(&header).iter().copied()));
    Ok(file)
}

/// Pads to 16 bytes; returns the new end of the file.
fn aligned(file: &mut Vec<u8>) -> u64 {
    file.resize(file.len().next_multiple_of(16), 0);
    file.len() as u64
}

fn sections(file: &[u8]) -> Result<(&FileHeader, Vec<Section<'_>>), TableError> {
    let header = read::record::<FileHeader>(file, 0).filter(|_| file.starts_with(read::START));
    let header = header.ok_or(TableError::NoElf)?;
    let (at, count) = (header.e_shoff.get(LE), usize::from(header.e_shnum.get(LE)));
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    let table = start.checked_add(count * size_of::<SectionHeader>()).and_then(|end| file.get(start..end));
    let table = table.ok_or(TableError::Headers { at, count })?;
    let headers: &[SectionHeader] = read::records(table);
    let names = headers.get(usize::from(header.e_shstrndx.get(LE).0));
    let names = contents(file, names.ok_or(TableError::NoNames)?)?;
    let each = headers.iter().map(|header| {
        let rest = usize::try_from(header.sh_name.get(LE)).ok().and_then(|at| names.get(at..)).unwrap_or(&[]);
        Section { name: rest.split(|byte| *byte == 0).next().unwrap_or(&[]), header }
    });
    Ok((header, each.collect()))
}

fn contents<'a>(file: &'a [u8], header: &SectionHeader) -> Result<&'a [u8], TableError> {
    if header.sh_type.get(LE) == SHT_NOBITS {
        return Ok(&[]);
    }
    let (at, size) = (header.sh_offset.get(LE), header.sh_size.get(LE));
    let range = usize::try_from(at).ok().zip(usize::try_from(size).ok());
    let bytes = range.and_then(|(at, size)| file.get(at..at.checked_add(size)?));
    bytes.ok_or(TableError::Section { at, size })
}
