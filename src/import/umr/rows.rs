//! Rows of words: `[   0..   3] = { a, b, c, d }` of SGPRs and trap temporaries, `[  0] = { a b c ... }` of a VGPR.

use memchr::memchr;

use super::line::Section;
use super::wave::{MAX_SGPRS, MAX_VGPRS, Row, TTMPS, UmrWave};
use crate::import::problem::Problems;
use crate::import::text::{Cursor, Line, find, skip_spaces};

/// Maximum number of words of a row: the lanes of a VGPR.
const MAX_WORDS: usize = 64;

/// Whether a line has the shape of a row, readable or not. Kernel messages between rows also begin with `[`.
pub(super) fn is_row(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"[") else { return false };
    let Some(end) = memchr(b']', text) else { return memchr(b'{', text).is_some() || is_range(text) };
    let (inner, after) = text.split_at_checked(end).unwrap_or_default();
    let after = skip_spaces(after.get(1..).unwrap_or_default());
    is_range(inner) || matches!(after.first(), Some(b'=' | b'{'))
}

fn is_range(text: &[u8]) -> bool {
    skip_spaces(text).first().is_some_and(u8::is_ascii_digit) && find(text, "..").is_some()
}

/// The register numbers before a row's words.
#[derive(Clone, Copy, Debug)]
struct FaultRange {
    first: u64,
    /// Whether it is a range of registers.
    is_range: bool,
    /// Last register of a range, if the text has it.
    last: Option<u64>,
}

fn place(cursor: &mut Cursor<'_>) -> Option<FaultRange> {
    cursor.take("[").then_some(())?;
    cursor.spaces();
    let first = cursor.decimal()?;
    cursor.spaces();
    let is_range = cursor.take("..");
    cursor.spaces();
    let last = if is_range { cursor.decimal() } else { None };
    for sign in ["]", "=", "{"] {
        cursor.spaces();
        cursor.take(sign).then_some(())?;
    }
    Some(FaultRange { first, is_range, last })
}

/// The words of a row, and whether they are complete: reports the first other text.
fn words(cursor: &mut Cursor<'_>, problems: &mut Problems, line: usize) -> (Vec<u32>, bool) {
    let mut words = Vec::new();
    loop {
        cursor.run(|byte| matches!(byte, b' ' | b'\t' | b','));
        if cursor.rest.is_empty() || cursor.take("}") {
            return (words, true);
        }
        let Some((8, word)) = cursor.hex() else {
            let what = "a word of the row is invalid; it and the words after it are not captured";
            problems.line(line, what, "eight hex digits");
            return (words, false);
        };
        if words.len() >= MAX_WORDS {
            let what = format_args!("the row has more than {MAX_WORDS} words; the rest is ignored");
            problems.line(line, what, "a word for each lane");
            return (words, false);
        }
        words.push(word as u32);
    }
}

/// Adds a row's words to the wave; `false`: the row is unreadable.
pub(super) fn take(
    wave: &mut Option<UmrWave>,
    problems: &mut Problems,
    section: Section,
    line: Line<'_>,
    row: &[u8],
) -> bool {
    let Some(wave) = wave else { return true };
    let mut cursor = Cursor::new(row);
    let is_vgpr = section == Section::Vgprs;
    let Some(place) = place(&mut cursor).filter(|place| place.is_range != is_vgpr) else { return false };
    let (words, is_whole) = words(&mut cursor, problems, line.number);
    if is_vgpr {
        take_lanes(wave, problems, line.number, place.first, words, is_whole);
    } else {
        take_scalars(wave, problems, section, line.number, place, words, is_whole);
    }
    true
}

/// Whether such a register exists; otherwise it is ignored and reported.
fn exists(problems: &mut Problems, line: usize, first: u64, end: u64, most: u64) -> bool {
    if end > most {
        let what = format_args!("register {first} is ignored");
        problems.line(line, what, format_args!("numbers below {most}"));
    }
    end <= most
}

fn take_scalars(
    wave: &mut UmrWave,
    problems: &mut Problems,
    section: Section,
    line: usize,
    place: FaultRange,
    mut words: Vec<u32>,
    is_whole: bool,
) {
    let FaultRange { first, last, .. } = place;
    let (most, name) = if section == Section::Ttmps { (TTMPS, "ttmp") } else { (MAX_SGPRS, "s") };
    let mut fits = true;
    if let Some(last) = last.filter(|last| *last >= first) {
        let (found, count) = (words.len(), (last - first).saturating_add(1));
        let range = format_args!("{name}{first} to {name}{last}");
        let expected = "a word for each register of the range";
        if found as u64 > count {
            fits = false;
            words.truncate(usize::try_from(count).unwrap_or(found));
            let what = format_args!("the row has {found} words for {range}; those behind are ignored");
            problems.line(line, what, expected);
        } else if is_whole && (found as u64) < count {
            fits = false;
            let what =
                format_args!("the row has {found} words for {range}; they are taken as those of the first");
            problems.line(line, what, expected);
        }
    }
    if !exists(problems, line, first, first.saturating_add(words.len() as u64), most) {
        return;
    }
    if let Some(last) = last.filter(|last| *last < first) {
        let what =
            format_args!("the row is of {name}{first} to {name}{last}, which is no range; it is ignored");
        problems.line(line, what, "a first register and a last one");
        return;
    }
    let list = match (section, fits) {
        (Section::Ttmps, true) => &mut wave.ttmps,
        (Section::Ttmps, false) => &mut wave.doubtful_ttmps,
        (_, true) => &mut wave.sgprs,
        (_, false) => &mut wave.doubtful_sgprs,
    };
    for (slot, word) in (first..).zip(words) {
        list.entry(slot).or_insert(word);
    }
}

fn take_lanes(
    wave: &mut UmrWave,
    problems: &mut Problems,
    line: usize,
    number: u64,
    lanes: Vec<u32>,
    is_whole: bool,
) {
    if !exists(problems, line, number, number, MAX_VGPRS) {
        return;
    }
    if wave.vgprs.iter().any(|row| row.number == number) {
        let what = format_args!("v{number} is given a second time, which is ignored");
        problems.line(line, what, "each once");
        return;
    }
    if is_whole && !matches!(lanes.len(), 32 | MAX_WORDS) {
        let what = format_args!(
            "the row of v{number} has {} words; they are taken as the first lanes'",
            lanes.len()
        );
        problems.line(line, what, "64 words, or 32");
    }
    let known = 1u64.checked_shl(lanes.len() as u32).map_or(u64::MAX, |bit| bit - 1);
    wave.vgprs.push(Row { number, lanes, known, line });
}
