//! `.debug_frame` of a view. Each function's frame begins at `rsp` and ends a stride above it; its last eight bytes are
//! the return address. Kernels have no caller.
//!
//! DWARF 5 section 6.4 and 7.24; register numbers of the x86-64 psABI.

use std::ops::Range;

use super::layout::STRIDE;

const RSP: u8 = 7;
const RETURN_ADDRESS: u8 = 16;
/// LLDB's number of the register `$lane`, which has one value in all frames.
pub(crate) const LANE: u64 = 2000;

/// A range of code and whether it has a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    /// ELF addresses.
    pub(super) range: Range<u64>,
    /// Whether it has no caller.
    pub(super) is_outermost: bool,
}

/// The section. The code must not overlap; debuggers expect one entry for an address. Code at `entry` always has a
/// caller, which keeps the section's length.
pub(super) fn debug_frame(code: &[Code], entry: Option<u64>) -> Vec<u8> {
    let mut cie = vec![0xff; 4];
    // Version 1, no augmentation, code alignment 1, data alignment -8.
    cie.extend([1, 0, 1, 0x78, RETURN_ADDRESS]);
    cie.extend([gimli::constants::DW_CFA_def_cfa.0, RSP]);
    uleb(&mut cie, u64::from(STRIDE));
    cie.extend([gimli::constants::DW_CFA_offset.0 | RETURN_ADDRESS, 1]);
    cie.push(gimli::constants::DW_CFA_same_value.0);
    uleb(&mut cie, LANE);
    let mut section = Vec::with_capacity(64 + code.len() * 32);
    append(&mut section, cie);
    for code in code {
        let mut fde = 0u32.to_le_bytes().to_vec();
        fde.extend(code.range.start.to_le_bytes());
        fde.extend((code.range.end - code.range.start).to_le_bytes());
        if code.is_outermost {
            let is_entry = Some(code.range.start) == entry;
            let nothing = [gimli::constants::DW_CFA_nop.0; 2];
            let undefined = [gimli::constants::DW_CFA_undefined.0, RETURN_ADDRESS];
            fde.extend(if is_entry { nothing } else { undefined });
        }
        append(&mut section, fde);
    }
    section
}

/// Appends an entry, padded to whole addresses.
fn append(section: &mut Vec<u8>, mut body: Vec<u8>) {
    while !(body.len() + 4).is_multiple_of(8) {
        body.push(gimli::constants::DW_CFA_nop.0);
    }
    section.extend((body.len() as u32).to_le_bytes());
    section.extend(body);
}

fn uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 & 0x7f | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Divides an executable range among functions, by address. Code outside of functions gets a caller too, because a
/// debugger guesses without an entry. Adjoining ranges with callers form one entry: their rules are equal.
pub(super) fn cover(text: Range<u64>, functions: &[Code]) -> Vec<Code> {
    let mut sorted: Vec<&Code> = functions.iter().filter(|code| !code.range.is_empty()).collect();
    sorted.sort_by_key(|code| (code.range.start, std::cmp::Reverse(code.range.end)));
    let mut covered = Vec::with_capacity(sorted.len() * 2 + 1);
    let mut at = text.start;
    let gap = |covered: &mut Vec<Code>, range: Range<u64>| {
        if !range.is_empty() {
            covered.push(Code { range, is_outermost: false });
        }
    };
    for code in sorted {
        let start = code.range.start.max(at);
        let end = code.range.end.min(text.end);
        if start >= end {
            continue;
        }
        gap(&mut covered, at..start);
        covered.push(Code { range: start..end, is_outermost: code.is_outermost });
        at = end;
    }
    gap(&mut covered, at..text.end);
    let mut joined: Vec<Code> = Vec::with_capacity(covered.len());
    for code in covered {
        match joined.last_mut() {
            Some(last) if !last.is_outermost && !code.is_outermost && last.range.end == code.range.start => {
                last.range.end = code.range.end;
            }
            _ => joined.push(code),
        }
    }
    joined
}
