//! Pointers in arrays and in their elements: `bodies[i]` for an access through `bodies[i]->mass`, `e[i].d`, `a->b->c`.
//!
//! Compilers keep such a pointer in the registers of the address alone, and no variable has it. It is still in memory:
//! at an index that a variable has, or that is the work-item's number.

use super::line::Line;
use crate::session::print::{PartSort, PartValue, Parts, Pointee, VariablePart};
use crate::session::{Inferred, LaneInfo, MemoryAddress};
use crate::triage::accessed::Accessed;
use crate::units::{Address, LaneId, LaneSet};

/// Maximum number of arrays of pointers, of pointers in an element, and of indexes into each array.
const MAX_ARRAYS: usize = 8;
const MAX_MEMBERS: usize = 4;
const MAX_INDEXES: usize = 8;
/// The first index.
const FIRST: &str = "0";
/// Bytes of a pointer.
const POINTER: usize = 8;
/// Maximum number of pointers that lead from one to the next: `a->b->c`.
const MAX_STEPS: usize = 2;

/// An index into an array of pointers, by lane.
struct Index {
    name: String,
    values: Vec<(LaneId, i64)>,
    inferred: Inferred,
}

/// Pointers at one place of each element of an array.
struct Holder<'p> {
    array: &'p VariablePart,
    /// The first index, and bytes from an element to the next.
    first: i64,
    stride: i64,
    /// The path within the element: `.d`.
    member: String,
    /// Bytes from the element to the pointer.
    offset: u64,
    target: Pointee,
}

/// Adds pointers in arrays, and in the elements of arrays, to the parts.
pub(super) fn add(accessed: &Accessed<'_>, parts: &mut Parts, line: &Line<'_>) {
    let mut indexes: Option<Vec<Index>> = None;
    let mut known = 0;
    for step in 0..MAX_STEPS {
        let of_step = parts.parts.iter().skip(known).filter(|part| step == 0 || line.has(&part.path));
        let mut holders: Vec<Holder<'_>> = of_step.flat_map(|part| holders(accessed, part)).collect();
        holders.sort_by_key(|of| !line.has(&format!("{}{}", of.array.path, of.member)));
        holders.truncate(MAX_ARRAYS);
        if holders.is_empty() {
            return;
        }
        let indexes = indexes.get_or_insert_with(|| indexes_of(accessed, parts, line));
        let mut found: Vec<VariablePart> = Vec::new();
        let of_line = |of: &Holder<'_>, index: &&Index| line.may_have(&of.array.path, &index.name);
        let slots = holders.iter().flat_map(|of| {
            let own = indexes.iter().filter(move |index| of_line(of, index));
            own.filter_map(move |index| slot(accessed, of, index))
        });
        for slot in slots {
            if parts.parts.iter().chain(&found).all(|part| part.path != slot.path) {
                found.push(slot);
            }
        }
        known = parts.parts.len();
        parts.parts.extend(found);
    }
}

/// The pointers in an array, or in the elements of one.
fn holders<'p>(accessed: &Accessed<'_>, array: &'p VariablePart) -> Vec<Holder<'p>> {
    let (element, first, stride) = match &array.sort {
        PartSort::Pointer(element) => (element, 0, element.size.and_then(|size| i64::try_from(size).ok())),
        PartSort::Array { element, dimensions } => match dimensions.as_slice() {
            [one] => (element, one.first, Some(one.stride)),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let Some(stride) = stride else { return Vec::new() };
    let holder = |member, offset, target| Holder { array, first, stride, member, offset, target };
    if let Some(target) = &element.to {
        return vec![holder(String::new(), 0, Pointee::clone(target))];
    }
    let Some((code_object, id)) = element.of.filter(|_| element.is_composite) else { return Vec::new() };
    let session = accessed.session;
    let pointers = session.pointers_in(code_object, id);
    let members = pointers.iter().filter(|at| usize::from(at.bytes) == POINTER && !at.is_shared);
    let members = members.filter_map(|at| {
        let member = session.member_path(code_object, id, at.offset)?;
        let target = at.to.map_or_else(Pointee::default, |(to, size)| Pointee {
            size: Some(size).filter(|size| *size > 0),
            of: Some((code_object, to)),
            is_composite: session.member_path(code_object, to, 0).is_none_or(|path| !path.is_empty()),
            ..Pointee::default()
        });
        Some(holder(member, at.offset, target))
    });
    members.take(MAX_MEMBERS).collect()
}

/// Integers that the line names first, the numbers of the work-items, and the first element.
fn indexes_of(accessed: &Accessed<'_>, parts: &Parts, line: &Line<'_>) -> Vec<Index> {
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
    for values in work_items(accessed) {
        if found.iter().all(|known| known.values != values)
            && let Some((first, start)) = values.first().copied()
        {
            let start = start - i64::from(first.0);
            let name = if start == 0 { "lane".to_owned() } else { format!("{start} + lane") };
            found.push(Index { name, values, inferred: Inferred::NONE });
        }
    }
    let lanes = parts.parts.iter().flat_map(|part| &part.values).map(|value| value.lane);
    let lanes = lanes.fold(LaneSet::EMPTY, |set, lane| set.or(LaneSet::one(lane)));
    let values = lanes.iter().map(|lane| (lane, 0)).collect();
    found.push(Index { name: FIRST.to_owned(), values, inferred: Inferred::NONE });
    found
}

/// The first numbers of the work-items by lane, in the grid and in the work-group.
pub(super) fn work_items(accessed: &Accessed<'_>) -> [Vec<(LaneId, i64)>; 2] {
    let lanes = accessed.session.lanes(accessed.suspect.wave).unwrap_or_default();
    let in_grid = |lane: &LaneInfo| Some(lane.global_id?[0]);
    let in_group = |lane: &LaneInfo| Some(lane.local_id?[0]);
    [&in_grid as &dyn Fn(&LaneInfo) -> Option<u32>, &in_group]
        .map(|of| lanes.iter().filter_map(|lane| Some((lane.lane, i64::from(of(lane)?)))).collect())
}

/// The pointer at an index of an array, in the lanes whose memory is captured.
fn slot(accessed: &Accessed<'_>, of: &Holder<'_>, index: &Index) -> Option<VariablePart> {
    let array = of.array;
    if of.member.is_empty() && index.name == FIRST {
        // That is `*slots` already.
        return None;
    }
    let values = array.values.iter().filter_map(|base| {
        let (_, number) = index.values.iter().find(|(lane, _)| *lane == base.lane)?;
        let offset = number.checked_sub(of.first)?.checked_mul(of.stride)?;
        let address = base.address.checked_add_signed(offset)?.checked_add(of.offset)?;
        let wave = Some(accessed.suspect.wave);
        let place =
            MemoryAddress { space: base.space, address: Address(address), wave, lane: Some(base.lane) };
        let mut bytes = [0; POINTER];
        let got = accessed.session.read(place, &mut bytes).ok().filter(|got| *got == POINTER);
        let value = got.map(|_| u64::from_le_bytes(bytes))?;
        Some(PartValue { lane: base.lane, value, space: crate::session::address::GLOBAL, address: value })
    });
    let values: Vec<PartValue> = values.collect();
    let path = match of.member.strip_prefix('.').filter(|_| index.name == FIRST) {
        Some(member) if matches!(array.sort, PartSort::Pointer(_)) => format!("{}->{member}", array.path),
        _ => {
            let is_target = array.path.starts_with('*') && !of.member.is_empty();
            let array = if is_target { format!("({})", array.path) } else { array.path.clone() };
            format!("{array}[{}]{}", index.name, of.member)
        }
    };
    (!values.is_empty()).then(|| VariablePart {
        path,
        inferred: array.inferred.or(index.inferred),
        sort: PartSort::Pointer(of.target.clone()),
        values,
        ..array.clone()
    })
}
