//! Memory in rows of text: runs of words in the arena.

use super::Kept;
use crate::capture::{BackingId, Extent, MemoryMap, Segment};

/// Runs of words, in the text's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::import) struct Pieces {
    runs: Vec<Run>,
}

/// Words that are contiguous in memory and in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    address: u64,
    offset: u64,
    length: u64,
}

impl Pieces {
    /// Adds words; `false`: the arena is full.
    pub(in crate::import) fn push(&mut self, kept: &mut Kept, address: u64, words: &[u32]) -> bool {
        if words.is_empty() {
            return true;
        }
        let Some(offset) = kept.words(words, 0).map(u64::from) else { return false };
        let length = words.len() as u64 * 4;
        if let Some(last) = self.runs.last_mut()
            && last.offset + last.length == offset
            && last.address.checked_add(last.length) == Some(address)
        {
            last.length += length;
        } else {
            self.runs.push(Run { address, offset, length });
        }
        true
    }

    pub(in crate::import) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Uses the other's place in the arena if both have equal bytes; frees its own if they are the last.
    pub(in crate::import) fn share(&mut self, other: &Self, kept: &mut Kept) {
        if self.is_empty() || !self.same(other, kept) {
            return;
        }
        if let [run] = self.runs.as_slice()
            && run.offset + run.length == kept.end()
        {
            kept.forget(run.offset);
        }
        self.runs.clone_from(&other.runs);
    }

    /// Number of bytes.
    pub(in crate::import) fn length(&self) -> u64 {
        self.runs.iter().map(|run| run.length).sum()
    }

    /// Address after the last byte, if the memory begins at 0 and has no gaps.
    pub(in crate::import) fn whole(&self) -> Option<u64> {
        match self.runs.as_slice() {
            [Run { address: 0, length, .. }] => Some(*length),
            _ => None,
        }
    }

    /// Whether both have equal bytes at equal addresses.
    pub(in crate::import) fn same(&self, other: &Self, kept: &Kept) -> bool {
        self.runs.len() == other.runs.len()
            && self.runs.iter().zip(&other.runs).all(|(one, other)| {
                (one.address, one.length) == (other.address, other.length)
                    && kept.at(one.offset, one.length) == kept.at(other.offset, other.length)
            })
    }

    /// Whether both have an address with different bytes.
    pub(in crate::import) fn contradicts(&self, other: &Self, kept: &Kept) -> bool {
        let (map, _) = other.map(BackingId(0));
        self.runs.iter().any(|run| {
            let mut at = run.address;
            let end = run.address.saturating_add(run.length);
            while at < end {
                let Some(there) = map.find(at) else {
                    let Some(next) = map.next(at).filter(|next| next.address < end) else { break };
                    at = next.address;
                    continue;
                };
                let length = (end - at).min(there.last().saturating_sub(at).saturating_add(1));
                let mine = kept.at(run.offset + (at - run.address), length);
                if mine != kept.at(there.extent.offset + (at - there.address), length) {
                    return true;
                }
                at = at.saturating_add(length);
            }
            false
        })
    }

    /// The runs as segments of the arena.
    pub(in crate::import) fn segments(&self, arena: BackingId, name: Option<&str>) -> Vec<Segment> {
        let segment = |run: &Run| Segment {
            address: run.address,
            extent: Extent { backing: arena, offset: run.offset, length: run.length },
            name: name.map(str::to_owned),
        };
        self.runs.iter().map(segment).collect()
    }

    /// A map of the runs, and the number of runs that overlap an earlier one.
    pub(in crate::import) fn map(&self, arena: BackingId) -> (MemoryMap, usize) {
        let (map, refused) = MemoryMap::new(self.segments(arena, None));
        (map, refused.len())
    }
}
