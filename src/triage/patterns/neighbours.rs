//! Addresses near an allocation.

use super::Subject;
use super::index::{large, wrapped, zero_extended};
use super::pointers::{non_canonical, null, other_aperture};
use super::poison::poison;
use crate::triage::map::{Map, Span, is_hole};
use crate::triage::{Neighbour, Pattern};

/// The distance in bytes within which an allocation is a neighbour.
const NEAR: u64 = 0x1_0000;
/// The distance in bytes to the allocations around a freed one.
const FREED: u64 = 2 << 20;

/// The address is less than 64 KiB past the end of the variable of the term. Without a variable that has bounds: it is
/// not in listed memory and past the end of the base pointer's allocation: at any distance, unless another rule explains
/// one from 64 KiB up. Without a pointer to listed memory, and if the source names none, less than 64 KiB past the end of
/// the nearest allocation before it. For LDS the allocation is the work-group's.
pub(super) fn past_end(of: &Subject<'_>) -> Option<Pattern> {
    if let Some(neighbour) = past_lds(of) {
        return Some(Pattern::PastEnd(neighbour));
    }
    if let Some(object) = of.object {
        let distance = of.global()?.checked_sub(object.last.checked_add(1)?);
        let near = |distance| Pattern::PastEnd(of.accessed.map.neighbour(object, distance));
        return distance.filter(|distance| *distance < NEAR).map(near);
    }
    let address = of.unlisted().filter(|address| !is_hole(*address))?;
    let span = allocation(of, |map| map.before(address))?;
    let distance = address.checked_sub(span.last.checked_add(1)?)?;
    let is_past = match base_span(of) {
        Some(_) if distance < NEAR => true,
        Some(_) => {
            [poison, other_aperture, zero_extended, wrapped, large].iter().all(|rule| rule(of).is_none())
        }
        None => {
            // Without a pointer the nearer neighbour counts.
            let after = of.accessed.map.after(address).and_then(|after| after.start.checked_sub(address));
            distance < NEAR && after.is_none_or(|after| after >= distance)
        }
    };
    is_past.then(|| Pattern::PastEnd(of.accessed.map.neighbour(&span, distance)))
}

/// The address is at most 64 KiB before the start of the variable of the term. Without a variable that has bounds: it is
/// not in listed memory and at most 64 KiB before the start of an allocation: that of the base pointer, or without one,
/// and if the source names none, the nearest after the address.
pub(super) fn before_start(of: &Subject<'_>) -> Option<Pattern> {
    if let Some(object) = of.object {
        let distance = object.start.checked_sub(of.global()?);
        let near = |distance| Pattern::BeforeStart(of.accessed.map.neighbour(object, distance));
        return distance.filter(|distance| (1..=NEAR).contains(distance)).map(near);
    }
    let address = of.unlisted().filter(|address| !is_hole(*address))?;
    let span = allocation(of, |map| map.after(address))?;
    let distance = span.start.checked_sub(address).filter(|distance| *distance <= NEAR)?;
    // Without a pointer the nearer neighbour counts.
    if base_span(of).is_none()
        && let Some(Pattern::PastEnd(before)) = past_end(of)
        && before.distance < distance
    {
        return None;
    }
    Some(Pattern::BeforeStart(of.accessed.map.neighbour(&span, distance)))
}

/// The pointer of the term is known to lead to no memory, and no base pointer leads to listed memory. An allocation
/// within 64 KiB of the pointer is its neighbour.
pub(super) fn bad_pointer(of: &Subject<'_>) -> Option<Pattern> {
    of.unlisted()?;
    let pointer = of.unlisted_name().filter(|pointer| of.accessed.are_unmapped(*pointer, 1))?;
    if [null, poison, other_aperture, non_canonical].iter().any(|rule| rule(of).is_some()) {
        return None;
    }
    let map = &of.accessed.map;
    let before =
        map.before(pointer).and_then(|span| Some((pointer.checked_sub(span.last.checked_add(1)?)?, span)));
    let after = map.after(pointer).and_then(|span| Some((span.start.checked_sub(pointer)?, span)));
    let near = before.into_iter().chain(after).min_by_key(|(distance, _)| *distance);
    let near = near.filter(|(distance, _)| *distance < NEAR);
    Some(Pattern::BadPointer(near.map(|(distance, span)| map.neighbour(&span, distance))))
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

/// The allocation of the base pointer. Without one, and unless the source names a pointer, a neighbour of the address.
fn allocation<'a>(of: &Subject<'a>, neighbour: impl Fn(&Map<'a>) -> Option<Span>) -> Option<Span> {
    match base_span(of) {
        None if of.unlisted_name().is_some() => None,
        None => neighbour(&of.accessed.map),
        own => own,
    }
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
