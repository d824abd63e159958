//! One flipped bit.

use super::Subject;
use super::neighbours::{before_start, past_end};
use crate::triage::Pattern;
use crate::triage::map::is_hole;

/// Lower bits lead from an allocation to another one: allocations lie within 1 GiB of each other.
const FIRST_BIT: u8 = 30;
/// More ways to listed memory than this are chance.
const MAX_WAYS: usize = 3;

/// The address is unmapped or non-canonical, near no allocation, and at most 3 single bits from 30 up lead to listed
/// memory, from the base pointer, too. Of several the highest counts.
///
/// A pointer to listed memory is sound: an index leads away from it. Without a known pointer the addresses of several
/// lanes are sums of one. With memory nearer than half of the flip, chance gives a bit that leads there.
pub(super) fn flipped(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.global()?;
    let is_bad = is_hole(address) || of.unmapped().is_some();
    let is_sum = match of.has_listed_base() {
        None => of.accessed.lanes.len() > 1,
        Some(is_listed) => is_listed,
    };
    if !is_bad || is_sum || past_end(of).is_some() || before_start(of).is_some() {
        return None;
    }
    let map = &of.accessed.map;
    let near = map.distance(address);
    let ways = (FIRST_BIT..64).filter_map(|bit| {
        let flip = 1 << bit;
        let is_far = near.is_none_or(|near| near >= flip / 2);
        let is_pointer = || of.base.is_none_or(|base| map.lists(base ^ flip));
        (is_far && map.lists(address ^ flip) && is_pointer()).then_some((bit, address ^ flip))
    });
    let ways: Vec<(u8, u64)> = ways.take(MAX_WAYS + 1).collect();
    let (bit, meant) = ways.last().copied().filter(|_| ways.len() <= MAX_WAYS)?;
    Some(Pattern::FlippedBit { bit, meant, alternatives: ways.len() - 1 })
}
