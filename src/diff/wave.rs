//! The differences between two waves.

use std::collections::HashMap;

use super::{DiffError, LeftOut};
use crate::arch::{Register, RegisterValue};
use crate::session::{
    Byte, Inferred, LaneValue, Locals, Session, Storage as _, Variable, WaveFrames, Waves as _,
};
use crate::units::{LaneId, LaneSet, WaveId};

/// A pair of waves that differ.
#[derive(Clone, Debug)]
pub(crate) struct WaveDifference {
    /// Their ids in the first and the second dump.
    pub ids: [u32; 2],
    /// The reasons of each dump for doubts about the wave: its values may be wrong.
    pub unconfirmed: [Option<String>; 2],
    /// The function of its innermost frame in the first dump.
    pub function: Option<String>,
    /// The stop reasons, if they differ: names of them, `None` if they were not captured.
    pub stop: Option<[Option<Vec<String>>; 2]>,
    /// Registers of either wave, in the first one's order.
    pub registers: Vec<DifferentRegister>,
    /// Differing frames, innermost first: other source line or other variables.
    pub frames: Vec<FrameDifference>,
}

/// A register that differs.
#[derive(Clone, Debug)]
pub(crate) struct DifferentRegister {
    /// Its name.
    pub name: String,
    /// Whether it has one value for each lane; else there is one entry for lane 0.
    pub is_vector: bool,
    /// Lanes that differ, with both values in hex; `None`: not captured.
    pub lanes: Vec<LaneDifference<Option<String>>>,
}

/// A lane with a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneDifference<T> {
    /// The lane.
    pub lane: LaneId,
    /// The values in the first and the second dump.
    pub values: [T; 2],
}

/// A frame that differs.
#[derive(Clone, Debug)]
pub(crate) struct FrameDifference {
    /// Its number, 0 innermost.
    pub frame: usize,
    /// Functions, if they differ: in a pair that the user chose.
    pub functions: Option<[Option<String>; 2]>,
    /// `file:line` of both, if they differ.
    pub lines: Option<[Option<String>; 2]>,
    /// The reasons for missing variables, if only one dump has some or the reasons differ.
    pub problems: Option<[Option<String>; 2]>,
    /// Variables that differ.
    pub variables: Vec<DifferentVariable>,
}

/// A variable that differs.
#[derive(Clone, Debug)]
pub(crate) struct DifferentVariable {
    /// Its name.
    pub name: String,
    /// Its type in the first dump, or in the second if the first lacks it.
    pub type_name: String,
    /// The inferences behind the values in either dump.
    pub inferred: Inferred,
    /// Lanes that differ, with both values as text; `None`: the variable does not exist.
    pub lanes: Vec<LaneDifference<Option<String>>>,
    /// Those of them that differ in bytes without a text alone.
    pub unprinted: Option<UnprintedDifference>,
}

/// Lanes whose values have equal texts and other bytes: padding, or elements beyond the printed ones.
#[derive(Clone, Debug)]
pub(crate) struct UnprintedDifference {
    /// The lanes; at least one.
    pub lanes: LaneSet,
    /// Offset of the first such byte of the lowest lane.
    pub offset: usize,
    /// The byte in the first and the second dump.
    pub bytes: [String; 2],
}

type Both<'s> = [(&'s Session, WaveId); 2];

/// Compares two waves; `None` without a difference. Also returns the omitted variables.
pub(super) fn compare(both: Both<'_>, ids: [u32; 2]) -> Result<(Option<WaveDifference>, LeftOut), DiffError> {
    let infos = [both[0].0.wave(both[0].1)?, both[1].0.wave(both[1].1)?];
    let stops = infos.each_ref().map(|info| info.stop.clone());
    let stop = (stops[0] != stops[1]).then_some(stops);
    let unconfirmed = infos.each_ref().map(|info| info.unconfirmed.clone());
    let registers = registers(both)?;
    let (function, frames, left_out) = frames(both)?;
    let is_same = stop.is_none() && registers.is_empty() && frames.is_empty();
    Ok((
        (!is_same).then_some(WaveDifference { ids, unconfirmed, function, stop, registers, frames }),
        left_out,
    ))
}

fn registers(both: Both<'_>) -> Result<Vec<DifferentRegister>, DiffError> {
    let kinds = both.map(|(session, _)| session.kind());
    let value = |(session, wave): (&Session, WaveId), register: Option<&Register>| {
        register.map(|register| session.register(wave, register.id)).transpose()
    };
    let mut found = Vec::new();
    // Waves of two GPUs, which only the user pairs, are compared by register name.
    let only_second = kinds[1].registers().iter().filter(|register| kinds[0].named(&register.name).is_none());
    for register in kinds[0].registers().iter().chain(only_second) {
        let [one, other] = kinds.each_ref().map(|kind| kind.named(&register.name));
        let values = [value(both[0], one)?, value(both[1], other)?];
        if contents(&values[0]) == contents(&values[1]) {
            continue;
        }
        let lanes = if register.is_vector() { vector(&values) } else { scalar(&values) };
        if !lanes.is_empty() {
            let (name, is_vector) = (register.name.clone(), register.is_vector());
            found.push(DifferentRegister { name, is_vector, lanes });
        }
    }
    Ok(found)
}

/// The known part of a register, for a comparison: most registers are equal.
fn contents(value: &Option<RegisterValue>) -> Option<(u64, &[u8])> {
    value.as_ref().map(|value| (value.known(), value.bytes()))
}

fn scalar(values: &[Option<RegisterValue>; 2]) -> Vec<LaneDifference<Option<String>>> {
    let words = values.each_ref().map(|value| {
        let value = value.as_ref().filter(|value| value.known() != 0)?;
        let dword = |index| value.dword(index).map_or("xxxxxxxx".to_owned(), |dword| format!("{dword:08x}"));
        let digits: String = (0..value.dwords()).rev().map(dword).collect();
        let digits = digits.trim_start_matches('0');
        Some(format!("0x{}", if digits.is_empty() { "0" } else { digits }))
    });
    let differs = words[0] != words[1];
    differs.then_some(LaneDifference { lane: LaneId(0), values: words }).into_iter().collect()
}

fn vector(values: &[Option<RegisterValue>; 2]) -> Vec<LaneDifference<Option<String>>> {
    let lanes = values.iter().flatten().map(RegisterValue::dwords).max().unwrap_or(0);
    let each = (0..lanes).filter_map(|lane| {
        let dwords = values.each_ref().map(|value| value.as_ref()?.dword(lane));
        // A register has at most 64 lanes.
        (dwords[0] != dwords[1]).then(|| LaneDifference {
            lane: LaneId(lane as u8),
            values: dwords.map(|dword| dword.map(|dword| format!("{dword:#x}"))),
        })
    });
    each.collect()
}

type Differences = (Option<String>, Vec<FrameDifference>, LeftOut);

fn frames(both: Both<'_>) -> Result<Differences, DiffError> {
    let walked = [both[0].0.frames(both[0].1)?, both[1].0.frames(both[1].1)?];
    let stacks = walked.each_ref().map(WaveFrames::stack);
    let lanes = both.map(|(session, _)| session.kind().wave_size.all());
    let function = stacks[0].frames.first().and_then(|frame| frame.function.clone());
    let count = stacks[0].frames.len().max(stacks[1].frames.len());
    let (mut found, mut left_out) = (Vec::new(), LeftOut::default());
    for frame in 0..count {
        let at = stacks.each_ref().map(|stack| stack.frames.get(frame));
        let functions = at.map(|at| at.and_then(|at| at.function.clone()));
        let lines = at.map(|at| at.and_then(|at| Some(format!("{}:{}", at.file.as_ref()?, at.line?))));
        let locals = [walked[0].locals(lanes[0], frame), walked[1].locals(lanes[1], frame)];
        let problems = locals.each_ref().map(|locals| locals.as_ref().err().map(ToString::to_string));
        let variables = match &locals {
            [Ok(a), Ok(b)] => {
                left_out.variables += a.left_out.max(b.left_out) as u64;
                variables(a, b)
            }
            _ => {
                let is_skipped = both.iter().any(|(session, _)| session.has_skipped_functions());
                let is_unknown =
                    !is_skipped && at.iter().all(Option::is_some) && locals.iter().all(Result::is_err);
                left_out.frames += u64::from(is_skipped);
                left_out.unknown += u64::from(is_unknown);
                Vec::new()
            }
        };
        let difference = FrameDifference {
            frame,
            functions: (functions[0] != functions[1]).then_some(functions),
            lines: (lines[0] != lines[1]).then_some(lines),
            // The reason mostly contains an address; a lack of variables in both is no difference.
            problems: problems.iter().any(Option::is_none).then_some(problems).filter(|why| why[0] != why[1]),
            variables,
        };
        let FrameDifference { functions, lines, problems, variables, .. } = &difference;
        if functions.is_some() || lines.is_some() || problems.is_some() || !variables.is_empty() {
            found.push(difference);
        }
    }
    Ok((function, found, left_out))
}

fn variables(a: &Locals, b: &Locals) -> Vec<DifferentVariable> {
    let [of_a, of_b] = [a, b].map(by_name);
    let mut found = Vec::new();
    for (variable, key) in a.variables.iter().zip(keys(a)) {
        let other = of_b.get(&key).copied();
        // A variable omitted from one result may exist in its dump.
        if other.is_some() || b.left_out == 0 {
            found.extend(compared(Some(variable), other));
        }
    }
    for (variable, key) in b.variables.iter().zip(keys(b)) {
        if !of_a.contains_key(&key) && a.left_out == 0 {
            found.extend(compared(None, Some(variable)));
        }
    }
    found
}

/// Names of variables with ordinals: among variables of the same name, which hide each other, the n-th of one frame
/// pairs with the n-th of the other.
fn keys(locals: &Locals) -> impl Iterator<Item = (&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    locals.variables.iter().map(move |variable| {
        let count = counts.entry(&variable.name).or_default();
        *count += 1;
        (variable.name.as_str(), *count)
    })
}

fn by_name(locals: &Locals) -> HashMap<(&str, usize), &Variable> {
    keys(locals).zip(&locals.variables).collect()
}

fn compared(a: Option<&Variable>, b: Option<&Variable>) -> Option<DifferentVariable> {
    let any = a.or(b)?;
    if let (Some(a), Some(b)) = (a, b)
        && a.lanes.len() == b.lanes.len()
        && a.lanes.iter().zip(&b.lanes).all(|(a, b)| a.lane == b.lane && is_same(a, b))
    {
        return None;
    }
    let mut lanes: Vec<LaneId> =
        [a, b].into_iter().flatten().flat_map(|variable| &variable.lanes).map(|value| value.lane).collect();
    lanes.sort_unstable();
    lanes.dedup();
    let mut unprinted: Option<UnprintedDifference> = None;
    let each = lanes.into_iter().filter_map(|lane| {
        let values = [value(a, lane), value(b, lane)];
        if let [Some(a), Some(b)] = values
            && is_same(a, b)
        {
            return None;
        }
        let mut words =
            values.each_ref().map(|value| value.map(|value| crate::report::text::value(&value.state)));
        if words[0] == words[1] {
            let bytes = values.map(|value| value.map(|value| &*value.bytes));
            let [Some(first), Some(second)] = bytes else { return None };
            let offset = (0..first.len().max(second.len())).find(|at| first.get(*at) != second.get(*at))?;
            let byte = |bytes: &[Byte]| bytes.get(offset).map_or("none".to_owned(), ToString::to_string);
            let bytes = [byte(first), byte(second)];
            for (words, byte) in words.iter_mut().flatten().zip(&bytes) {
                words.push_str(&format!(" [byte {offset}: {byte}]"));
            }
            let found = || UnprintedDifference { lanes: LaneSet::EMPTY, offset, bytes };
            unprinted.get_or_insert_with(found).lanes.0 |= LaneSet::one(lane).0;
        }
        Some(LaneDifference { lane, values: words })
    });
    let lanes: Vec<_> = each.collect();
    let (name, type_name) = (any.name.clone(), any.type_name.clone());
    let values = [a, b].into_iter().flatten().flat_map(|variable| &variable.lanes);
    let inferred = values.fold(Inferred::NONE, |all, value| all.or(value.inferred));
    (!lanes.is_empty()).then_some(DifferentVariable { name, type_name, inferred, lanes, unprinted })
}

fn is_same(a: &LaneValue, b: &LaneValue) -> bool {
    a.state == b.state && a.bytes == b.bytes
}

/// A variable's value in a lane; values are in the order of their lanes.
fn value(of: Option<&Variable>, lane: LaneId) -> Option<&LaneValue> {
    let lanes = &of?.lanes;
    lanes.get(lanes.binary_search_by_key(&lane, |value| value.lane).ok()?)
}
