//! Symbols of a code object that has no section headers: an image taken from memory, or a file stripped of them.
//!
//! gABI, "Dynamic Section" and "Hash Table": `PT_DYNAMIC` says where symbols and their names are, and only the hash
//! table how many there are. GNU's hash table says it less directly: the end of its last chain.

use super::bytes::Bytes;
use super::elf::{Fields, range};
use super::section::{PT_DYNAMIC, Section, Segment};

const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_STRSZ: u64 = 10;
const DT_GNU_HASH: u64 = 0x6fff_fef5;
/// Entries of a dynamic section that are read; linkers write some twenty.
const MAX_ENTRIES: usize = 1024;
/// `SHT_DYNSYM` and `SHT_STRTAB`.
const SHT_DYNSYM: u32 = 11;
const SHT_STRTAB: u32 = 3;
const SYMBOL_SIZE: u64 = super::symbol::SYMBOL_SIZE;

/// `.dynsym` and `.dynstr` as section headers would describe them, after the empty section 0; none where `PT_DYNAMIC` does
/// not lead to them.
pub(super) fn sections(file: &Bytes, segments: &[Segment]) -> Vec<Section> {
    find(file, segments).unwrap_or_default()
}

fn find(file: &Bytes, segments: &[Segment]) -> Option<Vec<Section>> {
    let dynamic = segments.iter().find(|segment| segment.segment_type == PT_DYNAMIC)?;
    // A table that is cut off still has its first entries.
    let have = (file.len() as u64).saturating_sub(dynamic.offset).min(dynamic.file_size);
    let entries = range(file, "PT_DYNAMIC", dynamic.offset, have).ok()?;
    let entries: Vec<(u64, u64)> = entries
        .chunks_exact(16)
        .take(MAX_ENTRIES)
        .map(|entry| (Fields(entry).u64(0), Fields(entry).u64(8)))
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let value = |tag: u64| entries.iter().find(|entry| entry.0 == tag).map(|entry| entry.1);
    let (symbols, names, names_size) = (value(DT_SYMTAB)?, value(DT_STRTAB)?, value(DT_STRSZ)?);
    let offset = |address: u64| {
        segments.iter().filter(|segment| segment.is_loaded()).find_map(|segment| {
            let skip = address.checked_sub(segment.addresses.start)?;
            (skip < segment.file_size).then(|| segment.offset.checked_add(skip))?
        })
    };
    let word = |address: u64| {
        let at = offset(address)?;
        range(file, "hash table", at, 4).ok().map(|word| u64::from(Fields(word).u32(0)))
    };
    let by_hash = || word(value(DT_HASH)?.checked_add(4)?);
    let count = by_hash().or_else(|| {
        let table = offset(value(DT_GNU_HASH)?)?;
        gnu_count(file.get(usize::try_from(table).ok()?..)?)
    })?;
    let size = count.checked_mul(SYMBOL_SIZE)?;
    let table = Section::of(".dynsym", SHT_DYNSYM, symbols, offset(symbols)?, size, 2);
    let strings = Section::of(".dynstr", SHT_STRTAB, names, offset(names)?, names_size, 0);
    Some(vec![Section::of("", 0, 0, 0, 0, 0), table, strings])
}

/// The number of symbols that a `DT_GNU_HASH` table tells: buckets hold the first symbol of each chain, and the last hash of a
/// chain is odd.
fn gnu_count(table: &[u8]) -> Option<u64> {
    let header = Fields(table.get(..16)?);
    let (buckets, first, filters) = (header.u32(0), header.u32(4), header.u32(8));
    let start = 16usize.checked_add(usize::try_from(filters).ok()?.checked_mul(8)?)?;
    let end = start.checked_add(usize::try_from(buckets).ok()?.checked_mul(4)?)?;
    let last = table.get(start..end)?.chunks_exact(4).map(|bucket| Fields(bucket).u32(0)).max()?;
    if last < first {
        return Some(u64::from(first));
    }
    // The table ends with the file, so the walk does.
    let chain = table.get(end.checked_add(usize::try_from(last - first).ok()?.checked_mul(4)?)?..)?;
    let length = chain.chunks_exact(4).position(|hash| Fields(hash).u32(0) & 1 == 1)?;
    Some(u64::from(last) + length as u64 + 1)
}
