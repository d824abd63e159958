//! A code object in a form that stock debuggers load: its own symbols and line tables with an x86-64 header.
//!
//! gdb and lldb do not support the machine of a code object. With another machine in its header both read its symbols
//! and lines, so that `step` works by source lines. Call frame information is removed: gdb 13 crashes on clang's CIE.

use std::fs;
use std::path::{Path, PathBuf};

use super::harness::scratch;

/// Fields of an ELF file header, at their offsets in the 64-bit format.
const OS_ABI: usize = 7;
const ABI_VERSION: usize = 8;
const MACHINE: usize = 18;
const FLAGS: usize = 48;
const SECTION_TABLE: usize = 40;
const SECTION_SIZE: usize = 58;
const SECTION_COUNT: usize = 60;
const SECTION_NAMES: usize = 62;
const X86_64: u16 = 62;

/// Writes a copy of a code object with the machine x86-64.
pub(crate) fn x86_view(code_object: &Path) -> PathBuf {
    let mut elf = fs::read(code_object).unwrap();
    elf[OS_ABI] = 0;
    elf[ABI_VERSION] = 0;
    elf[MACHINE..MACHINE + 2].copy_from_slice(&X86_64.to_le_bytes());
    elf[FLAGS..FLAGS + 4].fill(0);
    let table = number(&elf, SECTION_TABLE, 8);
    let size = number(&elf, SECTION_SIZE, 2);
    let section = |index: usize| table + index * size;
    let names = number(&elf, section(number(&elf, SECTION_NAMES, 2)) + 24, 8);
    let mut hidden = 0;
    for header in (0..number(&elf, SECTION_COUNT, 2)).map(section) {
        if elf[names + number(&elf, header, 4)..].starts_with(b".debug_frame\0") {
            elf[header + 4..header + 8].fill(0);
            hidden += 1;
        }
    }
    assert_eq!(hidden, 1, "{} has one .debug_frame", code_object.display());
    let path = scratch("disguised.elf");
    fs::write(&path, elf).unwrap();
    path
}

fn number(elf: &[u8], at: usize, bytes: usize) -> usize {
    elf[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
