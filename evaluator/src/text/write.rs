//! LEB128 numbers of a given size.

use super::super::limits::MAX_EXPRESSION_BYTES;

/// Minimal size of an unsigned number in bytes.
pub(crate) fn uleb_length(value: u64) -> usize {
    (64 - value.leading_zeros() as usize).div_ceil(7).max(1)
}

/// Minimal size of a signed number in bytes: its bits plus a sign bit.
pub(crate) fn sleb_length(value: i64) -> usize {
    let bits = 65 - if value < 0 { value.leading_ones() } else { value.leading_zeros() } as usize;
    bits.div_ceil(7)
}

/// Writes an unsigned number in `width` bytes, or in the minimal size.
pub(super) fn uleb(bytes: &mut Vec<u8>, value: u64, width: u32) {
    let length = (width as usize).clamp(uleb_length(value), MAX_EXPRESSION_BYTES);
    groups(bytes, length, |at| value.checked_shr(at).unwrap_or(0) as u8);
}

/// Writes a signed number in `width` bytes, or in the minimal size.
pub(super) fn sleb(bytes: &mut Vec<u8>, value: i64, width: u32) {
    let length = (width as usize).clamp(sleb_length(value), MAX_EXPRESSION_BYTES);
    groups(bytes, length, |at| (value >> at.min(63)) as u8);
}

fn groups(bytes: &mut Vec<u8>, length: usize, group: impl Fn(u32) -> u8) {
    bytes.extend((0..length).map(|index| {
        let more = if index + 1 < length { 0x80 } else { 0 };
        group(7 * index as u32) & 0x7f | more
    }));
}
