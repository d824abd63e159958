//! Attributes of functions and inlined calls for lanes, and locations of a frame.

use std::ops::Range;

use crate::codeobject::ElfAddress;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Origins, Reading};
use crate::debuginfo::unit::location::LocationAttribute;
use crate::debuginfo::unit::sections::unsigned;

/// The number of lanes of a function's code: `DW_AT_LLVM_lanes`, `DW_AT_num_lanes` of the drafts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Absent; the wave size bounds `DW_OP_LLVM_push_lane`.
    Missing,
    /// A number.
    Constant(u64),
    /// An expression or list (later proposal): an implicit location with the number.
    Expression(LocationAttribute),
}

/// Attributes of the heterogeneous extensions on a function or an inlined call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimdFacts {
    /// `DW_AT_LLVM_lanes`.
    pub lanes: Lanes,
    /// `DW_AT_LLVM_lane_pc`, `DW_AT_lane_pc` of the drafts: the PCs of the lanes.
    pub lane_pc: LocationAttribute,
    /// `DW_AT_LLVM_active_lane`, `DW_AT_active_lane` of the drafts: the active lanes.
    pub active_lane: LocationAttribute,
}

impl SimdFacts {
    /// The facts of a function without these attributes.
    pub const MISSING: Self = Self {
        lanes: Lanes::Missing,
        lane_pc: LocationAttribute::Missing,
        active_lane: LocationAttribute::Missing,
    };
}

pub(in crate::debuginfo) fn addresses(ranges: Vec<Range<u64>>) -> Vec<Range<ElfAddress>> {
    let mut addresses: Vec<_> =
        ranges.into_iter().map(|range| ElfAddress(range.start)..ElfAddress(range.end)).collect();
    // A million scopes may be cached, most with one expression.
    addresses.shrink_to_fit();
    addresses
}

/// A location attribute of a DIE or its origins.
pub(in crate::debuginfo) fn attribute(
    reading: Reading<'_>,
    origins: &Origins<'_>,
    name: gimli::DwAt,
) -> LocationAttribute {
    match origins.having(name).and_then(|die| Some((die, die.entry.attr_value(name)?))) {
        Some((die, value)) => die.location_or_broken(&reading.info.sections, name, value),
        None => LocationAttribute::Missing,
    }
}

pub(in crate::debuginfo) fn simd(reading: Reading<'_>, origins: &Origins<'_>) -> SimdFacts {
    let find = |wanted: Heterogeneous| {
        origins.chain.iter().find_map(|die| die.extension(wanted).map(|(name, value)| (die, name, value)))
    };
    let located = |wanted| match find(wanted) {
        Some((die, name, value)) => die.location_or_broken(&reading.info.sections, name, value),
        None => LocationAttribute::Missing,
    };
    let lanes = match find(Heterogeneous::Lanes) {
        None => Lanes::Missing,
        Some((die, name, value)) => match unsigned(&value) {
            Some(number) => Lanes::Constant(number),
            None => Lanes::Expression(die.location_or_broken(&reading.info.sections, name, value)),
        },
    };
    SimdFacts {
        lanes,
        lane_pc: located(Heterogeneous::LanePc),
        active_lane: located(Heterogeneous::ActiveLane),
    }
}
