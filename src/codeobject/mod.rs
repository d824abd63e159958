//! AMDGPU ELF files: identity, segments, sections, symbols, notes.
//!
//! Parts of a code object are found by name or address; each is a slice of the input, at any alignment. The processor
//! is a number, and a kernel descriptor raw words: `arch` interprets them. DWARF is parsed in `debuginfo`.
//!
//! [`FatFile`] finds the code objects in bundles and host programs; [`Uri`] locates one of them.
//!
//! [`CodeObject::parse`] reads only headers; symbols, metadata and compressed sections are read on first use and kept.
//! A truncated code object still gives its remaining parts: see [`CodeObject::problems`].
//!
//! Specifications: System V gABI; LLVM's AMDGPUUsage, "Code Object".

mod address;
mod bytes;
mod descriptor;
mod dynamic;
mod error;
mod fat;
mod header;
mod metadata;
mod names;
mod note;
mod offload;
mod relocation;
mod section;
mod separate;
mod symbol;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{assembled, assembled_for, newest_llvm, some_objects};
mod uri;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

pub use address::ElfAddress;
pub use bytes::{Bytes, Owner, hex};
pub use descriptor::KernelDescriptor;
pub use error::{CodeObjectError, MetadataError, RelocationError, Result, UnpackError};
pub use fat::{Entry, FatFile, ImageFormat, MAX_ENTRIES};
pub use header::{AbiVersion, Feature, Header};
pub use metadata::{Argument, Kernel, Metadata, MsgpackError};
pub use note::NoteRecord;
pub use relocation::Relocation;
pub use section::{MAX_UNPACKED, Section, Segment, UnpackMemory};
pub use separate::{DebugLink, FileCause, Separate, SeparateError};
pub use symbol::{Symbol, SymbolKind};
pub use uri::{Uri, UriError, UriPlace};

use note::{NT_AMD_HSA_METADATA, NT_AMDGPU_METADATA};
use section::UnpackLimit;
use symbol::Symbols;

use crate::arch::Processor;
use crate::elf::{
    NT_GNU_BUILD_ID, PT_NOTE, Rela, SHT_DYNSYM, SHT_NOTE, SHT_RELA, SHT_SYMTAB, SectionType, read,
};
use crate::integers::u64_at;

/// Number of symbols above which only the exported ones are read.
const MANY_SYMBOLS: usize = 1 << 16;
/// Maximum listed notes of a file.
const MAX_NOTES: usize = 4096;

/// A kernel according to its symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSymbol {
    /// Name without `.kd`.
    pub name: String,
    /// ELF address of the 64-byte descriptor.
    pub descriptor: ElfAddress,
    /// ELF address of the first instruction, from the descriptor; `None` if the file lacks the descriptor's bytes.
    pub entry: Option<ElfAddress>,
}

/// One AMDGPU code object. Threads share it; every lazy part is computed once.
#[derive(Debug)]
pub struct CodeObject {
    file: Bytes,
    header: Header,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    problems: Vec<CodeObjectError>,
    symbols: OnceLock<Symbols>,
    /// The symbols of `.dynsym`.
    exported: OnceLock<Symbols>,
    /// Descriptors of kernels by their first instruction.
    kernel_entries: OnceLock<HashMap<ElfAddress, ElfAddress>>,
    /// See [`Self::removed_variables`].
    removed_variables: OnceLock<HashSet<String>>,
    metadata: OnceLock<Result<Option<Metadata>>>,
    /// The remaining limit on unpacked bytes of its compressed sections.
    unpack_limit: UnpackLimit,
}

impl CodeObject {
    /// Reads the headers of a code object.
    ///
    /// # Errors
    /// [`CodeObjectError::Identity`] for another kind of file; an error with its file offset for unreadable program
    /// headers. An unreadable section table is a [problem](Self::problems), not an error: an image has none.
    pub fn parse(file: impl Into<Bytes>) -> Result<Self> {
        Self::parse_within(file, &UnpackMemory::default())
    }

    /// [`Self::parse`] of a file whose compressed sections share a bound with those of others.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_within(file: impl Into<Bytes>, memory: &UnpackMemory) -> Result<Self> {
        let file = file.into();
        let (header, tables) = (Header::read(&file)?, read::file_header(&file)?);
        let segments = section::segments(&file, tables)?;
        let unpack_limit = UnpackLimit::of(&file, memory);
        let (sections, problems) = match section::read_all(&file, tables, &unpack_limit) {
            Ok(sections) => (sections, Vec::new()),
            Err(problem) => (Vec::new(), vec![problem]),
        };
        let sections = if sections.is_empty() { dynamic::sections(&file, &segments) } else { sections };
        let (symbols, exported) = (OnceLock::new(), OnceLock::new());
        let (kernel_entries, metadata) = (OnceLock::new(), OnceLock::new());
        let removed_variables = OnceLock::new();
        Ok(Self {
            file,
            header,
            segments,
            sections,
            problems,
            symbols,
            exported,
            kernel_entries,
            removed_variables,
            metadata,
            unpack_limit,
        })
    }

    /// Reads a loaded image of a code object: byte 0 is the ELF header, and segments lie at their ELF addresses instead
    /// of their file offsets. File offsets in the result are offsets in the image. The only sections are those of the
    /// dynamic symbols, because nothing else is loaded.
    ///
    /// # Errors
    /// The errors of [`Self::parse`]; [`CodeObjectError::Malformed`] if no segment loads the header.
    pub fn parse_image(image: impl Into<Bytes>) -> Result<Self> {
        let file = image.into();
        let header = Header::read(&file)?;
        let mut segments = section::segments(&file, read::file_header(&file)?)?;
        let first = segments.iter().find(|segment| segment.is_loaded() && segment.offset == 0);
        let base = first.map(|segment| segment.addresses.start).ok_or_else(|| {
            let why = "no segment loads the ELF header".to_owned();
            CodeObjectError::Malformed { what: "program headers".to_owned(), offset: 32, why }
        })?;
        for segment in &mut segments {
            // An unloaded section has no file range: an offset past the end reads as truncated.
            segment.offset = segment.addresses.start.checked_sub(base).unwrap_or(u64::MAX);
        }
        let sections = dynamic::sections(&file, &segments);
        let (symbols, exported) = (OnceLock::new(), OnceLock::new());
        let (kernel_entries, metadata) = (OnceLock::new(), OnceLock::new());
        let removed_variables = OnceLock::new();
        let unpack_limit = UnpackLimit::of(&file, &UnpackMemory::default());
        Ok(Self {
            file,
            header,
            segments,
            sections,
            problems: Vec::new(),
            symbols,
            exported,
            kernel_entries,
            removed_variables,
            metadata,
            unpack_limit,
        })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.file
    }

    /// The ELF header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The unreadable parts, which are omitted.
    #[must_use]
    pub fn problems(&self) -> &[CodeObjectError] {
        &self.problems
    }

    /// All program headers, in the file's order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the ELF addresses from the first to the last loaded byte; `None` if nothing is loaded.
    #[must_use]
    pub fn image(&self) -> Option<Range<ElfAddress>> {
        let loaded = || self.segments.iter().filter(|segment| segment.is_loaded());
        let start = loaded().map(|segment| segment.addresses.start).min()?;
        let end = loaded().map(|segment| segment.addresses.end).max()?;
        Some(ElfAddress(start)..ElfAddress(end))
    }

    /// Returns the ELF addresses of the code: section `.text`, or the executable segments in a file without sections.
    #[must_use]
    pub fn text(&self) -> Option<Range<ElfAddress>> {
        if let Some(text) = self.section(".text") {
            return Some(ElfAddress(text.address)..ElfAddress(text.address.saturating_add(text.size)));
        }
        let code = self.segments.iter().find(|segment| segment.is_loaded() && segment.is_executable())?;
        Some(ElfAddress(code.addresses.start)..ElfAddress(code.addresses.end))
    }

    /// All sections, in the file's order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the first section of that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Returns the bytes of the first section of that name: a slice of the file, or a cached unpacked, relocated copy.
    ///
    /// `.debug_NAME` also finds `.zdebug_NAME`. Unloaded sections of a relocatable file, its debug sections, have their
    /// relocations applied; [`Self::relocation_problems`] lists the failed ones. `Ok(None)` if no section has the name.
    ///
    /// # Errors
    /// The section reaches past the file's end, or does not unpack.
    pub fn section_bytes(&self, name: &str) -> Result<Option<Bytes>> {
        self.found(name).map(|(index, section)| self.relocated(index, section).0.clone()).transpose()
    }

    /// Returns the failed relocations of a section, each with section, offset and type.
    #[must_use]
    pub fn relocation_problems(&self, name: &str) -> &[CodeObjectError] {
        self.found(name).map_or(&[], |(index, section)| &self.relocated(index, section).1)
    }

    fn found(&self, name: &str) -> Option<(usize, &Section)> {
        let find = |name: &str| self.sections.iter().enumerate().find(|(_, section)| section.name == name);
        let packed = || find(&format!(".zdebug_{}", name.strip_prefix(".debug_")?));
        find(name).or_else(packed)
    }

    fn relocated<'s>(
        &'s self,
        index: usize,
        section: &'s Section,
    ) -> &'s (Result<Bytes>, Vec<CodeObjectError>) {
        section.relocated.get_or_init(|| {
            let contents = section.contents(&self.file, &self.unpack_limit);
            let tables: Vec<&Section> = match self.header.is_relocatable() && !section.is_loaded() {
                true => self.sections.iter().filter(|table| self.relocates(table, index)).collect(),
                false => Vec::new(),
            };
            let Ok(bytes) = &contents else { return (contents, Vec::new()) };
            if tables.is_empty() {
                return (contents, Vec::new());
            }
            let fail = |why| CodeObjectError::Malformed {
                what: format!("relocations of section {}", section.name),
                offset: section.offset,
                why,
            };
            if let Err(why) = self.unpack_limit.take(bytes.len() as u64) {
                return (Err(fail(why.to_string())), Vec::new());
            }
            let (mut bytes, mut problems) = (bytes.to_vec(), Vec::new());
            // Disjoint tables have together no more records than the file has bytes.
            let mut left = self.file.len() as u64;
            for table in tables {
                let Some(rest) = left.checked_sub(table.size) else {
                    problems.push(fail("the tables overlap; the rest is left out".to_owned()));
                    break;
                };
                left = rest;
                match table.contents(&self.file, &self.unpack_limit) {
                    Ok(records) => {
                        let symbols = self.symbols();
                        problems.extend(relocation::apply(&section.name, &mut bytes, &records, symbols));
                    }
                    Err(problem) => problems.push(problem),
                }
            }
            (Ok(Bytes::from(bytes)), problems)
        })
    }

    /// Iterates over the relocation records by section; unreadable sections are skipped.
    pub fn relocations(&self) -> impl Iterator<Item = Relocation> {
        let tables = self.sections.iter().filter(|table| table.section_type == SHT_RELA.0);
        let most = self.file.len() / size_of::<Rela>();
        let records = tables.flat_map(|table| {
            let bytes = table.contents(&self.file, &self.unpack_limit).unwrap_or_else(|_| Bytes::empty());
            relocation::records(&bytes, table.info, table.link).collect::<Vec<_>>()
        });
        records.take(most)
    }

    /// Returns the failed relocations of all sections, each with section, offset and type.
    #[must_use]
    pub fn all_relocation_problems(&self) -> Vec<&CodeObjectError> {
        let debug = self.sections.iter().enumerate().filter(|(_, section)| !section.is_loaded());
        debug.flat_map(|(index, section)| &self.relocated(index, section).1).collect()
    }

    fn relocates(&self, table: &Section, index: usize) -> bool {
        table.section_type == SHT_RELA.0 && table.info as usize == index
    }

    /// Returns the file's bytes for an ELF address; `None` if the file has none (zero-initialised data too).
    #[must_use]
    pub fn bytes_at(&self, address: ElfAddress, length: u64) -> Option<Bytes> {
        let loaded = self.segments.iter().filter(|segment| segment.is_loaded());
        loaded.into_iter().find_map(|segment| {
            let skip = address.0.checked_sub(segment.addresses.start)?;
            let end = skip.checked_add(length).filter(|end| *end <= segment.file_size)?;
            let start = usize::try_from(segment.offset.checked_add(skip)?).ok()?;
            self.file.slice(start..usize::try_from(segment.offset.checked_add(end)?).ok()?)
        })
    }

    /// Returns all symbols except the empty first, in the file's order: `.symtab`, or `.dynsym` of a stripped file.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        self.symbol_table().all()
    }

    /// Returns all symbols, or the exported ones (`.dynsym`) of a file with more than `most`. A linked library has
    /// millions of labels; reading them takes half a second and much memory.
    #[must_use]
    pub fn symbols_up_to(&self, most: usize) -> &[Symbol] {
        self.table_up_to(most).all()
    }

    fn table_up_to(&self, most: usize) -> &Symbols {
        let count = |section: &Section| section.size / symbol::SYMBOL_SIZE;
        let table = self.sections.iter().find(|section| section.section_type == SHT_SYMTAB.0);
        if table.is_none_or(|table| count(table) <= most as u64) {
            return self.symbol_table();
        }
        self.exported.get_or_init(|| self.read_symbols(SHT_DYNSYM).unwrap_or_default())
    }

    fn read_symbols(&self, kind: SectionType) -> Option<Symbols> {
        let table = self.sections.iter().find(|section| section.section_type == kind.0)?;
        let names = self.sections.get(table.link as usize)?;
        let (table, names) = (
            table.contents(&self.file, &self.unpack_limit).ok()?,
            names.contents(&self.file, &self.unpack_limit).ok()?,
        );
        Some(Symbols::read(&table, &names))
    }

    /// Returns the function, descriptor or object that contains the address, and the offset in it.
    #[must_use]
    pub fn symbol_at(&self, address: ElfAddress) -> Option<(&Symbol, u64)> {
        let symbol = self.symbol_table().at(address.0)?;
        Some((symbol, address.0 - symbol.value))
    }

    /// Returns the first symbol of that name.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols().iter().find(|symbol| symbol.name == name)
    }

    /// Iterates over the kernels that the symbols name, in the file's order.
    pub fn kernels(&self) -> impl Iterator<Item = KernelSymbol> {
        self.symbols().iter().filter_map(|symbol| {
            let descriptor = ElfAddress(symbol.value);
            let name = symbol.kernel_name()?.to_owned();
            Some(KernelSymbol { name, descriptor, entry: self.kernel_entry(descriptor) })
        })
    }

    /// Whether a kernel begins at that ELF address. In a file with many symbols only the exported ones count: the
    /// runtime finds a kernel by its exported descriptor, and reading a million others takes seconds.
    #[must_use]
    pub fn is_kernel_entry(&self, entry: ElfAddress) -> bool {
        self.kernel_entries().contains_key(&entry)
    }

    /// Whether a kernel's code holds that ELF address; [`Self::is_kernel_entry`] has the rule.
    #[must_use]
    pub fn is_in_kernel(&self, address: ElfAddress) -> bool {
        let function = self.table_up_to(MANY_SYMBOLS).at(address.0);
        function.is_some_and(|function| self.is_kernel_entry(ElfAddress(function.value)))
    }

    /// Returns the descriptor of the kernel that begins at that ELF address; [`Self::is_kernel_entry`] has the rule.
    #[must_use]
    pub fn descriptor_of_entry(&self, entry: ElfAddress) -> Option<KernelDescriptor> {
        let descriptor = self.kernel_entries().get(&entry)?;
        self.bytes_at(*descriptor, symbol::DESCRIPTOR_SIZE)?.first_chunk().map(KernelDescriptor::read)
    }

    fn kernel_entries(&self) -> &HashMap<ElfAddress, ElfAddress> {
        self.kernel_entries.get_or_init(|| {
            let symbols = self.symbols_up_to(MANY_SYMBOLS);
            let kernels = symbols.iter().filter(|symbol| symbol.kernel_name().is_some());
            let descriptors = kernels.map(|kernel| ElfAddress(kernel.value));
            descriptors.filter_map(|descriptor| Some((self.kernel_entry(descriptor)?, descriptor))).collect()
        })
    }

    /// Returns the first instruction of the kernel with that descriptor: bytes 16 to 23 hold its signed distance from
    /// the descriptor (AMDGPUUsage, "Kernel Descriptor").
    #[must_use]
    pub fn kernel_entry(&self, descriptor: ElfAddress) -> Option<ElfAddress> {
        let bytes = self.bytes_at(descriptor, symbol::DESCRIPTOR_SIZE)?;
        Some(ElfAddress(descriptor.0.wrapping_add(u64_at(&bytes, 16)?)))
    }

    /// Returns a kernel's descriptor.
    ///
    /// `None` if the symbol does not exist, or the file lacks its bytes.
    #[must_use]
    pub fn kernel_descriptor(&self, kernel: &str) -> Option<KernelDescriptor> {
        let mut descriptors = self.symbols().iter().filter(|symbol| symbol.kernel_name() == Some(kernel));
        let symbol = descriptors.next()?;
        let bytes = match self.header.is_relocatable() {
            false => self.bytes_at(ElfAddress(symbol.value), symbol::DESCRIPTOR_SIZE)?,
            true => {
                let section = self
                    .sections
                    .get(usize::from(symbol.section))?
                    .contents(&self.file, &self.unpack_limit)
                    .ok()?;
                let start = usize::try_from(symbol.value).ok()?;
                section.slice(start..start.checked_add(symbol::DESCRIPTOR_SIZE as usize)?)?
            }
        };
        bytes.first_chunk().map(KernelDescriptor::read)
    }

    /// Returns the build ID (`NT_GNU_BUILD_ID`), usually 20 bytes.
    #[must_use]
    pub fn build_id(&self) -> Option<Bytes> {
        self.note("GNU", NT_GNU_BUILD_ID.0).map(|note| note.bytes)
    }

    /// Returns AMD's metadata; `Ok(None)` without such a note. A file linked from several has a note of each; their
    /// kernels are concatenated.
    ///
    /// # Errors
    /// A note is not MessagePack (YAML for code object version 2).
    pub fn metadata(&self) -> Result<Option<&Metadata>> {
        let metadata = self.metadata.get_or_init(|| {
            let notes = self.notes();
            let of = |vendor: &'static str, kind: u32| {
                notes.iter().filter(move |note| note.vendor == vendor && note.note_type == kind).peekable()
            };
            let (mut msgpack, mut yaml) = (of("AMDGPU", NT_AMDGPU_METADATA), of("AMD", NT_AMD_HSA_METADATA));
            let (each, is_yaml) =
                if msgpack.peek().is_some() { (&mut msgpack, false) } else { (&mut yaml, true) };
            let mut all: Option<Metadata> = None;
            let mut end = 0;
            for note in each {
                // Overlapping segments contain the same note again.
                if note.offset < end {
                    continue;
                }
                end = note.offset.saturating_add(note.bytes.len() as u64);
                let read = if is_yaml { Metadata::from_yaml } else { Metadata::from_msgpack };
                let what = || format!("note {}", note.type_name().unwrap_or("of metadata"));
                let malformed = |why| CodeObjectError::Metadata { what: what(), offset: note.offset, why };
                let more = read(&note.bytes).map_err(malformed)?;
                match &mut all {
                    Some(all) => {
                        all.kernels.extend(more.kernels);
                        all.printf.extend(more.printf);
                    }
                    None => all = Some(more),
                }
            }
            Ok(all)
        });
        metadata.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// All notes, from note segments, else from note sections; at most 4096.
    #[must_use]
    pub fn notes(&self) -> Vec<NoteRecord> {
        let segments = self.segments.iter().filter(|segment| segment.segment_type == PT_NOTE.0);
        let mut places: Vec<(u64, u64)> =
            segments.map(|segment| (segment.offset, segment.file_size)).collect();
        if places.is_empty() {
            let sections = self.sections.iter().filter(|section| section.section_type == SHT_NOTE.0);
            places = sections.map(|section| (section.offset, section.size)).collect();
        }
        let records = places.into_iter().flat_map(|(offset, size)| NoteRecord::all(&self.file, offset, size));
        records.take(MAX_NOTES).collect()
    }

    /// The variables that are undefined symbols (`kernel.tile`), by name, of functions with several of them.
    pub(crate) fn removed_variables(&self) -> &HashSet<String> {
        self.removed_variables.get_or_init(|| {
            let undefined = self.symbols().iter().filter(|symbol| symbol.kind == SymbolKind::Undefined);
            let (mut counts, mut functions) = (HashMap::new(), HashMap::new());
            for (function, name) in undefined.filter_map(|symbol| symbol.name.rsplit_once('.')) {
                *counts.entry(function).or_insert(0) += 1;
                functions.entry(name).or_insert(function);
            }
            functions.retain(|_, function| counts.get(function).is_some_and(|count| *count > 1));
            functions.into_keys().map(str::to_owned).collect()
        })
    }

    /// Returns the target processor from the header, or in version 2 files from the note of the ISA version.
    #[must_use]
    pub fn processor(&self) -> Option<Processor> {
        if let number @ 1.. = self.header.mach() {
            return Processor::of_mach(number);
        }
        Processor::of_isa(self.notes().iter().find_map(NoteRecord::isa_version)?)
    }

    /// Returns the first note of a vendor and type.
    fn note(&self, vendor: &str, note_type: u32) -> Option<NoteRecord> {
        self.notes().into_iter().find(|note| note.vendor == vendor && note.note_type == note_type)
    }

    fn symbol_table(&self) -> &Symbols {
        self.symbols.get_or_init(|| {
            self.read_symbols(SHT_SYMTAB).or_else(|| self.read_symbols(SHT_DYNSYM)).unwrap_or_default()
        })
    }
}
