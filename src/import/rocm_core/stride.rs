//! Distance between the save areas of a queue's XCCs.
//!
//! ROCr of June and July 2026 (rocm-systems #6811 to #9166) writes the bytes that XCC 0 uses as
//! `ctx_save_restore_area_size`. The header of each XCC, which the thunk writes, has the distance to the debugger's
//! memory after all areas: `debug_offset` = (XCCs - XCC) * size.

use super::memory::CoreMemory;
use super::note::QueueEntry;
use super::stream::PAGE;
use crate::import::problem::Problems;

/// Offset of `debug_offset` in a save area's header.
const DEBUG_OFFSET: u64 = 16;

/// Bytes between the save areas of two XCCs; `None`: unknown, which is reported.
pub(super) fn stride(
    memory: &CoreMemory,
    entry: &QueueEntry,
    xccs: u32,
    key: &str,
    problems: &mut Problems,
) -> Option<u64> {
    let stated = u64::from(entry.save_area_size);
    if xccs <= 1 {
        return Some(stated);
    }
    let is_whole = |size: u64| size != 0 && size.is_multiple_of(PAGE);
    match by_headers(memory, entry.save_area, u64::from(xccs)) {
        Some((size, confirmations)) if size != stated && (confirmations > 0 || !is_whole(stated)) => {
            let what = format!(
                "ctx_save_restore_area_size is {stated:#x} bytes, and the headers of its save areas place them {size:#x} bytes \
                 apart; that counts"
            );
            let expected =
                "the bytes that each XCC has (ROCr of June and July 2026 writes those that XCC 0 uses)";
            problems.report(key, what, expected);
            Some(size)
        }
        _ if is_whole(stated) => Some(stated),
        _ => {
            let what = format!(
                "the size of its save areas is not known ({stated:#x} bytes): those of other XCCs are not read"
            );
            problems.report(key, what, "ctx_save_restore_area_size of whole pages");
            problems.hides_waves();
            None
        }
    }
}

/// The distance by the headers, and the number of further XCCs' headers that confirm it; `None`: one contradicts it.
fn by_headers(memory: &CoreMemory, area: u64, xccs: u64) -> Option<(u64, u64)> {
    let debug_offset = |skip: u64| {
        let at = area.checked_add(skip)?.checked_add(DEBUG_OFFSET)?;
        memory.u32(at).map(u64::from)
    };
    let all = debug_offset(0).filter(|offset| *offset != 0 && offset.is_multiple_of(xccs * PAGE))?;
    let size = all / xccs;
    let mut confirmations = 0;
    for xcc in 1..xccs {
        match debug_offset(xcc * size) {
            Some(offset) if offset == (xccs - xcc) * size => confirmations += 1,
            Some(_) => return None,
            None => {}
        }
    }
    Some((size, confirmations))
}
