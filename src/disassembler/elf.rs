//! The minimal ELF file that `llvm-objdump` accepts: a code section at the code's address, and a symbol at 0.
//!
//! gABI chapter 4, 64-bit little-endian; AMDGPUUsage, "ELF Code Object". The tool names the nearest symbol below a
//! branch target. The symbol at 0 covers targets below the section.

use crate::elf::{
    ELFOSABI_AMDGPU_HSA, EM_AMDGPU, ET_DYN, FileFlags, FileHeader, SHF_ALLOC, SHF_EXECINSTR, SHN_ABS,
    SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB, STB_GLOBAL, STT_NOTYPE, SectionHeader, Sym, SymbolInfo,
    SymbolSection, bytes_of, write, write::Strings,
};

/// Name of the code section; the tool uses it as the name of the section's start.
pub(super) const SECTION: &str = ".text";
/// The absolute symbol at 0.
pub(super) const ZERO: &str = "zero";

/// Sections: none, code, symbols, names.
const SECTIONS: usize = 4;
/// Code object version 5.
const ABI_VERSION: u8 = 3;
/// `EF_AMDGPU_MACH_AMDGCN_GFX900`, which all LLVM versions accept as amdgcn; `-mcpu` overrides it.
const ANY_AMDGCN: FileFlags = FileFlags(0x2c);

/// Builds a file around code at an address: header, section headers, code, symbols, names.
pub(super) fn around(address: u64, code: &[u8]) -> Vec<u8> {
    let mut names = Strings::new();
    let [text, symtab, strtab, zero] =
        [SECTION, ".symtab", ".strtab", ZERO].map(|name| names.add(name.as_bytes()));
    let names = names.into_bytes();
    let global = SymbolInfo::new(STB_GLOBAL, STT_NOTYPE);
    let zero = Sym { st_name: zero.into(), st_info: global, st_shndx: SHN_ABS.into(), ..Sym::default() };
    let symbols = [Sym::default(), zero];

    let sections_at = size_of::<FileHeader>() as u64;
    let code_at = sections_at + (SECTIONS * size_of::<SectionHeader>()) as u64;
    let symbols_at = code_at + code.len() as u64;
    let names_at = symbols_at + size_of_val(&symbols) as u64;
    let sections: [SectionHeader; SECTIONS] = [
        write::null_section(),
        SectionHeader {
            sh_name: text.into(),
            sh_flags: (SHF_ALLOC | SHF_EXECINSTR).into(),
            sh_addr: address.into(),
            sh_addralign: 4.into(),
            ..write::section_header(SHT_PROGBITS, code_at, code.len() as u64)
        },
        SectionHeader {
            sh_name: symtab.into(),
            sh_link: 3.into(),
            sh_info: 1.into(),
            sh_addralign: 8.into(),
            sh_entsize: (size_of::<Sym>() as u64).into(),
            ..write::section_header(SHT_SYMTAB, symbols_at, size_of_val(&symbols) as u64)
        },
        SectionHeader {
            sh_name: strtab.into(),
            ..write::section_header(SHT_STRTAB, names_at, names.len() as u64)
        },
    ];
    let mut header = FileHeader {
        e_shoff: sections_at.into(),
        e_flags: ANY_AMDGCN.into(),
        e_shnum: (SECTIONS as u16).into(),
        e_shstrndx: SymbolSection(SECTIONS as u16 - 1).into(),
        ..write::file_header(ELFOSABI_AMDGPU_HSA, ET_DYN, EM_AMDGPU)
    };
    header.e_ident.abi_version = ABI_VERSION;
    [bytes_of(&header), bytes_of(&sections), code, bytes_of(&symbols), &names].concat()
}
