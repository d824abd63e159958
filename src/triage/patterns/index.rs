//! Bad indexes from a good pointer.

use super::Subject;
use crate::triage::Pattern;

const CYCLE: u64 = 1 << 32;
/// The distance in bytes before a base pointer that is no longer one of a small index.
const NEAR: u64 = 0x1_0000;
/// The largest number of lost 2^32.
const MAX_CYCLES: i64 = 4;
/// A large index is this many times the size of the allocation.
const LARGE: u64 = 10;
/// A large index is also a decimal number of a program: a multiple of `ROUND`, at least `ROUND * LARGE`.
const ROUND: u64 = 100_000;

/// The address is not in listed memory and 2^31 to 2^32 bytes above the base pointer, which the capture lists; less
/// 2^32 it is in listed memory, or less than 64 KiB below the base pointer.
pub(super) fn zero_extended(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unlisted()?;
    let base = of.base.filter(|_| of.has_listed_base() == Some(true))?;
    let distance = address.checked_sub(base).filter(|distance| (CYCLE / 2..CYCLE).contains(distance))?;
    let before = CYCLE - distance;
    let is_meant = before < NEAR || of.accessed.map.lists(address.wrapping_sub(CYCLE));
    let index = i64::try_from(before.checked_div(of.element)?).ok()?.checked_neg()?;
    let index = Some(index).filter(|_| !of.is_inner);
    is_meant.then_some(Pattern::NegativeIndex { index, is_zero_extended: true })
}

/// The address is before the base pointer, at most 2^31 elements, and not in listed memory; the capture lists the
/// base.
pub(super) fn negative(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unlisted()?;
    let base = of.base.filter(|_| of.has_listed_base() == Some(true))?;
    let distance = base.checked_sub(address).filter(|distance| *distance > 0)?;
    let index = match of.index {
        Some(index) => index,
        None => -i64::try_from(distance.div_ceil(of.element)).ok()?,
    };
    let is_near = (-(1 << 31)..0).contains(&index);
    let index = Some(index).filter(|_| of.index.is_some() || !of.is_inner);
    is_near.then_some(Pattern::NegativeIndex { index, is_zero_extended: false })
}

/// The address is known to be unmapped, and with exactly one of -4 to 4 times 2^32, not 0, it is in listed memory. A
/// pointer to listed memory is less than 5 times 2^32 away: the base pointer, or without one any pointer variable.
pub(super) fn wrapped(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unmapped()?;
    let is_reached = |base: &u64| base.abs_diff(address) < CYCLE * (MAX_CYCLES.unsigned_abs() + 1);
    match of.has_listed_base() {
        Some(true) => of.base.filter(is_reached).map(|_| ())?,
        _ => of.pointers.iter().find(|pointer| is_reached(pointer)).map(|_| ())?,
    }
    let mut hits = (-MAX_CYCLES..=MAX_CYCLES).filter(|times| *times != 0).filter_map(|times| {
        let meant = address.wrapping_add_signed(times.wrapping_mul(CYCLE.cast_signed()));
        of.accessed.map.lists(meant).then_some(Pattern::Wrapped32 { times, meant })
    });
    hits.next().filter(|_| hits.next().is_none())
}

/// The address is not in listed memory, and its index from a listed base pointer is at least 10 times the allocation,
/// or a round number: a multiple of 100,000 and at least 1,000,000.
pub(super) fn large(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unlisted()?;
    let base = of.base?;
    let span = of.accessed.map.at(base)?;
    let distance = address.checked_sub(base)?;
    let index = distance.checked_div(of.element)?;
    let size = (span.last - span.start).saturating_add(1);
    let is_round = index >= ROUND * LARGE && index.is_multiple_of(ROUND);
    let is_large = is_round || distance >= size.saturating_mul(LARGE);
    let index = i64::try_from(index).ok()?;
    is_large.then_some(Pattern::LargeIndex { index: Some(index).filter(|_| !of.is_inner) })
}
