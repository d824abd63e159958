//! Addresses as words: a range only where one distance separates them.

use super::addresses;
use crate::triage::AddressOf;
use crate::units::{AddressSpace, LaneId};

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
