//! Apertures and the swizzle of private memory.

use std::collections::HashMap;

use proptest::prelude::*;

use super::kind;
use crate::units::{Address, AddressSpace, LaneId, WaveSize};

#[test]
fn generic_addresses_are_distinguished_by_apertures() {
    let kind = kind("gfx90a", WaveSize::W64);
    let defaults = HashMap::new();
    let own = HashMap::from([(AddressSpace(3), Address(0x7_0000_0000))]);
    let cases = [
        (&defaults, 0x0001_0000_0000_0040, "local", 0x40),
        (&defaults, 0x0002_0000_0000_0104, "private_lane", 0x104),
        (&defaults, 0x7f00_0000_1000, "global", 0x7f00_0000_1000),
        (&defaults, 0, "global", 0),
        (&own, 0x7_0000_0040, "local", 0x40),
        (&own, 0x0001_0000_0000_0040, "global", 0x0001_0000_0000_0040),
    ];
    for (apertures, address, name, offset) in cases {
        let (space, found) = kind.target.resolve_generic(Address(address), apertures).unwrap();
        assert_eq!((space.name.as_str(), found), (name, Address(offset)), "{address:#x}");
        assert_eq!(kind.target.to_generic(space, found, apertures), Some(Address(address)));
    }
    // gfx12.5: LDS by the capture's base alone, and no private memory in that form.
    let large = super::kind("gfx1250", WaveSize::W32);
    let both = HashMap::from([(AddressSpace(3), Address(1 << 48)), (AddressSpace(5), Address(2 << 48))]);
    for (apertures, address, name) in [
        (&defaults, 0x0001_0000_0000_0040, "global"),
        (&both, 0x0001_0000_0000_0040, "local"),
        (&both, 0x0002_0000_0000_0040, "global"),
    ] {
        let (space, _) = large.target.resolve_generic(Address(address), apertures).unwrap();
        assert_eq!(space.name, name, "{address:#x}");
    }
    let space = |number| kind.space(AddressSpace(number)).unwrap();
    let to_generic = |number, address| kind.target.to_generic(space(number), Address(address), &defaults);
    assert_eq!(to_generic(3, 0xffff_ffff), Some(Address(0)), "NULL becomes NULL");
    assert_eq!(to_generic(5, 0xffff_ffff), Some(Address(0)), "NULL becomes NULL");
    assert_eq!(to_generic(3, 0x1_0000_0000), None, "beyond the aperture");
    assert_eq!(to_generic(6, 0), None, "a wave's private memory is not in the generic space");
}

/// AMDGPUUsage's example of the swizzle: address 0x0a of lane 5 in a wave of 64 lanes is byte 534.
#[test]
fn lanes_take_turns_every_dword() {
    let wave64 = kind("gfx90a", WaveSize::W64);
    assert_eq!(wave64.private_wave(LaneId(5), Address(0x0a)), Some(Address(534)));
    assert_eq!(wave64.private_run(Address(0x0a)), 2);
    assert_eq!(wave64.private_run(Address(0x0c)), 4);
    let wave32 = kind("gfx1100", WaveSize::W32);
    assert_eq!(wave32.private_wave(LaneId(5), Address(0x0a)), Some(Address(2 * 128 + 22)));
    assert_eq!(wave32.private_wave(LaneId(32), Address(0)), None);
    assert_eq!(wave64.private_wave(LaneId(0), Address(u64::MAX)), None);
}

proptest! {
    #[test]
    fn both_views_of_private_memory_agree(offset in 0..u64::MAX, wide: bool) {
        let kind = if wide { kind("gfx90a", WaveSize::W64) } else { kind("gfx1100", WaveSize::W32) };
        let (lane, address) = kind.private_lane(Address(offset));
        prop_assert_eq!(kind.private_wave(lane, address), Some(Address(offset)));
    }
}
