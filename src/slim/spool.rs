//! A core that comes as a stream, put into a file so that it can be read by range: what fits, what is needed first.
//!
//! The file lies where the user says, has no name that lasts, is nobody else's to read, and is gone at the end. Pages of
//! zeros take no room in it. What is beyond the limit is dropped; so that nobody takes it for zeros the file gets program
//! headers of its own, which speak of what is there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::capture::joined;
use crate::import::stream::{self, Layout, Segment, Start};

/// Bytes that are read at a time, and how many such reads may wait to be written.
const CHUNK: usize = 1 << 20;
const WAITING: usize = 4;

/// What zeros take no room by.
const PAGE: u64 = 4096;

/// A core in a file of its own.
#[derive(Debug)]
pub struct Spooled {
    /// The file; it is gone when this is.
    file: tempfile::NamedTempFile,
    /// What came of the stream.
    pub came: Came,
}

/// What came of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// Bytes that were read.
    pub read: u64,
    /// Bytes of memory that were not kept, because the limit was reached.
    pub dropped: u64,
    /// Of those, bytes that are needed to see all waves.
    pub needed: u64,
    /// Bytes of memory that never came.
    pub missing: u64,
    /// Whether the writer was given up.
    pub stalled: bool,
}

/// How much is kept, and how long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Bytes that the file may take.
    pub limit: u64,
    /// How long nothing may come.
    pub stall: Duration,
}

/// Why there is no core.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// Something else came.
    #[error("standard input: {0}; expected a core")]
    NotACore(String),
    /// It ended too early, or nothing came any more.
    #[error(
        "standard input: {why} after {read} bytes, before its headers and notes, which end at {end}; expected a core"
    )]
    Short {
        /// Bytes that came.
        read: u64,
        /// Bytes that say what there is.
        end: u64,
        /// Ended, or stalled.
        why: &'static str,
    },
    /// The operating system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

impl Spooled {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Came {
    /// What a person should know of it, each a sentence.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.stalled {
            notes
                .push(format!("the writer of the core stalled after {} bytes: what came is kept", self.read));
        }
        if self.missing > 0 {
            notes.push(format!("the core ended early: {} bytes of memory never came", self.missing));
        }
        if self.dropped > 0 {
            notes.push(format!(
                "the limit was reached (--spool-limit): {} bytes of memory were dropped",
                self.dropped
            ));
        }
        if self.needed > 0 {
            notes.push(format!("of these {} are of queues and save areas: waves are missing", self.needed));
        }
        notes
    }
}

/// Reads a core from `from` into a file in `folder`.
///
/// # Errors
/// [`SpoolError`]; of a core that ends early, or stalls, what came is kept.
pub fn spool(
    from: impl Read + Send + 'static,
    folder: &Path,
    patience: Patience,
    progress: &mut dyn FnMut(u64),
) -> Result<Spooled, SpoolError> {
    let io = |file: &Path| {
        let file = file.to_owned();
        move |source| SpoolError::Io { file, source }
    };
    let name = format!(".lanescope-spool-{}-", std::process::id());
    let file = tempfile::Builder::new().prefix(&name).tempfile_in(folder).map_err(io(folder))?;
    let (sender, receiver) = sync_channel(WAITING);
    // A read of standard input cannot be given up; the thread that waits in it can.
    std::thread::spawn(move || send(from, &sender));
    let mut came = Came::default();
    let next = || match receiver.recv_timeout(patience.stall) {
        Ok(chunk) => Ok(Some(chunk)),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
        Err(RecvTimeoutError::Timeout) => Err(()),
    };
    let mut first: Vec<u8> = Vec::new();
    let layout = loop {
        let end = match stream::start(&first) {
            Start::Layout(layout) => break layout,
            Start::NotACore(why) => return Err(SpoolError::NotACore(why)),
            Start::More(end) => end,
        };
        // To look at headers anew for every piece that comes would be slow.
        while (first.len() as u64) < end {
            let short = |why| SpoolError::Short { read: first.len() as u64, end, why };
            match next() {
                Ok(Some(chunk)) => first.extend(chunk.map_err(io(Path::new("standard input")))?),
                Ok(None) => {
                    if let Start::NotACore(why) = stream::start(&first) {
                        return Err(SpoolError::NotACore(why));
                    }
                    return Err(short("it ended"));
                }
                Err(()) => return Err(short("nothing came any more")),
            }
        }
    };
    let mut keeper = Keeper::new(file.as_file(), layout, patience.limit);
    keeper.take(&first).map_err(io(file.path()))?;
    drop(first);
    loop {
        progress(keeper.position);
        match next() {
            Ok(Some(Ok(chunk))) => keeper.take(&chunk).map_err(io(file.path()))?,
            // A writer that breaks off leaves what came, as one that stops does.
            Ok(Some(Err(_)) | None) => break,
            Err(()) => {
                came.stalled = true;
                break;
            }
        }
    }
    keeper.finish(&mut came).map_err(io(file.path()))?;
    Ok(Spooled { file, came })
}

fn send(mut from: impl Read, to: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let result = match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = result.is_err();
        if to.send(result).is_err() || is_last {
            return;
        }
    }
}

/// What becomes of a run of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// Kept as long as there is room at all.
    Needed,
    /// Kept: there is room for it beside what is needed.
    Planned,
    /// Kept where room is left over.
    Spare,
}

struct Keeper<'f> {
    file: &'f File,
    layout: Layout,
    limit: u64,
    /// Bytes of the stream so far.
    position: u64,
    /// Bytes that take room.
    stored: u64,
    /// Runs of the stream by first offset, with their end and rank; what lies in none is no memory.
    ranks: BTreeMap<u64, (u64, Rank)>,
    /// Where in the stream queues say where their scratch is.
    scratch: Vec<u64>,
    /// Bytes of needed and planned runs that are still to come.
    promised: u64,
    /// Runs of the stream that are kept, first and end.
    kept: Vec<(u64, u64)>,
    dropped: u64,
    dropped_needed: u64,
}

impl<'f> Keeper<'f> {
    fn new(file: &'f File, layout: Layout, limit: u64) -> Self {
        let ranks = ranks(&layout, limit);
        let promised = ranks.values().zip(ranks.keys()).filter(|((_, rank), _)| *rank != Rank::Spare);
        let promised = promised.map(|((end, _), first)| end - first).fold(0, u64::saturating_add);
        let (kept, dropped, dropped_needed) = (Vec::new(), 0, 0);
        let scratch = layout.scratch.iter().filter_map(|at| offset_of(&layout, *at)).collect();
        let (position, stored) = (0, 0);
        Self {
            file,
            layout,
            limit,
            position,
            stored,
            ranks,
            scratch,
            promised,
            kept,
            dropped,
            dropped_needed,
        }
    }

    /// The next bytes of the stream.
    fn take(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.position < self.layout.start {
                let count = self.layout.start - self.position;
                let (part, rest) = split(bytes, count);
                self.keep(part)?;
                bytes = rest;
                continue;
            }
            let at = self.ranks.range(..=self.position).next_back().map(|(_, run)| *run);
            let Some((end, rank)) = at.filter(|(end, _)| *end > self.position) else {
                // Padding between segments.
                let next = self.ranks.range(self.position..).next().map_or(u64::MAX, |(first, _)| *first);
                let (part, rest) = split(bytes, next - self.position);
                self.position += part.len() as u64;
                bytes = rest;
                continue;
            };
            let reserved = if rank == Rank::Spare { self.promised } else { 0 };
            let room = self.limit.saturating_sub(self.stored).saturating_sub(reserved);
            let (mut part, mut rest) = split(bytes, end - self.position);
            if part.len() as u64 > room {
                // Near the limit a page at a time: each may be zeros.
                (part, rest) = split(bytes, (PAGE - self.position % PAGE).min(end - self.position));
            }
            let length = part.len() as u64;
            if rank != Rank::Spare {
                self.promised = self.promised.saturating_sub(length);
            }
            if length <= room || is_zero(part) {
                self.keep(part)?;
            } else {
                self.dropped += length;
                self.dropped_needed += if rank == Rank::Needed { length } else { 0 };
                self.position += length;
            }
            bytes = rest;
        }
        Ok(())
    }

    fn keep(&mut self, part: &[u8]) -> io::Result<()> {
        let (first, end) = (self.position, self.position + part.len() as u64);
        let (mut at, mut rest) = (first, part);
        while !rest.is_empty() {
            // Pages of zeros are holes; what lies between two of them is written at once.
            let page = |at: u64, bytes: &[u8]| ((PAGE - at % PAGE) as usize).min(bytes.len());
            let mut count = page(at, rest);
            let hole = is_zero(&rest[..count]);
            while count < rest.len() {
                let next = page(at + count as u64, &rest[count..]);
                if is_zero(&rest[count..count + next]) != hole {
                    break;
                }
                count += next;
            }
            if !hole {
                self.file.write_all_at(&rest[..count], at)?;
                self.stored += count as u64;
            }
            at += count as u64;
            rest = &rest[count..];
        }
        match self.kept.last_mut().filter(|(_, last)| *last == first) {
            Some(run) => run.1 = end,
            None => self.kept.push((first, end)),
        }
        self.position = end;
        // What a queue says of its scratch has come.
        while let Some(index) = self.scratch.iter().position(|at| at.saturating_add(8) <= end) {
            let at = self.scratch.swap_remove(index);
            self.plan_scratch(at)?;
        }
        Ok(())
    }

    /// Plans the segment in which a queue's scratch lies, if it is still to come and there is room.
    fn plan_scratch(&mut self, offset: u64) -> io::Result<()> {
        let mut location = [0; 8];
        self.file.read_at(&mut location, offset)?;
        let Some(first) = offset_of(&self.layout, u64::from_le_bytes(location)) else { return Ok(()) };
        let holds = |segment: &&Segment| {
            (segment.offset..segment.offset.saturating_add(segment.size)).contains(&first)
        };
        let Some(segment) = self.layout.segments.iter().find(holds).copied() else { return Ok(()) };
        let end = segment.offset.saturating_add(segment.size);
        let spare: Vec<u64> = self
            .ranks
            .range(segment.offset.max(self.position)..end)
            .filter(|(_, (_, rank))| *rank == Rank::Spare)
            .map(|(first, _)| *first)
            .collect();
        for first in spare {
            if let Some((end, rank)) = self.ranks.get_mut(&first)
                && self.stored.saturating_add(self.promised).saturating_add(*end - first) <= self.limit
            {
                *rank = Rank::Planned;
                self.promised += *end - first;
            }
        }
        Ok(())
    }

    /// Writes headers that speak of what is there.
    fn finish(&mut self, came: &mut Came) -> io::Result<()> {
        came.read = self.position;
        came.dropped = self.dropped;
        came.needed = self.dropped_needed;
        let segments = self.layout.segments.iter();
        came.missing = segments
            .map(|segment| {
                segment.offset.saturating_add(segment.size).saturating_sub(self.position.max(segment.offset))
            })
            .fold(0, u64::saturating_add);
        let mut headers = Vec::new();
        for (offset, size) in &self.layout.notes {
            headers.push(program_header(4, *offset, 0, *size));
        }
        for segment in &self.layout.segments {
            let end = segment.offset.saturating_add(segment.size);
            let from = self.kept.partition_point(|(_, last)| *last <= segment.offset);
            let inside = self.kept.iter().skip(from).take_while(|(first, _)| *first < end);
            for (first, last) in inside {
                let (first, last) = ((*first).max(segment.offset), (*last).min(end));
                let address = segment.address.wrapping_add(first - segment.offset);
                headers.push(program_header(1, first, address, last - first));
            }
        }
        let count = headers.len();
        let at = self.kept.last().map_or(0, |(_, end)| *end).next_multiple_of(8);
        let table: Vec<u8> = headers.concat();
        self.file.write_all_at(&table, at)?;
        // e_phoff, e_phentsize, e_phnum.
        self.file.write_all_at(&at.to_le_bytes(), 32)?;
        self.file.write_all_at(&56u16.to_le_bytes(), 54)?;
        let short = u16::try_from(count).ok().filter(|count| *count != u16::MAX);
        self.file.write_all_at(&short.unwrap_or(u16::MAX).to_le_bytes(), 56)?;
        if short.is_none() {
            // PN_XNUM: the count is sh_info of section 0.
            let section = at + table.len() as u64;
            let mut header = [0; 64];
            header[44..48].copy_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
            self.file.write_all_at(&header, section)?;
            self.file.write_all_at(&section.to_le_bytes(), 40)?;
            self.file.write_all_at(&[64, 0, 1, 0], 58)?;
        }
        Ok(())
    }
}

/// Where an address comes in the stream.
fn offset_of(layout: &Layout, address: u64) -> Option<u64> {
    let holds =
        |segment: &&Segment| address.checked_sub(segment.address).is_some_and(|skip| skip < segment.size);
    let segment = layout.segments.iter().find(holds)?;
    segment.offset.checked_add(address - segment.address)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// An `Elf64_Phdr`.
fn program_header(kind: u32, offset: u64, address: u64, size: u64) -> Vec<u8> {
    let mut header = Vec::with_capacity(56);
    header.extend(kind.to_le_bytes());
    header.extend(4u32.to_le_bytes());
    for word in [offset, address, 0, size, size, 1] {
        header.extend(word.to_le_bytes());
    }
    header
}

fn split(bytes: &[u8], at: u64) -> (&[u8], &[u8]) {
    bytes.split_at(usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len()))
}

/// Runs of the stream with their ranks: needed ones first, then whole segments from the smallest on as far as there is room.
fn ranks(layout: &Layout, limit: u64) -> BTreeMap<u64, (u64, Rank)> {
    let needed = joined(layout.needed.clone());
    // By segment, what is needed of it, as runs of the stream.
    let parts = |segment: &Segment| -> Vec<(u64, u64)> {
        let last = segment.address.saturating_add(segment.size.saturating_sub(1));
        let from = needed.partition_point(|(_, end)| *end < segment.address);
        let inside = needed.iter().skip(from).take_while(|(first, _)| *first <= last);
        let run = |(first, end): &(u64, u64)| {
            let (first, end) = ((*first).max(segment.address), (*end).min(last));
            let offset = segment.offset.saturating_add(first - segment.address);
            (offset, offset.saturating_add(end - first).saturating_add(1))
        };
        inside.map(run).collect()
    };
    let mut room = limit.saturating_sub(layout.start);
    let mut segments: Vec<(Segment, Vec<(u64, u64)>)> = Vec::new();
    for segment in layout.segments.iter().filter(|segment| segment.size > 0) {
        let parts = parts(segment);
        room = parts.iter().fold(room, |room, (first, end)| room.saturating_sub(end - first));
        segments.push((*segment, parts));
    }
    segments.sort_by_key(|(segment, _)| segment.size);
    let mut ranks = BTreeMap::new();
    for (segment, parts) in segments {
        let end = segment.offset.saturating_add(segment.size);
        let inside: u64 = parts.iter().map(|(first, end)| end - first).sum();
        let rest = segment.size.saturating_sub(inside);
        let rank = if rest <= room { Rank::Planned } else { Rank::Spare };
        room -= if rank == Rank::Planned { rest } else { 0 };
        let mut at = segment.offset;
        for (first, after) in parts {
            if at < first {
                ranks.insert(at, (first, rank));
            }
            ranks.insert(first, (after, Rank::Needed));
            at = after;
        }
        if at < end {
            ranks.insert(at, (end, rank));
        }
    }
    ranks
}

#[cfg(test)]
#[path = "spool_tests.rs"]
mod tests;
