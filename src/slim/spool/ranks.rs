//! The ranks of a stream's runs: their order of preference.

use std::collections::BTreeMap;

use crate::import::stream::{Layout, Segment};

/// Maximum needed parts of segments in total: each queue has four.
const MAX_PARTS: usize = 1 << 20;

/// The rank of a run, the most preferred first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Needed by all waves: save areas, descriptors, rings, notes.
    Needed,
    /// A code object.
    Code,
    /// Private memory, if a queue gives its position.
    Scratch,
    /// Fits beside all those: whole segments, the smallest first.
    Planned,
    /// Kept if capacity remains.
    Spare,
}

/// A run of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// One past its last byte.
    pub(super) end: u64,
    pub(super) rank: Rank,
    /// Bytes of its segment.
    pub(super) size: u64,
    /// The difference from offset to address, wrapping.
    pub(super) shift: u64,
}

/// Disjoint runs by first offset; bytes outside of them are not memory.
#[derive(Debug, Default)]
pub(super) struct Runs {
    all: BTreeMap<u64, Run>,
    /// Remaining bytes of each rank.
    left: BTreeMap<Rank, u64>,
}

impl Runs {
    /// The runs of a layout, with `limit` bytes to keep.
    pub(super) fn new(layout: &Layout, limit: u64) -> Self {
        Self::within(layout, limit, MAX_PARTS)
    }

    /// [`Runs::new`] with a maximum of needed parts.
    pub(super) fn within(layout: &Layout, limit: u64, parts: usize) -> Self {
        let mut runs = Self::default();
        // If segments overlap in the file, the first one counts.
        let mut at = layout.start;
        let mut own: Vec<(u64, u64, Segment)> = Vec::new();
        for segment in &layout.segments {
            let (first, end) = (segment.offset.max(at), segment.offset.saturating_add(segment.size));
            if first < end {
                let shift = segment.address.wrapping_sub(segment.offset);
                runs.insert(first, Run { end, rank: Rank::Spare, size: segment.size, shift });
                own.push((first, end, *segment));
                at = end;
            }
        }
        for (offset, size) in layout.notes.iter().filter(|(offset, _)| *offset >= layout.start) {
            let end = offset.saturating_add(*size);
            // Notes between segments, or in a range without memory.
            if runs.at(*offset).is_none()
                && runs.next(*offset).is_none_or(|next| next >= end)
                && *offset < end
            {
                runs.insert(*offset, Run { end, rank: Rank::Needed, size: *size, shift: 0 });
            } else {
                runs.raise(*offset, end, Rank::Needed);
            }
        }
        runs.need(layout, &own, parts);
        let needed = runs.left.get(&Rank::Needed).copied().unwrap_or(0);
        let mut capacity = limit.saturating_sub(layout.start).saturating_sub(needed);
        // Executable segments first, if a core marks any: no code object is a large segment.
        own.sort_by_key(|(.., segment)| (!segment.executable, segment.size));
        for (first, end, _) in own {
            let rest = runs.all.range(first..end).filter(|(_, run)| run.rank == Rank::Spare);
            let rest = rest.map(|(first, run)| run.end - first).fold(0, u64::saturating_add);
            if rest <= capacity {
                runs.raise(first, end, Rank::Planned);
                capacity -= rest;
            }
        }
        runs
    }

    /// Ranks the parts that the note declares necessary.
    fn need(&mut self, layout: &Layout, own: &[(u64, u64, Segment)], parts: usize) {
        let needed = crate::capture::joined(layout.needed.clone());
        let mut left = parts;
        for (first, end, segment) in own {
            let address = |offset: u64| segment.address.saturating_add(offset - segment.offset);
            let (low, high) = (address(*first), address(end - 1));
            let from = needed.partition_point(|(_, last)| *last < low);
            let inside = needed.iter().skip(from).take_while(|(begin, _)| *begin <= high).take(left);
            for (begin, last) in inside {
                left -= 1;
                let offset = |address: u64| segment.offset + (address - segment.address);
                let (begin, last) = (offset((*begin).max(low)), offset((*last).min(high)));
                self.raise(begin, last.saturating_add(1), Rank::Needed);
            }
        }
    }

    /// The run at an offset, with its first offset.
    pub(super) fn at(&self, offset: u64) -> Option<(u64, Run)> {
        let (first, run) = self.all.range(..=offset).next_back()?;
        (run.end > offset).then_some((*first, *run))
    }

    /// The start of the next run.
    pub(super) fn next(&self, offset: u64) -> Option<u64> {
        self.all.range(offset..).next().map(|(first, _)| *first)
    }

    /// Remaining bytes of all ranks before that one.
    pub(super) fn before(&self, rank: Rank) -> u64 {
        self.left.range(..rank).fold(0, |sum, (_, left)| sum.saturating_add(*left))
    }

    /// Removes the part before an offset, which arrived.
    pub(super) fn skip(&mut self, offset: u64) {
        let before: Vec<(u64, Run)> = self.all.range(..offset).map(|(first, run)| (*first, *run)).collect();
        for (first, run) in before {
            self.all.remove(&first);
            self.came(run.rank, run.end.min(offset) - first);
            if run.end > offset {
                self.all.insert(offset, run);
            }
        }
    }

    /// Records received bytes of a rank.
    pub(super) fn came(&mut self, rank: Rank, bytes: u64) {
        let left = self.left.entry(rank).or_default();
        *left = left.saturating_sub(bytes);
    }

    /// Gives the bytes from `first` to before `end`, all of them still to arrive, at least that rank.
    pub(super) fn raise(&mut self, first: u64, end: u64, rank: Rank) {
        if first >= end {
            return;
        }
        let begin = self.at(first).map_or(first, |(begin, _)| begin);
        let lower = self.all.range(begin..end).filter(|(_, run)| run.rank > rank);
        let lower: Vec<(u64, Run)> = lower.map(|(at, run)| (*at, *run)).collect();
        for (at, run) in lower {
            let (from, to) = (at.max(first), run.end.min(end));
            self.all.remove(&at);
            self.came(run.rank, to - from);
            if at < from {
                self.all.insert(at, Run { end: from, ..run });
            }
            self.insert(from, Run { end: to, rank, ..run });
            if to < run.end {
                self.all.insert(to, run);
            }
        }
    }

    fn insert(&mut self, first: u64, run: Run) {
        let left = self.left.entry(run.rank).or_default();
        *left = left.saturating_add(run.end - first);
        self.all.insert(first, run);
    }
}
