//! A sparse address space of captured segments.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::{Backing, BackingId, Extent};

/// A run of captured bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address.
    pub address: u64,
    /// The stored bytes; the extent's length is the segment's.
    pub extent: Extent,
    /// Its description, if the dump has one.
    pub name: Option<String>,
}

impl Segment {
    /// A run whose bytes are not captured, in a map of addresses alone.
    #[must_use]
    pub fn uncaptured(address: u64, length: u64, name: Option<String>) -> Self {
        Self { address, extent: Extent { backing: BackingId(u32::MAX), offset: 0, length }, name }
    }

    /// The last address.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.address.saturating_add(self.extent.length.saturating_sub(1))
    }
}

/// Captured segments in address order, without overlaps or empty segments.
#[derive(Clone, Debug, Default)]
pub struct MemoryMap {
    segments: Vec<Segment>,
}

impl MemoryMap {
    /// Builds a map of the given segments. Returns the rejected ones: empty, wrapping around the address space, or
    /// overlapping an earlier one.
    #[must_use]
    pub fn new(segments: Vec<Segment>) -> (Self, Vec<Segment>) {
        let fits = |segment: &Segment| {
            let length = segment.extent.length;
            length != 0 && segment.address.checked_add(length - 1).is_some()
        };
        // Fast path: most dumps list segments in order, and a wave's private memory is usually one segment.
        if segments.iter().all(fits) && segments.is_sorted_by(|before, after| before.last() < after.address) {
            return (Self { segments }, Vec::new());
        }
        let mut refused = Vec::new();
        let mut kept: BTreeMap<u64, Segment> = BTreeMap::new();
        for segment in segments {
            let (first, last) = (segment.address, segment.last());
            // Kept segments do not overlap, so the last one that begins before the end reaches furthest.
            let below = kept.range(..=last).next_back();
            if !fits(&segment) || below.is_some_and(|(_, below)| below.last() >= first) {
                refused.push(segment);
            } else {
                kept.insert(first, segment);
            }
        }
        (Self { segments: kept.into_values().collect() }, refused)
    }

    /// Returns the segments in address order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Finds the segment that contains `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.address <= address);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        (address <= segment.last()).then_some(segment)
    }

    /// Finds the first segment that begins above `address`.
    #[must_use]
    pub fn next(&self, address: u64) -> Option<&Segment> {
        self.segments.get(self.segments.partition_point(|segment| segment.address <= address))
    }

    /// Reads captured bytes from `address` to the first gap; 0 bytes at a gap. `stores`: the capture's backings.
    ///
    /// # Errors
    /// The operating system's error for the file.
    pub fn read(&self, stores: &[Arc<dyn Backing>], address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else { break };
            let Some(segment) = self.find(at) else { break };
            let Some(store) = stores.get(segment.extent.backing.0 as usize) else { break };
            let skip = at - segment.address;
            let left = usize::try_from(segment.extent.length - skip).unwrap_or(usize::MAX);
            let want = left.min(rest.len());
            let part = rest.get_mut(..want).unwrap_or_default();
            let Some(offset) = segment.extent.offset.checked_add(skip) else { break };
            let got = match store.read_at(offset, part) {
                Ok(got) => got,
                // Bytes read before the error stay: the answer is short.
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            };
            done += got;
            if got < want {
                break;
            }
        }
        Ok(done)
    }

    /// Total number of captured bytes; saturates.
    #[must_use]
    pub fn captured(&self) -> u64 {
        self.segments.iter().map(|segment| segment.extent.length).fold(0, u64::saturating_add)
    }
}

/// Merges ranges of first and last address: the result is sorted, and overlapping or adjacent ranges are one.
#[must_use]
pub fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let touches = before.1.checked_add(1).is_none_or(|after| next.0 <= after);
        if touches {
            before.1 = before.1.max(next.1);
        }
        touches
    });
    ranges
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
