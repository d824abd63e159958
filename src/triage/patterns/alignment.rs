//! Accesses that the address permits and the memory does not.

use super::Subject;
use crate::capture::FaultReason;
use crate::isa::Direction;
use crate::triage::Pattern;

/// An atomic at an address that is no multiple of its size: 4 or 8 bytes.
pub(super) fn misaligned(of: &Subject<'_>) -> Option<Pattern> {
    let is_atomic = matches!(of.accessed.suspect.access.direction, Direction::Atomic { .. });
    let needed = of.lane.bytes.min(8);
    let is_misaligned = is_atomic && of.lane.address.checked_rem(needed).is_some_and(|rest| rest != 0);
    is_misaligned.then_some(Pattern::Misaligned { needed: needed as u16 })
}

/// A store or atomic on a page whose report says read-only and not also that it is absent.
pub(super) fn read_only(of: &Subject<'_>) -> Option<Pattern> {
    let is_write = of.accessed.suspect.access.direction != Direction::Load;
    let is_reported = of.accessed.is_on_page(of.lane, |fault| {
        fault.reasons.contains(&FaultReason::ReadOnly) && !fault.reasons.contains(&FaultReason::NotPresent)
    });
    (is_write && is_reported).then_some(Pattern::ReadOnly)
}
