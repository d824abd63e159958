//! The ELF file of a view: an x86-64 form of a code object, at the code object's addresses.
//!
//! gABI chapters 4 and 5, 64-bit little-endian. The file lacks all references to other files: build id, debug link,
//! dynamic section.

use std::ops::Range;

use super::file::ViewFile;
use crate::codeobject::{Bytes, CodeObject, ElfAddress, Symbol, SymbolKind};
use crate::elf::{
    ELFOSABI_NONE, EM_X86_64, ET_DYN, FileHeader, LE, PF_R, PF_W, PF_X, PT_LOAD, ProgramFlags, ProgramHeader,
    SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHN_LORESERVE, SHT_NOBITS, SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB,
    STB_GLOBAL, STB_LOCAL, STT_FUNC, STT_OBJECT, SectionFlags, SectionHeader, SectionType, Sym, SymbolInfo,
    SymbolSection, SymbolType, bytes_of, bytes_of_slice, write, write::Strings,
};
use crate::units::Address;

const PAGE: u64 = 0x1000;

/// Maximum sections from the code object; linkers make a dozen.
const MAX_SECTIONS: usize = 4096;
/// Maximum loaded segments from the code object; linkers make six.
pub(super) const MAX_SEGMENTS: usize = 256;
/// Maximum bytes of segments in a view, as a multiple of the file: linkers' segments share at most a page. Debuggers
/// read bytes beyond it from the target.
pub(super) const MAX_COPIES: u64 = 2;

/// The byte in place of each byte of GPU code where a debugger would disassemble x86-64: `?`.
///
/// Stock debuggers print it as `(bad)` or `<unknown>`: the opcode is AAS, which 64-bit mode lacks (Intel SDM volume 2,
/// appendix A.3, table A-2).
pub const HIDDEN_CODE: u8 = 0x3f;

/// The file name of the `stub`.
pub const STUB: &str = "lanescope";

/// A section outside of memory.
pub(super) struct Debug {
    /// `.debug_info`, for example.
    pub(super) name: &'static str,
    /// Its contents.
    pub(super) bytes: Vec<u8>,
}

/// A function outside of the code object.
pub(super) struct Extra {
    /// Its symbol name.
    pub(super) name: String,
    /// ELF addresses.
    pub(super) range: Range<u64>,
}

/// The additions of a view to a code object.
pub(super) struct Added<'a> {
    /// Its symbols.
    pub(super) symbols: &'a [Symbol],
    /// Adjoining functions, outside of the code object's image.
    pub(super) extras: &'a [Extra],
    /// Sections for debuggers.
    pub(super) debug: Vec<Debug>,
    /// ELF address of gdb's outermost function.
    pub(super) entry: Option<u64>,
    /// Load address of the image.
    pub(super) load: Address,
}

/// A section header with its name.
struct Section {
    name: String,
    header: SectionHeader,
}

impl Section {
    /// A section outside of memory.
    fn new(name: &str, header: SectionHeader) -> Self {
        Self { name: name.to_owned(), header }
    }

    /// A section in memory at an address.
    fn loaded(self, flags: SectionFlags, address: u64) -> Self {
        let header = SectionHeader { sh_flags: flags.into(), sh_addr: address.into(), ..self.header };
        Self { header, ..self }
    }

    fn holds(&self, address: u64) -> bool {
        let (start, size) = (self.header.sh_addr.get(LE), self.header.sh_size.get(LE));
        self.header.sh_flags.get(LE).contains(SHF_ALLOC)
            && (start..start.saturating_add(size)).contains(&address)
    }
}

struct Segment {
    flags: ProgramFlags,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
}

impl Segment {
    /// The header; its physical address is the run-time one, which gdb's `compare-sections` reads.
    fn header(&self, load: Address) -> ProgramHeader {
        ProgramHeader {
            p_type: PT_LOAD.into(),
            p_flags: self.flags.into(),
            p_offset: self.offset.into(),
            p_vaddr: self.address.into(),
            p_paddr: load.0.wrapping_add(self.address).into(),
            p_filesz: self.file_size.into(),
            p_memsz: self.memory_size.into(),
            p_align: PAGE.into(),
        }
    }
}

/// The loaded segments of a view.
pub(super) fn loaded(object: &CodeObject) -> impl Iterator<Item = &crate::codeobject::Segment> {
    object.segments().iter().filter(|segment| segment.is_loaded()).take(MAX_SEGMENTS)
}

/// Builds the file; returns it with the offset of one of its sections for debuggers.
pub(super) fn build(object: &CodeObject, added: Added<'_>, section: &str) -> (ViewFile, u64) {
    let mut found = 0;
    let Added { symbols, extras, debug, entry, load } = added;
    let loaded: Vec<_> = loaded(object).collect();
    let mut capacity = object.bytes().len() as u64 * MAX_COPIES;
    let headers = size_of::<FileHeader>() + size_of::<ProgramHeader>() * (loaded.len() + 1);
    // The headers are written last, to the space reserved here.
    let mut parts = ViewFile::default();
    parts.append(Bytes::from(vec![0; headers]), 1);
    let mut segments = Vec::new();
    let mut sections = vec![Section::new("", write::null_section())];
    for segment in loaded {
        let start = segment.addresses.start;
        // Debuggers read parts that the file lacks from the target.
        let bytes = object.bytes_at(ElfAddress(start), segment.file_size).unwrap_or_else(Bytes::empty);
        let left = capacity.checked_sub(bytes.len() as u64);
        let bytes = if left.is_some() { bytes } else { Bytes::empty() };
        capacity = left.unwrap_or(capacity);
        let offset = congruent(parts.len(), start);
        let file_size = bytes.len() as u64;
        pad(&mut parts, offset);
        if segment.is_executable() {
            parts.repeat(HIDDEN_CODE, file_size);
        } else {
            parts.append(bytes, 1);
        }
        let (address, memory_size) = (start, segment.addresses.end.saturating_sub(start));
        let flags = ProgramFlags(segment.flags) & (PF_R | PF_W | PF_X);
        segments.push(Segment { flags, offset, address, file_size, memory_size });
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
        let section = Section::new(".lanescope", write::section_header(SHT_PROGBITS, offset, size));
        sections.push(section.loaded(SHF_ALLOC | SHF_EXECINSTR, address));
    }
    for Debug { name, bytes } in debug {
        let size = bytes.len() as u64;
        let offset = parts.append(Bytes::from(bytes), 8);
        if name == section {
            found = offset;
        }
        sections.push(Section::new(name, write::section_header(SHT_PROGBITS, offset, size)));
    }
    symbol_table(symbols, extras, &mut sections, &mut parts);
    (finish(parts, segments.iter().map(|segment| segment.header(load)).collect(), sections, entry), found)
}

/// A file without contents, for LLDB: see the server's list of libraries.
#[must_use]
pub fn stub() -> ViewFile {
    let mut parts = ViewFile::default();
    parts.append(Bytes::from(vec![0; size_of::<FileHeader>()]), 1);
    finish(parts, Vec::new(), vec![Section::new("", write::null_section())], None)
}

/// Appends the table of sections, and writes the headers.
fn finish(
    mut parts: ViewFile,
    segments: Vec<ProgramHeader>,
    mut sections: Vec<Section>,
    entry: Option<u64>,
) -> ViewFile {
    let section_headers = section_table(&mut sections, &mut parts);
    let count = sections.len() as u16;
    let header = FileHeader {
        e_entry: entry.unwrap_or(0).into(),
        e_phoff: (size_of::<FileHeader>() as u64).into(),
        e_shoff: section_headers.into(),
        e_phnum: (segments.len() as u16).into(),
        e_shnum: count.into(),
        e_shstrndx: SymbolSection(count.saturating_sub(1)).into(),
        ..write::file_header(ELFOSABI_NONE, ET_DYN, EM_X86_64)
    };
    parts.replace_first(Bytes::from([bytes_of(&header), bytes_of_slice(&segments)].concat()));
    parts
}

/// The first offset from `at` on with the page offset of the address.
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

/// Name prefixes of sections to omit, loaded or not.
///
/// Notes would lead a debugger to a build id, and AMD's frames to callers other than those of the view's own table.
/// Debuggers find more by such names, whatever the flags: other tables, other files, scripts to run.
const MISLEADING: [&str; 8] =
    [".note", ".eh_frame", ".debug", ".zdebug", ".gdb_index", ".gnu_debug", ".stab", ".lanescope"];

/// A loaded section of the code object, at its segment's position in the file.
fn placed(section: &crate::codeobject::Section, segments: &[Segment]) -> Option<Section> {
    let misleads = MISLEADING.iter().any(|name| section.name.starts_with(name));
    let kind = SectionType(section.section_type);
    if !section.is_loaded() || section.size == 0 || !matches!(kind, SHT_PROGBITS | SHT_NOBITS) || misleads {
        return None;
    }
    let end = section.address.checked_add(section.size)?;
    let segment = segments
        .iter()
        .find(|segment| section.address >= segment.address && end - segment.address <= segment.memory_size)?;
    let skip = section.address - segment.address;
    let has_bits = kind != SHT_NOBITS && skip + section.size <= segment.file_size;
    let kind = if has_bits { SHT_PROGBITS } else { SHT_NOBITS };
    let header = write::section_header(kind, segment.offset + skip.min(segment.file_size), section.size);
    let flags = SectionFlags(section.flags) & (SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR);
    Some(Section::new(&section.name, header).loaded(flags, section.address))
}

/// A segment as one section, for a code object without section headers.
fn whole(segment: &Segment) -> Section {
    let (name, flags) = match segment.flags.contains(PF_X) {
        true => (".text", SHF_ALLOC | SHF_EXECINSTR),
        false => (".data", SHF_ALLOC),
    };
    let (kind, size) = match segment.file_size {
        0 => (SHT_NOBITS, segment.memory_size),
        size => (SHT_PROGBITS, size),
    };
    Section::new(name, write::section_header(kind, segment.offset, size)).loaded(flags, segment.address)
}

/// `.symtab` and `.strtab`.
fn symbol_table(symbols: &[Symbol], extras: &[Extra], sections: &mut Vec<Section>, file: &mut ViewFile) {
    let mut table = vec![Sym::default()];
    let mut names = Strings::new();
    let mut add = |name: &str, kind: SymbolType, global: bool, value: u64, size: u64| {
        let index = sections.iter().position(|section| section.holds(value));
        let index = index.and_then(|index| u16::try_from(index).ok()).filter(|index| *index < SHN_LORESERVE);
        let Some(index) = index else { return };
        table.push(Sym {
            st_name: names.add(name.as_bytes()).into(),
            st_info: SymbolInfo::new(if global { STB_GLOBAL } else { STB_LOCAL }, kind),
            st_shndx: SymbolSection(index).into(),
            st_value: value.into(),
            st_size: size.into(),
            ..Sym::default()
        });
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
    let first_global = table.iter().take_while(|symbol| symbol.st_bind() == STB_LOCAL).count() as u32;
    let offset = file.append(Bytes::from(bytes_of_slice(&table).to_vec()), 8);
    let header = SectionHeader {
        sh_link: (sections.len() as u32 + 1).into(),
        sh_info: first_global.into(),
        sh_entsize: (size_of::<Sym>() as u64).into(),
        ..write::section_header(SHT_SYMTAB, offset, size_of_val(&*table) as u64)
    };
    sections.push(Section::new(".symtab", header));
    sections.push(strings(".strtab", names, file));
}

/// A string table as a section.
fn strings(name: &str, strings: Strings, file: &mut ViewFile) -> Section {
    let bytes = strings.into_bytes();
    let size = bytes.len() as u64;
    Section::new(name, write::section_header(SHT_STRTAB, file.append(Bytes::from(bytes), 1), size))
}

/// Appends the names of sections and their headers; returns the offset of the headers.
fn section_table(sections: &mut Vec<Section>, file: &mut ViewFile) -> u64 {
    const NAMES: &str = ".shstrtab";
    let mut names = Strings::new();
    for section in sections.iter_mut().skip(1) {
        section.header.sh_name = names.add(section.name.as_bytes()).into();
    }
    let own = names.add(NAMES.as_bytes());
    let mut table = strings(NAMES, names, file);
    table.header.sh_name = own.into();
    sections.push(table);
    let headers: Vec<SectionHeader> = sections.iter().map(|section| section.header).collect();
    file.append(Bytes::from(bytes_of_slice(&headers).to_vec()), 8)
}
