//! The dump's global memory around an address, by bounded questions to the session.

use super::Neighbour;
use crate::session::address::GLOBAL;
use crate::session::{Inspect, Region};
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

/// A run of memory that the capture lists.
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

    /// The listed memory at an address of global memory. Apertures are none.
    pub(crate) fn at(&self, address: u64) -> Option<Span> {
        // Addresses with other tags name spaces of the client's notation.
        let is_plain = PLAIN_TAGS.contains(&(address >> 56));
        let place = is_plain.then(|| self.session.place(address, self.wave).ok()).flatten();
        if place.is_none_or(|place| place.space != GLOBAL) {
            return None;
        }
        let Region { start, last, readable, code, name } = self.session.region(address, self.wave);
        readable.then_some(Span { start, last, name, is_code: code })
    }

    /// Whether the capture lists an address.
    pub(super) fn lists(&self, address: u64) -> bool {
        self.at(address).is_some()
    }

    /// The nearest listed memory that ends before an unlisted address.
    pub(crate) fn before(&self, address: u64) -> Option<Span> {
        self.nearest(address, |region| region.start.checked_sub(1))
    }

    /// The nearest listed memory that begins after an unlisted address.
    pub(crate) fn after(&self, address: u64) -> Option<Span> {
        self.nearest(address, |region| region.last.checked_add(1))
    }

    fn nearest(&self, mut address: u64, next: impl Fn(&Region) -> Option<u64>) -> Option<Span> {
        for _ in 0..MAX_GAPS {
            if !PLAIN_TAGS.contains(&(address >> 56)) {
                return None;
            }
            if let Some(found) = self.at(address) {
                return Some(found);
            }
            address = next(&self.session.region(address, self.wave))?;
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
