//! Symbols of a code object without section headers: an image from memory, or a stripped file.
//!
//! gABI, "Dynamic Section" and "Hash Table": `PT_DYNAMIC` locates the symbols and their names; only the hash table
//! gives their number. In a GNU hash table the end of the last chain gives it.

use super::bytes::Bytes;
use super::section::{Section, Segment};
use super::symbol::SYMBOL_SIZE;
use crate::elf::read::{range, record, records};
use crate::elf::{
    DT_GNU_HASH, DT_HASH, DT_NULL, DT_STRSZ, DT_STRTAB, DT_SYMTAB, Dyn, DynamicTag, GnuHashHeader,
    HashHeader, LE, PT_DYNAMIC, SHF_ALLOC, SHT_DYNSYM, SHT_STRTAB, SectionHeader, Word, write,
};

/// Maximum entries read from a dynamic section; linkers write about twenty.
const MAX_ENTRIES: usize = 1024;

/// Builds section headers for `.dynsym` and `.dynstr`, after the empty section 0; none without `PT_DYNAMIC`'s tables.
pub(super) fn sections(file: &Bytes, segments: &[Segment]) -> Vec<Section> {
    find(file, segments).unwrap_or_default()
}

fn find(file: &Bytes, segments: &[Segment]) -> Option<Vec<Section>> {
    let dynamic = segments.iter().find(|segment| segment.segment_type == PT_DYNAMIC.0)?;
    // A truncated table still has its first entries.
    let have = (file.len() as u64).saturating_sub(dynamic.offset).min(dynamic.file_size);
    let entries = range(file, "PT_DYNAMIC", dynamic.offset, have).ok()?;
    let entries = || {
        records::<Dyn>(entries).iter().take(MAX_ENTRIES).take_while(|entry| entry.d_tag.get(LE) != DT_NULL)
    };
    let value =
        |tag: DynamicTag| entries().find(|entry| entry.d_tag.get(LE) == tag).map(|entry| entry.d_val.get(LE));
    let (symbols, names, names_size) = (value(DT_SYMTAB)?, value(DT_STRTAB)?, value(DT_STRSZ)?);
    let offset = |address: u64| {
        segments.iter().filter(|segment| segment.is_loaded()).find_map(|segment| {
            let skip = address.checked_sub(segment.addresses.start)?;
            (skip < segment.file_size).then(|| segment.offset.checked_add(skip))?
        })
    };
    let table = |tag| file.get(usize::try_from(offset(value(tag)?)?).ok()?..);
    let by_hash = || Some(u64::from(record::<HashHeader>(table(DT_HASH)?, 0)?.chain_count.get(LE)));
    let count = by_hash().or_else(|| gnu_count(table(DT_GNU_HASH)?))?;
    let size = count.checked_mul(SYMBOL_SIZE)?;
    let table = SectionHeader {
        sh_flags: SHF_ALLOC.into(),
        sh_addr: symbols.into(),
        sh_link: 2.into(),
        ..write::section_header(SHT_DYNSYM, offset(symbols)?, size)
    };
    let strings = SectionHeader {
        sh_flags: SHF_ALLOC.into(),
        sh_addr: names.into(),
        ..write::section_header(SHT_STRTAB, offset(names)?, names_size)
    };
    let sections = [("", write::null_section()), (".dynsym", table), (".dynstr", strings)];
    Some(sections.iter().map(|(name, header)| Section::new(name, header)).collect())
}

/// Counts the symbols of a `DT_GNU_HASH` table, unhashed ones included. Buckets hold the first symbol of each chain,
/// and the last hash of a chain is odd. `object` gives no count if all buckets are empty.
fn gnu_count(table: &[u8]) -> Option<u64> {
    let header: &GnuHashHeader = record(table, 0)?;
    let first = header.symbol_base.get(LE);
    let filters = usize::try_from(header.bloom_count.get(LE)).ok()?.checked_mul(8)?;
    let start = size_of::<GnuHashHeader>().checked_add(filters)?;
    let end = start.checked_add(usize::try_from(header.bucket_count.get(LE)).ok()?.checked_mul(4)?)?;
    let last = records::<Word>(table.get(start..end)?).iter().map(|bucket| bucket.get(LE)).max()?;
    if last < first {
        return Some(u64::from(first));
    }
    // The end of the table bounds the loop.
    let chain = table.get(end.checked_add(usize::try_from(last - first).ok()?.checked_mul(4)?)?..)?;
    let length = records::<Word>(chain).iter().position(|hash| hash.get(LE) & 1 == 1)?;
    Some(u64::from(last) + length as u64 + 1)
}
