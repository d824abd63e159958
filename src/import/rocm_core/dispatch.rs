//! Dispatches: packets of a queue's ring, by the index in a wave's trap temporaries.

use std::collections::HashMap;

use super::memory::CoreMemory;
use super::note::QueueEntry;
use crate::capture::{Dispatch, Ring};
use crate::integers::{u16_at, u32_at, u64_at};
use crate::units::Address;

/// Bytes of an AQL packet.
const PACKET: u64 = 64;

/// The ring of a queue, and the dispatches found on it.
#[derive(Debug)]
pub(super) struct Dispatches {
    ring: Ring,
    queue: usize,
    /// By packet index.
    known: HashMap<u32, Result<usize, Unknown>>,
}

/// The reason that a packet is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unknown {
    /// The queue's read or write index was not captured.
    NoIndexes,
    /// No packet between them has the index.
    Outside,
    /// That part of the ring was not captured.
    NotCaptured,
}

impl Unknown {
    /// The reason as text.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NoIndexes => "the queue's read and write indexes were not captured",
            Self::Outside => "the packet index is not between the queue's read and write indexes",
            Self::NotCaptured => "the ring was not captured there",
        }
    }
}

/// The ring of a queue.
pub(super) fn ring(memory: &CoreMemory, entry: &QueueEntry) -> Ring {
    Ring {
        address: entry.ring,
        size: u64::from(entry.ring_size),
        read: memory.u64(entry.read_pointer),
        write: memory.u64(entry.write_pointer),
    }
}

impl Dispatches {
    /// Creates an empty set.
    pub(super) fn new(queue: usize, ring: Ring) -> Self {
        Self { ring, queue, known: HashMap::new() }
    }

    /// The dispatch of a packet index (modulo the ring's size): its index in `all`; a new one is added there.
    pub(super) fn find(
        &mut self,
        memory: &CoreMemory,
        index: u32,
        all: &mut Vec<Dispatch>,
    ) -> Result<usize, Unknown> {
        if let Some(known) = self.known.get(&index) {
            return *known;
        }
        let found = self.read(memory, index).map(|dispatch| {
            all.push(dispatch);
            all.len() - 1
        });
        self.known.insert(index, found);
        found
    }

    fn read(&self, memory: &CoreMemory, index: u32) -> Result<Dispatch, Unknown> {
        let id = packet_id(&self.ring, index)?;
        let mut bytes = [0; PACKET as usize];
        let place =
            u64::from(index).checked_mul(PACKET).and_then(|offset| self.ring.address.checked_add(offset));
        let got = place.map_or(0, |place| memory.read(place, &mut bytes));
        if got < bytes.len() {
            return Err(Unknown::NotCaptured);
        }
        // The command processor may already have marked the packet invalid; its body remains.
        let dispatch = || {
            let (header, setup) = (u16_at(&bytes, 0)?, u16_at(&bytes, 2)?);
            let short = |offset| u16_at(&bytes, offset).map(u32::from);
            let long = |offset| u64_at(&bytes, offset);
            let kernel_object = long(32)?;
            let offset = kernel_object.checked_add(16).and_then(|at| memory.u64(at));
            Some(Dispatch {
                // Packets are counted in 64 bits; after 2^32 launches the id is the low half.
                id: id as u32,
                queue: self.queue,
                packet: Some(id),
                header: Some(header),
                kernel: None,
                grid: sizes([u32_at(&bytes, 12)?, u32_at(&bytes, 16)?, u32_at(&bytes, 20)?]),
                workgroup: sizes([short(4)?, short(6)?, short(8)?]),
                kernarg: Some(Address(long(40)?)),
                kernel_object: Some(Address(kernel_object)),
                private_segment_size: Some(u64::from(u32_at(&bytes, 24)?)),
                group_segment_size: Some(u64::from(u32_at(&bytes, 28)?)),
                entry: offset.map(|offset| Address(kernel_object.wrapping_add(offset))),
                dimensions: Some((setup & 3) as u8),
                completion: Some(Address(long(56)?)),
            })
        };
        dispatch().ok_or(Unknown::NotCaptured)
    }
}

/// Sizes of a launch, all nonzero.
fn sizes(sizes: [u32; 3]) -> Option<[u32; 3]> {
    (!sizes.contains(&0)).then_some(sizes)
}

/// The number of a packet since the queue was made, from its index in the ring.
pub(super) fn packet_id(ring: &Ring, index: u32) -> Result<u64, Unknown> {
    let (Some(read), Some(write)) = (ring.read, ring.write) else { return Err(Unknown::NoIndexes) };
    let (index, count) = (u64::from(index), ring.size / PACKET);
    if index >= count {
        return Err(Unknown::Outside);
    }
    // The only packet with that index among `count` from the read index on: a full ring has each index once.
    let mut id = (read / count * count).checked_add(index).ok_or(Unknown::Outside)?;
    if id < read {
        id = id.checked_add(count).ok_or(Unknown::Outside)?;
    }
    if (read..write).contains(&id) { Ok(id) } else { Err(Unknown::Outside) }
}

#[cfg(test)]
#[path = "tests/dispatch.rs"]
mod tests;
