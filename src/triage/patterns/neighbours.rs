//! Addresses near an allocation.

use super::Subject;
use crate::triage::map::{Span, is_hole};
use crate::triage::{Neighbour, Pattern};

/// The distance in bytes within which an allocation is a neighbour.
const NEAR: u64 = 0x1_0000;
/// The distance in bytes to the allocations around a freed one.
const FREED: u64 = 2 << 20;

/// The address is not in listed memory and less than 64 KiB past the end of an allocation: that of the base pointer,
/// or the nearest before the address. For LDS the allocation is the work-group's.
pub(super) fn past_end(of: &Subject<'_>) -> Option<Pattern> {
    if let Some(neighbour) = past_lds(of) {
        return Some(Pattern::PastEnd(neighbour));
    }
    let address = of.unlisted().filter(|address| !is_hole(*address))?;
    let span = of.accessed.map.before(address)?;
    let end = span.last.checked_add(1)?;
    let distance = address.checked_sub(end).filter(|distance| *distance < NEAR)?;
    // Between two allocations the one of the pointer decides.
    if base_span(of).is_some_and(|base| base.start > address) {
        return None;
    }
    Some(Pattern::PastEnd(of.accessed.map.neighbour(&span, distance)))
}

/// The address is not in listed memory and at most 64 KiB before the start of an allocation: that of the base pointer,
/// or the nearest after the address.
pub(super) fn before_start(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unlisted().filter(|address| !is_hole(*address))?;
    let span = of.accessed.map.after(address)?;
    let distance = span.start.checked_sub(address).filter(|distance| *distance <= NEAR)?;
    if base_span(of).is_some_and(|base| base.last < address) {
        return None;
    }
    // Without a pointer the nearer neighbour counts.
    if base_span(of).is_none()
        && let Some(Pattern::PastEnd(before)) = past_end(of)
        && before.distance < distance
    {
        return None;
    }
    Some(Pattern::BeforeStart(of.accessed.map.neighbour(&span, distance)))
}

/// The first byte is in listed memory and the last one is not.
pub(super) fn straddles(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.global()?;
    let span = of.accessed.map.at(address)?;
    let last = address.checked_add(of.lane.bytes - 1)?;
    let beyond = last.checked_sub(span.last).filter(|beyond| *beyond > 0)?;
    let is_outside = !of.accessed.map.lists(span.last.checked_add(1)?);
    is_outside.then(|| Pattern::Straddles(of.accessed.map.neighbour(&span, beyond)))
}

/// The address is known to be unmapped, no base pointer leads to listed memory, and listed memory is within 2 MiB on
/// both sides, but not within 64 KiB.
pub(super) fn freed(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unmapped()?;
    let before = of.accessed.map.before(address)?;
    let after = of.accessed.map.after(address)?;
    let below = address.checked_sub(before.last)?;
    let above = after.start.checked_sub(address)?;
    let is_between = below <= FREED && above <= FREED && below > NEAR && above > NEAR;
    (is_between && of.has_listed_base() != Some(true)).then_some(Pattern::Freed)
}

fn base_span(of: &Subject<'_>) -> Option<Span> {
    of.accessed.map.at(of.base?)
}

/// The work-group's LDS, if the access is past its end and the capture has it.
fn past_lds(of: &Subject<'_>) -> Option<Neighbour> {
    if of.lane.global.is_some() {
        return None;
    }
    let (base, name) = of.accessed.apertures.iter().find(|(_, name)| *name == "LDS")?;
    let lds = of.accessed.session.region(base.0, of.accessed.suspect.wave);
    let end = lds.last.checked_sub(base.0).filter(|_| lds.readable)?.checked_add(1)?;
    let distance = of.lane.address.checked_add(of.lane.bytes)?.checked_sub(end).filter(|past| *past > 0)?;
    let distance = distance.saturating_sub(of.lane.bytes);
    let name = Some((*name).to_owned());
    Some(Neighbour { start: 0, end, distance, name, is_rounded: false, is_map_whole: false })
}
