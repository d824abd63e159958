//! Memory of every space, copied by range: the manifest's pieces and their bytes.

use std::fmt::Display;
use std::io;

use serde_json::{Map, Value, json};

use super::sink::Sink;
use super::stored::Stored;
use super::tables::table;
use super::{Written, number};
use crate::capture::{Capture, Extent, MemoryMap, Segment};
use crate::notation::plural;

/// The file of global memory.
const GLOBAL: &str = "memory.bin";

/// Maximum number of ranges of a memory map: twice Linux's default maximum of a process.
const MAX_RANGES: usize = 1 << 17;

/// An address range, first to last, with the place of its bytes.
pub(super) struct Part<'a> {
    segment: &'a Segment,
    first: u64,
    pub(super) extent: Extent,
}

impl<'a> Part<'a> {
    /// The part of a segment from its first to its last address, both within the segment.
    fn of(segment: &'a Segment, (first, last): (u64, u64)) -> Self {
        let skip = first.saturating_sub(segment.address);
        let offset = segment.extent.offset.saturating_add(skip);
        let length = last.saturating_sub(first).saturating_add(1);
        Self { segment, first, extent: Extent { offset, length, ..segment.extent } }
    }
}

/// The contents of a map below an address.
pub(super) fn below(map: &MemoryMap, end: u64) -> impl Iterator<Item = Part<'_>> {
    let segments = map.segments().iter().take_while(move |segment| segment.address < end);
    segments.map(move |segment| Part::of(segment, (segment.address, segment.last().min(end - 1))))
}

/// The contents of a map in a run of addresses, segment by segment.
pub(super) fn parts(map: &MemoryMap, (first, last): (u64, u64)) -> impl Iterator<Item = Part<'_>> {
    let from = map.segments().partition_point(|segment| segment.last() < first);
    let rest = map.segments().get(from..).unwrap_or_default();
    let inside = rest.iter().take_while(move |segment| segment.address <= last);
    inside.map(move |segment| Part::of(segment, (segment.address.max(first), segment.last().min(last))))
}

/// Copies the captured parts of those runs of global memory; returns the manifest's pieces.
pub(super) fn copy_global(
    capture: &Capture,
    runs: &[(u64, u64)],
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Vec<Value>> {
    let parts: Vec<Part<'_>> = runs.iter().flat_map(|run| parts(&capture.global, *run)).collect();
    let extents: Vec<Extent> = parts.iter().map(|part| part.extent).collect();
    sink.begin(GLOBAL, super::stored::size(extents.clone()))?;
    let stored = Stored::write(capture, extents, sink, written)?;
    written.global = sink.position();
    let mut entries = Vec::new();
    for part in parts {
        let what = format_args!("global memory at {:#x}", part.first);
        written.global_named = written.global_named.saturating_add(stored.find(&part.extent).1);
        entries.extend(piece(capture, &part, GLOBAL, &what, &stored, written));
    }
    Ok(entries)
}

/// The known map of global memory: an analysis needs the places of memory that stays out. `None`: nothing is known.
pub(super) fn map(capture: &Capture, written: &mut Written) -> Option<Value> {
    let listed = capture.listed();
    let segments = listed.segments();
    if segments.len() > MAX_RANGES {
        written
            .lose(format_args!("the memory map of {} ranges; at most {MAX_RANGES} are kept", segments.len()));
        return None;
    }
    let range = |of: &Segment| {
        Value::Object(table([
            ("address", Some(number(of.address))),
            ("size", Some(number(of.extent.length))),
            ("name", of.name.as_ref().map(|name| json!(name))),
        ]))
    };
    let ranges: Vec<Value> = segments.iter().map(range).collect();
    (!ranges.is_empty()).then(|| json!({ "whole": capture.is_global_whole, "ranges": ranges }))
}

/// The manifest's pieces of parts, as far as a file of the dump holds them. Missing bytes are a loss.
pub(super) fn pieces<'a>(
    capture: &Capture,
    parts: impl Iterator<Item = Part<'a>>,
    file: &str,
    what: &dyn Display,
    stored: &Stored,
    written: &mut Written,
) -> Vec<Value> {
    parts.filter_map(|part| piece(capture, &part, file, what, stored, written)).collect()
}

fn piece(
    capture: &Capture,
    part: &Part<'_>,
    file: &str,
    what: &dyn Display,
    stored: &Stored,
    written: &mut Written,
) -> Option<Value> {
    let (at, length) = stored.find(&part.extent);
    if let (Some(missing @ 1..), Some(backing)) =
        (part.extent.length.checked_sub(length), capture.backing(part.extent.backing))
    {
        let bytes = plural(missing, "byte", "bytes");
        written.lose(format_args!("{what}: {} ends {missing} {bytes} early", backing.name()));
    }
    if length == 0 {
        return None;
    }
    let mut piece = Map::new();
    piece.insert("address".to_owned(), number(part.first));
    if let Some(name) = &part.segment.name {
        piece.insert("name".to_owned(), json!(name));
    }
    piece.extend(data(file, at, length));
    Some(Value::Object(piece))
}

/// The keys of a range of a side file.
pub(super) fn data(file: &str, offset: u64, length: u64) -> Map<String, Value> {
    let mut keys = Map::new();
    keys.insert("file".to_owned(), json!(file));
    keys.insert("offset".to_owned(), number(offset));
    keys.insert("length".to_owned(), number(length));
    keys
}
