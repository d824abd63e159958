//! What lies at an address as a client names it, and how far: regions that cover all of the 64-bit space.
//!
//! Walking from 0 meets global memory, the code objects, and each tagged space once, for the focused wave and lane.
//! The same memory named with an explicit wave and lane is not met by walking (there would be millions of such
//! regions), but asking for such an address is answered exactly.

use super::address::{self, Token};
use super::changes::Owner;
use super::reader::resolve;
use super::stored::private;
use super::{Place, Reader, Region};
use crate::arch::{SWIZZLE_BYTES, SpaceScope};
use crate::capture::{MemoryMap, Wave, joined};
use crate::units::{LaneId, WaveId};

/// The first address of the tagged half: plain addresses below it have tag 0.
const TAGGED: u64 = 1 << 56;
/// The last tagged address: plain addresses above it have tag 0xff.
const LAST_TAGGED: u64 = 0xfeff_ffff_ffff_ffff;
/// The bits of an address that a space with 32-bit addresses keeps.
const OFFSET: u64 = 0xffff_ffff;
/// Tags that walking visits: every space that an address can name.
const TAGS: [u64; 4] = [0x02, 0x03, 0x05, 0x06];

/// The region that holds `at` for a client that looks at `wave` with the focus on `lane`.
pub(super) fn region(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Region {
    match address::decode(at) {
        Token::Plain(_) => plain(reader, at, wave, lane),
        Token::Space { .. } => tagged(reader, at, wave, lane),
        // Windows are the view's, which lies above the session.
        Token::Window { .. } | Token::Nothing(_) => gap(at, at, next_token(at)),
    }
}

fn gap(start: u64, at: u64, next: Option<u64>) -> Region {
    let last = next.map_or(LAST_TAGGED.max(at), |next| next - 1).max(at);
    Region { start, last, readable: false, code: false, name: None }
}

/// The first address above `at` that walking stops at among the tagged spaces.
fn next_token(at: u64) -> Option<u64> {
    let focused = |tag: u64| tag << 56 | 0x7f << 32;
    let lanes = 0x20..=0x5f;
    TAGS.into_iter()
        .chain(lanes)
        .map(focused)
        .find(|token| *token > at)
        .or((at <= LAST_TAGGED).then_some(LAST_TAGGED + 1))
}

fn tagged(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Region {
    let block = at & !OFFSET;
    let Ok(place) = resolve(reader, block, wave, lane) else {
        return gap(at, at, next_token(at));
    };
    let name = reader.space(place).ok().map(|space| {
        let owner = place.wave.and_then(|wave| reader.wave(wave).ok());
        let of = owner.map_or(String::new(), |wave| format!(" of wave {}", wave.id));
        match (space.scope, place.lane) {
            (SpaceScope::Lane, Some(lane)) => format!("{}[{lane}]{of}", space.name),
            _ => format!("{}{of}", space.name),
        }
    });
    match around(&runs(reader, place), at) {
        Ok((start, last)) => Region { start, last, readable: true, code: false, name },
        Err((start, after)) => gap(start, at, after.or(next_token(block | OFFSET))),
    }
}

/// The run of offsets that holds an address, as addresses, else where the gap begins that does, and the run after it.
fn around(runs: &[(u64, u64)], at: u64) -> Result<(u64, u64), (u64, Option<u64>)> {
    let (block, offset) = (at & !OFFSET, at & OFFSET);
    if let Some((first, last)) = runs.iter().find(|(first, last)| (*first..=*last).contains(&offset)) {
        return Ok((block | first, block | last));
    }
    let before = runs.iter().rev().find(|(_, last)| *last < offset);
    let after = runs.iter().find(|(first, _)| *first > offset);
    Err((before.map_or(block, |(_, last)| (block | last) + 1), after.map(|(first, _)| block | first)))
}

/// Runs of captured offsets of a 32-bit space, in order: first and last.
fn runs(reader: &Reader, place: Place) -> Vec<(u64, u64)> {
    let Some(wave) = place.wave.and_then(|wave| reader.wave(wave).ok()) else { return Vec::new() };
    let Ok(space) = reader.space(place) else { return Vec::new() };
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
    // A dword may lie across two that touch.
    swizzled_runs(wave, lane, joined(segments.map(|segment| (segment.address, segment.last())).collect()))
}

/// What of runs of a wave's private memory is one lane's, as the lane counts.
fn swizzled_runs(
    wave: &Wave,
    lane: LaneId,
    runs: Vec<(u64, u64)>,
) -> impl Iterator<Item = (u64, u64)> + use<> {
    let row = u64::from(wave.kind.wave_size.lanes()) * SWIZZLE_BYTES;
    let column = u64::from(lane.0) * SWIZZLE_BYTES;
    runs.into_iter().filter_map(move |(first, last)| {
        // Whole dwords of the lane that lie in the run; odd bytes at its ends are left out.
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
        return match around(&runs(reader, place), at) {
            Ok((start, last)) => {
                let name = reader.space(place).ok().map(|space| format!("{} aperture", space.name));
                Region { start, last, readable: true, code: false, name }
            }
            Err((start, after)) => {
                Region { last: after.map_or(at | OFFSET, |after| after - 1), ..gap(start, at, None) }
            }
        };
    }
    let capture = reader.dump().capture();
    let objects = reader.dump().objects();
    let agent = reader.wave(wave).ok().map(|wave| wave.agent);
    if let Some(segment) = capture.global.find(at) {
        let code = objects.image(capture, at, agent);
        let name = segment.name.clone().or_else(|| code.as_ref().map(|image| image.name.clone()));
        let (start, last) = (segment.address, segment.last());
        return Region {
            start,
            last,
            readable: true,
            code: code.is_some_and(|image| image.executable),
            name,
        };
    }
    let upper = capture.global.next(at).map(|segment| segment.address);
    if let Some(image) = objects.image(capture, at, agent) {
        let last = image.last.min(upper.map_or(u64::MAX, |next| next - 1));
        let start = captured_end(&capture.global, at).max(image.start);
        return Region { start, last, readable: true, code: image.executable, name: Some(image.name) };
    }
    // Bytes of an image that were written: the one place without captured bytes where that can be.
    let changed = reader.changes.memory().next_run(Owner::Global, at);
    if let Some((_, last)) = changed.filter(|(first, _)| *first == at) {
        let last = last.min(upper.map_or(u64::MAX, |next| next - 1));
        return Region { start: at, last, readable: true, code: false, name: None };
    }
    let apertures = reader.apertures(wave);
    let next = [
        upper,
        changed.map(|(first, _)| first),
        objects.next_image(capture, at),
        apertures.into_iter().map(|(_, base)| base).filter(|base| *base > at).min(),
        // Below the tagged spaces a gap ends where the first of them is met.
        if at < TAGGED { next_token(TAGGED) } else { None },
    ]
    .into_iter()
    .flatten()
    .min();
    let last = match next {
        Some(next) => next - 1,
        None => u64::MAX,
    };
    Region { start: at, last, readable: false, code: false, name: None }
}

/// The address after the last captured segment below `at`.
fn captured_end(map: &MemoryMap, at: u64) -> u64 {
    let above = map.segments().partition_point(|segment| segment.last() < at);
    let before = above.checked_sub(1).and_then(|index| map.segments().get(index));
    before.map_or(0, |segment| segment.last() + 1)
}
