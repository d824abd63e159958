//! The ELF header and the program headers of a core.
//!
//! Crates that read ELF refuse or misread what ROCm writes: p_align holds a shift, p_flags section flags, headers at the
//! end of the table may be zero, and the file may end inside a segment. System V gABI, "ELF Header" and "Program Header".

use std::mem::{offset_of, size_of};

use crate::capture::Backing;
use crate::elf::{
    EM_AMDGPU, FileHeader, LE, Machine, PF_X, PN_XNUM, PT_LOAD, PT_NOTE, PT_NULL, ProgramHeader,
    SHF_EXECINSTR, SectionHeader, read::record,
};
use crate::import::problem::{ImportError, Problems};
use crate::notation::plural;

/// Maximum number of program headers: four times the maximum of e_phnum.
pub(super) const MAX_HEADERS: u64 = 1 << 18;

/// Offset of e_phnum.
const COUNT: u64 = offset_of!(FileHeader, e_phnum) as u64;

/// The contents of the headers.
#[derive(Debug)]
pub(super) struct Headers {
    /// e_machine.
    pub(super) machine: Machine,
    /// PT_LOAD, in the file's order.
    pub(super) loads: Vec<Range>,
    /// PT_NOTE, in the file's order.
    pub(super) notes: Vec<Range>,
    /// Offset after the last program header.
    pub(super) end: u64,
    /// Whether the file has all bytes of each PT_LOAD, by its headers: p_filesz is p_memsz.
    pub(super) is_whole: bool,
}

/// A range of the file with its memory address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Index of the program header.
    pub(super) index: u32,
    /// p_flags, wrong in some cores.
    pub(super) flags: u32,
    /// p_offset.
    pub(super) offset: u64,
    /// p_vaddr.
    pub(super) address: u64,
    /// p_filesz.
    pub(super) size: u64,
}

impl Headers {
    /// Whether a segment is executable by its flags.
    pub(super) fn is_executable(&self, load: &Range) -> bool {
        // ROCr converts the flags of sections to those of its program headers.
        let execute = if self.machine == EM_AMDGPU { SHF_EXECINSTR.0 } else { u64::from(PF_X.0) };
        u64::from(load.flags) & execute != 0
    }
}

/// Reads the headers of a core.
pub(super) fn read(file: &dyn Backing, problems: &mut Problems) -> Result<Headers, ImportError> {
    let name = file.name();
    let io = |source| ImportError::Io { file: name.to_owned(), source };
    let refuse = |found: String| ImportError::NotADump { file: name.to_owned(), found };
    let mut header = [0; size_of::<FileHeader>()];
    let got = file.read_at(0, &mut header).map_err(io)?;
    let Some(header) = header.get(..got).and_then(|header| record::<FileHeader>(header, 0)) else {
        return Err(refuse(format!("an ELF core that ends after {got} bytes, within its header")));
    };
    let (table, entry, short) = (header.e_phoff.get(LE), header.e_phentsize.get(LE), header.e_phnum.get(LE));
    if usize::from(entry) < size_of::<ProgramHeader>() {
        return Err(refuse(format!("an ELF core whose program headers have {entry} bytes, not 56")));
    }
    let count = match short {
        // An unknown count: all headers before the first segment.
        PN_XNUM => long_count(file, header.e_shoff.get(LE)),
        short => Some(u64::from(short)),
    };
    let is_said = count.is_some();
    let count = count.unwrap_or(MAX_HEADERS);
    if count > MAX_HEADERS {
        let expected = format!("at most {MAX_HEADERS}");
        problems.report_at(name, COUNT, "program headers", format_args!("{count}"), expected);
    }
    let count = count.min(MAX_HEADERS);
    let entry = u64::from(entry);
    let there = file.len().saturating_sub(table) / entry;
    if is_said && there < count {
        let expected = format!("a file that holds all {count}, {entry} bytes each");
        let headers = plural(there, "header", "headers");
        let what = format!("the file ends after {there} program {headers}");
        problems.report_at(name, table, "program headers", what, expected);
    }
    let length = usize::try_from(count.min(there) * entry).unwrap_or(0);
    let mut bytes = vec![0; length];
    let got = file.read_at(table, &mut bytes).map_err(io)?;
    bytes.truncate(got);
    let (read, before) = (bytes.len() as u64 / entry, before_segments(&bytes, table, entry));
    if let (PN_XNUM, Some(before)) = (short, before.filter(|before| *before < read)) {
        bytes.truncate(usize::try_from(before * entry).unwrap_or(0));
        if is_said {
            let what =
                format!("{count}, of which {before} lie before the first segment; the others are not read");
            problems.report_at(name, COUNT, "program headers", what, "segments behind the headers");
        }
    }
    if !is_said {
        let what = format!(
            "more than fit into the field, and section 0 does not give the number: {} are read",
            bytes.len() as u64 / entry
        );
        problems.report_at(name, COUNT, "program headers", what, "their number as sh_info of section 0");
    }
    Ok(sort(name, header.e_machine.get(LE), table, &bytes, entry as usize, problems))
}

/// Number of headers at `table` that precede the bytes of all segments of earlier headers; `None`: all of the given
/// bytes do.
pub(super) fn before_segments(bytes: &[u8], table: u64, entry: u64) -> Option<u64> {
    let mut least = u64::MAX;
    let size = usize::try_from(entry).ok().filter(|size| *size > 0)?;
    for (index, header) in (0u64..).zip(bytes.chunks_exact(size)) {
        let at = table.saturating_add(index * entry);
        if least < at.saturating_add(entry) {
            return Some(index);
        }
        let Some(header) = record::<ProgramHeader>(header, 0) else { break };
        let offset = header.p_offset.get(LE);
        if matches!(header.p_type.get(LE), PT_LOAD | PT_NOTE) && header.p_filesz.get(LE) > 0 && offset > at {
            least = least.min(offset);
        }
    }
    // The remaining bytes are less than a header.
    let count = (bytes.len() / size) as u64;
    (least < table.saturating_add((count + 1) * entry)).then_some(count)
}

/// The count of a core whose headers exceed two bytes: sh_info of section 0.
fn long_count(file: &dyn Backing, sections: u64) -> Option<u64> {
    let mut section = [0; size_of::<SectionHeader>()];
    let got = file.read_at(sections, &mut section).ok()?;
    let count = record::<SectionHeader>(section.get(..got)?, 0)?.sh_info.get(LE);
    (sections != 0 && count != 0).then_some(u64::from(count))
}

fn sort(
    name: &str,
    machine: Machine,
    table: u64,
    bytes: &[u8],
    entry: usize,
    problems: &mut Problems,
) -> Headers {
    let end = table.saturating_add(bytes.len() as u64);
    let mut headers = Headers { machine, loads: Vec::new(), notes: Vec::new(), end, is_whole: true };
    let mut empty: Option<(u64, u32)> = None;
    for (index, header) in (0u32..).zip(bytes.chunks_exact(entry)) {
        let Some(header) = record::<ProgramHeader>(header, 0) else { break };
        let range = Range {
            index,
            flags: header.p_flags.get(LE).0,
            offset: header.p_offset.get(LE),
            address: header.p_vaddr.get(LE),
            size: header.p_filesz.get(LE),
        };
        match header.p_type.get(LE) {
            PT_LOAD => {
                headers.is_whole &= header.p_memsz.get(LE) <= range.size;
                headers.loads.push(range);
            }
            PT_NOTE => headers.notes.push(range),
            PT_NULL => {
                let at = table + u64::from(index) * entry as u64;
                empty = Some(empty.map_or((at, 1), |(first, count)| (first, count + 1)));
            }
            _ => {}
        }
    }
    if let Some((at, count)) = empty {
        let what = format!("{count} of {} are empty", bytes.len() / entry);
        let expected = "segments: the program that wrote the core stopped early";
        problems.report_at(name, at, "program headers", what, expected);
    }
    headers
}
