//! Merges program headers of one or two cores into one map of memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::code::Ranges;
use super::headers::{Headers, Range};
use crate::capture::{Backing, BackingId, Extent, MemoryMap, Segment};
use crate::import::problem::Problems;
use crate::notation::counted;
use crate::work::{self, Count};

/// Maximum bytes of all segments, in file sizes, beyond [`MORE`]. Writers do not share bytes between segments.
const MAX_CLAIMED: u64 = 4;
const MORE: u64 = 1 << 20;

/// The memory of those files. Segments of the first file have precedence, and in a file those with more bytes; a part
/// that only one segment has is kept despite overlaps. Also returns the sentence about a truncated file.
pub(super) fn map(
    files: &[(Arc<dyn Backing>, Headers)],
    problems: &mut Problems,
) -> (MemoryMap, Option<String>) {
    let mut candidates: Vec<(usize, Range)> = Vec::new();
    let mut truncated = None;
    for (index, (file, headers)) in files.iter().enumerate() {
        let mut cut: Option<(Range, u64)> = None;
        let mut cuts = 0u32;
        let mut wrapped: Option<Range> = None;
        let mut left = file.len().saturating_mul(MAX_CLAIMED).saturating_add(MORE);
        let mut beyond: Option<(Range, u64, u64)> = None;
        for range in &headers.loads {
            let there = file.len().saturating_sub(range.offset);
            if range.size > there {
                cuts += 1;
                cut.get_or_insert((*range, there));
            }
            let size = range.size.min(there);
            if size == 0 {
                continue;
            }
            if range.address.checked_add(size - 1).is_none() {
                wrapped.get_or_insert(*range);
                continue;
            }
            let Some(rest) = left.checked_sub(size) else {
                let (_, count, bytes) = beyond.get_or_insert((*range, 0, 0));
                (*count, *bytes) = (*count + 1, bytes.saturating_add(size));
                continue;
            };
            left = rest;
            candidates.push((index, Range { size, ..*range }));
        }
        let mut report = |range: Range, what: String, expected: &str| {
            let key = format!("segment {}", range.index);
            problems.report_at(file.name(), range.offset, key, what, expected);
        };
        if let Some((range, there)) = cut {
            let others = match cuts - 1 {
                0 => String::new(),
                1 => ", and so is 1 more".to_owned(),
                count => format!(", and so are {count} more"),
            };
            let end = range.offset.saturating_add(there);
            let what = format!(
                "truncated at offset {end:#x}: {there} of {} bytes at address {:#x}{others}",
                range.size, range.address
            );
            report(range, what, "a file with all of it (was it cut short?)");
            let core = if index == 0 { "the core" } else { "the host's core" };
            let of = counted(cuts, "segment");
            truncated
                .get_or_insert(format!("{core} ends at offset {:#x}, before the end of {of}", file.len()));
        }
        if let Some((range, count, bytes)) = beyond {
            let what = format!(
                "{count} segments with {bytes} bytes are left out: others already claim {MAX_CLAIMED} times the file"
            );
            report(range, what, "segments that do not share bytes of the file");
        }
        if let Some(range) = wrapped {
            let what = format!("{} bytes at address {:#x}, left out", range.size, range.address);
            report(range, what, "an end below 2^64");
        }
    }
    // Of equal ones the later: merge tools append the GPU's segments to the host's.
    candidates.sort_by_key(|(file, range)| (*file, std::cmp::Reverse((range.size, range.index))));
    let mut covered = Covered::default();
    let mut segments = Vec::with_capacity(candidates.len());
    let mut overlap: Option<Range> = None;
    let mut overlaps = 0u32;
    for (file, range) in &candidates {
        let whole = covered.add(range.address, range.address + (range.size - 1), |first, last| {
            segments.push(Segment {
                address: first,
                extent: Extent {
                    backing: BackingId(*file as u32),
                    offset: range.offset + (first - range.address),
                    length: (last - first) + 1,
                },
                name: None,
            });
        });
        // A host core may also hold the memory of the GPU core, which is no error.
        if !whole && *file == 0 {
            overlaps += 1;
            overlap.get_or_insert(*range);
        }
    }
    if let (Some(range), Some((file, _))) = (overlap, files.first()) {
        let what = format!("{overlaps} overlap others; of each address the segment with more bytes counts");
        let key = format!("segment {}", range.index);
        problems.report_at(file.name(), range.offset, key, what, "one segment for each address");
    }
    segments.sort_unstable_by_key(|segment| segment.address);
    (MemoryMap::new(segments).0, truncated)
}

/// Executable memory of those files by the segments' flags.
pub(super) fn executable(files: &[(Arc<dyn Backing>, Headers)]) -> Ranges {
    let of_file = |(_, headers): &(_, Headers)| {
        let loads = headers.loads.iter().filter(|load| load.size > 0 && headers.is_executable(load));
        loads.map(|load| (load.address, load.address.saturating_add(load.size - 1))).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// Taken addresses: disjoint runs, first to last. Adjacent runs are joined, so that adding many is fast.
#[derive(Default)]
struct Covered(BTreeMap<u64, u64>);

impl Covered {
    /// Takes a run and passes its free parts to `free`; returns whether all of it was free.
    fn add(&mut self, first: u64, last: u64, mut free: impl FnMut(u64, u64)) -> bool {
        let (mut low, mut high) = (first, last);
        let mut at = Some(first);
        let mut whole = true;
        let before = self.0.range(..first).next_back().map(|(first, last)| (*first, *last));
        if let Some((start, end)) = before {
            if end >= first {
                whole = false;
                at = end.checked_add(1);
            }
            if end >= first || end + 1 == first {
                low = start;
                high = high.max(end);
                self.0.remove(&start);
            }
        }
        while let Some((start, end)) = self.0.range(low..).next().map(|(first, last)| (*first, *last)) {
            work::count(Count::Steps, 1);
            if start > last && last.checked_add(1) != Some(start) {
                break;
            }
            if start <= last {
                whole = false;
                if let Some(from) = at.filter(|from| *from < start) {
                    free(from, start - 1);
                }
                at = at.max(end.checked_add(1));
                if end == u64::MAX {
                    at = None;
                }
            }
            high = high.max(end);
            self.0.remove(&start);
            if start > last {
                break;
            }
        }
        if let Some(from) = at.filter(|from| *from <= last) {
            free(from, last);
        }
        self.0.insert(low, high);
        whole
    }
}

#[cfg(test)]
#[path = "tests/segments.rs"]
mod tests;
