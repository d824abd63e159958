//! Pointers and arrays that give the addresses of an access by one rule in all lanes.

use crate::isa::{Access, Direction};
use crate::session::Inspect;
use crate::session::print::{ArrayDimension, PartSort, PartValue, Parts, Pointee, VariablePart};
use crate::triage::accessed::LaneAt;
use crate::units::LaneId;

/// The largest remainder that counts as a part of an element of unknown layout, in bytes.
const MAX_ELEMENT: u64 = 1 << 24;

/// A pointer or array that leads to the addresses of an access.
#[derive(Clone, Debug)]
pub(super) struct Fit<'p> {
    pub(super) part: &'p VariablePart,
    /// Bytes of an element.
    pub(super) element: u64,
    /// The path from an element to the accessed part: `.range.first`.
    pub(super) member: String,
    /// Dimensions of the array, the outermost first. Of a pointer one without a length.
    pub(super) dimensions: Vec<ArrayDimension>,
    /// The lanes of the access, in order.
    pub(super) lanes: Vec<LaneFit>,
    /// Whether the rule was compared with lanes outside of the suspect's.
    pub(super) others: Vec<LaneFit>,
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

/// All parts that fit, in their order. `lanes`: of the suspect; `others`: more lanes of the same access.
pub(super) fn all<'p>(
    session: &dyn Inspect,
    access: &Access,
    parts: &'p Parts,
    lanes: &[LaneAt],
    others: &[LaneAt],
) -> Vec<Fit<'p>> {
    parts.parts.iter().filter_map(|part| fit(session, access, part, lanes, others)).collect()
}

fn fit<'p>(
    session: &dyn Inspect,
    access: &Access,
    part: &'p VariablePart,
    lanes: &[LaneAt],
    others: &[LaneAt],
) -> Option<Fit<'p>> {
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
    let mut remainder = None;
    let mut of_lane = |at: &LaneAt| {
        let value = value_of(part, at.lane)?;
        let (base, distance) = distance(value, at, matches!(part.sort, PartSort::Pointer(_)))?;
        let (indexes, rest) = indexes(&dimensions, distance);
        let is_same = *remainder.get_or_insert(rest) == rest;
        is_same.then_some(LaneFit { lane: at.lane, base, indexes, distance })
    };
    let lanes = lanes.iter().map(&mut of_lane).collect::<Option<Vec<_>>>()?;
    let known = others.iter().filter(|at| value_of(part, at.lane).is_some());
    let others = known.map(&mut of_lane).collect::<Option<Vec<_>>>()?;
    let remainder = u64::try_from(remainder?).ok().filter(|rest| *rest < MAX_ELEMENT)?;
    let member = member(session, pointee, element, remainder, bytes)?;
    Some(Fit { part, element, member, dimensions, lanes, others })
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

/// The indexes of an element by its distance, and the remaining bytes. All but the outermost index are within bounds.
fn indexes(dimensions: &[ArrayDimension], distance: i64) -> (Vec<i64>, i64) {
    let mut rest = distance;
    let mut indexes = Vec::with_capacity(dimensions.len());
    for dimension in dimensions {
        let index = match dimension.stride {
            0 => 0,
            stride => rest.div_euclid(stride),
        };
        rest = rest.wrapping_sub(index.wrapping_mul(dimension.stride));
        indexes.push(index.wrapping_add(dimension.first));
    }
    (indexes, rest)
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
            let path = session.member_path(code_object, id, remainder);
            // Compilers copy several members, or a whole object, at once.
            path.or_else(|| (remainder == 0).then(String::new))
        }
        // A wide scalar can be accessed by its dwords.
        _ if remainder == 0 || remainder + bytes <= element && remainder.is_multiple_of(bytes) => {
            Some(String::new())
        }
        _ => None,
    }
}
