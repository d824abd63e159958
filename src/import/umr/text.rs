//! umr's text. One reader handles its three versions, since the start of a line determines its kind: columns under a
//! heading, `Main Registers:` with names in lower case, and the same with the hardware's names.

use std::io::BufRead;

use super::family::Families;
use super::line::{self, Heading, MAX_COLUMNS, PLACES, Section};
use super::rows;
use super::wave::{Read, UmrWave};
use crate::import::faults;
use crate::import::problem::Problems;
use crate::import::text::{
    Cursor, Kept, Line, Lines, MAX_WAVES, excerpt, find, hex, prefix, processors_in, skip_spaces,
};
use crate::units::WaveSize;

/// Maximum number of words of code: shaders of some thousand waves with `full_shader`.
pub(super) const MAX_CODE: usize = 16 << 20;

/// umr's message for no waves.
pub(in crate::import) const IDLE: &str = "No active waves!";

/// RADV's line before umr's text.
const RADV: &[u8] = b"UMR GFX waves:";

/// Reads a text up to its end or the first read error.
pub(super) fn read(
    source: impl BufRead,
    kept: Kept,
    most_code: usize,
    families: &mut Families<'_>,
    problems: &mut Problems,
) -> Read {
    let mut lines = Lines::new(source);
    let file = problems.file().to_owned();
    let mut reader = Reader {
        read: Read { kept, ..Read::default() },
        most_code,
        families,
        problems,
        prefix: Vec::new(),
        columns: Vec::new(),
        wave: None,
        section: Section::Nothing,
        faults: faults::Reader::new(&file),
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

/// Whether a line begins umr's wave, or a list of its waves.
pub(in crate::import) fn begins_wave(line: &[u8]) -> bool {
    line::slot_in(line).is_some() || line::columns_in(line).is_some()
}

struct Reader<'p, 't> {
    read: Read,
    most_code: usize,
    families: &'p mut Families<'t>,
    problems: &'p mut Problems,
    /// The prefix of each line.
    prefix: Vec<u8>,
    /// Columns of the oldest version.
    columns: Vec<String>,
    wave: Option<UmrWave>,
    section: Section,
    faults: faults::Reader,
}

impl Reader<'_, '_> {
    fn line(&mut self, line: Line<'_>) {
        line.report_cut(self.problems);
        if let Some((prefix, name, has_wgp)) = line::slot_in(line.text) {
            self.prefix = prefix.to_owned();
            self.begin(line, name, has_wgp);
            return;
        }
        if let Some((prefix, columns)) = line::columns_in(line.text) {
            self.prefix = prefix.to_owned();
            self.columns = columns;
            return;
        }
        let behind = prefix::end(&self.prefix, line.text).and_then(|end| line.text.get(end..));
        let text = skip_spaces(behind.unwrap_or(line.text));
        let Some(first) = text.first() else { return };
        if first.is_ascii_digit() && !self.columns.is_empty() {
            self.row_of_columns(line, text);
            return;
        }
        if find(text, "pgm[").is_some() {
            self.code(line, text);
            return;
        }
        if !rows::is_row(text.strip_prefix(b">").unwrap_or(text)) {
            self.faults.line(&line);
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
            self.read.first = Some(excerpt(text));
        }
    }

    fn begin(&mut self, line: Line<'_>, slot: String, has_wgp: bool) {
        self.end();
        self.section = Section::Nothing;
        self.wave = Some(UmrWave { line: line.number, slot, has_wgp, ..UmrWave::default() });
    }

    fn end(&mut self) {
        let Some(mut wave) = self.wave.take() else { return };
        if self.read.waves.len() >= MAX_WAVES {
            self.read.too_many = true;
            return;
        }
        wave.finish(self.families, &mut self.read.kept, self.problems);
        self.read.waves.push(wave);
    }

    fn finish(mut self) -> Read {
        self.end();
        self.read.faults = self.faults.finish();
        self.read
    }

    /// `0 0 1 0 0 08412000 00000001 ...` under the heading.
    fn row_of_columns(&mut self, line: Line<'_>, text: &[u8]) {
        let words: Vec<&[u8]> = text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .take(MAX_COLUMNS + 1)
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
        match line::heading(text) {
            Some(Heading::Section(section)) => self.section = section,
            Some(Heading::TrapBases) => self.trap_bases(Section::Nothing),
            Some(Heading::Register(name, value)) => {
                if let Some(wave) = &mut self.wave {
                    wave.words.entry(name).or_insert(value);
                }
                self.section = Section::Fields;
            }
            None => self.row(line, text),
        }
    }

    /// Reads the heading of the trap handler's base addresses, which only GPUs before gfx9 have.
    fn trap_bases(&mut self, section: Section) {
        if let Some(wave) = &mut self.wave {
            wave.before_gfx9 = true;
        }
        self.section = section;
    }

    fn row(&mut self, line: Line<'_>, text: &[u8]) {
        let row = text.strip_prefix(b">").unwrap_or(text);
        if row.starts_with(b"TBA/TMA[") {
            return self.trap_bases(self.section);
        }
        let named = [(&b"SGPRS"[..], Section::Sgprs), (b"TTMP", Section::Ttmps)];
        let named = named.into_iter().find_map(|(name, section)| Some((section, row.strip_prefix(name)?)));
        let (section, row) = named.filter(|(_, row)| row.starts_with(b"[")).unwrap_or((self.section, row));
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

    /// `name: value | name: value |`
    fn entries(&mut self, line: Line<'_>, row: &[u8], fields: bool) {
        let Some(wave) = &mut self.wave else { return };
        for (name, value) in line::entries(row) {
            if fields {
                match line::short(name).as_str() {
                    // Decimal in one version and hex in another: 0 or 1 in both.
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
                let name = line::short(name);
                self.problems.line(line.number, format_args!("{name} is no number"), "eight hex digits");
                continue;
            };
            wave.words.insert(line::short(name), value as u32);
        }
    }

    /// `* pgm[5@0x1000e10ac + 0x20  ] = 0xc40008cf   exp pos0 ...`
    fn code(&mut self, line: Line<'_>, text: &[u8]) {
        let Some((vmid, address, word)) = line::code_word(text) else {
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
