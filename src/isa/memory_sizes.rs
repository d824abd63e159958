//! Bytes that a memory instruction moves, from the types in its mnemonic.

use super::access::Direction;

/// Bytes that each address moves. `format`: the name of the instruction's own one. `None`: a descriptor's format gives the
/// size.
pub(super) fn bytes(name: &str, direction: Direction, format: Option<&str>) -> Option<u16> {
    let mut words = name.split('_');
    if name.contains("_format_") {
        return if name.starts_with("tbuffer_") { of_format(format) } else { None };
    }
    match direction {
        Direction::Load | Direction::Store => words.find_map(of_type),
        // Packed types have two halves; types of 32 bits may be absent.
        Direction::Atomic { .. } if name.contains("_pk_") => Some(4),
        Direction::Atomic { .. } => Some(words.filter_map(of_type).next_back().unwrap_or(4)),
    }
}

/// `dwordx2`, `u16`, `b128`, `x2`.
fn of_type(word: &str) -> Option<u16> {
    match word {
        "byte" | "ubyte" | "sbyte" => return Some(1),
        "short" | "ushort" | "sshort" => return Some(2),
        "dword" => return Some(4),
        // Atomics of two dwords.
        "x2" => return Some(8),
        _ => {}
    }
    if let Some(count) = word.strip_prefix("dwordx") {
        return count.parse::<u16>().ok()?.checked_mul(4);
    }
    let digits = ["b", "u", "i", "f"].iter().find_map(|letter| word.strip_prefix(letter))?;
    matches!(digits, "8" | "16" | "32" | "64" | "96" | "128" | "256" | "512")
        .then(|| digits.parse::<u16>().ok())
        .flatten()
        .map(|bits| bits / 8)
}

/// The size of an element in a format such as `[BUF_FMT_8_8_8_8_UNORM]` or `[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_UINT]`:
/// its components' bits. A format that the text does not name, or an invalid one, has no size.
fn of_format(format: Option<&str>) -> Option<u16> {
    // The tools leave out the format with number 1: 8 bits.
    let Some(format) = format else { return Some(1) };
    let name = format.strip_prefix('[')?.split([',', ']']).next()?;
    // Only the type of numbers differs from the default.
    if name.starts_with("BUF_NUM_FORMAT") {
        return Some(1);
    }
    if name.contains("RESERVED") || name.contains("INVALID") {
        return None;
    }
    let bits: i64 = name.split('_').filter_map(|word| word.parse::<i64>().ok()).sum();
    u16::try_from(bits / 8).ok().filter(|bytes| *bytes > 0)
}
