//! A writer of small AMDGPU code objects, independent of the readers: gABI "ELF Header", "Sections", "Program Header".

/// ELF address and file offset of the code, and its bytes.
pub(super) const TEXT: u64 = 0x1000;
pub(super) const TEXT_SIZE: u64 = 0x1000;

const SHF_ALLOC: u64 = 2;
const SHF_COMPRESSED: u64 = 0x800;

/// Contents of a section.
pub(super) struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    bytes: Vec<u8>,
    /// `sh_link`: the number of another section, from 1.
    link: u32,
    /// File offset of another section, if the section shares its bytes.
    at: Option<usize>,
}

impl Section {
    pub(super) fn new(name: &'static str, bytes: Vec<u8>) -> Self {
        Self { name, kind: 1, flags: 0, bytes, link: 0, at: None }
    }

    /// A section of zlib data with its header (gABI "Section Compression"), which claims `claims` bytes.
    pub(super) fn compressed(name: &'static str, zlib: &[u8], claims: u64) -> Self {
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(claims.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(zlib);
        Self { flags: SHF_COMPRESSED, ..Self::new(name, bytes) }
    }

    /// A note of AMD's metadata.
    pub(super) fn note(vendor: &[u8], kind: u32, contents: &[u8]) -> Self {
        let mut bytes = Vec::new();
        for word in [vendor.len() as u32 + 1, contents.len() as u32, kind] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(vendor);
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(contents);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Self { kind: 7, ..Self::new(".note", bytes) }
    }

    /// A symbol table, with its names in section number `names`.
    pub(super) fn symbols(bytes: Vec<u8>, names: u32) -> Self {
        Self { kind: 2, link: names, ..Self::new(".symtab", bytes) }
    }

    /// A section over the bytes of another section, counted from 0.
    pub(super) fn over(name: &'static str, other: usize, kind: u32) -> Self {
        Self { kind, at: Some(other), ..Self::new(name, Vec::new()) }
    }
}

/// A code object for gfx90a with code of `s_nop`s at [`TEXT`], and these sections from number 2 on.
pub(super) fn code_object(sections: Vec<Section>) -> Vec<u8> {
    code_object_of(&[0xbf80_0000; TEXT_SIZE as usize / 4], sections)
}

/// [`code_object`] with the given code.
pub(super) fn code_object_of(code: &[u32], sections: Vec<Section>) -> Vec<u8> {
    let mut file = vec![0; TEXT as usize];
    code.iter().for_each(|instruction| file.extend_from_slice(&instruction.to_le_bytes()));
    let size = 4 * code.len() as u64;
    let mut names = b"\0.text\0.shstrtab\0".to_vec();
    // Name, type, flags, address, offset, size, link.
    let mut headers = vec![[0; 7], [1, 1, SHF_ALLOC | 4, TEXT, TEXT, size, 0]];
    let mut places: Vec<(u64, u64)> = Vec::new();
    for section in sections {
        let place = match section.at {
            Some(other) => places[other],
            None => {
                file.resize(file.len().next_multiple_of(8), 0);
                let at = file.len() as u64;
                file.extend(&section.bytes);
                (at, section.bytes.len() as u64)
            }
        };
        places.push(place);
        let name = names.len() as u64;
        names.extend(section.name.as_bytes());
        names.push(0);
        headers.push([name, section.kind.into(), section.flags, 0, place.0, place.1, section.link.into()]);
    }
    let at = file.len() as u64;
    file.extend(&names);
    headers.push([7, 3, 0, 0, at, names.len() as u64, 0]);
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len() as u64;
    for [name, kind, flags, address, offset, size, link] in &headers {
        file.extend((*name as u32).to_le_bytes());
        file.extend((*kind as u32).to_le_bytes());
        for word in [flags, address, offset, size] {
            file.extend(word.to_le_bytes());
        }
        file.extend((*link as u32).to_le_bytes());
        file.extend(0u32.to_le_bytes());
        // A symbol table has the size of its records.
        file.extend([1u64.to_le_bytes(), (if *kind == 2 { 24u64 } else { 0 }).to_le_bytes()].concat());
    }
    let mut header = b"\x7fELF\x02\x01\x01\x40\x03".to_vec();
    header.resize(16, 0);
    header.extend([3u16.to_le_bytes(), 224u16.to_le_bytes()].concat());
    header.extend(1u32.to_le_bytes());
    header.extend([0u64.to_le_bytes(), 64u64.to_le_bytes(), table.to_le_bytes()].concat());
    // EF_AMDGPU_MACH_AMDGCN_GFX90A.
    header.extend(0x3fu32.to_le_bytes());
    for half in [64u16, 56, 1, 64, headers.len() as u16, headers.len() as u16 - 1] {
        header.extend(half.to_le_bytes());
    }
    assert_eq!(header.len(), 64);
    // One segment: PT_LOAD, readable and executable, of headers and code.
    header.extend([1u32.to_le_bytes(), 5u32.to_le_bytes()].concat());
    for word in [0, 0, 0, TEXT + size, TEXT + size, 0x1000] {
        header.extend(word.to_le_bytes());
    }
    file[..header.len()].copy_from_slice(&header);
    file
}

/// Zlib data (RFC 1950 and 1951) of `1 + 258 * matches` zeros: a byte of it expands to 1032.
pub(super) fn zeros(matches: u64) -> (Vec<u8>, u64) {
    let mut bits = Bits::default();
    // The last block, with dynamic codes: 286 literals and lengths, one distance, 18 code lengths.
    bits.number(1, 1);
    bits.number(2, 2);
    bits.number(29, 5);
    bits.number(0, 5);
    bits.number(14, 4);
    // In the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1: 18 takes one bit, 1 and 2 take two.
    for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] {
        bits.number(length, 3);
    }
    // Literal 0 has two bits, then 255 without a code, the end two, 28 without, length 258 one; the distance one.
    let (one, two, none) = ("10", "11", "0");
    bits.code(two);
    for run in [138, 117] {
        bits.code(none);
        bits.number(run - 11, 7);
    }
    bits.code(two);
    bits.code(none);
    bits.number(28 - 11, 7);
    bits.code(one);
    bits.code(one);
    // A zero, then repeatedly 258 bytes from distance 1: both codes are one bit 0.
    bits.code("10");
    bits.zeros(2 * matches);
    bits.code("11");
    let size = 1 + 258 * matches;
    let mut zlib = vec![0x78, 0x01];
    zlib.extend(bits.finish());
    // Adler-32 of zeros: 1 below, the count above.
    zlib.extend((((size % 65521) as u32) << 16 | 1).to_be_bytes());
    (zlib, size)
}

/// Bits, lowest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn bit(&mut self, bit: u8) {
        if self.used == 0 {
            self.bytes.push(0);
        }
        *self.bytes.last_mut().unwrap() |= bit << self.used;
        self.used = (self.used + 1) % 8;
    }

    fn number(&mut self, number: u32, bits: u32) {
        (0..bits).for_each(|at| self.bit((number >> at & 1) as u8));
    }

    fn zeros(&mut self, count: u64) {
        let bits = 8 * self.bytes.len() as u64 - u64::from((8 - self.used) % 8) + count;
        self.bytes.resize(bits.div_ceil(8) as usize, 0);
        self.used = (bits % 8) as u32;
    }

    /// A Huffman code, first bit first.
    fn code(&mut self, code: &str) {
        code.bytes().for_each(|bit| self.bit(bit - b'0'));
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
