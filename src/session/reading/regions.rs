//! The contents at a client's address and their extent: regions that cover all of the 64-bit space.
//!
//! Every address in a region gives the same region. Every boundary is therefore a function of the capture, the wave,
//! the lane and the client's changes, never of the address: the region is the intersection of the intervals that each
//! kind of boundary gives.
//!
//! A list of the regions from 0 up has global memory, the code objects, and each tagged space once, for the focused
//! wave and lane. It leaves out the same memory with an explicit wave and lane: that would be millions of regions. A
//! question about such an address has an exact answer: a listed gap between two tagged spaces may hold such addresses.

use crate::arch::{SWIZZLE_BYTES, SpaceScope};
use crate::capture::{MemoryMap, Segment, Wave, joined};
use crate::session::changes::Owner;
use crate::session::reading::address::{self, Token};
use crate::session::reading::reader::resolve;
use crate::session::reading::stored::private;
use crate::session::{LoadedRange, MemoryAddress, Reader, Region};
use crate::units::{LaneId, WaveId};

/// The first address of the tagged half: plain addresses below it have tag 0.
const TAGGED: u64 = 1 << 56;
/// The last tagged address: plain addresses above it have tag 0xff.
const LAST_TAGGED: u64 = 0xfeff_ffff_ffff_ffff;
/// The bits of an address that a space with 32-bit addresses keeps.
const OFFSET: u64 = 0xffff_ffff;
/// Wave and lane of an address without either.
const FOCUSED: u64 = 0x7f << 32;

/// Tags of the listed regions, ascending: every space that an address can name.
fn tags() -> impl Iterator<Item = u64> {
    [0x02, 0x03, 0x05, 0x06].into_iter().chain(0x20..=0x5f)
}

/// Addresses with the same contents, first and last.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Interval {
    pub(in crate::session) start: u64,
    pub(in crate::session) last: u64,
}

impl Interval {
    fn and(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), last: self.last.min(other.last) }
    }

    /// The union of two intervals around one address.
    fn or(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), last: self.last.max(other.last) }
    }

    /// The interval around `at` up to the nearest boundaries: a boundary is the first address of a region.
    pub(in crate::session) fn between(at: u64, boundaries: impl Iterator<Item = u64>) -> Self {
        boundaries.fold(Self { start: 0, last: u64::MAX }, |interval, boundary| match boundary {
            below if below <= at => Self { start: interval.start.max(below), ..interval },
            above => Self { last: interval.last.min(above - 1), ..interval },
        })
    }

    fn gap(self) -> Region {
        Region { start: self.start, last: self.last, readable: false, code: false, name: None }
    }
}

/// The region that holds `at` for a client with the focus on `wave` and `lane`.
pub(in crate::session) fn region(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Region {
    match address::decode(at) {
        Token::Plain(_) => {
            // The answer depends on whether the page is in the dump.
            reader.note(|touched| touched.global(at, 1));
            plain(reader, at, wave, lane)
        }
        Token::Space { wave: None, lane: None, .. } => walked(reader, at, wave, lane),
        Token::Space { .. } => match resolve(reader, at & !OFFSET, wave, lane) {
            Ok(place) => among(&runs(reader, place), at, block(at), name(reader, place)),
            Err(_) => walked(reader, at, wave, lane),
        },
        // Windows belong to the view, a layer above the session.
        Token::Window { .. } | Token::Nothing(_) => walked(reader, at, wave, lane),
    }
}

/// The listed region at a tagged address: a captured run of the focused wave and lane in the tag's space, or a gap.
fn walked(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Region {
    let tokens = tags().map(|tag| tag << 56 | FOCUSED);
    let Interval { start, last } = Interval::between(at, tokens.chain([TAGGED, LAST_TAGGED + 1]));
    match resolve(reader, start, wave, lane) {
        Ok(place) if start != TAGGED => {
            among(&runs(reader, place), at, Interval { start, last }, name(reader, place))
        }
        _ => Interval { start, last }.gap(),
    }
}

/// The 4 GiB of a 32-bit space around an address.
fn block(at: u64) -> Interval {
    Interval { start: at & !OFFSET, last: at | OFFSET }
}

/// The run that holds an address, or the gap between two runs; offsets of runs count from the bounds' start.
fn among(runs: &[(u64, u64)], at: u64, bounds: Interval, name: Option<String>) -> Region {
    let runs = || runs.iter().map(|(first, last)| (bounds.start + first, bounds.start + last));
    if let Some((start, last)) = runs().find(|(first, last)| (*first..=*last).contains(&at)) {
        return Region { start, last, readable: true, code: false, name };
    }
    let edges = runs().flat_map(|(first, last)| [Some(first), last.checked_add(1)]).flatten();
    Interval::between(at, edges).and(bounds).gap()
}

/// The origin of a wave's private memory, if the capture does not record it.
fn note(wave: Option<&Wave>) -> String {
    let note = wave.and_then(|wave| wave.private.segments().first()?.name.as_deref());
    note.map_or(String::new(), |note| format!(" ({note})"))
}

/// The name of a region of a tagged space.
fn name(reader: &Reader, place: MemoryAddress) -> Option<String> {
    let space = reader.space(place).ok()?;
    let owner = place.wave.and_then(|wave| reader.wave(wave).ok());
    let of = owner.map_or(String::new(), |wave| format!(" of wave {}", wave.id));
    Some(match (space.scope, place.lane) {
        (SpaceScope::Lane, Some(lane)) => format!("{}[{lane}]{of}{}", space.name, note(owner)),
        (SpaceScope::Wave | SpaceScope::LaneN(_), _) => format!("{}{of}{}", space.name, note(owner)),
        _ => format!("{}{of}", space.name),
    })
}

/// Runs of captured offsets of a 32-bit space, in order: first and last.
fn runs(reader: &Reader, place: MemoryAddress) -> Vec<(u64, u64)> {
    let Some(wave) = place.wave.and_then(|wave| reader.wave(wave).ok()) else { return Vec::new() };
    let Ok(space) = reader.space(place) else { return Vec::new() };
    // A wave of 32 lanes has no lanes 32 to 63, though its target has address spaces for them.
    if let SpaceScope::LaneN(lane) = space.scope
        && !wave.kind.wave_size.has(lane)
    {
        return Vec::new();
    }
    let id = place.wave.unwrap_or_default();
    let all = match space.scope {
        SpaceScope::WorkGroup => reader.lds(wave).map(|memory| reader.runs(memory)).unwrap_or_default(),
        SpaceScope::Wave | SpaceScope::Lane | SpaceScope::LaneN(_) => reader.runs(private(id, wave)),
        _ => Vec::new(),
    };
    match (space.scope, place.lane) {
        (SpaceScope::LaneN(lane), _) | (SpaceScope::Lane, Some(lane)) => {
            joined(swizzled_runs(wave, lane, all).collect())
        }
        (SpaceScope::Lane, None) => Vec::new(),
        _ => {
            let below = all.into_iter().filter(|(first, _)| *first <= OFFSET);
            below.map(|(first, last)| (first, last.min(OFFSET))).collect()
        }
    }
}

/// Runs of a lane's captured addresses in its wave's private memory, in order: first and last.
pub(crate) fn lane_runs(wave: &Wave, lane: LaneId) -> impl Iterator<Item = (u64, u64)> {
    let segments = wave.private.segments().iter();
    // A dword may lie across two adjacent segments.
    swizzled_runs(wave, lane, joined(segments.map(|segment| (segment.address, segment.last())).collect()))
}

/// The parts of a wave's private memory that belong to one lane, in the lane's addresses.
fn swizzled_runs(
    wave: &Wave,
    lane: LaneId,
    runs: Vec<(u64, u64)>,
) -> impl Iterator<Item = (u64, u64)> + use<> {
    let row = u64::from(wave.kind.wave_size.lanes()) * SWIZZLE_BYTES;
    let column = u64::from(lane.0) * SWIZZLE_BYTES;
    runs.into_iter().filter_map(move |(first, last)| {
        // Whole dwords of the lane in the run; odd bytes at its ends are left out.
        let first = first.saturating_sub(column).div_ceil(row);
        let last = (last.checked_add(1)?.checked_sub(column + SWIZZLE_BYTES)?) / row;
        (first <= last && last <= OFFSET / SWIZZLE_BYTES)
            .then(|| (first * SWIZZLE_BYTES, last * SWIZZLE_BYTES + SWIZZLE_BYTES - 1))
    })
}

fn plain(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Region {
    // Through an aperture: the space's runs, at the aperture's base.
    if let Ok(place) = resolve(reader, at, wave, lane)
        && place.space != address::GLOBAL
    {
        let name = reader.space(place).ok().map(|space| format!("{} aperture", space.name));
        return among(&runs(reader, place), at, block(at), name);
    }
    let (interval, segment, image) = global(reader, at, wave, &reader.dump().capture().global);
    let own_name = segment.and_then(|segment| segment.name.clone());
    let readable = |interval: Interval, code, name| {
        let Interval { start, last } = interval;
        Region { start, last, readable: true, code, name }
    };
    match (segment, image) {
        (_, Some((executable, name))) => readable(interval, executable, own_name.or(Some(name))),
        (Some(_), None) => readable(interval, false, own_name),
        // Written bytes of an image: the only global writes without captured bytes below them.
        (None, None) => {
            let changed = reader.changes.memory();
            let edges =
                changed.runs(Owner::Global).flat_map(|(first, last)| [Some(first), last.checked_add(1)]);
            let interval = interval.and(Interval::between(at, edges.flatten()));
            match changed.next(Owner::Global, at) {
                Some(next) if next == at => readable(interval, false, None),
                _ => interval.gap(),
            }
        }
    }
}

/// The interval of an address of global memory, the segment of a map there, and the unwritable image of a code object:
/// whether it is executable, and its name.
fn global<'m>(
    reader: &Reader,
    at: u64,
    wave: WaveId,
    map: &'m MemoryMap,
) -> (Interval, Option<&'m Segment>, Option<(bool, String)>) {
    let agent = reader.wave(wave).ok().map(|wave| wave.agent);
    let apertures = reader.apertures(wave).into_iter().flat_map(|(_, base)| {
        let block = base & !OFFSET;
        [Some(block), (block | OFFSET).checked_add(1)]
    });
    let edges = apertures.flatten().chain([TAGGED, LAST_TAGGED + 1]);
    let (piece, image) = reader.dump().objects().piece(reader.dump().capture(), at, agent);
    (Interval::between(at, edges).and(around_segments(map, at)).and(piece), map.find(at), image)
}

/// The loaded segment of a code object, or the mapped memory, at an address of global memory, captured or not; else
/// the gap between two.
pub(in crate::session) fn loaded_range(reader: &Reader, at: u64, wave: WaveId) -> LoadedRange {
    let agent = reader.wave(wave).ok().map(|wave| wave.agent);
    let dump = reader.dump();
    let capture = dump.capture();
    let (loaded, segment) = dump.objects().loaded_range(capture, at, agent);
    let segment = segment.map(|(is_code, name)| (is_code, Some(name)));
    if capture.mapped.segments().is_empty() {
        return LoadedRange { start: loaded.start, last: loaded.last, segment };
    }
    let (around, mapped, image) = global(reader, at, wave, &capture.mapped);
    let Some(mapped) = mapped else {
        let range = if segment.is_some() { loaded } else { loaded.and(around) };
        return LoadedRange { start: range.start, last: range.last, segment };
    };
    let is_code = image.as_ref().is_some_and(|(is_code, _)| *is_code);
    let name = mapped.name.clone().or(image.map(|(_, name)| name));
    let range = if segment.is_some() { around.or(loaded) } else { around };
    LoadedRange { start: range.start, last: range.last, segment: Some((is_code, name)) }
}

/// The captured segment that holds an address, or the gap between two.
fn around_segments(map: &MemoryMap, at: u64) -> Interval {
    if let Some(segment) = map.find(at) {
        return Interval { start: segment.address, last: segment.last() };
    }
    let above = map.segments().partition_point(|segment| segment.address <= at);
    let before = above.checked_sub(1).and_then(|index| map.segments().get(index));
    let start = before.and_then(|segment| segment.last().checked_add(1)).unwrap_or(0);
    Interval { start, last: map.next(at).map_or(u64::MAX, |next| next.address - 1) }
}
