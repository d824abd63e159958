//! Addresses as words: a range only where one distance separates them.

use super::{addresses, patterns};
use crate::triage::{AddressOf, Neighbour, Pattern, PatternOf};
use crate::units::{AddressSpace, LaneId, LaneSet};

/// The words for addresses of lanes from 0 on.
fn words(all: &[u64]) -> Option<String> {
    let of = |(address, lane): (&u64, u8)| AddressOf {
        lane: Some(LaneId(lane)),
        space: AddressSpace(0),
        address: *address,
        global: Some(*address),
        bytes: Some(4),
    };
    let all: Vec<AddressOf> = all.iter().zip(0..).map(of).collect();
    addresses(&all, |_| None)
}

#[test]
fn addresses_without_a_common_distance_are_a_list() {
    assert_eq!(words(&[]), None);
    assert_eq!(words(&[0x1000]).as_deref(), Some("0x1000"));
    assert_eq!(words(&[0x1000, 0x1000, 0x1000]).as_deref(), Some("0x1000"));
    assert_eq!(words(&[0x1000, 0x1004]).as_deref(), Some("0x1000 and 0x1004"));
    assert_eq!(words(&[0x9000, 0x1000, 0x5004]).as_deref(), Some("0x9000, 0x1000 and 1 more"));
    assert_eq!(words(&[0x9000, 0x1000, 0x9000]).as_deref(), Some("0x9000 and 0x1000"));
    assert_eq!(words(&[0x1000, 0x1004, 0x1008, 0x1010]).as_deref(), Some("0x1000, 0x1004 and 2 more"));
}

#[test]
fn addresses_with_one_distance_are_a_range() {
    assert_eq!(words(&[0x1000, 0x1004, 0x1008]).as_deref(), Some("0x1000..0x1008 (+4)"));
    assert_eq!(words(&[0x1010, 0x1008, 0x1000]).as_deref(), Some("0x1010..0x1000 (-8)"));
    // Two lanes have one address each.
    assert_eq!(words(&[0x1000, 0x1000, 0x1004, 0x1004, 0x1008]).as_deref(), Some("0x1000..0x1008 (+4)"));
}

#[test]
fn a_pattern_of_some_lanes_has_them() {
    let x = Neighbour {
        start: 0x1000,
        end: 0x2000,
        distance: 0,
        name: Some("x".to_owned()),
        is_rounded: false,
        is_map_whole: false,
    };
    let past = PatternOf { pattern: Pattern::PastEnd(x), lanes: LaneSet::one(LaneId(24)) };
    let of = |last: u8| (0..=last).fold(LaneSet::EMPTY, |all, lane| all.or(LaneSet::one(LaneId(lane))));
    assert_eq!(patterns(std::slice::from_ref(&past), past.lanes), ["right past the end of x"]);
    assert_eq!(patterns(&[past], of(24)), ["right past the end of x in lane 24"]);
    let null = |offset: u64| PatternOf { pattern: Pattern::Null { base: Some(0), offset }, lanes: of(3) };
    assert_eq!(patterns(&[null(8)], of(3)), ["a null pointer plus 0x8"]);
    assert_eq!(patterns(&[null(u64::MAX - 7)], of(7)), ["a null pointer minus 0x8 in lanes 0-3"]);
}
