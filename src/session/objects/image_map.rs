//! Map from addresses to images. Where images overlap, the first one added has priority.

use std::collections::BTreeMap;

/// Address ranges, without their ends, by owner.
#[derive(Debug, Default)]
pub(in crate::session) struct ImageMap {
    /// Disjoint ranges by start: the end and the owner.
    owned: BTreeMap<u128, (u128, usize)>,
    /// The same addresses without owners, neighbours merged: a range is visited once before it becomes part of a larger
    /// one.
    covered: BTreeMap<u128, u128>,
}

impl ImageMap {
    /// Adds `size` bytes from `start` on; bytes past the last address wrap around to 0. Addresses that have an owner
    /// keep it.
    pub(in crate::session) fn add(&mut self, start: u64, size: u64, owner: usize) {
        const ADDRESSES: u128 = 1 << 64;
        let (start, end) = (u128::from(start), u128::from(start) + u128::from(size));
        self.add_range(start, end.min(ADDRESSES), owner);
        self.add_range(0, end.saturating_sub(ADDRESSES), owner);
    }

    fn add_range(&mut self, start: u128, end: u128, owner: usize) {
        if start >= end {
            return;
        }
        let before = self.covered.range(..start).next_back().filter(|(_, last)| **last >= start);
        let first = before.map_or(start, |(first, _)| *first);
        let touched: Vec<(u128, u128)> =
            self.covered.range(first..=end).map(|(first, last)| (*first, *last)).collect();
        let (mut free, mut merged) = (start, (first, end));
        for (first, last) in touched {
            if free < first {
                self.owned.insert(free, (first, owner));
            }
            free = free.max(last);
            merged.1 = merged.1.max(last);
            self.covered.remove(&first);
        }
        if free < end {
            self.owned.insert(free, (end, owner));
        }
        self.covered.insert(merged.0, merged.1);
    }

    /// The owner of an address.
    pub(in crate::session) fn at(&self, address: u64) -> Option<usize> {
        let address = u128::from(address);
        let (_, (end, owner)) = self.owned.range(..=address).next_back()?;
        (address < *end).then_some(*owner)
    }
}

#[cfg(test)]
#[path = "image_map_tests.rs"]
mod tests;
