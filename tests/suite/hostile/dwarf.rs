//! A writer of DWARF 5, byte by byte, independent of the readers: sections 7.5 (units, abbreviations), 6.2 (lines).

use super::elf::{Section, TEXT, TEXT_SIZE, code_object};

// Tags, table 7.3.
pub(super) const UNIT: u16 = 0x11;
pub(super) const SUBPROGRAM: u16 = 0x2e;
pub(super) const BLOCK: u16 = 0x0b;
pub(super) const INLINED: u16 = 0x1d;
pub(super) const VARIABLE: u16 = 0x34;
pub(super) const BASE: u16 = 0x24;
pub(super) const STRUCTURE: u16 = 0x13;
pub(super) const MEMBER: u16 = 0x0d;
pub(super) const NAMESPACE: u16 = 0x39;
pub(super) const POINTER: u16 = 0x0f;
pub(super) const TEMPLATE_TYPE: u16 = 0x2f;
pub(super) const ARRAY: u16 = 0x01;
pub(super) const SUBRANGE: u16 = 0x21;

// Attributes, table 7.5, with forms, table 7.6.
pub(super) const NAME: (u16, u16) = (0x03, 0x08);
pub(super) const LINKAGE_NAME: (u16, u16) = (0x6e, 0x08);
pub(super) const LOW: (u16, u16) = (0x11, 0x01);
pub(super) const HIGH: (u16, u16) = (0x12, 0x06);
pub(super) const LINES: (u16, u16) = (0x10, 0x17);
pub(super) const RANGES: (u16, u16) = (0x55, 0x17);
pub(super) const LOCATION: (u16, u16) = (0x02, 0x18);
pub(super) const LOCATIONS: (u16, u16) = (0x02, 0x17);
pub(super) const TYPE: (u16, u16) = (0x49, 0x13);
pub(super) const ORIGIN: (u16, u16) = (0x31, 0x13);
pub(super) const SIZE: (u16, u16) = (0x0b, 0x0b);
pub(super) const ENCODING: (u16, u16) = (0x3e, 0x0b);
pub(super) const INLINE: (u16, u16) = (0x20, 0x0b);
pub(super) const COUNT: (u16, u16) = (0x37, 0x0b);

pub(super) fn uleb(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The declaration of an abbreviation.
pub(super) fn declaration(code: u64, tag: u16, has_children: bool, attributes: &[(u16, u16)]) -> Vec<u8> {
    let mut bytes = [uleb(code), uleb(tag.into()), vec![has_children.into()]].concat();
    for (name, form) in attributes {
        bytes.extend([uleb((*name).into()), uleb((*form).into())].concat());
    }
    bytes.extend([0, 0]);
    bytes
}

/// Bytes of a unit's header.
pub(super) const HEADER: u32 = 12;

/// A unit with these DIEs.
pub(super) fn unit(abbreviations: u32, dies: &[u8]) -> Vec<u8> {
    let mut unit = (dies.len() as u32 + 8).to_le_bytes().to_vec();
    unit.extend([5, 0, 1, 8]);
    unit.extend(abbreviations.to_le_bytes());
    unit.extend(dies);
    unit
}

/// DIEs of one unit under construction, with an open root and function `f`. [`Dies::table`] has declarations 1 to 9.
pub(super) struct Dies {
    pub(super) bytes: Vec<u8>,
    pub(super) table: Vec<u8>,
}

impl Dies {
    /// A root of code 1: `a.cpp`, over all of the code.
    pub(super) fn new() -> Self {
        let table = [
            declaration(1, UNIT, true, &[NAME, LOW, HIGH]),
            declaration(2, SUBPROGRAM, true, &[NAME, LOW, HIGH]),
            declaration(3, BASE, false, &[NAME, ENCODING, SIZE]),
            declaration(4, VARIABLE, false, &[NAME, TYPE, LOCATION]),
        ];
        let mut dies = Self { bytes: Vec::new(), table: table.concat() };
        dies.die(1, &[b"a.cpp\0", &place()]);
        dies
    }

    pub(super) fn declare(&mut self, code: u64, tag: u16, has_children: bool, attributes: &[(u16, u16)]) {
        self.table.extend(declaration(code, tag, has_children, attributes));
    }

    /// Adds a DIE; returns its offset in the unit.
    pub(super) fn die(&mut self, code: u64, parts: &[&[u8]]) -> u32 {
        let at = HEADER + self.bytes.len() as u32;
        self.bytes.extend_from_slice(&uleb(code));
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        at
    }

    /// Adds bytes of DIEs.
    pub(super) fn dies(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Adds `int`; returns its offset.
    pub(super) fn int(&mut self) -> u32 {
        self.die(3, &[b"int\0", &[5, 4]])
    }

    /// Opens function `f` over all of the code; returns its offset.
    pub(super) fn function(&mut self) -> u32 {
        self.die(2, &[b"f\0", &place()])
    }

    /// A variable with the constant value 7 (`DW_OP_lit7`, `DW_OP_stack_value`).
    pub(super) fn variable(&mut self, name: &str, of: u32) -> u32 {
        self.die(4, &[name.as_bytes(), &[0], &of.to_le_bytes(), &[2, 0x37, 0x9f]])
    }

    /// Closes `count` DIEs.
    pub(super) fn close(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    pub(super) fn sections(self) -> Vec<Section> {
        let table = [self.table, vec![0]].concat();
        vec![Section::new(".debug_info", unit(0, &self.bytes)), Section::new(".debug_abbrev", table)]
    }

    pub(super) fn object(self) -> Vec<u8> {
        code_object(self.sections())
    }
}

/// `DW_AT_low_pc` and `DW_AT_high_pc` of all of the code.
pub(super) fn place() -> Vec<u8> {
    [&TEXT.to_le_bytes()[..], &(TEXT_SIZE as u32).to_le_bytes()].concat()
}

/// A line table with this program, and with one file as both file 0 and file 1.
pub(super) fn lines(program: &[u8]) -> Vec<u8> {
    // Instructions of 4 bytes, one operation each, is_stmt by default, line_base -5, line_range 14, opcode_base 13.
    let mut rest = vec![4, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    // One directory, then files with their directory: DW_LNCT_path and DW_LNCT_directory_index.
    rest.extend([1, 1, 8, 1]);
    rest.extend(b"/src\0");
    rest.extend([2, 1, 8, 2, 0x0b, 2]);
    rest.extend(b"a.cpp\0\0a.cpp\0\0");
    let mut table = vec![5, 0, 8, 0];
    table.extend((rest.len() as u32).to_le_bytes());
    table.extend(rest);
    table.extend(program);
    [(table.len() as u32).to_le_bytes().to_vec(), table].concat()
}
