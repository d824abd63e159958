//! Reader of a zip without directory: finds entries by their own headers, one after the other.
//!
//! The directory is the last part of a zip, so that a truncated copy has none. An entry with flag bit 3 (size unknown
//! in advance) ends the search: its end is unknown.

use std::collections::HashMap;
use std::io;

use super::archive::Source;
use crate::integers::{u16_at, u32_at, u64_at};

/// The headers of a zip.
#[derive(Debug, Default)]
pub(super) struct ManifestReader {
    /// Entries by name, the last one of each.
    pub(super) entries: HashMap<String, WalkedEntry>,
    /// Offset after the last header.
    pub(super) end: u64,
}

/// An entry by its own header.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkedEntry {
    /// Offset of its data.
    pub(super) start: u64,
    /// Available bytes of its data.
    pub(super) size: u64,
    /// Bytes of its data by its header.
    pub(super) whole_size: u64,
    /// Whether it is stored: method 0, not encrypted.
    pub(super) stored: bool,
    /// CRC-32 of its data.
    pub(super) crc: u32,
}

/// Maximum number of entries: each takes about 100 bytes of memory.
const MAX_ENTRIES: usize = 1 << 20;

const HEADER: u64 = 30;
const ENCRYPTED: u16 = 1;
const SIZE_LATER: u16 = 1 << 3;

impl ManifestReader {
    /// Reads headers up to the first other bytes.
    pub(super) fn new(source: &Source) -> io::Result<Self> {
        let whole = source.size();
        let mut walk = Self::default();
        while walk.entries.len() < MAX_ENTRIES
            && let Some((name, entry, next)) = entry(source, walk.end, whole)?
        {
            walk.entries.insert(name, entry);
            // After the header, so that each step advances.
            walk.end = next.min(whole);
        }
        Ok(walk)
    }
}

fn entry(source: &Source, at: u64, whole: u64) -> io::Result<Option<(String, WalkedEntry, u64)>> {
    let mut header = [0; HEADER as usize];
    if source.read_at(0, whole, at, &mut header)? < header.len() || !header.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let word = |at| u16_at(&header, at).unwrap_or_default();
    let (flags, method, mut size) = (word(6), word(8), u32_at(&header, 18).map_or(0, u64::from));
    let (name_length, extra_length) = (word(26), word(28));
    if flags & SIZE_LATER != 0 {
        return Ok(None);
    }
    let mut text = vec![0; usize::from(name_length) + usize::from(extra_length)];
    let Some(after) = at.checked_add(HEADER) else { return Ok(None) };
    if source.read_at(0, whole, after, &mut text)? < text.len() {
        return Ok(None);
    }
    let (name, extra) = text.split_at_checked(usize::from(name_length)).unwrap_or_default();
    if size == u64::from(u32::MAX) {
        match long_size(extra) {
            Some(long) => size = long,
            None => return Ok(None),
        }
    }
    let ends = after.checked_add(text.len() as u64).and_then(|start| Some((start, start.checked_add(size)?)));
    let Some((start, end)) = ends else { return Ok(None) };
    let stored = method == 0 && flags & ENCRYPTED == 0;
    let available = end.min(whole).saturating_sub(start);
    let crc = u32_at(&header, 14).unwrap_or_default();
    let entry = WalkedEntry { start, size: available, whole_size: size, stored, crc };
    Ok(Some((String::from_utf8_lossy(name).into_owned(), entry, end)))
}

/// The size in an extra field of kind 1 (zip64): uncompressed, then compressed.
fn long_size(mut extra: &[u8]) -> Option<u64> {
    loop {
        let (kind, length) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        let (field, rest) = extra.get(4..)?.split_at_checked(length)?;
        if kind == 1 {
            return u64_at(field, 8);
        }
        extra = rest;
    }
}
