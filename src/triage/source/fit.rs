//! Pointers and arrays that give the addresses of an access by one rule in all lanes.

use super::readings::Known;
use crate::isa::{Access, Direction};
use crate::session::Inspect;
use crate::session::print::{ArrayDimension, PartSort, PartValue, Parts, Pointee, VariablePart};
use crate::triage::accessed::LaneAt;
use crate::units::LaneId;

/// The largest remainder that counts as a part of an element of unknown layout, in bytes.
const MAX_ELEMENT: u64 = 1 << 24;
/// Maximum number of readings by one path to an element.
const MAX_READINGS: usize = 32;

/// A pointer or array that leads to the addresses of an access.
#[derive(Clone, Debug)]
pub(super) struct Fit<'p> {
    pub(super) part: &'p VariablePart,
    /// Bytes of an element.
    pub(super) element: u64,
    /// The members after each index; after the last one the path to the accessed part: `.range.first`.
    pub(super) members: Vec<String>,
    /// Dimensions of the array and those of arrays in its elements, the outermost first. Of a pointer the first is
    /// without a length.
    pub(super) dimensions: Vec<ArrayDimension>,
    /// The lanes of the access, in order.
    pub(super) lanes: Vec<LaneFit>,
    /// Whether the rule was compared with lanes outside of the suspect's.
    pub(super) others: Vec<LaneFit>,
    /// Other readings of the same addresses with the same evidence.
    pub(super) rivals: Vec<Self>,
}

impl Fit<'_> {
    /// Whether a part of an element is accessed: a member, or an element of a pointer's array.
    pub(super) fn is_inner(&self) -> bool {
        let is_array = matches!(self.part.sort, PartSort::Pointer(_)) && self.dimensions.len() > 1;
        is_array || self.members.iter().any(|member| !member.is_empty())
    }
}

/// A lane of a fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LaneFit {
    pub(super) lane: Option<LaneId>,
    /// The pointer's value, or the address of the array's first element.
    pub(super) base: u64,
    /// The indexes, one for each dimension.
    pub(super) indexes: Vec<i64>,
    /// Bytes from the base to the accessed element.
    pub(super) distance: i64,
}

impl LaneFit {
    /// The index of the outermost dimension.
    pub(super) fn index(&self) -> i64 {
        self.indexes.first().copied().unwrap_or_default()
    }
}

/// The readings of all parts that fit, in the order of the parts. `lanes`: of the suspect; `others`: more lanes of the
/// same access. The first reading of a part has all but the outermost index within bounds.
pub(super) fn all<'p>(
    session: &dyn Inspect,
    access: &Access,
    parts: &'p Parts,
    lanes: &[LaneAt],
    others: &[LaneAt],
    known: &Known,
) -> Vec<Vec<Fit<'p>>> {
    let readings = parts.parts.iter().map(|part| fits(session, access, part, (lanes, others), known));
    readings.map(Option::unwrap_or_default).collect()
}

/// The bytes from a part to an address.
#[derive(Clone, Copy)]
struct Reach {
    lane: Option<LaneId>,
    /// The number of the lane among those of the access and the others.
    slot: usize,
    base: u64,
    distance: i64,
}

/// The indexed scalar of a reading.
struct Shape {
    /// Bytes from the base to the scalar with the first indexes.
    offset: u64,
    /// Bytes of the scalar.
    size: u64,
    members: Vec<String>,
    dimensions: Vec<ArrayDimension>,
}

fn fits<'p>(
    session: &dyn Inspect,
    access: &Access,
    part: &'p VariablePart,
    (lanes, others): (&[LaneAt], &[LaneAt]),
    known: &Known,
) -> Option<Vec<Fit<'p>>> {
    let (pointee, dimensions) = match &part.sort {
        PartSort::Integer | PartSort::Place { .. } => return None,
        PartSort::Pointer(pointee) => (pointee, None),
        PartSort::Array { element, dimensions } => (element, Some(dimensions)),
    };
    if pointee.is_const && access.direction != Direction::Load {
        return None;
    }
    let bytes = lanes.first()?.bytes;
    // `void *`, and pointers without a type.
    let element = pointee.size.unwrap_or(bytes);
    let dimensions = match dimensions {
        Some(dimensions) => dimensions.clone(),
        None => vec![ArrayDimension { first: 0, count: None, stride: i64::try_from(element).ok()? }],
    };
    let reach = |(slot, at): (usize, &LaneAt)| {
        let (base, distance) =
            distance(value_of(part, at.lane)?, at, matches!(part.sort, PartSort::Pointer(_)))?;
        Some(Reach { lane: at.lane, slot, base, distance })
    };
    let reached = lanes.iter().enumerate().map(reach).collect::<Option<Vec<_>>>()?;
    let slots = (lanes.len()..).zip(others).filter(|(_, at)| value_of(part, at.lane).is_some());
    let others = slots.map(reach).collect::<Option<Vec<_>>>()?;
    let reading = |shape: &Shape, fixed: &[Option<&[Option<i64>]>]| {
        let (lanes, rest) = indexed(shape, &reached, fixed)?;
        let others: Vec<Reach> = others.iter().copied().filter(|at| has_all(fixed, at.slot)).collect();
        let others = match others.is_empty() {
            true => Vec::new(),
            false => indexed(shape, &others, fixed).filter(|(_, of_others)| *of_others == rest)?.0,
        };
        let (members, dimensions) = (shape.members.clone(), shape.dimensions.clone());
        Some((Fit { part, element, members, dimensions, lanes, others, rivals: Vec::new() }, rest))
    };
    let mut found: Vec<Fit<'p>> = Vec::new();
    let mut outer = vec![String::new(); dimensions.len()];
    let whole =
        Shape { offset: 0, size: MAX_ELEMENT, members: outer.clone(), dimensions: dimensions.clone() };
    let plain = reading(&whole, &vec![None; dimensions.len()]).and_then(|(mut fit, rest)| {
        let member = member(session, pointee, element, rest, bytes)?;
        member.clone_into(fit.members.last_mut()?);
        Some((fit, rest, member))
    });
    let mut paths = match (pointee.of, pointee.is_composite) {
        (Some((code_object, id)), true) => session.element_paths(code_object, id),
        _ => Vec::new(),
    };
    let mut shapes = Vec::new();
    if let Some((fit, rest, member)) = plain
        && (paths.is_empty() || !member.contains('['))
    {
        found.push(fit);
        if dimensions.len() > 1 {
            member.clone_into(outer.last_mut()?);
            let size = element.saturating_sub(rest).max(1);
            let (members, dimensions) = (outer.clone(), dimensions.clone());
            shapes.push(Shape { offset: rest, size, members, dimensions });
        }
    }
    outer.pop();
    for path in &mut paths {
        let members = outer.iter().cloned().chain(path.members.drain(..)).collect();
        let dimensions = dimensions.iter().chain(&path.dimensions).copied().collect();
        shapes.push(Shape { offset: path.offset, size: path.size, members, dimensions });
    }
    for shape in &shapes {
        let limit = found.len() + MAX_READINGS;
        for fixed in known.choices(shape.dimensions.len()) {
            let Some((fit, rest)) = reading(shape, &fixed) else { continue };
            let is_scalar = rest == 0 || rest + bytes <= shape.size && rest.is_multiple_of(bytes);
            let is_new = |of: &Fit<'_>| of.lanes != fit.lanes || of.members != fit.members;
            if is_scalar && found.len() < limit && found.iter().all(is_new) {
                found.push(fit);
            }
        }
    }
    Some(found)
}

/// Whether all fixed indexes are known in a lane.
fn has_all(fixed: &[Option<&[Option<i64>]>], slot: usize) -> bool {
    fixed.iter().flatten().all(|values| values.get(slot).copied().flatten().is_some())
}

/// The lanes of a reading, and the bytes from the scalar to the accessed part of it, the same in all lanes. Indexes that
/// are not fixed are within bounds, all but the outermost of them.
fn indexed(shape: &Shape, lanes: &[Reach], fixed: &[Option<&[Option<i64>]>]) -> Option<(Vec<LaneFit>, u64)> {
    let offset = i64::try_from(shape.offset).ok()?;
    let mut remainder = None;
    let mut found = Vec::with_capacity(lanes.len());
    for at in lanes {
        let mut rest = at.distance.wrapping_sub(offset);
        let mut indexes = Vec::with_capacity(shape.dimensions.len());
        for (dimension, values) in shape.dimensions.iter().zip(fixed) {
            let Some(values) = values else { continue };
            let index = values.get(at.slot).copied().flatten()?;
            rest = rest.wrapping_sub(index.wrapping_sub(dimension.first).wrapping_mul(dimension.stride));
        }
        for (dimension, values) in shape.dimensions.iter().zip(fixed) {
            if let Some(values) = values {
                indexes.push(values.get(at.slot).copied().flatten()?);
                continue;
            }
            let index = match dimension.stride {
                0 => 0,
                stride => rest.wrapping_div_euclid(stride),
            };
            rest = rest.wrapping_sub(index.wrapping_mul(dimension.stride));
            indexes.push(index.wrapping_add(dimension.first));
        }
        let rest = u64::try_from(rest).ok().filter(|rest| *rest < shape.size.min(MAX_ELEMENT))?;
        if *remainder.get_or_insert(rest) != rest {
            return None;
        }
        found.push(LaneFit { lane: at.lane, base: at.base, indexes, distance: at.distance });
    }
    Some((found, remainder?))
}

/// The part's value for a lane; a scalar access takes the first.
fn value_of(part: &VariablePart, lane: Option<LaneId>) -> Option<&PartValue> {
    match lane {
        Some(lane) => part.values.iter().find(|value| value.lane == lane),
        None => part.values.first(),
    }
}

/// The base, and the bytes from it to an address. A global access takes a pointer as it is: apertures do not matter. An
/// array is in its own address space.
fn distance(value: &PartValue, at: &LaneAt, is_pointer: bool) -> Option<(u64, i64)> {
    if value.space == at.space {
        return Some((value.address, at.address.wrapping_sub(value.address).cast_signed()));
    }
    (is_pointer && at.is_global()).then(|| (value.value, at.address.wrapping_sub(value.value).cast_signed()))
}

/// The path to the accessed part of an element; `None`: the access begins inside of no part.
fn member(
    session: &dyn Inspect,
    pointee: &Pointee,
    element: u64,
    remainder: u64,
    bytes: u64,
) -> Option<String> {
    match (pointee.of, pointee.is_composite) {
        (Some((code_object, id)), true) => {
            let path = |of: u64| session.member_path(code_object, id, of);
            let first = path(remainder);
            // Compilers copy several members, or a whole object, at once.
            let next = [1, 2, 4, 8].into_iter().filter(|step| *step < bytes);
            match (next.filter_map(|step| path(remainder.checked_add(step)?)).next(), first) {
                (_, None) => (remainder == 0).then(String::new),
                (Some(_), _) if (remainder, bytes) == (0, element) => Some(String::new()),
                (Some(next), Some(first)) => Some(vector(&first, &next).map_or(first.clone(), str::to_owned)),
                (None, first) => first,
            }
        }
        // A wide scalar can be accessed by its dwords.
        _ if remainder == 0 || remainder + bytes <= element && remainder.is_multiple_of(bytes) => {
            Some(String::new())
        }
        _ => None,
    }
}

/// The path to a vector by those to its first two components.
fn vector<'p>(first: &'p str, second: &str) -> Option<&'p str> {
    [(".x", ".y"), (".s0", ".s1")].into_iter().find_map(|(one, two)| {
        let path = first.strip_suffix(one)?;
        (second.strip_suffix(two) == Some(path)).then_some(path)
    })
}
