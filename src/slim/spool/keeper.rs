//! Storage of a stream's kept parts: by rank, within the limit, with holes for zeros, and headers for exactly these.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::ranks::{Rank, Run, Runs};
use super::retained::{Kept, Piece, is_zero};
use super::{PAGE, SpoolStats};
use crate::import::stream::{self, Layout, Segment};

/// Approximate size of a piece: the unit in which bytes are kept and dropped.
const PIECE: u64 = 16 << 20;

/// The maximum of gaps within segments: each continuation after a gap needs a header.
pub(super) const MAX_GAPS: u64 = 1 << 16;

pub(super) struct Keeper<'f> {
    file: &'f File,
    layout: Layout,
    limit: u64,
    /// Bytes of the stream up to now, without those of `begun`.
    position: u64,
    /// The first bytes of an incomplete page.
    begun: Vec<u8>,
    /// Bytes with storage in the file.
    stored: u64,
    runs: Runs,
    /// Offsets in the stream of the queues' scratch descriptors; the last one comes first.
    descriptors: Vec<u64>,
    /// Known ranges of scratch in the stream, up to the ends of their segments.
    scratch: Vec<(u64, u64)>,
    /// Queues whose descriptors were not kept.
    unplaced: u64,
    /// Kept pieces by first offset.
    kept: BTreeMap<u64, Piece>,
    /// Pieces that may be dropped, the least valuable last: rank, size of the segment, first offset.
    least: BTreeSet<(Rank, u64, u64)>,
    gaps: u64,
    /// Dropped bytes by rank.
    dropped: BTreeMap<Rank, u64>,
    /// Bytes of padding before each segment, while it is unknown whether the writer omits it.
    padding: Option<u64>,
}

impl<'f> Keeper<'f> {
    pub(super) fn new(file: &'f File, layout: Layout, limit: u64) -> Self {
        let runs = Runs::new(&layout, limit);
        let (descriptors, unplaced) = descriptors(&layout);
        let padding = layout.doubtful_padding();
        Self {
            file,
            layout,
            limit,
            position: 0,
            begun: Vec::new(),
            stored: 0,
            runs,
            descriptors,
            scratch: Vec::new(),
            unplaced,
            kept: BTreeMap::new(),
            least: BTreeSet::new(),
            gaps: 0,
            dropped: BTreeMap::new(),
            padding,
        }
    }

    /// Whether all bytes arrived that the headers announce.
    pub(super) fn is_complete(&self) -> bool {
        self.came() >= self.layout.end()
    }

    /// Bytes of the stream up to now.
    pub(super) fn came(&self) -> u64 {
        self.position + self.begun.len() as u64
    }

    /// The next bytes of the stream.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        // Bytes behind the last segment are not memory.
        let bytes = first_of(bytes, within(bytes, self.layout.end().saturating_sub(self.came())));
        if self.begun.is_empty() {
            let used = self.pages(bytes, false)?;
            self.begun.extend_from_slice(bytes.get(used..).unwrap_or_default());
            return Ok(());
        }
        let mut begun = std::mem::take(&mut self.begun);
        begun.extend_from_slice(bytes);
        let used = self.pages(&begun, false)?;
        begun.drain(..used);
        self.begun = begun;
        Ok(())
    }

    /// Takes whole pages, because only a page shows zeros or the start of a code object; returns the bytes taken.
    fn pages(&mut self, bytes: &[u8], is_end: bool) -> io::Result<usize> {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            if self.position < self.layout.start {
                let part = first_of(rest, within(rest, self.layout.start - self.position));
                let run = Run { end: self.layout.start, rank: Rank::Needed, size: 0, shift: 0 };
                self.keep(part, &run)?;
                used += part.len();
                continue;
            }
            let Some((first, run)) = self.runs.at(self.position) else {
                // Padding between segments.
                let next = self.runs.next(self.position).unwrap_or(u64::MAX);
                let count = within(rest, next - self.position);
                if self.padding.is_some() {
                    // It may be a segment's first bytes.
                    let run = Run { end: next, rank: Rank::Needed, size: 0, shift: 0 };
                    self.keep(first_of(rest, count), &run)?;
                } else {
                    self.position += count as u64;
                }
                used += count;
                continue;
            };
            let address = self.position.wrapping_add(run.shift);
            let page = (PAGE - address % PAGE) as usize;
            let is_whole = is_end || rest.len() as u64 >= run.end - self.position;
            // A page at an offset before the announced one reaches past the end of the previous one.
            let ahead = if self.padding.is_some() && !is_whole { PAGE as usize } else { 0 };
            let whole = within(rest, run.end - self.position).saturating_sub(ahead);
            if !is_whole && whole < page {
                break;
            }
            let count = if is_whole { whole } else { whole - (whole - page) % PAGE as usize };
            if let Some(is_padded) = self.padding.and_then(|padding| is_padded(rest, count, address, padding))
            {
                self.settle(is_padded)?;
                continue;
            }
            let part = first_of(rest, count);
            let code = |at: usize| {
                let page = part.get(at..).map(|page| first_of(page, PAGE as usize));
                page.and_then(stream::code).filter(|_| run.rank > Rank::Code)
            };
            if (page == PAGE as usize || first == self.position)
                && let Some(size) = code(0)
            {
                let end = self.position.saturating_add(size.checked_next_multiple_of(PAGE).unwrap_or(size));
                let segment = self.layout.segments.iter().find(|segment| holds(segment, self.position));
                let last = segment.map_or(run.end, |segment| segment.offset.saturating_add(segment.size));
                self.runs.raise(self.position, end.min(last), Rank::Code);
                continue;
            }
            let next = (page..count).step_by(PAGE as usize).find(|at| code(*at).is_some()).unwrap_or(count);
            self.place(first_of(part, next), &run)?;
            used += next;
        }
        Ok(used)
    }

    /// Decides whether padding was written: without it all segments have other offsets.
    fn settle(&mut self, is_padded: bool) -> io::Result<()> {
        self.padding = None;
        if self.layout.settle(is_padded) { self.moved() } else { Ok(()) }
    }

    /// Ranks the stream anew after segments moved.
    fn moved(&mut self) -> io::Result<()> {
        self.runs = Runs::new(&self.layout, self.limit);
        self.runs.skip(self.position);
        (self.descriptors, self.unplaced) = descriptors(&self.layout);
        self.scratch.clear();
        self.plan_scratches()
    }

    /// Capacity in bytes for that rank.
    fn capacity(&self, rank: Rank) -> u64 {
        self.limit.saturating_sub(self.stored).saturating_sub(self.runs.before(rank))
    }

    /// Keeps the next bytes or drops them.
    fn place(&mut self, part: &[u8], run: &Run) -> io::Result<()> {
        self.runs.came(run.rank, part.len() as u64);
        if part.len() as u64 <= self.capacity(run.rank) && self.gaps < MAX_GAPS {
            return self.keep(part, run);
        }
        // Near the limit one page at a time: each may be zeros.
        let mut rest = part;
        while !rest.is_empty() {
            let address = self.position.wrapping_add(run.shift);
            let count = within(rest, PAGE - address % PAGE);
            let (page, after) = rest.split_at(count);
            let need = if is_zero(page) { 0 } else { count as u64 };
            if need > self.capacity(run.rank) {
                self.give_up(need.max(PIECE.min(part.len() as u64)), run.rank)?;
            }
            let follows = self.kept.last_key_value().is_some_and(|(_, piece)| piece.end == self.position);
            let is_few = follows || self.gaps < MAX_GAPS || run.rank <= Rank::Scratch;
            if need <= self.capacity(run.rank) && is_few {
                self.keep(page, run)?;
            } else {
                *self.dropped.entry(run.rank).or_default() += count as u64;
                self.position += count as u64;
            }
            rest = after;
        }
        Ok(())
    }

    /// Frees storage by dropping less valuable pieces. It does so only for code and scratch, whose arrival is not
    /// predictable, and for needed parts beyond the limit.
    fn give_up(&mut self, need: u64, rank: Rank) -> io::Result<()> {
        while rank <= Rank::Scratch && self.capacity(rank) < need {
            let Some(least) = self.least.last().copied().filter(|(least, ..)| *least > rank) else { break };
            let (kind, _, first) = least;
            self.least.remove(&least);
            let Some(piece) = self.kept.get(&first).copied() else { continue };
            if !punch(self.file, first, piece.end - first)? {
                // Pieces that cannot be dropped stay.
                self.least.clear();
                break;
            }
            self.kept.remove(&first);
            self.gaps += 1;
            self.stored = self.stored.saturating_sub(piece.stored);
            *self.dropped.entry(kind).or_default() += piece.end - first;
        }
        Ok(())
    }

    fn keep(&mut self, part: &[u8], run: &Run) -> io::Result<()> {
        let (first, end) = (self.position, self.position + part.len() as u64);
        let (mut at, mut rest, mut stored) = (first, part, 0);
        while !rest.is_empty() {
            // Pages of zeros are holes; the bytes between two holes are written at once. Holes are pages of the file.
            let page = |at: u64, bytes: &[u8]| within(bytes, PAGE - at % PAGE);
            let mut count = page(at, rest);
            let hole = is_zero(first_of(rest, count));
            while let Some(after) = rest.get(count..).filter(|after| !after.is_empty()) {
                let next = first_of(after, page(at + count as u64, after));
                if is_zero(next) != hole {
                    break;
                }
                count += next.len();
            }
            let (alike, after) = rest.split_at(count);
            if !hole {
                self.file.write_all_at(alike, at)?;
                stored += count as u64;
            }
            at += count as u64;
            rest = after;
        }
        self.stored += stored;
        self.position = end;
        self.note(first, end, stored, run);
        self.plan_scratches()
    }

    /// Ranks the scratch of queues whose descriptors arrived.
    fn plan_scratches(&mut self) -> io::Result<()> {
        while self.descriptors.last().is_some_and(|at| at.saturating_add(8) <= self.position) {
            let at = self.descriptors.pop().unwrap_or_default();
            self.plan_scratch(at)?;
        }
        Ok(())
    }

    fn note(&mut self, first: u64, end: u64, stored: u64, run: &Run) {
        let mut last = self.kept.last_entry();
        let follows = last.as_ref().is_some_and(|last| last.get().end == first);
        let same = |piece: &Piece, begin: u64| {
            (piece.rank, piece.size, piece.shift) == (run.rank, run.size, run.shift)
                && piece.end - begin < PIECE
        };
        let begin = match last.as_mut() {
            Some(last) if follows && same(last.get(), *last.key()) => {
                let begin = *last.key();
                let piece = last.get_mut();
                piece.end = end;
                piece.stored += stored;
                begin
            }
            _ => {
                self.gaps +=
                    u64::from(!follows && self.runs.at(first).is_some_and(|(begin, _)| begin != first));
                self.kept
                    .insert(first, Piece { end, stored, rank: run.rank, size: run.size, shift: run.shift });
                first
            }
        };
        if stored > 0 && run.rank >= Rank::Scratch {
            self.least.insert((run.rank, run.size, begin));
        }
    }

    /// Ranks the segment of a queue's scratch: both its received part and its remaining part.
    fn plan_scratch(&mut self, offset: u64) -> io::Result<()> {
        if self.kept_of(offset, offset.saturating_add(8)) < 8 {
            self.unplaced += 1;
            return Ok(());
        }
        let mut location = [0; 8];
        self.file.read_exact_at(&mut location, offset)?;
        let Some((first, segment)) = offset_of(&self.layout, u64::from_le_bytes(location)) else {
            return Ok(());
        };
        let end = segment.offset.saturating_add(segment.size);
        self.scratch.push((first, end));
        self.runs.raise(first.max(self.position), end, Rank::Scratch);
        for (first, piece) in self.kept.range_mut(first..end).filter(|(_, piece)| piece.rank > Rank::Scratch)
        {
            if self.least.remove(&(piece.rank, piece.size, *first)) {
                self.least.insert((Rank::Scratch, piece.size, *first));
            }
            piece.rank = Rank::Scratch;
        }
        Ok(())
    }

    fn kept_of(&self, first: u64, end: u64) -> u64 {
        let begin = self.kept.range(..first).next_back().map_or(first, |(begin, _)| *begin);
        let inside = self
            .kept
            .range(begin..end.max(begin))
            .map(|(begin, piece)| piece.end.min(end).saturating_sub((*begin).max(first)));
        inside.fold(0, u64::saturating_add)
    }

    /// Takes the received part of an incomplete page, and writes headers for exactly the received parts.
    pub(super) fn finish(mut self, came: &mut SpoolStats) -> io::Result<Kept> {
        let begun = std::mem::take(&mut self.begun);
        self.pages(&begun, true)?;
        if self.padding.take().is_some() && self.layout.settle_by(self.file, self.position)? {
            self.moved()?;
        }
        came.problems.clone_from(&self.layout.problems);
        came.read = self.position;
        let dropped = |rank: Rank| self.dropped.get(&rank).copied().unwrap_or(0);
        came.dropped = self.dropped.values().fold(0, |sum, dropped| sum.saturating_add(*dropped));
        came.needed = dropped(Rank::Needed);
        came.code = dropped(Rank::Code);
        let lost = self.scratch.iter().map(|(first, end)| {
            let end = (*end).min(self.position).max(*first);
            (end - first).saturating_sub(self.kept_of(*first, end))
        });
        came.scratch = lost.fold(0, u64::saturating_add);
        came.unplaced = self.unplaced + self.descriptors.len() as u64;
        came.blind = self.layout.blind;
        let segments = self.layout.segments.iter();
        came.missing = segments
            .map(|segment| {
                segment.offset.saturating_add(segment.size).saturating_sub(self.position.max(segment.offset))
            })
            .fold(0, u64::saturating_add);
        let kept = Kept { layout: self.layout, pieces: self.kept };
        kept.write_headers(self.file)?;
        Ok(kept)
    }
}

/// Whether padding was written, by a code object at a page start in `bytes` before `count`; `None` without one.
fn is_padded(bytes: &[u8], count: usize, address: u64, padding: u64) -> Option<bool> {
    let first = |padding: u64| ((PAGE - address.wrapping_add(padding) % PAGE) % PAGE) as usize;
    let begins = |first: usize| {
        let mut starts = (first..count).step_by(PAGE as usize);
        starts.find(|at| {
            bytes.get(*at..).is_some_and(|page| stream::code(first_of(page, PAGE as usize)).is_some())
        })
    };
    match (begins(first(0)), begins(first(padding))) {
        (None, None) => None,
        (Some(stated), Some(shifted)) => Some(stated < shifted),
        (stated, _) => Some(stated.is_some()),
    }
}

/// Offsets in the stream of the queues' scratch descriptors, the last one first, and the number of those outside.
fn descriptors(layout: &Layout) -> (Vec<u64>, u64) {
    let mut found: Vec<u64> =
        layout.scratch.iter().filter_map(|at| Some(offset_of(layout, *at)?.0)).collect();
    let unplaced = (layout.scratch.len() - found.len()) as u64;
    found.sort_unstable_by(|a, b| b.cmp(a));
    (found, unplaced)
}

/// Releases the storage of those bytes of the file; returns whether its file system supports that.
#[cfg(target_os = "linux")]
fn punch(file: &File, first: u64, length: u64) -> io::Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let (Ok(first), Ok(length)) = (i64::try_from(first), i64::try_from(length)) else { return Ok(false) };
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    match fallocate(file, flags, first, length) {
        Ok(()) => Ok(true),
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Systems without this call: unsupported.
#[cfg(not(target_os = "linux"))]
fn punch(_: &File, _: u64, _: u64) -> io::Result<bool> {
    Ok(false)
}

fn holds(segment: &Segment, offset: u64) -> bool {
    offset.checked_sub(segment.offset).is_some_and(|skip| skip < segment.size)
}

/// The offset of an address in the stream, and its segment.
fn offset_of(layout: &Layout, address: u64) -> Option<(u64, Segment)> {
    let holds =
        |segment: &&Segment| address.checked_sub(segment.address).is_some_and(|skip| skip < segment.size);
    let segment = layout.segments.iter().find(holds)?;
    Some((segment.offset.checked_add(address - segment.address)?, *segment))
}

/// The smaller of a count and the available bytes.
fn within(bytes: &[u8], count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).min(bytes.len())
}

fn first_of(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).unwrap_or(bytes)
}
