//! Fillers of allocators and sanitizers in pointers.

use super::Subject;
use crate::triage::Pattern;

/// The largest distance of a pointer from the filler: offsets of members and small indexes.
const SLACK: u64 = 0x1_0000;

/// Fillers of 4 bytes. A pointer has one twice, or in its low half below zeros.
const WORDS: &[(u32, &str)] = &[
    (0xd0be_d0be, "amdgpu's filler of released memory"),
    (0xdead_beef, "a filler by convention"),
    (0xbaad_f00d, "the Windows heap's filler"),
];

/// Fillers of 1 byte, repeated.
const BYTES: &[(u8, &str)] = &[
    (0xbe, "AddressSanitizer's filler of allocated memory"),
    (0x55, "AddressSanitizer's filler of freed memory"),
    (0xa5, "jemalloc's filler of allocated memory"),
    (0x5a, "jemalloc's filler of freed memory"),
    (0xe5, "Mozilla's filler of freed memory"),
    (0xaa, "clang's filler of uninitialized variables"),
    (0xcd, "MSVC's filler of allocated memory"),
    (0xdd, "MSVC's filler of freed memory"),
    (0xfd, "MSVC's filler around allocations"),
    (0xfe, "MSVC's filler of freed memory"),
    (0xcc, "MSVC's filler of uninitialized variables"),
    (0x6b, "Linux' filler of freed memory"),
];

/// The address is not in listed memory, and the base pointer or the register with the address is a filler, or less than
/// 64 KiB from one; or the index is a filler of 4 bytes.
pub(super) fn poison(of: &Subject<'_>) -> Option<Pattern> {
    of.unlisted()?;
    let values = [of.lane.parts.base, of.base, of.lane.parts.sum, of.global()];
    let pointer = values.into_iter().flatten().find_map(filler);
    let index = || {
        let word = of.index.and_then(word)?;
        Some((word.into(), of_word(word)?))
    };
    pointer.or_else(index).map(|(value, origin)| Pattern::Poison { value: Some(value), origin })
}

/// The 32 bits of an index of either sign.
fn word(index: i64) -> Option<u32> {
    u32::try_from(index).ok().or_else(|| i32::try_from(index).ok().map(i32::cast_unsigned))
}

/// The origin of a filler of 4 bytes. All bits clear or set are no filler.
fn of_word(word: u32) -> Option<&'static str> {
    let [first, rest @ ..] = word.to_le_bytes();
    if let Some((_, origin)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Some(origin);
    }
    let is_repeated = rest.iter().all(|byte| *byte == first) && !matches!(first, 0 | 0xff);
    is_repeated.then(|| of_byte(first))
}

/// The origin of a repeated byte.
fn of_byte(byte: u8) -> &'static str {
    let known = BYTES.iter().find(|(known, _)| *known == byte);
    known.map_or("a repeated byte, as glibc's MALLOC_PERTURB_ writes", |(_, origin)| origin)
}

/// The filler at or near a value, and its origin.
pub(super) fn filler(value: u64) -> Option<(u64, &'static str)> {
    let is_near = |filler: u64| value.abs_diff(filler) < SLACK;
    let repeated = |byte: u8| u64::from_le_bytes([byte; 8]);
    let words = WORDS.iter().flat_map(|(word, origin)| {
        let word = u64::from(*word);
        [(word << 32 | word, *origin), (word, *origin)]
    });
    // All bits clear or set are no filler.
    let bytes = (1..=0xfe).map(|byte| (repeated(byte), of_byte(byte)));
    words.chain(bytes).find(|(filler, _)| is_near(*filler))
}
