//! A core as a stream: its first bytes determine the required parts of the rest.
//!
//! The headers and the note come first. They give the queues' descriptors and their save areas, which hold all
//! registers and all LDS. A descriptor has the address of scratch and comes later, with memory. The first bytes of a
//! code object identify it ([`code`]); in some cores the flags of its segment's header do.

use std::fs::File;
use std::io;

use super::agents::MAX_XCCS;
use super::headers::{self, Headers, Range};
use super::scratch::LOCATION;
use super::{note, padding};
use crate::capture::MemoryBacking;
use crate::elf::{EM_AMDGPU, ET_CORE, ET_DYN, FileHeader, LE, PN_XNUM, PT_LOAD, ProgramHeader, read};
use crate::import::file::OpenFile;
use crate::import::problem::Problems;
use crate::mapping::Changes;

/// Maximum size of headers and notes in bytes.
pub(crate) const MAX_START: u64 = 256 << 20;

/// Bytes read before and after a queue's read pointer: the descriptor has 128 bytes or more.
const DESCRIPTOR: u64 = 4096;

/// Size of a page; save areas are whole pages.
pub(super) const PAGE: u64 = 4096;

/// Maximum size in bytes of a queue's save areas of unknown size: that of the largest GPUs.
pub(super) const MAX_AREAS: u64 = 1 << 30;

/// Result of a stream's first bytes.
#[derive(Debug)]
pub(crate) enum Start {
    /// The required number of bytes for a result.
    More(u64),
    /// The stream is no core; the reason as text.
    NotACore(String),
    /// The required parts.
    Layout(Layout),
}

/// A run of the stream with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Offset in the stream.
    pub(crate) offset: u64,
    /// Its address.
    pub(crate) address: u64,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Whether its header's flags mark it as code.
    pub(crate) executable: bool,
}

/// The parts of a stream.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// End of headers and notes, which are required.
    pub(crate) start: u64,
    /// Memory, in the order of the stream.
    pub(crate) segments: Vec<Segment>,
    /// Notes, by offset and size.
    pub(crate) notes: Vec<(u64, u64)>,
    /// Required memory by first and last address: save areas, queues' descriptors and rings.
    pub(crate) needed: Vec<(u64, u64)>,
    /// Addresses of the fields of queues' descriptors that hold the address of scratch.
    pub(crate) scratch: Vec<u64>,
    /// Whether the notes come too late to wait for: queues are unknown.
    pub(crate) blind: bool,
    /// Messages about errors in the headers.
    pub(crate) problems: Vec<String>,
    /// A second layout, if the segments may lack the padding that the headers announce.
    pub(crate) unpadded: Option<Box<Unpadded>>,
}

/// A second layout: segments without padding between them.
#[derive(Debug)]
pub(crate) struct Unpadded {
    headers: Headers,
    loads: Vec<Range>,
    state: note::State,
}

impl Layout {
    /// Offset after the last byte that the headers announce.
    pub(crate) fn end(&self) -> u64 {
        let segments = self.segments.iter().map(|segment| segment.offset.saturating_add(segment.size));
        let notes = self.notes.iter().map(|(offset, size)| offset.saturating_add(*size));
        segments.chain(notes).fold(self.start, u64::max)
    }

    /// Bytes of padding before each segment if its presence is unknown; `None`: known. Segments of other sizes than
    /// ROCr's may have less.
    pub(crate) fn doubtful_padding(&self) -> Option<u64> {
        let unpadded = self.unpadded.as_ref()?;
        let all = unpadded.headers.loads.iter().zip(&unpadded.loads);
        all.map(|(stated, load)| stated.offset - load.offset).max()
    }

    /// Decides whether there is padding; returns whether the segments' offsets changed.
    pub(crate) fn settle(&mut self, is_padded: bool) -> bool {
        let Some(unpadded) = self.unpadded.take().filter(|_| !is_padded) else { return false };
        let Unpadded { headers, loads, .. } = *unpadded;
        self.segments = segments(&Headers { loads, ..headers });
        self.problems.push(UNPADDED.to_owned());
        true
    }

    /// Like [`Self::settle`], by the received data: `length` bytes, of which `file` holds the kept ones.
    pub(crate) fn settle_by(&mut self, file: &File, length: u64) -> io::Result<bool> {
        let Some(unpadded) = &self.unpadded else { return Ok(false) };
        let Unpadded { headers, loads, state } = &**unpadded;
        let kept = OpenFile::of("standard input".to_owned(), file.try_clone()?, &Changes::default())
            .map_err(io::Error::other)?;
        let is_missing = padding::is_missing(&kept, length, headers, loads, Some(state));
        Ok(self.settle(!is_missing))
    }
}

const UNPADDED: &str = "the core has no padding between its segments, though its headers announce it (ROCr of November 2025 to July \
                        2026 writes such cores to pipes): the segments are read as they follow each other";

/// Chunk size when the program-header count is unknown.
const STEP: u64 = 64 << 10;

/// Evaluates the first bytes of a stream; `ended`: no more bytes follow, so that a partial table counts.
pub(crate) fn start(bytes: &[u8], ended: bool) -> Start {
    if !read::START.starts_with(bytes.get(..read::START.len()).unwrap_or(bytes)) {
        return Start::NotACore("it does not begin as a little-endian 64-bit ELF file does".to_owned());
    }
    let Ok(header) = read::file_header(bytes) else {
        return Start::More(size_of::<FileHeader>() as u64);
    };
    if header.e_type.get(LE) != ET_CORE {
        return Start::NotACore("it is an ELF file and no core".to_owned());
    }
    let (begin, entry) = (header.e_phoff.get(LE), u64::from(header.e_phentsize.get(LE)));
    let table = match header.e_phnum.get(LE) {
        PN_XNUM => begin.saturating_add(table_size(bytes, begin, entry)),
        count => begin.saturating_add(entry * u64::from(count)),
    };
    let too_far = |what: &str, end: u64| {
        Start::NotACore(format!(
            "its {what} end at {end:#x}, beyond the {MAX_START} bytes in which they are looked for"
        ))
    };
    if table > MAX_START {
        return too_far("program headers", table);
    }
    let came = bytes.len() as u64;
    // Of a truncated table the received headers count.
    let enough = if ended { table.min(begin.saturating_add(entry)) } else { table };
    if enough > came {
        return Start::More(enough);
    }
    let file = MemoryBacking::new("standard input", bytes.to_vec());
    let mut problems = Problems::new("standard input");
    let mut headers = match headers::read(&file, &mut problems) {
        Ok(headers) => headers,
        Err(error) => return Start::NotACore(error.to_string()),
    };
    let end = |notes: &[Range]| notes.iter().map(|note| note.offset.saturating_add(note.size)).max();
    let said = end(&headers.notes).unwrap_or(0).max(table);
    clip(&mut headers, &mut problems);
    let clipped = end(&headers.notes).unwrap_or(0).max(table);
    let problems = problems.finish().iter().map(ToString::to_string).collect();
    if clipped > MAX_START {
        let blind = Layout { blind: true, problems, ..of_headers(&headers, table) };
        return Start::Layout(blind);
    }
    if clipped > came && !ended {
        return Start::More(clipped);
    }
    // The later opening of the kept file reports these.
    let notes = note::read(&file, &headers, &mut Problems::new(""));
    // The note has its own length. A note outside of its segment may be in segments of memory.
    let unpadded = padding::without(&headers);
    let first = |loads: &[Range]| {
        let moved = loads.iter().zip(&headers.loads).find(|(load, stated)| load.offset < stated.offset);
        moved.map(|(load, stated)| (load.offset, stated.offset))
    };
    // Padding before the first segment is all zeros.
    let padded = unpadded.as_deref().and_then(first);
    let end = notes.ends_at.unwrap_or(said).max(clipped).max(padded.map_or(0, |(_, stated)| stated));
    if end > came && end <= MAX_START && !ended {
        return Start::More(end);
    }
    let start = notes.ends_at.unwrap_or(clipped).max(clipped).min(MAX_START);
    let state = notes.state.unwrap_or_default();
    let slack = if unpadded.is_some() { padding::MAX_PADDING } else { 0 };
    let mut layout = Layout { problems, ..layout(&state, &headers, start, slack) };
    layout.unpadded = unpadded.map(|loads| Box::new(Unpadded { headers, loads, state }));
    if padded.is_some_and(|(first, stated)| padding::has_data(&file, first, stated)) {
        layout.settle(false);
    }
    Start::Layout(layout)
}

/// Bytes of a table of program headers with an unknown count: up to the first segment, or more than received.
fn table_size(bytes: &[u8], table: u64, entry: u64) -> u64 {
    let from = usize::try_from(table).unwrap_or(usize::MAX);
    let there = bytes.get(from..).unwrap_or_default();
    let most = headers::MAX_HEADERS * entry;
    match headers::before_segments(there, table, entry) {
        Some(count) => (count * entry).min(most),
        None => (there.len() as u64).saturating_add(STEP).min(most),
    }
}

/// Limits notes to the bytes before memory: with a wrong size they would take the whole stream.
fn clip(headers: &mut Headers, problems: &mut Problems) {
    for note in &mut headers.notes {
        let behind = headers.loads.iter().filter(|load| load.size > 0 && load.offset > note.offset);
        let Some(next) = behind.map(|load| load.offset).min() else { continue };
        if note.offset.saturating_add(note.size) > next {
            let what = format!("{} bytes of notes, of which those from {next:#x} on are memory", note.size);
            let key = format!("segment {}", note.index);
            problems.report_at(
                "standard input",
                note.offset,
                key,
                what,
                "notes that end before memory begins",
            );
            note.size = next - note.offset;
        }
    }
}

/// Bytes of the code object that begins with `page`, if any: its image, or its file if that is larger. `page` starts on
/// a page boundary, where loaders and bundlers place code objects.
pub(crate) fn code(page: &[u8]) -> Option<u64> {
    read::kind(page).filter(|kind| *kind == (ET_DYN, EM_AMDGPU))?;
    let header: &FileHeader = read::record(page, 0)?;
    let table = usize::try_from(header.e_phoff.get(LE)).ok()?;
    let sections = u64::from(header.e_shentsize.get(LE)) * u64::from(header.e_shnum.get(LE));
    let mut end = header.e_shoff.get(LE).saturating_add(sections).max(size_of::<FileHeader>() as u64);
    for index in 0..usize::from(header.e_phnum.get(LE)) {
        let at = table.saturating_add(index * size_of::<ProgramHeader>());
        let Some(header) = read::record::<ProgramHeader>(page, at) else {
            // Its headers are elsewhere, and its end is unknown.
            return Some(u64::MAX);
        };
        if header.p_type.get(LE) == PT_LOAD {
            end = end.max(header.p_vaddr.get(LE).saturating_add(header.p_memsz.get(LE)));
        }
    }
    Some(end)
}

/// The parts by the program headers alone, in the stream's order.
fn segments(headers: &Headers) -> Vec<Segment> {
    let segment = |load: &headers::Range| Segment {
        offset: load.offset,
        address: load.address,
        size: load.size,
        executable: headers.is_executable(load),
    };
    let mut segments: Vec<Segment> = headers.loads.iter().map(segment).collect();
    segments.sort_by_key(|segment| segment.offset);
    segments
}

fn of_headers(headers: &Headers, start: u64) -> Layout {
    let notes = headers.notes.iter().map(|note| (note.offset, note.size)).collect();
    Layout { start, segments: segments(headers), notes, ..Layout::default() }
}

/// The parts by headers and note. `slack`: bytes of optional padding, by which required parts may come earlier.
fn layout(state: &note::State, headers: &Headers, start: u64, slack: u64) -> Layout {
    let mut layout = of_headers(headers, start);
    let (needed, segments) = (&mut layout.needed, &layout.segments);
    let mut need = |address: u64, length: u64| {
        if let Some(more) = length.checked_sub(1).filter(|_| address != 0) {
            needed.push((address.saturating_sub(slack), address.saturating_add(more)));
        }
    };
    need(state.r_debug, DESCRIPTOR);
    for queue in &state.queues {
        let agent = match &*state.agents {
            // A queue with an unknown agent is read as one of the only agent.
            [only] => Some(only),
            agents => agents.iter().find(|agent| agent.gpu_id == queue.gpu_id),
        };
        let xccs = agent.map_or(1, |agent| agent.xccs).clamp(1, MAX_XCCS);
        let size = u64::from(queue.save_area_size);
        need(queue.save_area, size * u64::from(xccs));
        // ROCr's size may be that of the used bytes (June and July 2026), and some entries have none: then up to the
        // end of the area's segment, which is a separate allocation in ROCr's cores.
        if headers.machine == EM_AMDGPU || size == 0 || !size.is_multiple_of(PAGE) {
            let mut segments = segments.iter();
            let inside = |segment: &&Segment| {
                queue.save_area.checked_sub(segment.address).is_some_and(|skip| skip < segment.size)
            };
            let rest =
                segments.find(inside).map(|segment| segment.size - (queue.save_area - segment.address));
            need(queue.save_area, rest.unwrap_or(0).min(MAX_AREAS));
        }
        need(queue.ring, u64::from(queue.ring_size));
        need(queue.read_pointer, DESCRIPTOR);
        need(queue.write_pointer, 8);
        layout.scratch.extend(queue.read_pointer.checked_add(LOCATION).filter(|_| queue.read_pointer != 0));
    }
    layout
}
