//! Memory of every space, copied by range: pieces of the manifest and their bytes.

use std::fmt::Display;
use std::io::{self, Write as _};

use serde_json::{Map, Value, json};

use super::sink::Sink;
use super::{Written, number};
use crate::capture::{Capture, Extent, MemoryMap, Segment};

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 20;

/// The file of global memory.
const GLOBAL: &str = "memory.bin";

/// Copies an extent to where the sink is; how many bytes came. That they are fewer is said.
pub(super) fn copy(
    capture: &Capture,
    extent: Extent,
    what: &dyn Display,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<u64> {
    let done = copy_captured(capture, extent, what, sink, written)?;
    if let (Some(missing @ 1..), Some(backing)) =
        (extent.length.checked_sub(done), capture.backing(extent.backing))
    {
        let bytes = if missing == 1 { "byte" } else { "bytes" };
        written.lose(format_args!("{what}: {} ends {missing} {bytes} early", backing.name()));
    }
    Ok(done)
}

/// Copies as much of an extent as was captured without a gap; only a store that cannot be read is said.
pub(super) fn copy_captured(
    capture: &Capture,
    extent: Extent,
    what: &dyn Display,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<u64> {
    let Some(backing) = capture.backing(extent.backing) else { return Ok(0) };
    let mut buffer = vec![0; usize::try_from(extent.length).unwrap_or(CHUNK).min(CHUNK)];
    let mut done = 0;
    while done < extent.length {
        let want = usize::try_from(extent.length - done).unwrap_or(CHUNK).min(CHUNK);
        let Some(part) = buffer.get_mut(..want) else { break };
        let got = match backing.read_at(extent.offset.saturating_add(done), part) {
            Ok(got) => got,
            Err(error) => {
                written.lose(format_args!("{what}: {}: {error}", backing.name()));
                break;
            }
        };
        sink.write_all(part.get(..got).unwrap_or_default())?;
        done += got as u64;
        if got < want {
            break;
        }
    }
    Ok(done)
}

/// Copies what a map holds below `end`, with the manifest's pieces.
pub(super) fn copy_map(
    capture: &Capture,
    map: &MemoryMap,
    end: u64,
    file: &str,
    what: &dyn Display,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Vec<Value>> {
    let mut pieces = Vec::new();
    for segment in map.segments().iter().take_while(|segment| segment.address < end) {
        let last = segment.last().min(end - 1);
        pieces.extend(copy_part(capture, segment, (segment.address, last), file, what, sink, written)?);
    }
    Ok(pieces)
}

/// Copies what was captured of those runs of global memory, with the manifest's pieces.
pub(super) fn copy_global(
    capture: &Capture,
    runs: &[(u64, u64)],
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Vec<Value>> {
    let parts: Vec<_> = runs.iter().flat_map(|run| parts(&capture.global, *run)).collect();
    sink.begin(GLOBAL, parts.iter().map(|(_, (first, last))| last - first + 1).sum())?;
    let mut pieces = Vec::new();
    for (segment, run) in parts {
        let what = format_args!("global memory at {:#x}", run.0);
        pieces.extend(copy_part(capture, segment, run, GLOBAL, &what, sink, written)?);
    }
    written.global = sink.position();
    Ok(pieces)
}

/// Bytes that a map holds below an address.
pub(super) fn below(map: &MemoryMap, end: u64) -> u64 {
    let segments = map.segments().iter().take_while(|segment| segment.address < end);
    segments.map(|segment| segment.extent.length.min(end - segment.address)).sum()
}

/// What of a run of addresses a map holds, segment by segment.
pub(super) fn parts(map: &MemoryMap, (first, last): (u64, u64)) -> Vec<(&Segment, (u64, u64))> {
    let from = map.segments().partition_point(|segment| segment.last() < first);
    let rest = map.segments().get(from..).unwrap_or_default();
    let inside = rest.iter().take_while(|segment| segment.address <= last);
    inside.map(|segment| (segment, (segment.address.max(first), segment.last().min(last)))).collect()
}

/// Copies the part of a segment from its first to its last address.
fn copy_part(
    capture: &Capture,
    segment: &Segment,
    (first, last): (u64, u64),
    file: &str,
    what: &dyn Display,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Option<Value>> {
    let at = sink.position();
    let skip = first.saturating_sub(segment.address);
    let offset = segment.extent.offset.saturating_add(skip);
    let extent = Extent { offset, length: last.saturating_sub(first).saturating_add(1), ..segment.extent };
    let length = copy(capture, extent, what, sink, written)?;
    if length == 0 {
        return Ok(None);
    }
    let mut piece = Map::new();
    piece.insert("address".to_owned(), number(first));
    if let Some(name) = &segment.name {
        piece.insert("name".to_owned(), json!(name));
    }
    piece.extend(data(file, at, length));
    Ok(Some(Value::Object(piece)))
}

/// The keys of a range of a side file.
pub(super) fn data(file: &str, offset: u64, length: u64) -> Map<String, Value> {
    let mut keys = Map::new();
    keys.insert("file".to_owned(), json!(file));
    keys.insert("offset".to_owned(), number(offset));
    keys.insert("length".to_owned(), number(length));
    keys
}
