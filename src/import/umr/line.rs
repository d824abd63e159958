//! The grammar of umr's lines, except rows of words ([`super::rows`]). Parsing is stateless.

use memchr::{memmem, memrchr};

use crate::clean::clean;
use crate::import::text::{Cursor, find, hex, prefix};

/// Maximum number of columns in the oldest version; it has 19.
pub(super) const MAX_COLUMNS: usize = 64;

/// The kind of the lines after a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Nothing,
    /// `Main Registers:`: whole registers.
    Main,
    /// `Wave_Status[...]:` or similar: fields of one register.
    Fields,
    Sgprs,
    Ttmps,
    Vgprs,
}

/// The beginning of a part of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// `SGPRS:` or similar.
    Section(Section),
    /// `TBA/TMA:`
    TrapBases,
    /// `HW_ID[28500000]:`, a register with its fields in the next lines.
    Register(String, u32),
}

pub(super) fn heading(text: &[u8]) -> Option<Heading> {
    if text.starts_with(b"VGPRS:") {
        return Some(Heading::Section(Section::Vgprs));
    }
    if text.starts_with(b"PGM_MEM") {
        return Some(Heading::Section(Section::Nothing));
    }
    let head = text.trim_ascii_end().strip_suffix(b":")?;
    let section = match head {
        b"Main Registers" => Section::Main,
        b"Register Bits" => Section::Fields,
        b"SGPRS" => Section::Sgprs,
        b"TTMP" => Section::Ttmps,
        b"TBA/TMA" => return Some(Heading::TrapBases),
        _ => {
            let head = head.strip_suffix(b"]")?;
            let (name, value) = head.split_at_checked(head.iter().position(|byte| *byte == b'[')?)?;
            let value = value.get(1..).filter(|digits| digits.len() == 8).and_then(hex)?;
            return Some(Heading::Register(short(name), value as u32));
        }
    };
    Some(Heading::Section(section))
}

/// `name: value | name: value |`: an entry without a closing bar is truncated, or none.
pub(super) fn entries(row: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let whole = row.get(..memrchr(b'|', row).unwrap_or(0)).unwrap_or_default();
    whole.split(|byte| *byte == b'|').filter_map(|entry| {
        let mut parts = entry.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
        Some((parts.next()?, parts.next()?))
    })
}

/// VMID, address and value of a word of code: `* pgm[5@0x1000e10ac + 0x20  ] = 0xc40008cf   exp pos0 ...`
pub(super) fn code_word(text: &[u8]) -> Option<(u64, u64, u32)> {
    let mut cursor = Cursor::new(text.get(find(text, "pgm[")? + "pgm[".len()..)?);
    let vmid = cursor.decimal()?;
    cursor.take("@").then_some(())?;
    let base = cursor.address()?;
    cursor.spaces();
    cursor.take("+").then_some(())?;
    cursor.spaces();
    let offset = cursor.address()?;
    for sign in ["]", "="] {
        cursor.spaces();
        cursor.take(sign).then_some(())?;
    }
    cursor.spaces();
    let (digits, word) = cursor.hex()?;
    let address = base.checked_add(offset)?;
    (digits == 8 && address % 4 == 0).then_some((vmid, address, word as u32))
}

/// Number of columns for the place of the wave.
pub(super) const PLACES: usize = 5;

/// The headings of the oldest version, in lower case.
fn columns(text: &[u8]) -> Option<Vec<String>> {
    if !text.starts_with(b"SE ") {
        return None;
    }
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(MAX_COLUMNS);
    let names: Vec<String> = words.map(|word| short(word.strip_suffix(b"#").unwrap_or(word))).collect();
    let places = names.get(..PLACES)?;
    let known = places == ["se", "sh", "cu", "simd", "wave"] || places == ["se", "sa", "wgp", "simd", "wave"];
    known.then_some(names)
}

/// The prefix of a line of headings, and the headings.
pub(super) fn columns_in(line: &[u8]) -> Option<(&[u8], Vec<String>)> {
    let (before, text) = line.split_at_checked(find(line, "SE S")?)?;
    Some((shown(before)?, columns(text)?))
}

/// The prefix of a line that names a wave, its slot, and whether the slot has a WGP.
pub(super) fn slot_in(line: &[u8]) -> Option<(&[u8], String, bool)> {
    let before = line.get(..memmem::rfind(line, b"simd")?)?;
    let (before, text) = line.split_at_checked(memmem::rfind(before, b"se")?)?;
    let (name, has_wgp) = slot(text)?;
    Some((shown(before)?, name, has_wgp))
}

/// The prefix of each line, if a text can be one; blanks are no prefix.
fn shown(before: &[u8]) -> Option<&[u8]> {
    prefix::is_prefix(before).then_some(if before.trim_ascii().is_empty() { &[] } else { before })
}

/// The slot in a text without other contents: `se0.sh0.cu2.simd0.wave0`.
fn slot(text: &[u8]) -> Option<(String, bool)> {
    let text = text.trim_ascii_end();
    let mut cursor = Cursor::new(text);
    let mut part = |names: [&str; 2]| {
        let found = names.iter().position(|name| cursor.take(name))?;
        cursor.decimal()?;
        let _ = cursor.take(".");
        Some((found, cursor.rest.is_empty()))
    };
    part(["se", "se"])?;
    let (sa, _) = part(["sh", "sa"])?;
    let (wgp, _) = part(["cu", "wgp"])?;
    part(["simd", "simd"])?;
    let (_, end) = part(["wave", "wave"])?;
    (end && sa == wgp).then(|| (String::from_utf8_lossy(text).into_owned(), wgp == 1))
}

/// The name of a register that all versions share: lower case, without the prefix and infix of some.
pub(super) fn short(name: &[u8]) -> String {
    let name = clean(String::from_utf8_lossy(name)).to_ascii_lowercase();
    let name = name.strip_prefix("ixsq_wave_").or_else(|| name.strip_prefix("wave_")).unwrap_or(&name);
    match name {
        "gpralloc" => "gpr_alloc",
        "ldsalloc" => "lds_alloc",
        "ibsts" | "ibsts1" => "ib_sts",
        "ibsts2" => "ib_sts2",
        other => other,
    }
    .to_owned()
}
