//! An AMDGPU ELF as bytes: identity, segments, sections, symbols, notes.
//!
//! *You give* the bytes of one code object, mapped or in memory, at any alignment.
//! *You get* its parts by name and by address, each as a slice of what you gave.
//! *Not for* DWARF (that is `debuginfo`) and not for the GPU's facts: a processor is a number here.
//!
//! [`CodeObject::parse`] reads headers only; symbols, metadata and compressed sections are read when first asked for and
//! kept. A code object that is cut short still gives what it has: see [`CodeObject::problems`].
//!
//! Specifications: System V gABI; LLVM's AMDGPUUsage, "Code Object".
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod address;
mod bytes;
mod elf;
mod error;
mod header;
mod metadata;
mod msgpack;
mod note;
mod section;
mod separate;
mod symbol;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::newest_llvm;

use std::ops::Range;
use std::sync::OnceLock;

pub use address::ElfAddress;
pub use bytes::{Bytes, Owner};
pub use error::{CodeObjectError, Result};
pub use header::{AbiVersion, Feature, Header};
pub use metadata::{Argument, Kernel, Metadata};
pub use section::{Section, Segment};
pub use separate::{DebugLink, Separate};
pub use symbol::{Symbol, SymbolKind};

use elf::{Fields, Tables};
use note::{NT_AMDGPU_METADATA, NT_GNU_BUILD_ID, Note, notes};
use section::PT_NOTE;
use symbol::Symbols;

/// `SHT_SYMTAB` and `SHT_DYNSYM`.
const SYMBOL_TABLES: [u32; 2] = [2, 11];
/// `SHT_NOTE`.
const SHT_NOTE: u32 = 7;

/// A kernel as the symbols tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSymbol {
    /// Name without `.kd`.
    pub name: String,
    /// ELF address of the 64-byte descriptor.
    pub descriptor: ElfAddress,
    /// ELF address of the first instruction, by the descriptor; `None` when the file lacks the descriptor's bytes.
    pub entry: Option<ElfAddress>,
}

/// One AMDGPU code object. Shared by threads as it is; every lazy part is computed once.
#[derive(Debug)]
pub struct CodeObject {
    file: Bytes,
    header: Header,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    problems: Vec<CodeObjectError>,
    symbols: OnceLock<Symbols>,
    metadata: OnceLock<Result<Option<Metadata>>>,
}

impl CodeObject {
    /// Reads the headers of a code object.
    ///
    /// # Errors
    /// [`CodeObjectError::Identity`] when it is something else; an error with its file offset when the program headers
    /// cannot be read. A section table that cannot be read is a [problem](Self::problems), not an error: an image taken
    /// from memory has none.
    pub fn parse(file: impl Into<Bytes>) -> Result<Self> {
        let file = file.into();
        let header = Header::read(&file)?;
        let tables = Tables::read(Fields(&file));
        let segments = section::segments(&file, &tables)?;
        let (sections, problems) = match section::read_all(&file, &tables) {
            Ok(sections) => (sections, Vec::new()),
            Err(problem) => (Vec::new(), vec![problem]),
        };
        let (symbols, metadata) = (OnceLock::new(), OnceLock::new());
        Ok(Self { file, header, segments, sections, problems, symbols, metadata })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.file
    }

    /// What the ELF header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What could not be read and was left out.
    #[must_use]
    pub fn problems(&self) -> &[CodeObjectError] {
        &self.problems
    }

    /// All program headers, in the file's order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// ELF addresses from the first to the last loaded byte; `None` when nothing is loaded.
    #[must_use]
    pub fn image(&self) -> Option<Range<ElfAddress>> {
        let loaded = || self.segments.iter().filter(|segment| segment.is_loaded());
        let start = loaded().map(|segment| segment.addresses.start).min()?;
        let end = loaded().map(|segment| segment.addresses.end).max()?;
        Some(ElfAddress(start)..ElfAddress(end))
    }

    /// ELF addresses of the code: section `.text`, or the executable segments where there are no sections.
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

    /// The first section of that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The bytes of the first section of that name: a slice of the file, or unpacked once and kept.
    ///
    /// `Ok(None)` when there is no such section.
    ///
    /// # Errors
    /// The section reaches past the file's end, or does not unpack.
    pub fn section_bytes(&self, name: &str) -> Result<Option<Bytes>> {
        self.section(name).map(|section| section.contents(&self.file)).transpose()
    }

    /// The file's bytes that are loaded at an ELF address; `None` where the file has none (zero-initialised data too).
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

    /// All symbols but the empty first, in the file's order: `.symtab`, or `.dynsym` of a stripped file.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        self.symbol_table().all()
    }

    /// The function, descriptor or object whose bytes hold the address, and how far into it the address is.
    #[must_use]
    pub fn symbol_at(&self, address: ElfAddress) -> Option<(&Symbol, u64)> {
        let symbol = self.symbol_table().at(address.0)?;
        Some((symbol, address.0 - symbol.value))
    }

    /// The first symbol of that name.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols().iter().find(|symbol| symbol.name == name)
    }

    /// The kernels that the symbols name, in the file's order.
    pub fn kernels(&self) -> impl Iterator<Item = KernelSymbol> {
        self.symbols().iter().filter_map(|symbol| {
            let descriptor = ElfAddress(symbol.value);
            let name = symbol.kernel_name()?.to_owned();
            Some(KernelSymbol { name, descriptor, entry: self.kernel_entry(descriptor) })
        })
    }

    /// The first instruction of the kernel with that descriptor: AMDGPUUsage, "Kernel Descriptor", bytes 16 to 23 hold
    /// its signed distance from the descriptor.
    #[must_use]
    pub fn kernel_entry(&self, descriptor: ElfAddress) -> Option<ElfAddress> {
        let bytes = self.bytes_at(descriptor, symbol::DESCRIPTOR_SIZE)?;
        Some(ElfAddress(descriptor.0.wrapping_add(Fields(&bytes).u64(16))))
    }

    /// The build id (`NT_GNU_BUILD_ID`), usually 20 bytes.
    #[must_use]
    pub fn build_id(&self) -> Option<Bytes> {
        self.note(b"GNU", NT_GNU_BUILD_ID)
    }

    /// AMD's metadata; `Ok(None)` when the file has no such note (code object version 2 has it in another form).
    ///
    /// # Errors
    /// The note is there and is not MessagePack.
    pub fn metadata(&self) -> Result<Option<&Metadata>> {
        let metadata = self.metadata.get_or_init(|| {
            let Some(bytes) = self.note(b"AMDGPU", NT_AMDGPU_METADATA) else { return Ok(None) };
            let offset = (bytes.as_ptr() as usize).wrapping_sub(self.file.as_ptr() as usize) as u64;
            let malformed = |error: msgpack::MsgpackError| CodeObjectError::Malformed {
                what: "note NT_AMDGPU_METADATA".to_owned(),
                offset,
                why: error.to_string(),
            };
            Metadata::decode(&bytes).map(Some).map_err(malformed)
        });
        metadata.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The first note of a vendor and type, from note segments, else from note sections.
    fn note(&self, vendor: &[u8], note_type: u32) -> Option<Bytes> {
        let segments = self.segments.iter().filter(|segment| segment.segment_type == PT_NOTE);
        let segments = segments.map(|segment| (segment.offset, segment.file_size));
        let sections = self.sections.iter().filter(|section| section.section_type == SHT_NOTE);
        let sections = sections.map(|section| (section.offset, section.size));
        let is_it = |note: &Note<'_>| note.vendor == vendor && note.note_type == note_type;
        let mut places = segments.chain(sections);
        places.find_map(|(offset, size)| {
            let bytes = elf::range(&self.file, "notes", offset, size).ok()?;
            notes(bytes).find(is_it).and_then(|note| self.file.slice_ref(note.bytes))
        })
    }

    fn symbol_table(&self) -> &Symbols {
        self.symbols.get_or_init(|| {
            let tables = SYMBOL_TABLES.iter().filter_map(|kind| {
                let table = self.sections.iter().find(|section| section.section_type == *kind)?;
                let names = self.sections.get(table.link as usize)?;
                Some((table.contents(&self.file).ok()?, names.contents(&self.file).ok()?))
            });
            tables.map(|(table, names)| Symbols::read(&table, &names)).next().unwrap_or_default()
        })
    }
}
