//! The ELF file of a view: what an x86-64 debugger needs to see of a code object, at the code object's addresses.
//!
//! gABI chapters 4 and 5, 64-bit little-endian. Nothing that would make a debugger look for more: no build id, no debug
//! link, no dynamic section.

use std::ops::Range;

use super::file::ViewFile;
use crate::codeobject::{Bytes, CodeObject, ElfAddress, Symbol, SymbolKind};

const HEADER_SIZE: u16 = 64;
const PROGRAM_HEADER_SIZE: u16 = 56;
const SECTION_HEADER_SIZE: u16 = 64;
const SYMBOL_SIZE: u64 = 24;
const PAGE: u64 = 0x1000;

const ET_DYN: u16 = 3;
const EM_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PF_X: u32 = 1;
const PF_R: u32 = 4;
const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_NOBITS: u32 = 8;
const SHF_WRITE: u64 = 1;
const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;
const SHN_RESERVED: usize = 0xff00;
/// Sections of the code object that a view shows; linkers make a dozen.
const MAX_SECTIONS: usize = 4096;
/// Segments of the code object that a view has; linkers make six.
pub(super) const MAX_SEGMENTS: usize = 256;
/// Bytes of segments that a view takes from the file, as many times as the file has: segments of linkers share a page at the
/// most. What is beyond is read from the target.
pub(super) const MAX_COPIES: u64 = 2;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;

/// The byte that stands for each byte of a GPU's code where a debugger would disassemble it as x86-64: `?`.
///
/// Stock debuggers print it as `(bad)` or `<unknown>`: as an opcode it is AAS, which 64-bit mode does not have (Intel SDM volume 2,
/// appendix A.3, table A-2).
pub const HIDDEN_CODE: u8 = 0x3f;

/// The file name of the `stub`.
pub const STUB: &str = "lanescope";

/// A section that no memory holds.
pub(super) struct Debug {
    /// `.debug_info`.
    pub(super) name: &'static str,
    /// Its contents.
    pub(super) bytes: Vec<u8>,
}

/// A function that is not the code object's.
pub(super) struct Extra {
    /// Its symbol.
    pub(super) name: String,
    /// ELF addresses.
    pub(super) range: Range<u64>,
}

/// What a view adds to a code object.
pub(super) struct Added<'a> {
    /// Its symbols.
    pub(super) symbols: &'a [Symbol],
    /// Functions next to one another, outside of the code object's image.
    pub(super) extras: &'a [Extra],
    /// Sections for debuggers.
    pub(super) debug: Vec<Debug>,
    /// ELF address of the function that gdb takes for the outermost.
    pub(super) entry: Option<u64>,
}

/// A section's header to be.
#[derive(Clone, Debug, Default)]
struct Section {
    name: String,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    entry_size: u64,
}

struct Segment {
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
}

/// The loaded segments that a view has.
pub(super) fn loaded(object: &CodeObject) -> impl Iterator<Item = &crate::codeobject::Segment> {
    object.segments().iter().filter(|segment| segment.is_loaded()).take(MAX_SEGMENTS)
}

/// Builds the file, and says where one of the sections for debuggers is in it.
pub(super) fn build(object: &CodeObject, added: Added<'_>, section: &str) -> (ViewFile, u64) {
    let mut found = 0;
    let Added { symbols, extras, debug, entry } = added;
    let loaded: Vec<_> = loaded(object).collect();
    let mut room = object.bytes().len() as u64 * MAX_COPIES;
    let headers = u64::from(HEADER_SIZE) + u64::from(PROGRAM_HEADER_SIZE) * (loaded.len() as u64 + 1);
    // The headers are written in the end, into the room left for them.
    let mut parts = ViewFile::default();
    parts.append(Bytes::from(vec![0; headers as usize]), 1);
    let mut segments = Vec::new();
    let mut sections = vec![Section::default()];
    for segment in loaded {
        let start = segment.addresses.start;
        // What the file lacks of it is left out, and read from the target.
        let bytes = object.bytes_at(ElfAddress(start), segment.file_size).unwrap_or_else(Bytes::empty);
        let left = room.checked_sub(bytes.len() as u64);
        let bytes = if left.is_some() { bytes } else { Bytes::empty() };
        room = left.unwrap_or(room);
        let offset = congruent(parts.len(), start);
        let file_size = bytes.len() as u64;
        pad(&mut parts, offset);
        if segment.flags & PF_X == 0 {
            parts.append(bytes, 1);
        } else {
            parts.repeat(HIDDEN_CODE, file_size);
        }
        let (address, memory_size) = (start, segment.addresses.end.saturating_sub(start));
        segments.push(Segment { flags: segment.flags & 7, offset, address, file_size, memory_size });
    }
    sections
        .extend(object.sections().iter().filter_map(|section| placed(section, &segments)).take(MAX_SECTIONS));
    if sections.len() == 1 {
        sections.extend(segments.iter().map(whole));
    }
    if let (Some(first), Some(last)) = (extras.first(), extras.last()) {
        let (address, size) = (first.range.start, last.range.end - first.range.start);
        let offset = congruent(parts.len(), address);
        pad(&mut parts, offset);
        parts.repeat(HIDDEN_CODE, size);
        let (flags, file_size, memory_size) = (PF_R | PF_X, size, size);
        segments.push(Segment { flags, offset, address, file_size, memory_size });
        let flags = SHF_ALLOC | SHF_EXECINSTR;
        let name = ".lanescope".to_owned();
        sections.push(Section {
            name,
            kind: SHT_PROGBITS,
            flags,
            address,
            offset,
            size,
            ..Section::default()
        });
    }
    for Debug { name, bytes } in debug {
        let size = bytes.len() as u64;
        let offset = parts.append(Bytes::from(bytes), 8);
        if name == section {
            found = offset;
        }
        let name = name.to_owned();
        sections.push(Section { name, kind: SHT_PROGBITS, offset, size, ..Section::default() });
    }
    symbol_table(symbols, extras, &mut sections, &mut parts);
    (finish(parts, &segments, sections, entry), found)
}

/// A file without contents, for LLDB: see the server's list of libraries.
#[must_use]
pub fn stub() -> ViewFile {
    let mut parts = ViewFile::default();
    parts.append(Bytes::from(vec![0; usize::from(HEADER_SIZE)]), 1);
    finish(parts, &[], vec![Section::default()], None)
}

/// Adds the table of sections, and fills in the header.
fn finish(
    mut parts: ViewFile,
    segments: &[Segment],
    mut sections: Vec<Section>,
    entry: Option<u64>,
) -> ViewFile {
    let section_headers = section_table(&mut sections, &mut parts);
    parts.replace_first(Bytes::from(header_bytes(segments, section_headers, sections.len(), entry)));
    parts
}

/// The first offset from `at` on that lies in a page as the address does.
fn congruent(at: u64, address: u64) -> u64 {
    let within = address % PAGE;
    let base = at.saturating_sub(within).next_multiple_of(PAGE);
    base + within
}

fn pad(file: &mut ViewFile, offset: u64) {
    let missing = offset.saturating_sub(file.len());
    if missing > 0 {
        file.append(Bytes::from(vec![0; missing as usize]), 1);
    }
}

/// Beginnings of names of sections that a view does not take over, loaded or not.
///
/// Notes would lead a debugger to a build id, and AMD's frames to callers that the view's own table knows better. Debuggers
/// find what else they read by such names, whatever the flags: tables beside the view's own, other files, scripts to run.
const MISLEADING: [&str; 8] =
    [".note", ".eh_frame", ".debug", ".zdebug", ".gdb_index", ".gnu_debug", ".stab", ".lanescope"];

/// A section of the code object that is loaded, in its segment's place in the file.
fn placed(section: &crate::codeobject::Section, segments: &[Segment]) -> Option<Section> {
    let misleads = MISLEADING.iter().any(|name| section.name.starts_with(name));
    let is_plain = matches!(section.section_type, SHT_PROGBITS | SHT_NOBITS) && !misleads;
    if section.flags & SHF_ALLOC == 0 || section.size == 0 || !is_plain {
        return None;
    }
    let end = section.address.checked_add(section.size)?;
    let segment = segments
        .iter()
        .find(|segment| section.address >= segment.address && end - segment.address <= segment.memory_size)?;
    let skip = section.address - segment.address;
    let has_bits = section.section_type != SHT_NOBITS && skip + section.size <= segment.file_size;
    Some(Section {
        name: section.name.clone(),
        kind: if has_bits { SHT_PROGBITS } else { SHT_NOBITS },
        flags: section.flags & (SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR),
        address: section.address,
        offset: segment.offset + skip.min(segment.file_size),
        size: section.size,
        ..Section::default()
    })
}

/// A segment as one section, where the code object has no section headers.
fn whole(segment: &Segment) -> Section {
    let is_code = segment.flags & PF_X != 0;
    Section {
        name: if is_code { ".text" } else { ".data" }.to_owned(),
        kind: if segment.file_size > 0 { SHT_PROGBITS } else { SHT_NOBITS },
        flags: SHF_ALLOC | if is_code { SHF_EXECINSTR } else { 0 },
        address: segment.address,
        offset: segment.offset,
        size: if segment.file_size > 0 { segment.file_size } else { segment.memory_size },
        ..Section::default()
    }
}

/// `.symtab` and `.strtab`.
fn symbol_table(symbols: &[Symbol], extras: &[Extra], sections: &mut Vec<Section>, file: &mut ViewFile) {
    let mut table = vec![0; SYMBOL_SIZE as usize];
    let mut names = vec![0];
    let mut add = |name: &str, kind: u8, global: bool, value: u64, size: u64| {
        let holds = |section: &Section| {
            section.flags & SHF_ALLOC != 0
                && (section.address..section.address.saturating_add(section.size)).contains(&value)
        };
        let Some(index) = sections.iter().position(holds).filter(|index| *index < SHN_RESERVED) else {
            return;
        };
        table.extend((names.len() as u32).to_le_bytes());
        table.extend([u8::from(global) << 4 | kind, 0]);
        table.extend((index as u16).to_le_bytes());
        table.extend(value.to_le_bytes());
        table.extend(size.to_le_bytes());
        names.extend(name.bytes().filter(|byte| *byte != 0).chain([0]));
    };
    let of = |symbol: &Symbol| match symbol.kind {
        SymbolKind::Function => Some(STT_FUNC),
        SymbolKind::KernelDescriptor | SymbolKind::Object => Some(STT_OBJECT),
        SymbolKind::Lds | SymbolKind::Absolute | SymbolKind::Undefined | SymbolKind::Other => None,
    };
    // Local symbols come first.
    for global in [false, true] {
        for symbol in symbols.iter().filter(|symbol| symbol.global == global) {
            if let Some(kind) = of(symbol) {
                add(&symbol.name, kind, global, symbol.value, symbol.size);
            }
        }
        if !global {
            extras.iter().for_each(|extra| {
                add(&extra.name, STT_FUNC, false, extra.range.start, extra.range.end - extra.range.start);
            });
        }
    }
    let info = first_global(&table);
    let link = sections.len() as u32 + 1;
    let size = table.len() as u64;
    let offset = file.append(Bytes::from(table), 8);
    let (name, kind, entry_size) = (".symtab".to_owned(), SHT_SYMTAB, SYMBOL_SIZE);
    sections.push(Section { name, kind, offset, size, link, info, entry_size, ..Section::default() });
    let size = names.len() as u64;
    let offset = file.append(Bytes::from(names), 1);
    sections.push(Section {
        name: ".strtab".to_owned(),
        kind: SHT_STRTAB,
        offset,
        size,
        ..Section::default()
    });
}

/// The index of the first symbol that is not local.
fn first_global(table: &[u8]) -> u32 {
    let bindings = table.chunks(SYMBOL_SIZE as usize).map(|symbol| symbol.get(4).map_or(0, |info| info >> 4));
    bindings.take_while(|binding| *binding == 0).count() as u32
}

/// The names of sections and their headers; where the headers begin.
fn section_table(sections: &mut Vec<Section>, file: &mut ViewFile) -> u64 {
    sections.push(Section { name: ".shstrtab".to_owned(), kind: SHT_STRTAB, ..Section::default() });
    let mut names = Vec::new();
    let mut starts = Vec::new();
    for section in sections.iter() {
        starts.push(names.len() as u32);
        names.extend(section.name.bytes().filter(|byte| *byte != 0).chain([0]));
    }
    let size = names.len() as u64;
    let offset = file.append(Bytes::from(names), 1);
    if let Some(last) = sections.last_mut() {
        (last.offset, last.size) = (offset, size);
    }
    let mut headers = Vec::with_capacity(sections.len() * usize::from(SECTION_HEADER_SIZE));
    for (section, name) in sections.iter().zip(starts) {
        headers.extend(name.to_le_bytes());
        headers.extend(section.kind.to_le_bytes());
        for field in [section.flags, section.address, section.offset, section.size] {
            headers.extend(field.to_le_bytes());
        }
        headers.extend(section.link.to_le_bytes());
        headers.extend(section.info.to_le_bytes());
        let alignment = if section.kind == 0 { 0u64 } else { 1 };
        headers.extend(alignment.to_le_bytes());
        headers.extend(section.entry_size.to_le_bytes());
    }
    file.append(Bytes::from(headers), 8)
}

fn header_bytes(segments: &[Segment], section_headers: u64, sections: usize, entry: Option<u64>) -> Vec<u8> {
    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend(ET_DYN.to_le_bytes());
    out.extend(EM_X86_64.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out.extend(entry.unwrap_or(0).to_le_bytes());
    out.extend(u64::from(HEADER_SIZE).to_le_bytes());
    out.extend(section_headers.to_le_bytes());
    out.extend(0u32.to_le_bytes());
    let count = segments.len() as u16;
    let (all, names) = (sections as u16, sections.saturating_sub(1) as u16);
    for field in [HEADER_SIZE, PROGRAM_HEADER_SIZE, count, SECTION_HEADER_SIZE, all, names] {
        out.extend(field.to_le_bytes());
    }
    for segment in segments {
        out.extend(PT_LOAD.to_le_bytes());
        out.extend(segment.flags.to_le_bytes());
        let (offset, address) = (segment.offset, segment.address);
        for field in [offset, address, address, segment.file_size, segment.memory_size, PAGE] {
            out.extend(field.to_le_bytes());
        }
    }
    out
}
