//! Reading and writing 64-bit little-endian ELF headers and tables with `object`'s records.
//!
//! `object` defines records and constants. Its unaligned records read a file at any address: in a dump, a bundle, an
//! image. Its whole-file readers and writers are unused: their errors have no offsets, they reject ROCm's files, and
//! they need the whole file in one buffer.
//!
//! System V gABI, chapters 4 and 5.

pub(crate) mod read;
pub(crate) mod write;

pub(crate) use object::LittleEndian as LE;
use object::elf;
pub(crate) use object::elf::{
    DT_GNU_HASH, DT_HASH, DT_NULL, DT_STRSZ, DT_STRTAB, DT_SYMTAB, DataEncoding, DynamicTag, ELFCLASS32,
    ELFCLASS64, ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, ELFDATA2LSB, ELFDATA2MSB, ELFMAG, ELFOSABI_NONE,
    EM_AMDGPU, EM_X86_64, ET_CORE, ET_DYN, ET_EXEC, ET_REL, EV_CURRENT, FileClass, FileFlags, FileType,
    Ident, Machine, NT_GNU_BUILD_ID, NT_PRPSINFO, NoteType, OsAbi, PF_R, PF_W, PF_X, PN_XNUM, PT_DYNAMIC,
    PT_GNU_RELRO, PT_GNU_STACK, PT_LOAD, PT_NOTE, PT_NULL, PT_PHDR, ProgramFlags, ProgramType, SHF_ALLOC,
    SHF_COMPRESSED, SHF_EXECINSTR, SHF_WRITE, SHN_ABS, SHN_LORESERVE, SHN_UNDEF, SHN_XINDEX, SHT_DYNSYM,
    SHT_NOBITS, SHT_NOTE, SHT_NULL, SHT_PROGBITS, SHT_RELA, SHT_STRTAB, SHT_SYMTAB, STB_GLOBAL, STB_LOCAL,
    STT_FUNC, STT_OBJECT, SectionFlags, SectionType, SymbolInfo, SymbolSection, SymbolType,
};
pub(crate) use object::pod::{bytes_of, bytes_of_slice};
pub(crate) use object::read::{CompressedData, CompressionFormat};

/// `Elf64_Ehdr`, 64 bytes.
pub(crate) type FileHeader = elf::FileHeader64<LE>;
/// `Elf64_Phdr`, 56 bytes.
pub(crate) type ProgramHeader = elf::ProgramHeader64<LE>;
/// `Elf64_Shdr`, 64 bytes.
pub(crate) type SectionHeader = elf::SectionHeader64<LE>;
/// `Elf64_Sym`, 24 bytes.
pub(crate) type Sym = elf::Sym64<LE>;
/// `Elf64_Rela`, 24 bytes.
pub(crate) type Rela = elf::Rela64<LE>;
/// `Elf64_Dyn`, 16 bytes.
pub(crate) type Dyn = elf::Dyn64<LE>;
/// `Elf64_Chdr`, 24 bytes.
pub(crate) type CompressionHeader = elf::CompressionHeader64<LE>;
/// `Elf64_Nhdr`, 12 bytes: sizes of name and descriptor, and type.
pub(crate) type NoteHeader = elf::NoteHeader64<LE>;
/// The head of a `DT_GNU_HASH` table, 16 bytes.
pub(crate) type GnuHashHeader = elf::GnuHashHeader<LE>;
/// The head of a `DT_HASH` table, 8 bytes.
pub(crate) type HashHeader = elf::HashHeader<LE>;
/// An unaligned word.
pub(crate) type Word = object::U32<LE>;

/// `e_ident[EI_OSABI]` of HSA code objects (AMDGPUUsage, "ELF Header"); `object` lacks it.
pub(crate) const ELFOSABI_AMDGPU_HSA: OsAbi = OsAbi(64);
