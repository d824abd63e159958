//! Nesting of code: debuggers misread and report a block outside of its parent's code.

use std::ops::Range;

use gimli::write::{self, Address, AttributeValue, ConvertUnit, ConvertUnitEntry, RangeList};
use gimli::{DwAt, constants};

use super::Slice;
use crate::units::DieOffset;

/// Attributes that locate a DIE's code.
pub(super) const PLACES: [DwAt; 4] =
    [constants::DW_AT_low_pc, constants::DW_AT_high_pc, constants::DW_AT_ranges, constants::DW_AT_entry_pc];

/// Sorted and disjoint.
type Ranges = Vec<Range<u64>>;

/// The code of a DIE's ancestors.
pub(super) struct Places {
    around: Vec<(isize, Ranges)>,
    /// The remaining capacity of ranges to read: DIEs may share a list.
    capacity: usize,
    /// The number of DIEs with more ranges than that.
    pub(super) unread: usize,
    /// The number of DIEs outside of their parent's code.
    pub(super) left_out: usize,
}

impl Places {
    /// `capacity`: the maximum of ranges to read.
    pub(super) fn new(capacity: usize) -> Self {
        Self { around: Vec::new(), capacity, unread: 0, left_out: 0 }
    }

    /// Whether a DIE's code is within its parent's, in the order of DIEs. A function's own ranges are authoritative:
    /// see [`hold`].
    pub(super) fn holds(&mut self, entry: &ConvertUnitEntry<'_, Slice<'_>>, is_function: bool) -> bool {
        while self.around.pop_if(|(depth, _)| *depth >= entry.depth()).is_some() {}
        if passes_the_end(entry) {
            self.left_out += 1;
            return false;
        }
        let Some(own) = ranges_within(entry, &mut self.capacity) else {
            self.unread += 1;
            return false;
        };
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

/// Widens a unit's ranges to those of its functions; returns whether that was necessary.
pub(super) fn hold(
    to: &mut ConvertUnit<'_, Slice<'_>>,
    root: &ConvertUnitEntry<'_, Slice<'_>>,
    functions: &[(DieOffset, Range<u64>)],
) -> bool {
    let mut most = usize::MAX;
    let said = ranges_within(root, &mut most).unwrap_or_default();
    let passes = passes_the_end(root);
    if said.is_empty() && !passes {
        return false;
    }
    let of_functions = functions.iter().map(|(_, range)| range.clone()).collect();
    let of_functions = joined(of_functions);
    if are_within(&of_functions, &said) && !passes {
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

/// The code of a DIE; empty if it is unreadable. `None` if it has more ranges than the remaining capacity.
fn ranges_within(entry: &ConvertUnitEntry<'_, Slice<'_>>, capacity: &mut usize) -> Option<Ranges> {
    let mut all = Vec::new();
    let mut has_room = true;
    let _ = visit(entry, |range| {
        let left = capacity.checked_sub(1);
        (*capacity, has_room) = (left.unwrap_or(0), left.is_some());
        all.push(range);
        has_room
    });
    has_room.then(|| joined(all))
}

/// Whether a DIE's code passes the last address; gimli's `die_ranges` and debuggers add without a check.
pub(super) fn passes_the_end(entry: &ConvertUnitEntry<'_, Slice<'_>>) -> bool {
    // A list has end addresses, which never pass it.
    visit(entry, |_| false).is_none()
}

/// Visits the ranges of a DIE one by one while `each` returns true; DWARF 5 section 2.17. `None` if they pass the
/// last address.
pub(super) fn visit(
    entry: &ConvertUnitEntry<'_, Slice<'_>>,
    mut each: impl FnMut(Range<u64>) -> bool,
) -> Option<()> {
    let (unit, value) = (entry.read_unit, |name| entry.read_entry.attr_value(name));
    if let Some(list) = value(constants::DW_AT_ranges) {
        let Ok(Some(mut list)) = unit.attr_ranges(list) else { return Some(()) };
        while let Ok(Some(range)) = list.next() {
            if !each(range.begin..range.end) {
                break;
            }
        }
        return Some(());
    }
    let address = |value| unit.attr_address(value).ok().flatten();
    let Some(low) = value(constants::DW_AT_low_pc).and_then(address) else { return Some(()) };
    let high = match value(constants::DW_AT_high_pc) {
        None => return Some(()),
        Some(gimli::AttributeValue::Udata(size)) => low.checked_add(size)?,
        Some(value) => match address(value) {
            Some(high) => high,
            None => return Some(()),
        },
    };
    let _ = each(low..high);
    Some(())
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
