//! Puts the debug sections of a separate file into a code object's file.
//!
//! The file stays as it is up to its end, so that what its headers and segments say of it stays true; behind it come the
//! sections, a new table of section names and a new table of section headers, which the file header then names.
//! gABI chapter 4, "Sections".

/// Bytes of an `Elf64_Ehdr`, and of an `Elf64_Shdr`.
const HEADER: usize = 64;
const SECTION: usize = 64;
/// `e_shoff`, `e_shnum`, `e_shstrndx` in the file header.
const SHOFF: usize = 0x28;
const SHNUM: usize = 0x3c;
const SHSTRNDX: usize = 0x3e;
/// From this number on a count of sections is kept elsewhere.
const RESERVED: usize = 0xff00;
/// `SHT_NOBITS`.
const NOBITS: u32 = 8;

/// A section header with its name.
struct Section<'a> {
    name: &'a [u8],
    header: &'a [u8],
}

/// The file of `code` with the debug sections of `debug` that it lacks.
///
/// # Errors
/// Which table of which file does not say what it must, in words.
pub(super) fn merge(code: &[u8], debug: &[u8]) -> Result<Vec<u8>, String> {
    let own = sections(code).map_err(|why| format!("the code object: {why}"))?;
    let more = sections(debug).map_err(|why| format!("the debug file: {why}"))?;
    let is_debug = |section: &&Section<'_>| {
        let kept = [&b".debug_"[..], b".zdebug_"].iter().any(|start| section.name.starts_with(start));
        kept && u32_at(section.header, 4) != NOBITS && !own.iter().any(|known| known.name == section.name)
    };
    let added: Vec<&Section<'_>> = more.iter().filter(is_debug).collect();
    if added.is_empty() {
        return Err("the debug file has no debug sections that the code object lacks".to_owned());
    }
    let count = own.len() + added.len();
    if count >= RESERVED {
        return Err(format!("{count} sections; expected fewer than {RESERVED}"));
    }
    let mut file = code.to_vec();
    let mut headers: Vec<Vec<u8>> = own.iter().map(|section| section.header.to_vec()).collect();
    let names_at = usize::from(u16_at(code, SHSTRNDX));
    let mut names = contents(code, own.get(names_at).map_or(&[][..], |section| section.header))?.to_vec();
    if names.is_empty() {
        return Err("the code object has no section names".to_owned());
    }
    for section in added {
        let bytes = contents(debug, section.header)?;
        let mut header = section.header.to_vec();
        put32(&mut header, 0, names.len() as u32);
        put64(&mut header, 0x18, aligned(&mut file) as u64);
        // Links and infos are indexes of the other file; debug sections of a linked file need none.
        put32(&mut header, 0x28, 0);
        put32(&mut header, 0x2c, 0);
        file.extend_from_slice(bytes);
        names.extend_from_slice(section.name);
        names.push(0);
        headers.push(header);
    }
    let at = aligned(&mut file);
    if let Some(header) = headers.get_mut(names_at) {
        put64(header, 0x18, at as u64);
        put64(header, 0x20, names.len() as u64);
    }
    file.extend_from_slice(&names);
    let at = aligned(&mut file);
    headers.iter().for_each(|header| file.extend_from_slice(header));
    put64(&mut file, SHOFF, at as u64);
    put16(&mut file, SHNUM, count as u16);
    Ok(file)
}

/// Pads to 16 bytes; where the file now ends.
fn aligned(file: &mut Vec<u8>) -> usize {
    file.resize(file.len().next_multiple_of(16), 0);
    file.len()
}

fn sections(file: &[u8]) -> Result<Vec<Section<'_>>, String> {
    if file.len() < HEADER || !file.starts_with(b"\x7fELF\x02\x01") {
        return Err("no little-endian 64-bit ELF file".to_owned());
    }
    let (at, count) = (u64_at(file, SHOFF), usize::from(u16_at(file, SHNUM)));
    let start = usize::try_from(at).unwrap_or(usize::MAX);
    let table = start.checked_add(count * SECTION).and_then(|end| file.get(start..end));
    let table = table.ok_or_else(|| format!("offset {at:#x}: the {count} section headers leave the file"))?;
    let headers: Vec<&[u8]> = table.chunks_exact(SECTION).collect();
    let names = headers.get(usize::from(u16_at(file, SHSTRNDX)));
    let names = contents(file, names.ok_or("there is no table of section names")?)?;
    let each = headers.into_iter().map(|header| {
        let rest = usize::try_from(u32_at(header, 0)).ok().and_then(|at| names.get(at..)).unwrap_or(&[]);
        Section { name: rest.split(|byte| *byte == 0).next().unwrap_or(&[]), header }
    });
    Ok(each.collect())
}

fn contents<'a>(file: &'a [u8], header: &[u8]) -> Result<&'a [u8], String> {
    if header.len() < SECTION || u32_at(header, 4) == NOBITS {
        return Ok(&[]);
    }
    let (at, size) = (u64_at(header, 0x18), u64_at(header, 0x20));
    let range = usize::try_from(at).ok().zip(usize::try_from(size).ok());
    let bytes = range.and_then(|(at, size)| file.get(at..at.checked_add(size)?));
    bytes.ok_or_else(|| format!("offset {at:#x}: a section of {size} bytes leaves the file"))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, u64::from_le_bytes)
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(to) = bytes.get_mut(at..at + value.len()) {
        to.copy_from_slice(value);
    }
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    put(bytes, at, &value.to_le_bytes());
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    put(bytes, at, &value.to_le_bytes());
}

fn put64(bytes: &mut [u8], at: usize, value: u64) {
    put(bytes, at, &value.to_le_bytes());
}
