//! What of global memory is looked at where no code object says what is needed: the code around PCs, and kernel arguments.

use std::collections::HashSet;

use super::report::{counted, plural};
use crate::capture::MemoryMap;
use crate::import::write;
use crate::session::{Dump, PAGE, Reader, Unreadable, wave_stack};
use crate::units::WaveId;

/// Captured runs of memory up to that size are kept whole where a PC lies in them: what logs show of a shader.
pub const MOST_SHOWN: u64 = 64 << 10;

/// The most bytes of code that are kept in all.
pub const MOST_CODE: u64 = 64 << 20;

/// Bytes of kernel arguments that are kept where nobody says how many there are: the largest segment that compilers accept.
pub const MOST_ARGUMENTS: u64 = 4096;

/// Runs around the PCs of the waves' frames that lie in no code object, by first and last address; not all of them need be
/// captured.
///
/// # Errors
/// As reading a stack.
pub(super) fn code(
    reader: &Reader,
    waves: &[WaveId],
    notes: &mut Vec<String>,
) -> Result<Vec<(u64, u64)>, Unreadable> {
    let global = &reader.dump().capture().global;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    if global.segments().is_empty() {
        return Ok(runs);
    }
    let mut known = HashSet::new();
    let (mut left, mut dropped) = (MOST_CODE, 0u64);
    for wave in waves {
        let stack = wave_stack(reader, *wave, None)?;
        let outside = stack.frames.iter().filter(|frame| frame.code_object.is_none());
        for pc in outside.filter_map(|frame| frame.pc) {
            let run = around(global, pc.0);
            if !known.insert(run) {
                continue;
            }
            match left.checked_sub(write::captured(global, run)) {
                Some(rest) => left = rest,
                None => {
                    dropped += 1;
                    continue;
                }
            }
            runs.push(run);
        }
    }
    if dropped > 0 {
        let what = counted(dropped, "piece");
        notes.push(format!(
            "{what} of code in no code object {} left out: {MOST_CODE} bytes are kept",
            plural(dropped, "is", "are")
        ));
    }
    Ok(runs)
}

/// The page of a PC and those beside it, and the captured run that holds the PC where it is small.
fn around(global: &MemoryMap, pc: u64) -> (u64, u64) {
    let page = pc - pc % PAGE;
    let (first, last) = (page.saturating_sub(PAGE), page.saturating_add(2 * PAGE - 1));
    match global.find(pc).filter(|segment| segment.extent.length <= MOST_SHOWN) {
        Some(segment) => (first.min(segment.address), last.max(segment.last())),
        None => (first, last),
    }
}

/// Where the kernel arguments of the waves' dispatches begin that nothing was read of, since no code object says what they
/// are; `read` is what was, in order.
pub(super) fn arguments(dump: &Dump, waves: &[WaveId], read: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let capture = dump.capture();
    let is_read = |address: u64| {
        let after = read.partition_point(|(first, _)| *first <= address);
        after.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|(_, last)| address <= *last)
    };
    let of = |wave: &WaveId| -> Option<(u64, u64)> {
        let dispatch = capture.workgroup_of(capture.wave(*wave)?)?.dispatch?;
        let first = capture.dispatches.get(dispatch)?.kernarg?.0;
        (!is_read(first)).then(|| (first, first.saturating_add(MOST_ARGUMENTS - 1)))
    };
    waves.iter().filter_map(of).collect()
}
