//! Tests of lane sets.

use super::{LaneId, LaneSet};

#[test]
fn the_lowest_lanes_are_as_many_as_asked_for_and_all_from_64_on() {
    let cases = [
        (0, 0),
        (1, 1),
        (32, 0xffff_ffff),
        (63, 0x7fff_ffff_ffff_ffff),
        (64, u64::MAX),
        (u32::MAX, u64::MAX),
    ];
    for (count, bits) in cases {
        let set = LaneSet::lowest(count);
        assert_eq!(set, LaneSet(bits), "{count}");
        assert!(set.iter().eq((0..64).take(count as usize).map(LaneId)), "{count}");
    }
}
