//! Pointers in arrays: `bodies[i]` for an access through `bodies[i]->mass`.
//!
//! Compilers keep such a pointer in the registers of the address alone, and no variable has it. It is still in memory:
//! at an index that a variable has, or that is the work-item's number.

use super::line::Line;
use crate::session::print::{PartSort, PartValue, Parts, Pointee, VariablePart};
use crate::session::{Inferred, LaneInfo, MemoryAddress};
use crate::triage::accessed::Accessed;
use crate::units::{Address, LaneId};

/// Maximum number of arrays of pointers, and of indexes into each.
const MAX_ARRAYS: usize = 8;
const MAX_INDEXES: usize = 8;
/// Bytes of a pointer.
const POINTER: usize = 8;

/// An index into an array of pointers, by lane.
struct Index {
    name: String,
    values: Vec<(LaneId, i64)>,
    inferred: Inferred,
}

/// Adds pointers in arrays to the parts.
pub(super) fn add(accessed: &Accessed<'_>, parts: &mut Parts, line: &Line<'_>) {
    let is_array = |part: &&VariablePart| target(part).is_some();
    if !parts.parts.iter().any(|part| is_array(&part)) {
        return;
    }
    let indexes = indexes(accessed, parts, line);
    let arrays = parts.parts.iter().filter(is_array).take(MAX_ARRAYS);
    let found: Vec<VariablePart> =
        arrays.flat_map(|array| indexes.iter().filter_map(|index| slot(accessed, array, index))).collect();
    parts.parts.extend(found);
}

/// The target of the pointers in an array.
fn target(part: &VariablePart) -> Option<&Pointee> {
    match &part.sort {
        PartSort::Pointer(element) => element.to.as_deref(),
        PartSort::Array { element, dimensions } if dimensions.len() == 1 => element.to.as_deref(),
        _ => None,
    }
}

/// Integers that the line names first, and the numbers of the work-items.
fn indexes(accessed: &Accessed<'_>, parts: &Parts, line: &Line<'_>) -> Vec<Index> {
    let integers = parts.parts.iter().filter(|part| part.sort == PartSort::Integer);
    let mut integers: Vec<&VariablePart> = integers.collect();
    integers.sort_by_key(|part| (!line.has(&part.path), part.call));
    let values = |part: &VariablePart| {
        part.values.iter().map(|value| (value.lane, value.value.cast_signed())).collect()
    };
    let mut found: Vec<Index> = Vec::new();
    for part in integers {
        let values = values(part);
        if found.len() < MAX_INDEXES && found.iter().all(|known| known.values != values) {
            let (name, inferred) = (part.path.clone(), part.inferred);
            found.push(Index { name, values, inferred });
        }
    }
    let lanes = accessed.session.lanes(accessed.suspect.wave).unwrap_or_default();
    let in_grid = |lane: &LaneInfo| Some(lane.global_id?[0]);
    let in_group = |lane: &LaneInfo| Some(lane.local_id?[0]);
    for of in [&in_grid as &dyn Fn(&LaneInfo) -> Option<u32>, &in_group] {
        let values =
            lanes.iter().filter_map(|lane| Some((lane.lane, i64::from(of(lane)?)))).collect::<Vec<_>>();
        if found.iter().all(|known| known.values != values)
            && let Some((first, start)) = values.first().copied()
        {
            let start = start - i64::from(first.0);
            let name = if start == 0 { "lane".to_owned() } else { format!("{start} + lane") };
            found.push(Index { name, values, inferred: Inferred::NONE });
        }
    }
    found
}

/// The pointer at an index of an array, in the lanes whose memory is captured.
fn slot(accessed: &Accessed<'_>, array: &VariablePart, index: &Index) -> Option<VariablePart> {
    let target = target(array)?;
    let first = match &array.sort {
        PartSort::Array { dimensions, .. } => dimensions.first()?.first,
        _ => 0,
    };
    let values = array.values.iter().filter_map(|base| {
        let (_, number) = index.values.iter().find(|(lane, _)| *lane == base.lane)?;
        let offset = number.checked_sub(first)?.checked_mul(POINTER as i64)?;
        let address = Address(base.address.checked_add_signed(offset)?);
        let wave = Some(accessed.suspect.wave);
        let place = MemoryAddress { space: base.space, address, wave, lane: Some(base.lane) };
        let mut bytes = [0; POINTER];
        let got = accessed.session.read(place, &mut bytes).ok().filter(|got| *got == POINTER);
        let value = got.map(|_| u64::from_le_bytes(bytes))?;
        Some(PartValue { lane: base.lane, value, space: crate::session::address::GLOBAL, address: value })
    });
    let values: Vec<PartValue> = values.collect();
    (!values.is_empty()).then(|| VariablePart {
        path: format!("{}[{}]", array.path, index.name),
        inferred: array.inferred.or(index.inferred),
        sort: PartSort::Pointer(target.clone()),
        values,
        ..array.clone()
    })
}
