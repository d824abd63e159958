//! umr's text. Three flavours came one after the other, and one reader takes them all, because what begins a line says
//! what it is: columns under a heading, `Main Registers:` with small names, and the same with the hardware's names.

use std::io::BufRead;

use memchr::{memmem, memrchr};

use super::family::Families;
use super::wave::{Read, UmrWave};
use super::{prefix, rows};
use crate::clean::clean;
use crate::import::problem::Problems;
use crate::import::text::{Cursor, Kept, Line, Lines, MOST_WAVES, find, hex, processors_in, skip_spaces};
use crate::units::WaveSize;

/// The most words of code that are kept: shaders of some thousand waves with `full_shader`.
pub(super) const MOST_CODE: usize = 16 << 20;

/// The most columns of the oldest flavour; it has 19.
const MOST_COLUMNS: usize = 64;

/// What umr says where there are no waves.
pub(in crate::import) const IDLE: &str = "No active waves!";

/// What RADV writes before umr's text.
const RADV: &[u8] = b"UMR GFX waves:";

/// The most bytes that are kept of the line that says why there are no waves.
pub(super) const MOST_SAID: usize = 400;

/// Reads all of a text, or as far as the operating system gives it.
pub(super) fn read(
    source: impl BufRead,
    kept: Kept,
    most_code: usize,
    families: &mut Families<'_>,
    problems: &mut Problems,
) -> Read {
    let mut lines = Lines::new(source);
    let mut reader = Reader {
        read: Read { kept, ..Read::default() },
        most_code,
        families,
        problems,
        prefix: Vec::new(),
        columns: Vec::new(),
        wave: None,
        section: Section::Nothing,
    };
    loop {
        match lines.next() {
            Ok(Some(line)) => reader.line(line),
            Ok(None) => break,
            Err(error) => {
                let what = format_args!("the text cannot be read to its end: {error}");
                reader.problems.whole(what, "a readable file");
                break;
            }
        }
    }
    reader.finish()
}

/// Whether a line is one with which umr begins a wave, or a list of them.
pub(in crate::import) fn begins_wave(line: &[u8]) -> bool {
    slot_in(line).is_some() || columns_in(line).is_some()
}

/// What the lines after one are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Nothing,
    /// `Main Registers:`: whole registers.
    Main,
    /// `Wave_Status[...]:` and its like: fields of one register.
    Fields,
    Sgprs,
    Ttmps,
    Vgprs,
}

struct Reader<'p, 't> {
    read: Read,
    most_code: usize,
    families: &'p mut Families<'t>,
    problems: &'p mut Problems,
    /// What stands before each line.
    prefix: Vec<u8>,
    /// Of the oldest flavour.
    columns: Vec<String>,
    wave: Option<UmrWave>,
    section: Section,
}

impl Reader<'_, '_> {
    fn line(&mut self, line: Line<'_>) {
        if line.cut {
            let what = "the line is longer than what is looked at; its rest is passed over";
            self.problems.line(line.number, what, "lines of at most 1 MiB");
        }
        if let Some((prefix, name, has_wgp)) = slot_in(line.text) {
            self.prefix = prefix.to_owned();
            self.begin(line, name, has_wgp);
            return;
        }
        if let Some((prefix, columns)) = columns_in(line.text) {
            self.prefix = prefix.to_owned();
            self.columns = columns;
            return;
        }
        let text = skip_spaces(prefix::after(&self.prefix, line.text).unwrap_or(line.text));
        let Some(first) = text.first() else { return };
        if first.is_ascii_digit() && !self.columns.is_empty() {
            self.row_of_columns(line, text);
            return;
        }
        if find(text, "pgm[").is_some() {
            self.code(line, text);
            return;
        }
        if self.wave.is_some() {
            self.wave_line(line, text);
        } else {
            self.outside(text);
        }
    }

    /// A line before the first wave.
    fn outside(&mut self, text: &[u8]) {
        if find(text, IDLE).is_some() {
            self.read.idle = true;
        } else if text.starts_with(RADV) {
            self.read.radv = true;
        } else if self.read.first.is_none() {
            let most = text.get(..text.len().min(MOST_SAID)).unwrap_or_default();
            self.read.first = Some(clean(String::from_utf8_lossy(most.trim_ascii())).into_owned());
        }
    }

    fn begin(&mut self, line: Line<'_>, slot: String, has_wgp: bool) {
        self.end();
        self.section = Section::Nothing;
        self.wave = Some(UmrWave { line: line.number, slot, has_wgp, ..UmrWave::default() });
    }

    fn end(&mut self) {
        let Some(mut wave) = self.wave.take() else { return };
        if self.read.waves.len() >= MOST_WAVES {
            self.read.too_many = true;
            return;
        }
        wave.finish(self.families, &mut self.read.kept, self.problems);
        self.read.waves.push(wave);
    }

    fn finish(mut self) -> Read {
        self.end();
        self.read
    }

    /// `0 0 1 0 0 08412000 00000001 ...` under the heading.
    fn row_of_columns(&mut self, line: Line<'_>, text: &[u8]) {
        let words: Vec<&[u8]> = text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .take(MOST_COLUMNS + 1)
            .collect();
        let numbers = words.iter().take(PLACES).map(|word| Cursor::new(word).decimal());
        let Some(place) = numbers.collect::<Option<Vec<u64>>>().filter(|place| place.len() == PLACES) else {
            return;
        };
        let has_wgp = self.columns.iter().any(|column| column == "wgp");
        let names: Vec<String> = self.columns.iter().take(PLACES).cloned().collect();
        let parts = names.iter().zip(&place).map(|(name, number)| format!("{name}{number}"));
        let slot = parts.collect::<Vec<_>>().join(".");
        self.begin(line, slot, has_wgp);
        let Some(wave) = &mut self.wave else { return };
        if words.len() != self.columns.len() {
            let what =
                format_args!("{} columns; those that have no heading or no value are ignored", words.len());
            self.problems.line(line.number, what, format_args!("the {} of the heading", self.columns.len()));
        }
        for (column, word) in self.columns.iter().zip(&words).skip(PLACES) {
            match (word.len() == 8).then(|| hex(word)).flatten() {
                Some(value) => {
                    wave.words.insert(column.clone(), value as u32);
                }
                None => {
                    self.problems.line(line.number, format_args!("{column} is no number"), "eight hex digits")
                }
            }
        }
    }

    fn wave_line(&mut self, line: Line<'_>, text: &[u8]) {
        if let Some(wave) = &mut self.wave
            && find(text, ".reg").is_some()
        {
            wave.named = wave.named.or_else(|| processors_in(text).next());
            wave.graphics |= find(text, ".regSPI_SHADER_").is_some();
        }
        if let Some(section) = self.heading(text) {
            self.section = section;
            return;
        }
        let row = text.strip_prefix(b">").unwrap_or(text);
        let (section, row) = match row {
            _ if row.starts_with(b"SGPRS[") => (Section::Sgprs, row.get("SGPRS".len()..)),
            _ if row.starts_with(b"TTMP[") => (Section::Ttmps, row.get("TTMP".len()..)),
            // The trap handler's base addresses of GPUs before gfx9.
            _ if row.starts_with(b"TBA/TMA[") => {
                if let Some(wave) = &mut self.wave {
                    wave.before_gfx9 = true;
                }
                return;
            }
            _ => (self.section, Some(row)),
        };
        let row = row.unwrap_or_default();
        match section {
            Section::Main => self.entries(line, row, false),
            Section::Fields => self.entries(line, row, true),
            Section::Sgprs | Section::Ttmps | Section::Vgprs
                if !rows::take(&mut self.wave, self.problems, section, line, row) && rows::is_row(row) =>
            {
                let what = "the row cannot be read; its registers are not captured";
                self.problems.line(line.number, what, "[first..last] = { words of eight hex digits }");
            }
            _ => {}
        }
    }

    /// What begins a part of a wave: `SGPRS:`, `HW_ID[28500000]:` ...
    fn heading(&mut self, text: &[u8]) -> Option<Section> {
        if text.starts_with(b"VGPRS:") {
            return Some(Section::Vgprs);
        }
        if text.starts_with(b"PGM_MEM") {
            return Some(Section::Nothing);
        }
        let head = text.trim_ascii_end().strip_suffix(b":")?;
        match head {
            b"Main Registers" => return Some(Section::Main),
            b"Register Bits" => return Some(Section::Fields),
            b"SGPRS" => return Some(Section::Sgprs),
            b"TTMP" => return Some(Section::Ttmps),
            b"TBA/TMA" => {
                if let Some(wave) = &mut self.wave {
                    wave.before_gfx9 = true;
                }
                return Some(Section::Nothing);
            }
            _ => {}
        }
        let (name, value) = head.strip_suffix(b"]").and_then(|head| {
            let at = head.iter().position(|byte| *byte == b'[')?;
            Some((head.get(..at)?, head.get(at + 1..).filter(|digits| digits.len() == 8).and_then(hex)?))
        })?;
        if let Some(wave) = &mut self.wave {
            wave.words.entry(short(name)).or_insert(value as u32);
        }
        Some(Section::Fields)
    }

    /// `name: value | name: value |`
    fn entries(&mut self, line: Line<'_>, row: &[u8], fields: bool) {
        let Some(wave) = &mut self.wave else { return };
        // What no bar follows is no entry, or one that was cut off.
        let entries = row.get(..memrchr(b'|', row).unwrap_or(0)).unwrap_or_default();
        for entry in entries.split(|byte| *byte == b'|') {
            let mut parts = entry.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
            let (Some(name), Some(value)) = (parts.next(), parts.next()) else { continue };
            if fields {
                match short(name).as_str() {
                    // Decimal in one flavour and hex in the other: 0 or 1 in both.
                    "wave64" => match value.last() {
                        Some(b'1') => wave.size = Some(WaveSize::W64),
                        Some(b'0') => wave.size = Some(WaveSize::W32),
                        _ => {}
                    },
                    "data_atc" | "inst_atc" | "dispatch_cache_ctrl" => wave.before_gfx9 = true,
                    _ => {}
                }
                continue;
            }
            let Some(value) = (value.len() == 8).then(|| hex(value)).flatten() else {
                let name = short(name);
                self.problems.line(line.number, format_args!("{name} is no number"), "eight hex digits");
                continue;
            };
            wave.words.insert(short(name), value as u32);
        }
    }

    /// `* pgm[5@0x1000e10ac + 0x20  ] = 0xc40008cf   exp pos0 ...`
    fn code(&mut self, line: Line<'_>, text: &[u8]) {
        let read = || {
            let mut cursor = Cursor::new(text.get(find(text, "pgm[")? + "pgm[".len()..)?);
            let vmid = cursor.decimal()?;
            if !cursor.take("@") {
                return None;
            }
            let base = cursor.address()?;
            cursor.spaces();
            cursor.take("+").then_some(())?;
            cursor.spaces();
            let offset = cursor.address()?;
            cursor.spaces();
            cursor.take("]").then_some(())?;
            cursor.spaces();
            cursor.take("=").then_some(())?;
            cursor.spaces();
            let (digits, word) = cursor.hex()?;
            let address = base.checked_add(offset)?;
            (digits == 8 && address % 4 == 0).then_some((vmid, address, word as u32))
        };
        let Some((vmid, address, word)) = read() else {
            self.problems.line(
                line.number,
                "the word of code cannot be read",
                "pgm[VMID@0xBASE + 0xOFFSET ] = 0xWORD",
            );
            return;
        };
        if self.read.code.len() < self.most_code {
            self.read.code.entry((vmid, address)).or_insert(word);
        } else {
            self.read.kept.full = true;
        }
    }
}

/// Columns that say where the wave is.
const PLACES: usize = 5;

/// The headings of the oldest flavour, in small letters.
fn columns(text: &[u8]) -> Option<Vec<String>> {
    if !text.starts_with(b"SE ") {
        return None;
    }
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(MOST_COLUMNS);
    let names: Vec<String> = words.map(|word| short(word.strip_suffix(b"#").unwrap_or(word))).collect();
    let places = names.get(..PLACES)?;
    let known = places == ["se", "sh", "cu", "simd", "wave"] || places == ["se", "sa", "wgp", "simd", "wave"];
    known.then_some(names)
}

/// The headings, and what stands before them in the line.
fn columns_in(line: &[u8]) -> Option<(&[u8], Vec<String>)> {
    let (before, text) = line.split_at_checked(find(line, "SE S")?)?;
    Some((shown(before)?, columns(text)?))
}

/// The slot that ends a line, and what stands before it.
fn slot_in(line: &[u8]) -> Option<(&[u8], String, bool)> {
    let before = line.get(..memmem::rfind(line, b"simd")?)?;
    let (before, text) = line.split_at_checked(memmem::rfind(before, b"se")?)?;
    let (name, has_wgp) = slot(text)?;
    Some((shown(before)?, name, has_wgp))
}

/// What stands before each line, if that can be; blanks are nothing.
fn shown(before: &[u8]) -> Option<&[u8]> {
    prefix::is_prefix(before).then_some(if before.trim_ascii().is_empty() { &[] } else { before })
}

/// The slot that a text names and nothing else: `se0.sh0.cu2.simd0.wave0`.
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

/// A register's name as all flavours share it: small letters, without what stands before or within it in some.
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
