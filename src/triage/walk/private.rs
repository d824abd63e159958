//! The wave's private memory as accesses reach it.
//!
//! Before gfx940, and without flat scratch on gfx10, compilers address private memory through a buffer whose descriptor
//! adds the lane and swizzles (AMDGPUUsage, "Private Segment Buffer"). Its base is FLAT_SCRATCH.

use crate::isa::{Access, Family, LaneAccess, LaneAddress, ReadRegister, RegisterFile, WaveContext};
use crate::units::{Address, LaneId};

/// Bytes of the largest private memory of a lane that a descriptor is trusted with.
const MAX_PRIVATE: u64 = 1 << 32;

/// The accesses of lanes; those through the buffer of private memory are in the private address space.
pub(super) fn addresses(
    access: &Access,
    wave: &WaveContext<'_>,
    registers: &impl ReadRegister,
) -> Vec<LaneAccess> {
    let mut all = access.addresses(wave, registers);
    let Some(base) = base(access, registers) else { return all };
    let Some(private) = wave.arch.target.space_named("private_lane").map(|space| space.id) else {
        return all;
    };
    for one in &mut all {
        if let (Some(lane), LaneAddress::Memory { space, address, global: Some(global) }) =
            (one.lane, &mut one.address)
            && let Some(inside) = inside(wave, lane, *global, base)
        {
            (*space, *address) = (private, inside);
        }
    }
    all
}

/// Whether an access is to the wave's private memory, by its form or its descriptor.
pub(super) fn is_private(access: &Access, registers: &impl ReadRegister) -> bool {
    access.family == Family::Scratch || base(access, registers).is_some()
}

fn base(access: &Access, registers: &impl ReadRegister) -> Option<u64> {
    let base = access.private_base(registers)?;
    let part = |index| registers.dword(RegisterFile::FlatScratch, index, LaneId::default()).map(u64::from);
    let flat = part(0).zip(part(1)).map(|(low, high)| low | high << 32);
    flat.is_none_or(|flat| flat == base).then_some(base)
}

/// The address in a lane's private memory of an address in global memory.
fn inside(wave: &WaveContext<'_>, lane: LaneId, global: Address, base: u64) -> Option<Address> {
    let (of, address) = wave.arch.private_lane(Address(global.0.checked_sub(base)?));
    (of == lane && address.0 < MAX_PRIVATE).then_some(address)
}
