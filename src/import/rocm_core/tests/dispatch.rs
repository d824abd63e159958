use super::{Unknown, packet_id};
use crate::capture::Ring;

fn ring(packets: u64, read: u64, write: u64) -> Ring {
    Ring { address: 0, size: packets * 64, read: Some(read), write: Some(write) }
}

/// Packet indexes are modulo the ring's size; ids increase.
#[test]
fn ids_of_packets() {
    assert_eq!(packet_id(&ring(64, 1, 5), 2), Ok(2));
    // Read 62, written up to 66: index 1 is packet 65.
    assert_eq!(packet_id(&ring(64, 62, 66), 63), Ok(63));
    assert_eq!(packet_id(&ring(64, 62, 66), 1), Ok(65));
    assert_eq!(packet_id(&ring(64, 62, 66), 2), Err(Unknown::Outside));
    assert_eq!(packet_id(&ring(64, 62, 66), 61), Err(Unknown::Outside));
    assert_eq!(packet_id(&ring(64, 130, 140), 3), Ok(131));
}

/// HSA 1.2, 2.8.3: the queue is full if write - read is its size; each index of the ring is one of those packets. A
/// write index may exceed that: its packet waits for a free slot, so the slot still has the older packet.
#[test]
fn every_index_of_a_full_ring_is_a_packet() {
    for read in [0, 1, 62, 63, 64, 130, 64 * 9 + 1] {
        for write in [read + 64, read + 65, read + 200] {
            for id in read..read + 64 {
                let index = u32::try_from(id % 64).unwrap();
                assert_eq!(packet_id(&ring(64, read, write), index), Ok(id), "read {read}, write {write}");
            }
        }
    }
}

#[test]
fn hostile_indexes_are_outside() {
    assert_eq!(packet_id(&ring(0, 0, 9), 0), Err(Unknown::Outside));
    assert_eq!(packet_id(&ring(4, 0, 9), 4), Err(Unknown::Outside));
    assert_eq!(packet_id(&ring(4, u64::MAX, 0), 0), Err(Unknown::Outside));
    assert_eq!(packet_id(&ring(4, u64::MAX - 1, u64::MAX), 0), Err(Unknown::Outside));
    let unknown = Ring { read: None, ..ring(4, 0, 1) };
    assert_eq!(packet_id(&unknown, 0), Err(Unknown::NoIndexes));
}
