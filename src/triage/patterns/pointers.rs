//! Pointers that lead to no memory of the GPU.

use super::Subject;
use crate::capture::FaultReason;
use crate::triage::Pattern;
use crate::triage::map::is_hole;

/// The first page.
const PAGE: u64 = 0x1000;
/// The reach of a 32-bit index from a null pointer.
const NULL_REACH: u64 = 1 << 32;

/// The lowest address of a stack: Linux places its end at most 16 GiB below 2^47 (arch/x86, `stack_maxrandom_size`). Below
/// it are all mappings, those of GPU memory among them.
const STACK: u64 = 0x7ffc_0000_0000;
/// Listed memory within this distance is of a GPU, and so may the address be.
const HOST_DISTANCE: u64 = 1 << 32;

/// The address is not in listed memory, and is on the first page, or at most 4 GiB from a base pointer of 0.
pub(super) fn null(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.unlisted()?;
    let is_null = address < PAGE
        || of.base == Some(0) && (address < NULL_REACH || address.wrapping_neg() <= NULL_REACH);
    is_null.then_some(Pattern::Null { base: of.lane.parts.base, offset: address })
}

/// Bits 63 to 32 of a global address are those of an aperture.
pub(super) fn other_aperture(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.global()?;
    let mut apertures = of.accessed.apertures.iter();
    let (_, space) = apertures.find(|(base, _)| base.0 >> 32 == address >> 32)?;
    Some(Pattern::OtherAperture { space })
}

/// Bits 63 to 47 differ, and no aperture has the address.
pub(super) fn non_canonical(of: &Subject<'_>) -> Option<Pattern> {
    let is_hole = is_hole(of.global()?) && other_aperture(of).is_none();
    is_hole.then_some(Pattern::NonCanonical)
}

/// The report for the page has that only the host may access it; or the address is known to be unmapped, no listed
/// memory is within 4 GiB, and it is in the ranges of a Linux program's image and heap (0x55.., 0x56..) or stack.
pub(super) fn host(of: &Subject<'_>) -> Option<Pattern> {
    let address = of.global()?;
    let is_reported = of.accessed.is_on_page(of.lane, |fault| fault.reasons.contains(&FaultReason::HostOnly));
    let is_typical = || matches!(address >> 40, 0x55 | 0x56) || address >> 34 == STACK >> 34;
    let is_far = || of.accessed.map.distance(address).is_none_or(|distance| distance > HOST_DISTANCE);
    let is_host = is_reported || of.unmapped().is_some() && is_typical() && is_far();
    is_host.then_some(Pattern::HostPointer { is_reported })
}
