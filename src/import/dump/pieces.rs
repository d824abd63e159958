//! Pieces of memory to a map: global, LDS of a work-group, private memory of a wave.

use std::collections::HashMap;

use super::data::Sources;
use super::key::Key;
use super::manifest::{AddressMap, Entries, Piece};
use super::read::LEFT_OUT;
use super::shape::Field;
use crate::capture::{Extent, MemoryMap, Segment};
use crate::import::problem::Problems;

/// Rules for pieces of one address space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Whether a piece requires an address; else it begins at 0.
    pub(super) address_required: bool,
    /// The first address beyond the space, and the key that sets it: `lds_size`.
    pub(super) end: Option<(u64, &'static str)>,
}

/// Indexes of pieces in the manifest, by the identity of their segments.
type Places = HashMap<(u64, u32, u64, u64), Vec<usize>>;

/// The map of an array of pieces; pieces that overlap or leave their space are reported and left out.
pub(super) fn memory_map(
    problems: &mut Problems,
    sources: &mut Sources,
    key: &Key<'_>,
    name: &str,
    field: &Field<Entries<Piece<'_>>>,
    bounds: Bounds,
) -> MemoryMap {
    let mut segments = Vec::new();
    let mut indexes = Vec::new();
    let table = key.name(name);
    for (index, piece) in problems.entries(key, name, field) {
        let key = table.index(index);
        problems.extra(&key, &piece.extra);
        if let Some(segment) = segment(problems, sources, &key, piece, bounds) {
            segments.push(segment);
            indexes.push(index);
        }
    }
    disjoint(problems, &table, segments, indexes)
}

/// The ranges of `memory_map`, and whether none of them is left out.
pub(super) fn address_map(
    problems: &mut Problems,
    key: &Key<'_>,
    given: &AddressMap<'_>,
) -> (MemoryMap, bool) {
    let (mut segments, mut indexes) = (Vec::new(), Vec::new());
    let table = key.name("ranges");
    for (index, range) in problems.entries(key, "ranges", &given.ranges) {
        let key = table.index(index);
        problems.extra(&key, &range.extra);
        let address = problems.required(&key, "address", &range.address).copied();
        let size = problems.required(&key, "size", &range.size).copied();
        let name = problems.text(&key, "name", &range.name);
        let Some((address, size)) = address.zip(size) else { continue };
        if size.checked_sub(1).is_none_or(|more| address.checked_add(more).is_none()) {
            let what = format_args!("{size} bytes from {address:#x}; it is left out");
            problems.report(key, what, "at least one byte, and an end at 2^64 or before");
            continue;
        }
        segments.push(Segment::uncaptured(address, size, name));
        indexes.push(index);
    }
    let listed = match &given.ranges {
        Field::Given(entries) => entries.len(),
        _ => 0,
    };
    let map = disjoint(problems, &table, segments, indexes);
    let is_whole = map.segments().len() == listed;
    (map, is_whole)
}

/// The map of segments; those that overlap an earlier one are reported and left out. `indexes`: their places in the
/// table.
fn disjoint(
    problems: &mut Problems,
    table: &Key<'_>,
    segments: Vec<Segment>,
    indexes: Vec<usize>,
) -> MemoryMap {
    if segments.is_empty() {
        return MemoryMap::default();
    }
    let identities: Vec<_> = segments.iter().map(identity).collect();
    let (map, refused) = MemoryMap::new(segments);
    if refused.is_empty() {
        return map;
    }
    let mut places = Places::new();
    for (identity, index) in identities.into_iter().zip(indexes) {
        places.entry(identity).or_default().push(index);
    }
    // Of two equal pieces the later one is rejected.
    let place = |segment: Segment| (places.get_mut(&identity(&segment)).and_then(Vec::pop), segment);
    let mut refused: Vec<_> = refused.into_iter().map(place).collect();
    refused.sort_by_key(|(index, _)| *index);
    for (index, segment) in refused {
        let other = map.find(segment.address).or_else(|| map.next(segment.address));
        let other = other.map_or((0, 0), |other| (other.address, other.last()));
        problems.report(
            table.index(index.unwrap_or_default()),
            format_args!(
                "{:#x}-{:#x} overlaps {:#x}-{:#x} of an earlier entry; it is left out",
                segment.address,
                segment.last(),
                other.0,
                other.1
            ),
            "pieces that do not overlap",
        );
    }
    map
}

fn identity(segment: &Segment) -> (u64, u32, u64, u64) {
    let Extent { backing, offset, length } = segment.extent;
    (segment.address, backing.0, offset, length)
}

fn segment(
    problems: &mut Problems,
    sources: &mut Sources,
    key: &Key<'_>,
    piece: &Piece<'_>,
    bounds: Bounds,
) -> Option<Segment> {
    let address = if piece.address.is_given() || bounds.address_required {
        *problems.required(key, "address", &piece.address)?
    } else {
        0
    };
    let name = problems.text(key, "name", &piece.name);
    let mut extent = sources.required(problems, key, piece.data(), LEFT_OUT)?;
    if extent.length == 0 {
        problems.report(key, "no bytes; it is left out", "at least one byte");
        return None;
    }
    // The last address, since the end of the topmost piece is 2^64.
    if address.checked_add(extent.length - 1).is_none() {
        let what = format_args!("{} bytes from {address:#x} leave the address space", extent.length);
        problems.report(key, what, "a piece that ends below 2^64");
        return None;
    }
    if let Some((end, why)) = bounds.end {
        let capacity = end.saturating_sub(address);
        if extent.length > capacity {
            let what =
                format_args!("{} bytes from {address:#x}; those beyond {why} are left out", extent.length);
            problems.report(key, what, format_args!("a piece that ends at {end:#x} or before"));
            extent.length = capacity;
        }
        if capacity == 0 {
            return None;
        }
    }
    Some(Segment { address, extent, name })
}
