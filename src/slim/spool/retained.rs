//! The kept parts of a stream as a core: its pieces, and program headers for exactly those.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt as _;

use super::PAGE;
use super::ranks::Rank;
use crate::elf::{
    FileHeader, PF_R, PN_XNUM, PT_LOAD, PT_NOTE, ProgramHeader, ProgramType, SectionHeader, bytes_of,
    bytes_of_slice, write,
};
use crate::import::stream::Layout;

/// Maximum written program headers: the limit of the core reader.
const MAX_HEADERS: usize = 1 << 18;

/// Bytes per copy step; whole pages.
const CHUNK: usize = 1 << 20;

static ZEROS: [u8; PAGE as usize] = [0; PAGE as usize];

/// A kept part of the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) end: u64,
    /// Bytes with storage in the file.
    pub(super) stored: u64,
    pub(super) rank: Rank,
    /// Bytes of its segment.
    pub(super) size: u64,
    /// The `shift` of its run: maps an offset to an address.
    pub(super) shift: u64,
}

/// The kept pieces of a core.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) layout: Layout,
    /// By first offset in the stream.
    pub(super) pieces: BTreeMap<u64, Piece>,
}

/// Bytes of the stream and their position in a file.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    end: u64,
    at: u64,
}

impl Kept {
    /// Writes headers into the file, whose pieces keep their offsets in the stream.
    pub(super) fn write_headers(&self, file: &File) -> io::Result<()> {
        let runs = runs(self.pieces.iter().map(|(first, piece)| (*first, piece.end)), |first, _| first);
        self.headers_of(file, &runs)
    }

    /// Copies pieces of up to `most` bytes, those that waves need first, side by side into a file with headers of its
    /// own; returns the omitted bytes of memory.
    pub(super) fn copy(&self, from: &File, to: &File, most: u64) -> io::Result<u64> {
        let mut pieces: Vec<(&u64, &Piece)> = self.pieces.iter().collect();
        pieces.sort_by_key(|(first, piece)| (piece.rank, piece.size, **first));
        let (mut left, mut left_out, mut chosen) = (most, 0, Vec::new());
        for (first, piece) in pieces {
            // Headers and notes describe the original core.
            let is_start = *first < self.layout.start;
            match left.checked_sub(piece.stored) {
                Some(less) => left = less,
                None if is_start => left = 0,
                None => {
                    left_out += piece.end - first;
                    continue;
                }
            }
            chosen.push((*first, piece.end));
        }
        chosen.sort_unstable();
        let mut next = 0;
        let runs = runs(chosen.into_iter(), |first, end| {
            let at = next;
            next += end - first;
            at
        });
        let mut buffer = vec![0; CHUNK];
        for run in &runs {
            let mut at = run.first;
            while at < run.end {
                let count = usize::try_from(run.end - at).unwrap_or(CHUNK).min(CHUNK);
                let Some(bytes) = buffer.get_mut(..count) else { break };
                from.read_exact_at(bytes, at)?;
                for (page, bytes) in (0u64..).zip(bytes.chunks(ZEROS.len())) {
                    if !is_zero(bytes) {
                        to.write_all_at(bytes, run.at + (at - run.first) + page * PAGE)?;
                    }
                }
                at += count as u64;
            }
        }
        self.headers_of(to, &runs)?;
        Ok(left_out)
    }

    fn headers_of(&self, file: &File, runs: &[Run]) -> io::Result<()> {
        let headers = self.headers(runs);
        let count = headers.len();
        let at = runs.last().map_or(0, |run| run.at + (run.end - run.first)).next_multiple_of(8);
        let table = bytes_of_slice(&headers);
        file.write_all_at(table, at)?;
        let short = |value: u16, field: usize| file.write_all_at(&value.to_le_bytes(), field as u64);
        let long = |value: u64, field: usize| file.write_all_at(&value.to_le_bytes(), field as u64);
        long(at, offset_of!(FileHeader, e_phoff))?;
        short(size_of::<ProgramHeader>() as u16, offset_of!(FileHeader, e_phentsize))?;
        let number = u16::try_from(count).ok().filter(|count| *count != PN_XNUM);
        short(number.unwrap_or(PN_XNUM), offset_of!(FileHeader, e_phnum))?;
        if number.is_none() {
            // The count is sh_info of section 0.
            let section = at + table.len() as u64;
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            let header = SectionHeader { sh_info: count.into(), ..write::null_section() };
            file.write_all_at(bytes_of(&header), section)?;
            long(section, offset_of!(FileHeader, e_shoff))?;
            short(size_of::<SectionHeader>() as u16, offset_of!(FileHeader, e_shentsize))?;
            short(1, offset_of!(FileHeader, e_shnum))?;
        }
        Ok(())
    }

    fn headers(&self, runs: &[Run]) -> Vec<ProgramHeader> {
        let within = |offset: u64, size: u64| {
            let end = offset.saturating_add(size);
            let from = runs.partition_point(|run| run.end <= offset);
            let inside = runs.iter().skip(from).take_while(move |run| run.first < end);
            inside.map(move |run| {
                let (first, last) = (run.first.max(offset), run.end.min(end));
                (first - offset, run.at + (first - run.first), last - first)
            })
        };
        let notes = self.layout.notes.iter().flat_map(|(offset, size)| {
            // A note in a truncated segment still contains its full length.
            let first = within(*offset, *size).next();
            first.map(|(_, at, _)| program_header(PT_NOTE, at, 0, *size))
        });
        let loads = self.layout.segments.iter().flat_map(|segment| {
            within(segment.offset, segment.size)
                .map(|(skip, at, size)| program_header(PT_LOAD, at, segment.address.wrapping_add(skip), size))
        });
        notes.chain(loads).take(MAX_HEADERS).collect()
    }
}

/// Merges consecutive pieces into runs; `place` gives the position of each run.
fn runs(pieces: impl Iterator<Item = (u64, u64)>, mut place: impl FnMut(u64, u64) -> u64) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (first, end) in pieces {
        match runs.last_mut().filter(|run| run.end == first) {
            Some(run) => {
                place(first, end);
                run.end = end;
            }
            None => runs.push(Run { first, end, at: place(first, end) }),
        }
    }
    runs
}

/// Compares page by page, which is faster than byte by byte.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(ZEROS.len()).all(|page| ZEROS.starts_with(page))
}

/// The header of a segment whose bytes are all in the file.
pub(super) fn program_header(kind: ProgramType, offset: u64, address: u64, size: u64) -> ProgramHeader {
    ProgramHeader {
        p_type: kind.into(),
        p_flags: PF_R.into(),
        p_offset: offset.into(),
        p_vaddr: address.into(),
        p_paddr: 0.into(),
        p_filesz: size.into(),
        p_memsz: size.into(),
        p_align: 1.into(),
    }
}
