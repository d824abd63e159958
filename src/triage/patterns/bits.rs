//! One flipped bit.

use super::Subject;
use super::index::wrapped;
use super::neighbours::{before_start, past_end};
use crate::triage::Pattern;
use crate::triage::map::is_hole;

/// Lower bits lead to the same page.
const FIRST_BIT: u8 = 12;
/// More ways to listed memory than this are chance.
const MAX_WAYS: usize = 3;

/// The address is unmapped or non-canonical, near no allocation, and at most 3 single bits from 12 up lead to listed
/// memory. Of several the highest counts.
pub(super) fn flipped(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.global()?;
    let is_bad = is_hole(address) || of.unmapped().is_some();
    // An index times size cannot flip a bit of a good base.
    let is_overflow = of.has_listed_base() == Some(true) && wrapped(of).is_some();
    if !is_bad || is_overflow || past_end(of).is_some() || before_start(of).is_some() {
        return None;
    }
    let ways = (FIRST_BIT..64).filter_map(|bit| {
        let meant = address ^ 1 << bit;
        of.accessed.map.lists(meant).then_some((bit, meant))
    });
    let ways: Vec<(u8, u64)> = ways.take(MAX_WAYS + 1).collect();
    let (bit, meant) = ways.last().copied().filter(|_| ways.len() <= MAX_WAYS)?;
    Some(Pattern::FlippedBit { bit, meant, alternatives: ways.len() - 1 })
}
