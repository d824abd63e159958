//! Global memory to keep without a code object that describes it: the code around PCs, and kernel arguments.

use std::collections::{BTreeSet, HashSet};

use crate::capture::MemoryMap;
use crate::import::write;
use crate::notation::{counted, plural};
use crate::session::{Dump, PAGE, ReadError, Reader, wave_info, wave_stack};
use crate::units::WaveId;

/// Maximum size of a captured run kept whole around a PC: a shader's excerpt in a log.
pub const MAX_SHOWN: u64 = 64 << 10;

/// Maximum kept bytes of code in total.
pub const MAX_CODE: u64 = 64 << 20;

/// Kept bytes of kernel arguments of unknown size: the largest segment that compilers accept.
pub const MAX_ARGUMENTS: u64 = 4096;

/// Indexes of the functions as text that hold the PCs of waves; all of a whole dump.
pub(super) fn texts(reader: &Reader, waves: &[WaveId], is_whole: bool) -> Vec<usize> {
    let capture = reader.dump().capture();
    if is_whole {
        return (0..capture.code_texts.len()).collect();
    }
    let of_wave = |wave: &WaveId| {
        let (pc, wave) = (wave_info(reader, *wave).ok()?.pc?, capture.wave(*wave)?);
        capture.code_text_at(wave.agent, pc.0)
    };
    let used: BTreeSet<usize> = waves.iter().filter_map(of_wave).collect();
    used.into_iter().collect()
}

/// Runs around the PCs of frames outside of all code objects, by first and last address, whether captured or not.
///
/// # Errors
/// The errors of reading a stack.
pub(super) fn code(
    reader: &Reader,
    waves: &[WaveId],
    notes: &mut Vec<String>,
) -> Result<Vec<(u64, u64)>, ReadError> {
    let global = &reader.dump().capture().global;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    if global.segments().is_empty() {
        return Ok(runs);
    }
    let mut known = HashSet::new();
    let (mut left, mut dropped) = (MAX_CODE, 0u64);
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
            "{what} of code in no code object {} left out: {MAX_CODE} bytes are kept",
            plural(dropped, "is", "are")
        ));
    }
    Ok(runs)
}

/// The page of a PC and its neighbours, and the captured run that holds the PC if it is small.
fn around(global: &MemoryMap, pc: u64) -> (u64, u64) {
    let page = pc - pc % PAGE;
    let (first, last) = (page.saturating_sub(PAGE), page.saturating_add(2 * PAGE - 1));
    match global.find(pc).filter(|segment| segment.extent.length <= MAX_SHOWN) {
        Some(segment) => (first.min(segment.address), last.max(segment.last())),
        None => (first, last),
    }
}

/// Start addresses of the kernel arguments of the waves' dispatches without a read, because no code object describes
/// them; `read` has the reads, sorted.
pub(super) fn arguments(dump: &Dump, waves: &[WaveId], read: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let capture = dump.capture();
    let is_read = |address: u64| {
        let after = read.partition_point(|(first, _)| *first <= address);
        after.checked_sub(1).and_then(|before| read.get(before)).is_some_and(|(_, last)| address <= *last)
    };
    let of = |wave: &WaveId| -> Option<(u64, u64)> {
        let dispatch = capture.workgroup_of(capture.wave(*wave)?)?.dispatch?;
        let first = capture.dispatches.get(dispatch)?.kernarg?.0;
        (!is_read(first)).then(|| (first, first.saturating_add(MAX_ARGUMENTS - 1)))
    };
    waves.iter().filter_map(of).collect()
}
