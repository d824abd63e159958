//! Records for writing, with the fields common to all files preset.

use std::mem::size_of;

use super::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, EV_CURRENT, FileFlags, FileHeader, FileType, Ident, Machine, OsAbi,
    ProgramHeader, SHT_NULL, SectionFlags, SectionHeader, SectionType, SymbolSection,
};

/// A file header without entry, tables and flags.
pub(crate) fn file_header(os_abi: OsAbi, file_type: FileType, machine: Machine) -> FileHeader {
    FileHeader {
        e_ident: Ident {
            magic: ELFMAG,
            class: ELFCLASS64,
            data: ELFDATA2LSB,
            version: EV_CURRENT,
            os_abi,
            abi_version: 0,
            padding: [0; 7],
        },
        e_type: file_type.into(),
        e_machine: machine.into(),
        e_version: u32::from(EV_CURRENT.0).into(),
        e_entry: 0.into(),
        e_phoff: 0.into(),
        e_shoff: 0.into(),
        e_flags: FileFlags(0).into(),
        e_ehsize: (size_of::<FileHeader>() as u16).into(),
        e_phentsize: (size_of::<ProgramHeader>() as u16).into(),
        e_phnum: 0.into(),
        e_shentsize: (size_of::<SectionHeader>() as u16).into(),
        e_shnum: 0.into(),
        e_shstrndx: SymbolSection(0).into(),
    }
}

/// The header of a section without name, address and flags; alignment 1.
pub(crate) fn section_header(section_type: SectionType, offset: u64, size: u64) -> SectionHeader {
    SectionHeader {
        sh_name: 0.into(),
        sh_type: section_type.into(),
        sh_flags: SectionFlags(0).into(),
        sh_addr: 0.into(),
        sh_offset: offset.into(),
        sh_size: size.into(),
        sh_link: 0.into(),
        sh_info: 0.into(),
        sh_addralign: 1.into(),
        sh_entsize: 0.into(),
    }
}

/// Section 0: all zeros.
pub(crate) fn null_section() -> SectionHeader {
    SectionHeader { sh_addralign: 0.into(), ..section_header(SHT_NULL, 0, 0) }
}

/// A string table.
#[derive(Debug)]
pub(crate) struct Strings(Vec<u8>);

impl Strings {
    /// A table with the empty string at 0.
    pub(crate) fn new() -> Self {
        Self(vec![0])
    }

    /// A table that continues after the given bytes.
    pub(crate) fn after(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// Appends a string without its NUL bytes; returns its offset.
    pub(crate) fn add(&mut self, text: &[u8]) -> u32 {
        let offset = self.0.len() as u32;
        self.0.extend(text.iter().copied().filter(|byte| *byte != 0).chain([0]));
        offset
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
