//! The dump's global memory around an address, by bounded questions to the session.

use super::Neighbour;
use crate::session::address::GLOBAL;
use crate::session::{Inspect, LoadedRange, Region};
use crate::units::WaveId;

/// Maximum number of gaps that are skipped to find a neighbour: apertures and tags cut gaps.
const MAX_GAPS: usize = 8;
/// The tags of plain addresses in clients' addresses: bits 63 to 56.
const PLAIN_TAGS: [u64; 2] = [0x00, 0xff];

/// Whether bits 63 to 47 of an address differ: it is in no aperture.
pub(super) fn is_hole(address: u64) -> bool {
    let high = address >> 47;
    high != 0 && high != (1 << 17) - 1
}

/// The memory map of a dump for a wave.
#[derive(Clone, Copy)]
pub(crate) struct Map<'a> {
    session: &'a dyn Inspect,
    wave: WaveId,
    is_whole: bool,
}

/// A run of listed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) start: u64,
    /// Last byte.
    pub(crate) last: u64,
    /// Name, if the capture has one.
    pub(crate) name: Option<String>,
    /// Whether it is code.
    pub(crate) is_code: bool,
}

impl<'a> Map<'a> {
    pub(crate) fn new(session: &'a dyn Inspect, wave: WaveId) -> Self {
        Self { session, wave, is_whole: session.has_whole_map() }
    }

    /// Whether the capture lists all mapped memory: an unlisted address is unmapped. Otherwise it may be mapped.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The listed memory at an address of global memory: captured, in the dump's memory map, or a loaded segment of a
    /// code object with its whole size in memory. Apertures are none.
    pub(crate) fn at(&self, address: u64) -> Option<Span> {
        let (region, loaded) = self.is_global(address).then(|| self.around(address))?;
        listed(region, loaded)
    }

    fn is_global(&self, address: u64) -> bool {
        // Addresses with other tags name spaces of the client's notation.
        let is_plain = PLAIN_TAGS.contains(&(address >> 56));
        is_plain && self.session.place(address, self.wave).is_ok_and(|place| place.space == GLOBAL)
    }

    fn around(&self, address: u64) -> (Region, LoadedRange) {
        (self.session.region(address, self.wave), self.session.loaded_range(address, self.wave))
    }

    /// Whether an address is in listed memory.
    pub(super) fn lists(&self, address: u64) -> bool {
        self.at(address).is_some()
    }

    /// The nearest listed memory that ends before an unlisted address.
    pub(crate) fn before(&self, address: u64) -> Option<Span> {
        self.nearest(address, |region, loaded| region.start.max(loaded.start).checked_sub(1))
    }

    /// The nearest listed memory that begins after an unlisted address.
    pub(crate) fn after(&self, address: u64) -> Option<Span> {
        self.nearest(address, |region, loaded| region.last.min(loaded.last).checked_add(1))
    }

    /// Bytes from an unlisted address to the nearest listed memory, if some is known.
    pub(super) fn distance(&self, address: u64) -> Option<u64> {
        let before = self.before(address).and_then(|span| address.checked_sub(span.last));
        let after = self.after(address).and_then(|span| span.start.checked_sub(address));
        before.into_iter().chain(after).min()
    }

    fn nearest(&self, mut address: u64, next: impl Fn(&Region, &LoadedRange) -> Option<u64>) -> Option<Span> {
        for _ in 0..MAX_GAPS {
            if !PLAIN_TAGS.contains(&(address >> 56)) {
                return None;
            }
            let (region, loaded) = self.around(address);
            let following = next(&region, &loaded);
            if let Some(found) = listed(region, loaded).filter(|_| self.is_global(address)) {
                return Some(found);
            }
            address = following?;
        }
        None
    }

    /// A span as the neighbour of an address, at a distance in bytes.
    pub(super) fn neighbour(&self, span: &Span, distance: u64) -> Neighbour {
        // Drivers map whole pages.
        let end = span.last.wrapping_add(1);
        let is_rounded = span.start.is_multiple_of(0x1000) && end.is_multiple_of(0x1000);
        let (start, name, is_map_whole) = (span.start, span.name.clone(), self.is_whole);
        Neighbour { start, end, distance, name, is_rounded, is_map_whole }
    }
}

/// The memory of a region and a loaded range at one address, if one of them is listed.
fn listed(region: Region, loaded: LoadedRange) -> Option<Span> {
    let Region { start, last, readable, code, name } = region;
    let captured = readable.then_some(Span { start, last, name, is_code: code });
    let Some((is_code, name)) = loaded.segment else { return captured };
    let (start, last) = (loaded.start, loaded.last);
    Some(match captured {
        None => Span { start, last, name, is_code },
        Some(of) => Span { start: of.start.min(start), last: of.last.max(last), ..of },
    })
}
