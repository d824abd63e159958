//! A core that comes as a stream: what its first bytes say of the rest, so that what must stay can be told as it comes.
//!
//! The headers and the note come first. They name the queues, and with them the save areas in which all registers and all LDS
//! are, and the queues' descriptors. Where scratch lies stands in a descriptor, which is memory that comes later; where code
//! objects lie nothing says. So of all else small segments come before large ones.

use super::agents::MOST_XCCS;
use super::bytes::{u16_at, u64_at};
use super::headers::{self, Headers};
use super::note;
use super::scratch::LOCATION;
use crate::capture::{Backing, MemoryBacking};
use crate::import::problem::Problems;

/// The most bytes that headers and notes may take.
pub(crate) const MOST_START: u64 = 256 << 20;

/// Bytes of a queue's descriptor behind its read pointer, and before it: the descriptor is of 128 bytes and more.
const DESCRIPTOR: u64 = 4096;

/// `e_type` of a core.
const ET_CORE: u16 = 4;

/// The most bytes of a queue's save areas where nothing says how many they are: what the largest GPUs need.
const MOST_AREAS: u64 = 1 << 30;

/// What the first bytes of a stream come to.
#[derive(Debug)]
pub(crate) enum Start {
    /// So many are needed to say more.
    More(u64),
    /// It is no core, in words.
    NotACore(String),
    /// All that is needed.
    Layout(Layout),
}

/// A run of the stream that is memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First byte in the stream.
    pub(crate) offset: u64,
    /// Its address.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u64,
}

/// What comes where.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Headers and notes end here; they are needed.
    pub(crate) start: u64,
    /// Memory, in the order of the stream.
    pub(crate) segments: Vec<Segment>,
    /// Notes, by offset and size.
    pub(crate) notes: Vec<(u64, u64)>,
    /// Memory that is needed for certain, by first and last address: save areas, queues' descriptors and rings.
    pub(crate) needed: Vec<(u64, u64)>,
    /// Where each queue's descriptor says where scratch lies.
    pub(crate) scratch: Vec<u64>,
}

/// Looks at the first bytes of a stream.
pub(crate) fn start(bytes: &[u8]) -> Start {
    const HEADER: usize = 64;
    if !b"\x7fELF\x02\x01".starts_with(bytes.get(..6.min(bytes.len())).unwrap_or_default()) {
        return Start::NotACore("it does not begin as a little-endian 64-bit ELF file does".to_owned());
    }
    let fields = || Some((u16_at(bytes, 16)?, u64_at(bytes, 32)?, u16_at(bytes, 54)?, u16_at(bytes, 56)?));
    let Some((kind, table, size, count)) = fields().filter(|_| bytes.len() >= HEADER) else {
        return Start::More(HEADER as u64);
    };
    if kind != ET_CORE {
        return Start::NotACore("it is an ELF file and no core".to_owned());
    }
    let table = table.saturating_add(u64::from(size) * u64::from(count));
    let too_far = |what: &str, end: u64| {
        Start::NotACore(format!(
            "its {what} end at {end:#x}, beyond the {MOST_START} bytes in which they are looked for"
        ))
    };
    if table > MOST_START {
        return too_far("program headers", table);
    }
    if table > bytes.len() as u64 {
        return Start::More(table);
    }
    let file = MemoryBacking::new("standard input", bytes.to_vec());
    let mut problems = Problems::new("standard input");
    let headers = match headers::read(&file, &mut problems) {
        Ok(headers) => headers,
        Err(error) => return Start::NotACore(error.to_string()),
    };
    let end =
        headers.notes.iter().map(|note| note.offset.saturating_add(note.size)).max().unwrap_or(0).max(table);
    if end > MOST_START {
        return too_far("notes", end);
    }
    if end > bytes.len() as u64 {
        return Start::More(end);
    }
    Start::Layout(layout(&file, &headers, end, &mut problems))
}

fn layout(file: &dyn Backing, headers: &Headers, start: u64, problems: &mut Problems) -> Layout {
    let mut layout = Layout { start, ..Layout::default() };
    let segment =
        |load: &headers::Range| Segment { offset: load.offset, address: load.address, size: load.size };
    layout.segments = headers.loads.iter().map(segment).collect();
    layout.segments.sort_by_key(|segment| segment.offset);
    layout.notes = headers.notes.iter().map(|note| (note.offset, note.size)).collect();
    let state = note::read(file, headers, problems).state.unwrap_or_default();
    let mut need = |address: u64, length: u64| {
        if let Some(more) = length.checked_sub(1).filter(|_| address != 0) {
            layout.needed.push((address, address.saturating_add(more)));
        }
    };
    need(state.r_debug, DESCRIPTOR);
    for queue in &state.queues {
        let agent = state.agents.iter().find(|agent| agent.gpu_id == queue.gpu_id);
        let xccs = agent.map_or(1, |agent| agent.xccs).clamp(1, MOST_XCCS);
        let areas = match queue.save_area_size {
            // A driver that does not say gave each an allocation of its own: what follows in its segment.
            0 => {
                let holds = |load: &&headers::Range| {
                    queue.save_area.checked_sub(load.address).is_some_and(|skip| skip < load.size)
                };
                let load = headers.loads.iter().find(holds);
                load.map_or(0, |load| load.size - (queue.save_area - load.address)).min(MOST_AREAS)
            }
            size => u64::from(size) * u64::from(xccs),
        };
        need(queue.save_area, areas);
        need(queue.ring, u64::from(queue.ring_size));
        need(queue.read_pointer, DESCRIPTOR);
        need(queue.write_pointer, 8);
        layout.scratch.extend(queue.read_pointer.checked_add(LOCATION).filter(|_| queue.read_pointer != 0));
    }
    layout
}
