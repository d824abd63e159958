//! The smallest file that `llvm-objdump` takes code from: a section where the code lies, and a symbol at 0.
//!
//! gABI chapter 4, 64-bit little-endian; AMDGPUUsage, "ELF Code Object". The symbol is for branches to addresses below the
//! section: the tool names the symbol before a target, and only where there is one.

/// The section with the code; its name is what the tool calls its beginning.
pub(super) const SECTION: &str = ".text";
/// The absolute symbol at 0.
pub(super) const ZERO: &str = "zero";

const HEADER_SIZE: u16 = 64;
const SECTION_HEADER_SIZE: u16 = 64;
const SYMBOL_SIZE: u64 = 24;
const ET_DYN: u16 = 3;
const EM_AMDGPU: u16 = 224;
const ELFOSABI_AMDGPU_HSA: u8 = 64;
/// Code object version 5.
const ABI_VERSION: u8 = 3;
/// `EF_AMDGPU_MACH_AMDGCN_GFX900`: any that all versions of LLVM take for amdgcn's; `-mcpu` has the last word.
const ANY_AMDGCN: u32 = 0x2c;
const SHT_PROGBITS: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHF_ALLOC_EXECINSTR: u64 = 6;
const SHN_ABS: u16 = 0xfff1;
const STB_GLOBAL: u8 = 1 << 4;
/// Where the names begin in the string table.
const SECTION_NAME: u32 = 1;
const SYMTAB_NAME: u32 = 7;
const STRTAB_NAME: u32 = 15;
const ZERO_NAME: u32 = 23;

/// The file around code that lies at an address.
pub(super) fn around(address: u64, code: &[u8]) -> Vec<u8> {
    let names = format!("\0{SECTION}\0.symtab\0.strtab\0{ZERO}\0");
    let sections = 4u16;
    let code_at = u64::from(HEADER_SIZE) + u64::from(sections) * u64::from(SECTION_HEADER_SIZE);
    let symbols_at = code_at + code.len() as u64;
    let names_at = symbols_at + 2 * SYMBOL_SIZE;

    let mut file = Vec::with_capacity(code.len() + 512);
    file.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, ELFOSABI_AMDGPU_HSA, ABI_VERSION, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(ET_DYN.to_le_bytes());
    file.extend(EM_AMDGPU.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    // No entry, no program headers; section headers follow.
    for number in [0, 0, u64::from(HEADER_SIZE)] {
        file.extend(number.to_le_bytes());
    }
    file.extend(ANY_AMDGCN.to_le_bytes());
    for number in [HEADER_SIZE, 56, 0, SECTION_HEADER_SIZE, sections, sections - 1] {
        file.extend(number.to_le_bytes());
    }

    let mut section = |words: [u32; 2], long: [u64; 4], link: [u32; 2], rest: [u64; 2]| {
        words.iter().for_each(|word| file.extend(word.to_le_bytes()));
        long.iter().for_each(|word| file.extend(word.to_le_bytes()));
        link.iter().for_each(|word| file.extend(word.to_le_bytes()));
        rest.iter().for_each(|word| file.extend(word.to_le_bytes()));
    };
    // Name and type; flags, address, offset and size; link and info; alignment and size of an entry.
    section([0; 2], [0; 4], [0; 2], [0; 2]);
    let of_code = [SHF_ALLOC_EXECINSTR, address, code_at, code.len() as u64];
    section([SECTION_NAME, SHT_PROGBITS], of_code, [0; 2], [4, 0]);
    section([SYMTAB_NAME, SHT_SYMTAB], [0, 0, symbols_at, 2 * SYMBOL_SIZE], [3, 1], [8, SYMBOL_SIZE]);
    section([STRTAB_NAME, SHT_STRTAB], [0, 0, names_at, names.len() as u64], [0; 2], [1, 0]);

    file.extend(code);
    file.resize(file.len() + SYMBOL_SIZE as usize, 0);
    file.extend(ZERO_NAME.to_le_bytes());
    file.extend([STB_GLOBAL, 0]);
    file.extend(SHN_ABS.to_le_bytes());
    file.extend([0; 16]);
    file.extend(names.as_bytes());
    file
}
