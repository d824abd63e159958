//! Accepted segments of a map, and lookups.

use std::sync::Arc;

use super::{MemoryMap, Segment, joined};
use crate::capture::{Backing, BackingId, Extent, MemoryBacking};

/// Segments with the given first addresses and lengths, named by their order.
fn map(pieces: &[(u64, u64)]) -> (MemoryMap, Vec<Segment>) {
    let segments = pieces.iter().enumerate().map(|(order, &(address, length))| Segment {
        address,
        extent: Extent { backing: BackingId(0), offset: 0, length },
        name: Some(order.to_string()),
    });
    MemoryMap::new(segments.collect())
}

fn names(segments: &[Segment]) -> Vec<&str> {
    segments.iter().filter_map(|segment| segment.name.as_deref()).collect()
}

#[test]
fn the_earlier_of_two_that_overlap_is_taken() {
    type Case = (&'static [(u64, u64)], &'static [&'static str], &'static [&'static str]);
    let cases: [Case; 7] = [
        (&[(0, 10), (10, 10), (30, 1)], &["0", "1", "2"], &[]),
        (&[(10, 10), (0, 10)], &["1", "0"], &[]),
        (&[(10, 10), (0, 11), (19, 1)], &["0"], &["1", "2"]),
        (&[(10, 1), (0, 100), (5, 2)], &["2", "0"], &["1"]),
        // The second is rejected because of the first; the third overlaps only the rejected one.
        (&[(90, 30), (0, 100), (50, 10)], &["2", "0"], &["1"]),
        (&[(5, 0), (u64::MAX, 1), (u64::MAX, 2), (0, u64::MAX)], &["3", "1"], &["0", "2"]),
        (&[(7, 3), (7, 3)], &["0"], &["1"]),
    ];
    for (pieces, taken, refused) in cases {
        let (map, left) = map(pieces);
        assert_eq!((names(map.segments()), names(&left)), (taken.to_vec(), refused.to_vec()), "{pieces:?}");
    }
}

#[test]
fn an_address_is_found_in_its_segment_only() {
    let (map, _) = map(&[(10, 10), (30, 5), (u64::MAX, 1)]);
    for (address, found, next) in [
        (9, None, Some(10)),
        (10, Some(10), Some(30)),
        (19, Some(10), Some(30)),
        (20, None, Some(30)),
        (34, Some(30), Some(u64::MAX)),
        (u64::MAX, Some(u64::MAX), None),
    ] {
        assert_eq!(map.find(address).map(|segment| segment.address), found, "{address}");
        assert_eq!(map.next(address).map(|segment| segment.address), next, "{address}");
    }
    assert_eq!(map.captured(), 16);
}

/// Lengths and offsets come from a dump: their sums may exceed 64 bits.
#[test]
fn sums_of_lengths_and_offsets_do_not_wrap() {
    let (all, refused) = map(&[(0, u64::MAX), (u64::MAX, 1)]);
    assert!(refused.is_empty());
    assert_eq!(all.captured(), u64::MAX, "2^64 bytes are more than the number holds");
    let extent = Extent { backing: BackingId(0), offset: u64::MAX, length: 2 };
    let (far, _) = MemoryMap::new(vec![Segment { address: 0, extent, name: None }]);
    let store: Arc<dyn Backing> = Arc::new(MemoryBacking::new("store", vec![7; 4]));
    assert_eq!(far.read(&[store], 1, &mut [0; 1]).unwrap(), 0);
}

#[test]
fn ranges_that_touch_or_overlap_are_one() {
    assert_eq!(joined(vec![(8, 15), (0, 7)]), [(0, 15)]);
    assert_eq!(joined(vec![(0, 20), (8, 15)]), [(0, 20)]);
    assert_eq!(joined(vec![(0, 7), (9, 15)]), [(0, 7), (9, 15)]);
    assert_eq!(joined(vec![(1, u64::MAX), (5, 9)]), [(1, u64::MAX)]);
}
