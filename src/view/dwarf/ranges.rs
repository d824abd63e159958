//! Code within code: a block that is not within the one around it leads debuggers astray, and they say so.

use std::ops::Range;

use gimli::write::{self, Address, AttributeValue, ConvertUnit, ConvertUnitEntry, RangeList};
use gimli::{DwAt, constants};

use super::Slice;
use crate::units::DieOffset;

/// What says where a DIE's code is.
pub(super) const PLACES: [DwAt; 4] =
    [constants::DW_AT_low_pc, constants::DW_AT_high_pc, constants::DW_AT_ranges, constants::DW_AT_entry_pc];

/// Sorted, and apart from one another.
type Ranges = Vec<Range<u64>>;

/// The code of the DIEs around one.
#[derive(Default)]
pub(super) struct Places {
    around: Vec<(isize, Ranges)>,
    /// How many were outside of what holds them.
    pub(super) left_out: usize,
}

impl Places {
    /// Whether a DIE is within what holds it, in the order of DIEs. A function is where it says: see [`hold`].
    pub(super) fn holds(&mut self, entry: &ConvertUnitEntry<'_, Slice<'_>>, is_function: bool) -> bool {
        self.around.retain(|(depth, _)| *depth < entry.depth());
        let own = ranges(entry);
        if own.is_empty() {
            return true;
        }
        let is_within = is_function || self.around.last().is_none_or(|(_, around)| are_within(&own, around));
        if is_within {
            self.around.push((entry.depth(), own));
        } else {
            self.left_out += 1;
        }
        is_within
    }
}

/// Widens what a unit says of its code to that of its functions; whether it had to.
pub(super) fn hold(
    to: &mut ConvertUnit<'_, Slice<'_>>,
    root: &ConvertUnitEntry<'_, Slice<'_>>,
    functions: &[(DieOffset, Range<u64>)],
) -> bool {
    let said = ranges(root);
    if said.is_empty() {
        return false;
    }
    let of_functions = functions.iter().map(|(_, range)| range.clone()).collect();
    let of_functions = joined(of_functions);
    if are_within(&of_functions, &said) {
        return false;
    }
    // Each with a base of its own, in any version.
    let base = write::Range::BaseAddress { address: Address::Constant(0) };
    let each = joined(said.into_iter().chain(of_functions).collect()).into_iter();
    let each = each.map(|range| write::Range::OffsetPair { begin: range.start, end: range.end });
    let list = to.unit.ranges.add(RangeList(std::iter::once(base).chain(each).collect()));
    let id = to.unit.root();
    let root = to.unit.get_mut(id);
    PLACES.iter().for_each(|name| root.delete(*name));
    root.set(constants::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
    root.set(constants::DW_AT_ranges, AttributeValue::RangeListRef(list));
    true
}

/// The code of a DIE; none where it cannot be read.
fn ranges(entry: &ConvertUnitEntry<'_, Slice<'_>>) -> Ranges {
    let Ok(mut ranges) = entry.read_unit.die_ranges(&entry.read_entry) else { return Vec::new() };
    let mut all = Vec::new();
    while let Ok(Some(range)) = ranges.next() {
        all.push(range.begin..range.end);
    }
    joined(all)
}

fn joined(mut all: Ranges) -> Ranges {
    all.retain(|range| !range.is_empty());
    all.sort_by_key(|range| range.start);
    let mut joined: Ranges = Vec::with_capacity(all.len());
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn are_within(ranges: &[Range<u64>], around: &[Range<u64>]) -> bool {
    ranges.iter().all(|range| {
        let after = around.partition_point(|around| around.start <= range.start);
        let holds = after.checked_sub(1).and_then(|index| around.get(index));
        holds.is_some_and(|around| range.end <= around.end)
    })
}
