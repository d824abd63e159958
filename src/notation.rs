//! Notation of counts, ranges, bytes and values by lane in text.

pub(crate) mod lanes;
mod names;

use std::fmt::Display;

pub(crate) use names::names;

/// Returns the word for one thing, or the word for several things.
pub(crate) fn plural<'w, N: PartialEq + From<u8>>(count: N, one: &'w str, many: &'w str) -> &'w str {
    if count == N::from(1) { one } else { many }
}

/// A number of bytes in words, rounded: `12 bytes`, `37.0 KiB`.
pub(crate) fn size(bytes: impl Into<u128>) -> String {
    let bytes = bytes.into();
    const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = UNITS.iter().find(|(shift, _)| bytes >= 4096 && bytes >> shift > 0);
    unit.map_or_else(
        || counted(bytes, "byte"),
        |(shift, unit)| {
            let tenths = (bytes * 10 + (1 << (shift - 1))) >> shift;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        },
    )
}

/// Formats a count with its noun: `1 byte`, `2 bytes`, `3 losses`.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", plural(count, "", ending))
}

/// Whether a number is 0, for members of documents that are absent then.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
pub(crate) fn is_zero<N: PartialEq + From<u8>>(number: &N) -> bool {
    *number == N::from(0)
}

/// Merges adjacent ranges, first and last numbers included.
pub(crate) fn merged(ranges: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match merged.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
            _ => merged.push((first, last)),
        }
    }
    merged
}

/// Merges adjacent numbers to ranges, first and last numbers included.
pub(crate) fn ranges<N: Into<u64>>(numbers: impl IntoIterator<Item = N>) -> Vec<(u64, u64)> {
    merged(numbers.into_iter().map(|number| {
        let number = number.into();
        (number, number)
    }))
}

/// Formats a range: `3` or `3-5`.
pub(crate) fn range<N: Display + PartialEq>((first, last): &(N, N)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Formats numbers as ranges: `1, 3-5`.
pub(crate) fn list<N: Into<u64>>(numbers: impl IntoIterator<Item = N>) -> String {
    ranges(numbers).iter().map(range).collect::<Vec<_>>().join(", ")
}

/// Formats bytes in hex with spaces: `7f 45`.
pub(crate) fn hex_bytes<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{counted, hex_bytes, list, merged};

    #[test]
    fn adjacent_numbers_are_one_range() {
        assert_eq!(list([1u32, 2, 3, 7, u32::MAX]), "1-3, 7, 4294967295");
        assert_eq!(list([u64::MAX - 1, u64::MAX, 0]), "18446744073709551614-18446744073709551615, 0");
        assert_eq!(list(Vec::<u8>::new()), "");
        assert_eq!(merged([(1, 4), (5, 9), (11, 11)]), [(1, 9), (11, 11)]);
    }

    #[test]
    fn counts_and_bytes() {
        assert_eq!(
            [counted(1, "loss"), counted(2, "loss"), counted(0, "byte")],
            ["1 loss", "2 losses", "0 bytes"]
        );
        assert_eq!(hex_bytes(&[0x7f, 0x05]), "7f 05");
    }
}
