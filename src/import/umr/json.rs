//! umr's answer to the command `waves` of its JSON server: every list `"waves": [...]` of a text, wave by wave.
//!
//! Text around a list is skipped: the server's envelope, shaders, a shell's prompt, the fence of a posted answer. A
//! truncated list keeps its complete waves. Older versions of umr write SGPRs above 2^31 as negative numbers.

use memchr::{memchr, memchr_iter, memmem};
use serde::de::{IgnoredAny, MapAccess};

use super::family::Families;
use super::lenient::{Any, Length, List, Number, Shape};
use super::line::short;
use super::wave::{MAX_SGPRS, MAX_VGPRS, Read, Row, TTMPS, UmrWave};
use crate::import::problem::Problems;
use crate::import::text::{Kept, MAX_WAVES};
use crate::units::WaveSize;

/// Maximum number of a wave's registers; it has 23.
pub(super) const MAX_REGISTERS: usize = 256;

const MARK: &[u8] = b"\"waves\"";

/// Keys of a wave; one of them is the first.
const KEYS: &[&[u8]] = &[
    b"se",
    b"sh",
    b"sa",
    b"cu",
    b"wgp",
    b"simd_id",
    b"wave_id",
    b"PC",
    b"registers",
    b"threads",
    b"sgpr",
    b"extra_sgpr",
    b"vgpr",
    b"shader",
];

/// Offset after the opening bracket of the next list of waves, from `from` on.
pub(in crate::import) fn next_list(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memmem::find_iter(rest, MARK).find_map(|at| {
        let mut after = text.get(from + at + MARK.len()..)?;
        for mark in [b":", b"["] {
            after = after.trim_ascii_start().strip_prefix(mark)?;
        }
        is_list(after).then_some(text.len() - after.len())
    })
}

/// Whether a list is umr's, by the text after its bracket: other programs also have waves. A truncated one may be.
fn is_list(text: &[u8]) -> bool {
    let Some((first, wave)) = text.trim_ascii_start().split_first() else { return true };
    let key = wave.trim_ascii_start();
    match (first, key.split_first()) {
        (b']', _) | (b'{', None) => true,
        (b'{', Some((b'"', key))) => memchr(b'"', key)
            .is_none_or(|end| KEYS.iter().any(|known| key.get(..end).is_some_and(|key| key == *known))),
        _ => false,
    }
}

/// Reads all lists of a text.
pub(super) fn read(
    name: &str,
    text: &[u8],
    kept: Kept,
    families: &mut Families<'_>,
    problems: &mut Problems,
) -> Read {
    let mut reader = Reader {
        file: name,
        text,
        lines: (0, 1),
        read: Read { kept, ..Read::default() },
        families,
        problems,
    };
    let mut from = 0;
    let mut lists = 0;
    while let Some(list) = next_list(text, from) {
        lists += 1;
        from = reader.list(list);
    }
    let mut read = reader.read;
    read.idle = lists > 0 && read.waves.is_empty() && !read.too_many;
    read
}

struct Reader<'r, 't> {
    file: &'r str,
    text: &'r [u8],
    /// An offset in the text and its line.
    lines: (usize, usize),
    read: Read,
    families: &'r mut Families<'t>,
    problems: &'r mut Problems,
}

impl Reader<'_, '_> {
    /// Reads a list from the offset after its bracket; returns the offset after the list.
    fn list(&mut self, start: usize) -> usize {
        let mut at = start;
        for index in 0.. {
            let rest = self.text.get(at..).unwrap_or_default();
            let trimmed = rest.trim_ascii_start();
            let trimmed = if index == 0 { trimmed } else { trimmed.strip_prefix(b",").unwrap_or(trimmed) };
            let wave = trimmed.trim_ascii_start();
            at += rest.len() - wave.len();
            let key = format!("waves[{index}]");
            match wave.first() {
                Some(b']') => return at + 1,
                None => {
                    let what = "the text ends within the list; the waves before this one are kept";
                    self.problems.report_at(self.file, at as u64, key, what, "a wave or the list's end");
                    self.problems.hides_waves();
                    self.truncated();
                    return at;
                }
                Some(_) => {}
            }
            let mut values = serde_json::Deserializer::from_slice(wave).into_iter::<Any<Wave>>();
            match values.next() {
                Some(Ok(Any(wave))) => {
                    let next = at + values.byte_offset();
                    self.wave(at, &key, &wave);
                    at = next;
                }
                other => {
                    if matches!(&other, Some(Err(error)) if error.is_eof()) {
                        self.truncated();
                    }
                    let why = other.and_then(Result::err).map(|error| error.to_string()).unwrap_or_default();
                    let why = why.split(" at line ").next().unwrap_or_default();
                    let what = format_args!("the wave cannot be read ({why}); the waves before it are kept");
                    self.problems.report_at(self.file, at as u64, key, what, "a JSON object");
                    self.problems.hides_waves();
                    return at;
                }
            }
        }
        at
    }

    fn truncated(&mut self) {
        let end = self.text.len();
        self.read.truncated = Some(format!("the JSON ends at offset {end:#x}, within a list of waves"));
    }

    /// The line of an offset, from 1; offsets must be ascending.
    fn line(&mut self, at: usize) -> usize {
        let (from, line) = self.lines;
        let between = self.text.get(from..at).unwrap_or_default();
        self.lines = (at, line + memchr_iter(b'\n', between).count());
        self.lines.1
    }

    fn wave(&mut self, at: usize, key: &str, wave: &Wave) {
        if self.read.waves.len() >= MAX_WAVES {
            self.read.too_many = true;
            return;
        }
        let line = self.line(at);
        if !wave.is_object {
            let what = "is no wave and is left out";
            self.problems.report_at(self.file, at as u64, key, what, "a JSON object");
            self.problems.hides_waves();
            return;
        }
        let (mut one, refused) = one(line, wave);
        if refused > 0 {
            let what = format_args!("{refused} values are no 32-bit numbers and are not captured");
            self.problems.report_at(self.file, at as u64, key, what, "integers from -2^31 to 2^32-1");
        }
        one.finish(self.families, &mut self.read.kept, self.problems);
        self.read.waves.push(one);
    }
}

/// A 32-bit number, also from a negative one; `None`: another value.
fn word(number: Number) -> Option<u32> {
    let number = number?;
    let whole = number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(u32::MAX)).contains(&number);
    whole.then_some(number as i64 as u32)
}

/// A wave's words, and the number of values that are none.
fn one(line: usize, wave: &Wave) -> (UmrWave, usize) {
    let part = |name: &str, number: Number| match number.filter(|number| number.fract() == 0.0) {
        Some(number) => format!("{name}{number:.0}"),
        None => format!("{name}?"),
    };
    let [array, unit] = if wave.has_wgp { ["sa", "wgp"] } else { ["sh", "cu"] };
    let parts =
        [("se", wave.se), (array, wave.array), (unit, wave.unit), ("simd", wave.simd), ("wave", wave.slot)];
    let slot = parts.map(|(name, number)| part(name, number)).join(".");
    let size = match wave.threads.0 {
        32 => Some(WaveSize::W32),
        64 => Some(WaveSize::W64),
        _ => None,
    };
    let mut one = UmrWave { line, slot, has_wgp: wave.has_wgp, size, ..UmrWave::default() };
    let mut refused = 0;
    for (name, register) in &wave.registers.0 {
        match word(*register) {
            Some(raw) => {
                one.words.insert(short(name.as_bytes()), raw);
            }
            None => refused += 1,
        }
    }
    let counter = |pc: &f64| pc.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(pc);
    if let Some(pc) = wave.pc.filter(counter) {
        let pc = pc as u64;
        one.words.entry("pc_lo".to_owned()).or_insert(pc as u32);
        one.words.entry("pc_hi".to_owned()).or_insert((pc >> 32) as u32);
    }
    for (slot, number) in (0..).zip(&wave.sgprs.0) {
        match word(*number) {
            Some(word) => drop(one.sgprs.insert(slot, word)),
            None => refused += 1,
        }
    }
    for (slot, number) in (0..).zip(&wave.ttmps.0) {
        match word(*number) {
            Some(word) => drop(one.ttmps.insert(slot, word)),
            None => refused += 1,
        }
    }
    for (number, row) in (0..).zip(&wave.vgprs.0) {
        let words = row.0.iter().map(|number| word(*number));
        let known = words
            .clone()
            .enumerate()
            .fold(0, |known, (lane, word)| known | u64::from(word.is_some()) << lane);
        let lanes: Vec<u32> = words.map(|word| word.unwrap_or(0)).collect();
        refused += lanes.len() - known.count_ones() as usize;
        one.vgprs.push(Row { number, lanes, known, line });
    }
    (one, refused)
}

/// A wave of the answer.
#[derive(Debug, Default)]
struct Wave {
    is_object: bool,
    has_wgp: bool,
    se: Number,
    array: Number,
    unit: Number,
    simd: Number,
    slot: Number,
    pc: Number,
    registers: Registers,
    threads: Length,
    sgprs: List<Number, { MAX_SGPRS as usize }>,
    ttmps: List<Number, { TTMPS as usize }>,
    vgprs: List<List<Number, 64>, { MAX_VGPRS as usize }>,
}

impl Shape for Wave {
    fn object<'de, A: MapAccess<'de>>(&mut self, object: &mut A) -> Result<(), A::Error> {
        self.is_object = true;
        while let Some(key) = object.next_key::<String>()? {
            self.has_wgp |= matches!(key.as_str(), "sa" | "wgp");
            match key.as_str() {
                "se" => self.se = object.next_value::<Any<_>>()?.0,
                "sh" | "sa" => self.array = object.next_value::<Any<_>>()?.0,
                "cu" | "wgp" => self.unit = object.next_value::<Any<_>>()?.0,
                "simd_id" => self.simd = object.next_value::<Any<_>>()?.0,
                "wave_id" => self.slot = object.next_value::<Any<_>>()?.0,
                "PC" => self.pc = object.next_value::<Any<_>>()?.0,
                "registers" => self.registers = object.next_value::<Any<_>>()?.0,
                "threads" => self.threads = object.next_value::<Any<_>>()?.0,
                "sgpr" => self.sgprs = object.next_value::<Any<_>>()?.0,
                "extra_sgpr" => self.ttmps = object.next_value::<Any<_>>()?.0,
                "vgpr" => self.vgprs = object.next_value::<Any<_>>()?.0,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Registers by name.
#[derive(Debug, Default)]
struct Registers(Vec<(String, Number)>);

impl Shape for Registers {
    fn object<'de, A: MapAccess<'de>>(&mut self, object: &mut A) -> Result<(), A::Error> {
        while let Some((name, Any(register))) = object.next_entry::<String, Any<Register>>()? {
            if self.0.len() < MAX_REGISTERS {
                self.0.push((name, register.raw));
            }
        }
        Ok(())
    }
}

/// A register: its fields, and the whole register as `raw`.
#[derive(Debug, Default)]
struct Register {
    raw: Number,
}

impl Shape for Register {
    fn object<'de, A: MapAccess<'de>>(&mut self, object: &mut A) -> Result<(), A::Error> {
        while let Some(key) = object.next_key::<String>()? {
            match key.as_str() {
                "raw" => self.raw = object.next_value::<Any<_>>()?.0,
                _ => drop(object.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
