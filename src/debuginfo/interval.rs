//! Lookup of the address ranges that hold an address: units of a file, functions of a unit, rows of a line table.

use std::ops::Range;

/// Ranges with a payload, ordered by start, each with the maximum end up to it. The maximum ends a lookup early
/// although ranges may overlap (identical code folding, nested functions, hostile files).
#[derive(Debug, Default)]
pub(in crate::debuginfo) struct Intervals<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    start: u64,
    end: u64,
    furthest: u64,
    payload: T,
}

impl<T> Intervals<T> {
    /// Omits empty ranges.
    pub(in crate::debuginfo) fn new(ranges: impl IntoIterator<Item = (Range<u64>, T)>) -> Self {
        let nonempty = ranges.into_iter().filter(|(range, _)| range.start < range.end);
        let mut entries: Vec<Entry<T>> = nonempty
            .map(|(range, payload)| Entry {
                start: range.start,
                end: range.end,
                furthest: range.end,
                payload,
            })
            .collect();
        entries.sort_by_key(|entry| entry.start);
        let mut furthest = 0;
        for entry in &mut entries {
            furthest = furthest.max(entry.end);
            entry.furthest = furthest;
        }
        Self { entries }
    }

    /// The payloads of all ranges that hold the address, by descending start: inner before outer.
    pub(in crate::debuginfo) fn at(&self, address: u64) -> impl Iterator<Item = &T> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        let before = self.entries.get(..after).unwrap_or(&[]);
        let reachable = before.iter().rev().take_while(move |entry| entry.furthest > address);
        reachable.filter(move |entry| entry.end > address).map(|entry| &entry.payload)
    }

    pub(in crate::debuginfo) fn payloads(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.payload)
    }
}

#[cfg(test)]
#[path = "interval_tests.rs"]
mod tests;
