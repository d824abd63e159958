//! Registers as text.

use std::fmt::Write as _;

use super::Style;
use super::lanes::Detail;
use crate::arch::{BitFields, Register, RegisterValue, WaveArch};
use crate::notation::lanes;
use crate::units::{LaneId, LaneSet};

/// Number of lanes in a line of a list.
const IN_LINE: usize = 8;
/// A dword without a value.
const UNKNOWN: &str = "xxxxxxxx";
/// Columns of names: of scalars, and of vectors.
const SCALAR: usize = 14;
const VECTOR: usize = 4;

/// A name in front of a value: in that many columns, and a blank behind a long one.
fn name_column(name: &str, columns: usize) -> String {
    format!("{name:<width$}", width = columns.max(name.chars().count() + 1))
}

/// The line of a register without a value.
#[must_use]
pub(crate) fn not_captured(name: &str) -> String {
    name_column(name, SCALAR) + "not captured\n"
}

/// A register in lines of its own; `None` if no part of it was captured. Vectors are printed as rules over lanes, or as
/// lines of 8 lanes and 80 columns, whichever are fewer. `lanes`: the lanes of a vector, `None` for all.
#[must_use]
pub fn register(
    kind: &WaveArch,
    register: &Register,
    value: &RegisterValue,
    lanes: Option<LaneSet>,
    detail: Detail,
) -> Option<String> {
    if value.known() == 0 {
        return None;
    }
    let mut text = if register.is_vector() {
        let lane = |lane: u16| u8::try_from(lane).ok().map(LaneId);
        let all = (0..register.dwords)
            .filter_map(lane)
            .filter(|lane| lanes.is_none_or(|lanes| lanes.contains(*lane)));
        vector(
            &register.name,
            &all.map(|lane| (lane, value.dword(lane.0.into()))).collect::<Vec<_>>(),
            detail,
        )
    } else {
        let dword =
            |index: u16| value.dword(index).map_or(UNKNOWN.to_owned(), |dword| format!("{dword:08x}"));
        let digits: String = (0..register.dwords).rev().map(dword).collect();
        let mut text = format!("{}0x{digits}", name_column(&register.name, SCALAR));
        if let (Some(fields), Some(bits)) = (kind.fields(register), value.scalar()) {
            let _ = write!(text, "  [ {}]", flags(fields, bits));
        }
        text
    };
    text.push('\n');
    Some(text)
}

/// The lanes of a vector.
fn vector(name: &str, dwords: &[(LaneId, Option<u32>)], detail: Detail) -> String {
    // Lanes of a line are neighbours.
    let runs = dwords.chunk_by(|(lane, _), (next, _)| lane.0.checked_add(1) == Some(next.0));
    let list = runs.flat_map(|run| run.chunks(IN_LINE)).map(|line| {
        let lane = line.first().map_or(0, |(lane, _)| lane.0);
        let words =
            line.iter().map(|(_, dword)| dword.map_or(UNKNOWN.to_owned(), |dword| format!("{dword:08x}")));
        format!("[{lane:2}] {}", words.collect::<Vec<_>>().join(" "))
    });
    let mut lines: Vec<String> = list.collect();
    if detail == Detail::Rules {
        let rules =
            lanes::rules(dwords.iter().filter_map(|(lane, dword)| Some((*lane, i128::from((*dword)?)))));
        let unknown: LaneSet =
            dwords.iter().filter(|(_, dword)| dword.is_none()).map(|(lane, _)| *lane).collect();
        let mut rows: Vec<_> =
            rules.iter().map(|rule| (rule.lanes, rule.text(|dword| format!("{dword:08x}")))).collect();
        rows.extend((!unknown.is_empty()).then(|| (unknown, UNKNOWN.to_owned())));
        if rows.len() < lines.len() && lanes::are_readable(rows.iter().map(|(lanes, _)| *lanes)) {
            rows.sort_by_key(|(lanes, _)| lanes.first());
            lines =
                rows.into_iter().map(|(lanes, text)| format!("[{}] {text}", lanes::ranges(lanes))).collect();
        }
    }
    let mut head = name_column(name, VECTOR);
    let mut width = head.chars().count();
    let widest = lines.iter().map(String::len).max().unwrap_or(0);
    // A line of eight lanes has no column for a blank behind a long name.
    if Style::Plain.columns().is_some_and(|columns| width + widest > columns) {
        (head, width) = (format!("{name}\n{:VECTOR$}", ""), VECTOR);
    }
    head + &lines.join(&format!("\n{:width$}", ""))
}

/// Set single bits by name, wider fields with their values.
fn flags(fields: &BitFields, bits: u64) -> String {
    let mut text = String::new();
    for field in &fields.fields {
        let width = u32::from(field.high - field.low) + 1;
        let value = bits >> field.low & 1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
        if width == 1 && value == 1 {
            let _ = write!(text, "{} ", field.name);
        } else if width > 1 && value != 0 {
            let _ = write!(text, "{}={value} ", field.name);
        }
    }
    text
}
