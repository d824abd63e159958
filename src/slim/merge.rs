//! Puts the debug sections of a separate file into a code object's file.
//!
//! The original file stays unchanged up to its end, which keeps its headers and segments valid. The sections follow
//! it, then a new table of section names and a new table of section headers, which the file header then names. gABI
//! chapter 4, "Sections".

use crate::elf::{
    FileHeader, LE, SHN_LORESERVE, SHT_NOBITS, SectionHeader, bytes_of, bytes_of_slice, read, write::Strings,
};

/// A section header with its name.
struct Section<'a> {
    name: &'a [u8],
    header: &'a SectionHeader,
}

/// The file of `code`, with those debug sections of `debug` that it lacks.
///
/// # Errors
/// The malformed table and its file.
pub(super) fn merge(code: &[u8], debug: &[u8]) -> Result<Vec<u8>, String> {
    let (header, own) = sections(code).map_err(|why| format!("the code object: {why}"))?;
    let (_, more) = sections(debug).map_err(|why| format!("the debug file: {why}"))?;
    let is_debug = |section: &&Section<'_>| {
        let kept = [&b".debug_"[..], b".zdebug_"].iter().any(|start| section.name.starts_with(start));
        let has_bytes = section.header.sh_type.get(LE) != SHT_NOBITS;
        kept && has_bytes && !own.iter().any(|known| known.name == section.name)
    };
    let added: Vec<&Section<'_>> = more.iter().filter(is_debug).collect();
    if added.is_empty() {
        return Err("the debug file has no debug sections that the code object lacks".to_owned());
    }
    let count = u16::try_from(own.len() + added.len()).ok().filter(|count| *count < SHN_LORESERVE);
    let count = count.ok_or_else(|| {
        format!("{} sections; expected fewer than {SHN_LORESERVE}", own.len() + added.len())
    })?;
    let mut file = code.to_vec();
    let mut headers: Vec<SectionHeader> = own.iter().map(|section| *section.header).collect();
    let names_at = usize::from(header.e_shstrndx.get(LE).0);
    let names = own.get(names_at).map_or(Ok(&[][..]), |section| contents(code, section.header))?;
    if names.is_empty() {
        return Err("the code object has no section names".to_owned());
    }
    let mut names = Strings::after(names);
    for section in added {
        let bytes = contents(debug, section.header)?;
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

fn sections(file: &[u8]) -> Result<(&FileHeader, Vec<Section<'_>>), String> {
    let header = read::record::<FileHeader>(file, 0).filter(|_| file.starts_with(read::START));
    let header = header.ok_or("no little-endian 64-bit ELF file")?;
    let (at, count) = (header.e_shoff.get(LE), usize::from(header.e_shnum.get(LE)));
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    let table = start.checked_add(count * size_of::<SectionHeader>()).and_then(|end| file.get(start..end));
    let table = table.ok_or_else(|| format!("offset {at:#x}: the {count} section headers leave the file"))?;
    let headers: &[SectionHeader] = read::records(table);
    let names = headers.get(usize::from(header.e_shstrndx.get(LE).0));
    let names = contents(file, names.ok_or("there is no table of section names")?)?;
    let each = headers.iter().map(|header| {
        let rest = usize::try_from(header.sh_name.get(LE)).ok().and_then(|at| names.get(at..)).unwrap_or(&[]);
        Section { name: rest.split(|byte| *byte == 0).next().unwrap_or(&[]), header }
    });
    Ok((header, each.collect()))
}

fn contents<'a>(file: &'a [u8], header: &SectionHeader) -> Result<&'a [u8], String> {
    if header.sh_type.get(LE) == SHT_NOBITS {
        return Ok(&[]);
    }
    let (at, size) = (header.sh_offset.get(LE), header.sh_size.get(LE));
    let range = usize::try_from(at).ok().zip(usize::try_from(size).ok());
    let bytes = range.and_then(|(at, size)| file.get(at..at.checked_add(size)?));
    bytes.ok_or_else(|| format!("offset {at:#x}: a section of {size} bytes leaves the file"))
}
