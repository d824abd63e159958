//! LEB128 numbers of up to 64 bits: DWARF 5, section 7.6.

use super::super::error::Cause;

/// Reads an unsigned LEB128 number; accepts redundant bytes if the number fits 64 bits.
pub(crate) fn uleb128(bytes: &[u8], at: &mut usize) -> Result<u64, Cause> {
    let mut value = 0u64;
    let mut shift = 0u32;
    loop {
        let Some(&byte) = bytes.get(*at) else { return Err(Cause::Truncated) };
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if bits != 0 && (shift >= 64 || shift > 57 && bits >> (64 - shift) != 0) {
            return Err(Cause::LebTooLong);
        }
        value |= bits.checked_shl(shift).unwrap_or(0);
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
}

/// Reads a signed LEB128 number; accepts redundant bytes if the number fits 64 bits.
pub(crate) fn sleb128(bytes: &[u8], at: &mut usize) -> Result<i64, Cause> {
    let mut value = 0i64;
    let mut shift = 0u32;
    loop {
        let Some(&byte) = bytes.get(*at) else { return Err(Cause::Truncated) };
        *at += 1;
        // Seven bits, sign-extended: past bit 63 only copies of the sign follow.
        let bits = i64::from(byte & 0x7f) << 57 >> 57;
        let last = byte & 0x80 == 0;
        if shift < 57 {
            value |= i64::from(byte & 0x7f) << shift;
            if last {
                return Ok(value << (57 - shift) >> (57 - shift));
            }
        } else if shift < 64 {
            // Bits 63 down to `shift` of the number come from this byte; the others must repeat the sign.
            let kept = 64 - shift;
            value |= i64::from(byte & 0x7f) << shift;
            let rest = bits >> (kept - 1);
            if last && rest != 0 && rest != -1 || !last && !repeats(byte & 0x7f, kept - 1) {
                return Err(Cause::LebTooLong);
            }
            if last {
                return Ok(value);
            }
        } else {
            let sign = if value < 0 { 0x7f } else { 0 };
            if byte & 0x7f != sign {
                return Err(Cause::LebTooLong);
            }
            if last {
                return Ok(value);
            }
        }
        shift = shift.saturating_add(7);
    }
}

/// Whether bits `from` to 6 of a group are equal.
fn repeats(group: u8, from: u32) -> bool {
    let high = group >> from;
    high == 0 || high == 0x7f >> from
}
