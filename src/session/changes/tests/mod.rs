//! Tests of what-if writes against a model: plain maps from bytes and dwords to values, independent of the layer.

mod limits;
mod model;
mod objects;
mod registers;
mod sessions;

use std::sync::Arc;

use crate::session::tests::Maker;
use crate::session::{Dump, MemoryAddress};
use crate::units::{Address, AddressSpace, LaneId, WaveId, WaveSize};

pub(super) const GLOBAL: u64 = 0;
pub(super) const LOCAL: u64 = 3;
pub(super) const PRIVATE_LANE: u64 = 5;
pub(super) const PRIVATE_WAVE: u64 = 6;

/// The captured byte at an address of some memory.
pub(super) fn byte(salt: u64, at: u64) -> u8 {
    (at.wrapping_mul(37) ^ at >> 3 ^ salt) as u8
}

fn piece(salt: u64, range: std::ops::Range<u64>) -> (u64, Vec<u8>) {
    (range.start, range.map(|at| byte(salt, at)).collect())
}

/// The captured pieces of global memory; the first two touch.
pub(super) const GLOBAL_PIECES: [std::ops::Range<u64>; 3] = [0x1000..0x1210, 0x1210..0x1240, 0x2000..0x2100];
/// Captured LDS of each of the two work-groups, of their 1024 bytes.
pub(super) const LDS: std::ops::Range<u64> = 0x10..0x130;
/// Captured private memory of waves 0 and 1, in its backing layout; wave 1 has more than that.
pub(super) const PRIVATE: [std::ops::Range<u64>; 2] = [0..0x600, 0x800..0xa08];
/// Bytes of wave 1's private memory.
pub(super) const PRIVATE_SIZE: u64 = 0x1000;

/// Three wave64 waves of gfx90a, two in one work-group; vcc is in s30 and s31, flat_scratch in s26 and s27.
pub(super) fn dump() -> Arc<Dump> {
    let mut maker = Maker::new("gfx90a");
    let (at, bytes) = piece(1, LDS);
    let groups = [maker.group([0, 0, 0], &[(at, &bytes)]), maker.group([1, 0, 0], &[(at, &bytes)])];
    for wave in 0u32..3 {
        let lanes: Vec<u8> = (0u32..64).flat_map(|lane| (wave << 16 | lane).to_le_bytes()).collect();
        let registers: [(&str, &[u8], u64); 7] = [
            ("pc", &[0, 0x10, 0, 0, 0, 0, 0, 0], 3),
            ("exec", &[0xff, 0, 0, 0, 0xf0, 0, 0, 0], 3),
            ("s0", &[1, 2, 3, 4], 1),
            ("s30", &[5, 6, 7, 8], 1),
            ("s26", &[9, 9, 9, 9], 1),
            ("v3", &lanes, u64::MAX),
            ("v4", &lanes, 0xffff),
        ];
        maker.wave(WaveSize::W64, Some(groups[usize::from(wave == 2)]), &registers);
        maker.capture.waves[wave as usize].sgpr_count = Some(32);
    }
    for wave in 0..2 {
        let pieces: Vec<(u64, Vec<u8>)> = PRIVATE.map(|range| piece(2 + wave as u64, range)).to_vec();
        let pieces: Vec<(u64, &[u8])> = pieces.iter().map(|(at, bytes)| (*at, bytes.as_slice())).collect();
        maker.private(wave, &pieces);
    }
    maker.capture.waves[1].private_size = Some(PRIVATE_SIZE);
    let pieces = GLOBAL_PIECES.map(|range| piece(0, range));
    let pieces: Vec<(u64, &[u8])> = pieces.iter().map(|(at, bytes)| (*at, bytes.as_slice())).collect();
    maker.capture.global = maker.map(&pieces);
    maker.finish()
}

pub(super) fn place(space: u64, address: u64, wave: u32, lane: u8) -> MemoryAddress {
    MemoryAddress {
        space: AddressSpace(space),
        address: Address(address),
        wave: Some(WaveId(wave)),
        lane: Some(LaneId(lane)),
    }
}
