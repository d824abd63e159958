//! The address model of a unit: AMDGPU has flat addresses of 8 bytes and no segments.
//!
//! AMDGPUUsage, "DWARF" (`.debug_info`: address size 8, segment selector size 0). DWARF 5 sections 7.5.1 (unit
//! headers), 7.27 to 7.29 (address, range and location tables). Fields of another model would be misplaced.

use super::error::{DebugInfoError, Result};
use crate::integers::{u16_at, u32_at, u64_at};
use crate::units::DieOffset;

const ADDRESS_SIZE: u8 = 8;
const SEGMENT_SELECTOR_SIZE: u8 = 0;
/// Bytes of `offset_entry_count`, between the sizes and the base of a list table.
pub(super) const OFFSET_COUNT: usize = 4;
/// Minimum bytes of a unit after its length: version, abbreviations' offset, address size.
const SHORTEST_UNIT: usize = 7;

/// Offset of the version, and whether the unit is of the 64-bit format; `None`: the version is outside of the section.
fn unit(info: &[u8], at: usize) -> Option<(usize, bool)> {
    let (start, length, is_64) = match u32_at(info, at)? {
        0xffff_ffff => {
            let length = u64_at(info, at.checked_add(4)?)?;
            (at.checked_add(12)?, usize::try_from(length).ok()?, true)
        }
        word => (at.checked_add(4)?, word as usize, false),
    };
    start.checked_add(length).filter(|end| *end <= info.len() && length >= SHORTEST_UNIT)?;
    Some((start, is_64))
}

/// Checks the address size in a unit's header. The parser reports an unreadable header.
///
/// `base`: the base of unit offsets in the section.
pub(super) fn unit_header(info: &[u8], section: &'static str, at: usize, base: usize) -> Result<()> {
    let Some((start, is_64)) = unit(info, at) else { return Ok(()) };
    // Version 5 has unit type and address size before the offset of the abbreviations, older versions after it.
    let place = match u16_at(info, start) {
        Some(5) => start + 3,
        Some(2..=4) => start + 2 + if is_64 { 8 } else { 4 },
        _ => return Ok(()),
    };
    let unit = DieOffset(base.saturating_add(at) as u64);
    check(info, section, unit, "address size", place, ADDRESS_SIZE)
}

/// Checks the header of the table that ends `after` bytes before the table's base.
pub(super) fn table(
    section: &[u8],
    name: &'static str,
    unit: DieOffset,
    base: usize,
    after: usize,
) -> Result<()> {
    let Some(place) = base.checked_sub(after + 2) else { return Ok(()) };
    check(section, name, unit, "address size", place, ADDRESS_SIZE)?;
    check(section, name, unit, "segment selector size", place + 1, SEGMENT_SELECTOR_SIZE)
}

fn check(
    bytes: &[u8],
    section: &'static str,
    unit: DieOffset,
    what: &'static str,
    place: usize,
    expected: u8,
) -> Result<()> {
    match bytes.get(place) {
        Some(found) if *found != expected => {
            let at = DieOffset(place as u64);
            Err(DebugInfoError::AddressModel { unit, what, found: *found, section, at, expected })
        }
        // The parser reports missing bytes.
        _ => Ok(()),
    }
}
