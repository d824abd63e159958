//! Address arithmetic: apertures of the generic space, and the swizzle of private memory.
//!
//! The hardware fixes both for all targets; wave size and bases are target data.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::target::{Space, Target};
use super::wave_arch::WaveArch;
use crate::units::{Address, AddressSpace, LaneId};

/// Mask of the offset in an aperture: 2^32 bytes, aligned to its size (AMDGPUUsage, Address Spaces).
const APERTURE_MASK: u64 = 0xffff_ffff;

/// Bytes of one lane before the next lane's in private memory (AMDGPUUsage, private address space swizzle).
pub const SWIZZLE_BYTES: u64 = 4;

impl Target {
    /// Resolves a generic address to a space and an address in it; `None` only if the target has no global space.
    ///
    /// `apertures` are the bases from the capture's agent; the target's own replace missing ones. An address in no
    /// aperture is global, including the generic NULL and addresses without memory.
    #[must_use]
    pub fn resolve_generic<S: BuildHasher>(
        &self,
        address: Address,
        apertures: &HashMap<AddressSpace, Address, S>,
    ) -> Option<(&Space, Address)> {
        let base = Address(address.0 & !APERTURE_MASK);
        let inside = self.spaces.iter().find(|space| self.aperture(space, apertures) == Some(base));
        match inside {
            Some(space) => Some((space, Address(address.0 & APERTURE_MASK))),
            None => Some((self.space(AddressSpace(0))?, address)),
        }
    }

    /// Converts an address in a space to a generic address: global ones stay unchanged, NULL becomes NULL.
    ///
    /// `None` if the generic space does not contain the space, or the address is beyond the aperture.
    #[must_use]
    pub fn to_generic<S: BuildHasher>(
        &self,
        space: &Space,
        address: Address,
        apertures: &HashMap<AddressSpace, Address, S>,
    ) -> Option<Address> {
        // Spaces 0 and 1, global and generic: the address is already generic.
        if space.id.0 <= 1 {
            return Some(address);
        }
        let base = self.aperture(space, apertures)?;
        if address == space.null {
            return self.space(AddressSpace(1)).map(|generic| generic.null);
        }
        (address.0 <= APERTURE_MASK).then_some(Address(base.0 | address.0))
    }

    /// Returns the base of a space's aperture; `None` if it has none, or if only a capture has it and does not say.
    #[must_use]
    pub fn aperture<S: BuildHasher>(
        &self,
        space: &Space,
        apertures: &HashMap<AddressSpace, Address, S>,
    ) -> Option<Address> {
        // Only the target decides which spaces have an aperture, not the capture.
        let given = apertures.get(&space.id).copied();
        given.filter(|_| space.has_aperture).or(space.aperture)
    }
}

impl WaveArch {
    /// Converts an address in a lane's private memory to the wave's:
    /// `address / 4 * lanes * 4 + lane * 4 + address % 4`.
    ///
    /// The result is contiguous up to the dword's end ([`Self::private_run`]), where the next lane's dword begins.
    /// `None` if the wave has no such lane or the result does not fit.
    #[must_use]
    pub fn private_wave(&self, lane: LaneId, address: Address) -> Option<Address> {
        let row = u64::from(self.wave_size.lanes()) * SWIZZLE_BYTES;
        let within = u64::from(lane.0) * SWIZZLE_BYTES + address.0 % SWIZZLE_BYTES;
        let start = (address.0 / SWIZZLE_BYTES).checked_mul(row)?;
        let offset = start.checked_add(within)?;
        self.wave_size.has(lane).then_some(Address(offset))
    }

    /// Returns the lane of byte `offset` of the wave's private memory, and the address in that lane.
    #[must_use]
    pub fn private_lane(&self, offset: Address) -> (LaneId, Address) {
        let lanes = u64::from(self.wave_size.lanes());
        let dword = offset.0 / SWIZZLE_BYTES;
        // At most 63, so it fits.
        let lane = LaneId((dword % lanes) as u8);
        (lane, Address(dword / lanes * SWIZZLE_BYTES + offset.0 % SWIZZLE_BYTES))
    }

    /// Number of contiguous bytes of a lane's private memory from `address` on: 1 to 4.
    #[must_use]
    pub fn private_run(&self, address: Address) -> u64 {
        SWIZZLE_BYTES - address.0 % SWIZZLE_BYTES
    }
}
