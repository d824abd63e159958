//! Detects cores that ROCr wrote to a pipe without the padding between segments.
//!
//! ROCr (November 2025 to July 2026, rocm-systems #1979 to #7502) aligns `p_offset`, but writes the segments to a pipe
//! without gaps. Their bytes are 4 or 12 bytes before `p_offset`. Both kinds of file have the same headers; the file's
//! length and its memory distinguish them.

use super::headers::{Headers, Range};
use super::note::State;
use super::stream;
use crate::capture::Backing;
use crate::elf::{EM_AMDGPU, FileHeader};
use crate::import::problem::Problems;
use crate::integers::{u32_at, u64_at};

/// Maximum padding in bytes: ROCr aligns segments to 16 bytes.
pub(super) const MAX_PADDING: u64 = 15;

/// Maximum number of segments that are searched for code objects.
const MAX_ASKED: usize = 256;

/// Offset of `hsa_queue.base_address` before `read_dispatch_id` in `amd_queue_t`.
const RING_BASE: u64 = 0x78;

/// The loads of a core without padding between segments; `None`: its program headers have no padding, or are not
/// ROCr's.
pub(super) fn without(headers: &Headers) -> Option<Vec<Range>> {
    if headers.machine != EM_AMDGPU {
        return None;
    }
    let mut all: Vec<(&Range, bool)> = headers.notes.iter().map(|note| (note, true)).collect();
    all.extend(headers.loads.iter().map(|load| (load, false)));
    all.sort_by_key(|(range, _)| range.index);
    let (mut at, mut is_padded) = (headers.end, false);
    let mut loads = Vec::with_capacity(headers.loads.len());
    for (range, is_note) in all {
        let padding = range.offset.checked_sub(at).filter(|padding| *padding <= MAX_PADDING)?;
        is_padded |= padding > 0;
        match is_note {
            // Notes come first and need no padding.
            true if padding > 0 => return None,
            true => {}
            false => loads.push(Range { offset: at, ..*range }),
        }
        at = at.checked_add(range.size)?;
    }
    is_padded.then_some(loads)
}

/// Whether a core has no padding; `loads`: the segments of [`without`]; `length`: the number of written bytes.
pub(super) fn is_missing(
    file: &dyn Backing,
    length: u64,
    headers: &Headers,
    loads: &[Range],
    state: Option<&State>,
) -> bool {
    let (stated, shifted) = (queues(file, &headers.loads, state), queues(file, loads, state));
    if stated != shifted {
        return shifted > stated;
    }
    let first = loads.iter().zip(&headers.loads).find(|(shifted, stated)| shifted.offset < stated.offset);
    if first.is_some_and(|(shifted, stated)| has_data(file, shifted.offset, stated.offset)) {
        return true;
    }
    let (stated, shifted) = (code_objects(file, &headers.loads), code_objects(file, loads));
    if stated != shifted {
        return shifted > stated;
    }
    loads.last().and_then(|load| load.offset.checked_add(load.size)) == Some(length)
}

/// Whether a range of the file has a nonzero byte. Padding has none.
pub(super) fn has_data(file: &dyn Backing, first: u64, end: u64) -> bool {
    let mut bytes = [0; MAX_PADDING as usize];
    let count = usize::try_from(end.saturating_sub(first)).unwrap_or(usize::MAX).min(bytes.len());
    let got = file.read_at(first, bytes.get_mut(..count).unwrap_or_default()).unwrap_or(0);
    bytes.iter().take(got).any(|byte| *byte != 0)
}

/// Number of queue descriptors and save area headers that match the note.
fn queues(file: &dyn Backing, loads: &[Range], state: Option<&State>) -> usize {
    let mut by_address: Vec<&Range> = loads.iter().collect();
    by_address.sort_by_key(|load| load.address);
    let read = |address: u64, buffer: &mut [u8]| -> bool {
        let from = by_address.partition_point(|load| load.address <= address);
        let Some(load) = from.checked_sub(1).and_then(|index| by_address.get(index)) else { return false };
        let Some(skip) = address.checked_sub(load.address).filter(|skip| *skip < load.size) else {
            return false;
        };
        let at = load.offset.saturating_add(skip);
        file.read_at(at, buffer).is_ok_and(|got| got == buffer.len())
    };
    let queues = state.map_or(&[][..], |state| &state.queues);
    let mut found = 0;
    for queue in queues {
        let mut base = [0; 8];
        let is_ring = queue.ring != 0
            && queue.read_pointer.checked_sub(RING_BASE).is_some_and(|at| read(at, &mut base))
            && u64_at(&base, 0) == Some(queue.ring);
        let mut header = [0; 16];
        let word = |header: &[u8], offset| u32_at(header, offset).unwrap_or(0);
        let is_area = queue.save_area != 0 && read(queue.save_area, &mut header) && {
            let (stack, stack_size) = (word(&header, 0), word(&header, 4));
            let (end, size) = (word(&header, 8), word(&header, 12));
            stack_size != 0 && size != 0 && stack.checked_add(stack_size) == end.checked_sub(size)
        };
        found += usize::from(is_ring) + usize::from(is_area);
    }
    found
}

/// Number of segments, among the first, that begin with a code object.
fn code_objects(file: &dyn Backing, loads: &[Range]) -> usize {
    let is_code = |load: &&Range| {
        let mut start = [0; size_of::<FileHeader>()];
        file.read_at(load.offset, &mut start).is_ok_and(|got| got == start.len())
            && stream::code(&start).is_some()
    };
    loads.iter().take(MAX_ASKED).filter(is_code).count()
}

/// Moves the loads of a core without padding to their bytes.
pub(super) fn correct(
    file: &dyn Backing,
    headers: &mut Headers,
    state: Option<&State>,
    problems: &mut Problems,
) {
    let Some(loads) = without(headers) else { return };
    if !is_missing(file, file.len(), headers, &loads, state) {
        return;
    }
    if let Some((stated, load)) =
        headers.loads.iter().zip(&loads).find(|(stated, load)| stated.offset != load.offset)
    {
        let what = format!(
            "its {} bytes begin at {:#x}, {} bytes earlier: the segments are read as they follow each other",
            load.size,
            load.offset,
            stated.offset - load.offset
        );
        let expected = "padding before it (ROCr left it out where it wrote a core to a pipe)";
        problems.report_at(file.name(), stated.offset, format!("segment {}", load.index), what, expected);
    }
    headers.loads = loads;
}

#[cfg(test)]
#[path = "tests/padding.rs"]
mod tests;
