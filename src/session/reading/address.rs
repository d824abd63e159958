//! Codec of a client's 64-bit addresses.
//!
//! ```text
//!  63      56 55               39 38     32 31                 0
//! +----------+-------------------+---------+--------------------+
//! |   tag    |  wave ordinal + 1 |  lane   |       offset       |
//! +----------+-------------------+---------+--------------------+
//!              0: focused wave     0x7f: focused lane
//! ```
//!
//! Tags 0x02, 0x03, 0x05, 0x06 and 0x20-0x5f are DWARF address spaces with 32-bit addresses. Tags 0x00 and 0xff are
//! plain 64-bit addresses: generic if an aperture matches, global otherwise. Tag 0x70 is a place in the view's
//! windows (`view::layout`); 0x71-0x7e are reserved for it. All other tags are invalid.

use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// The global address space.
pub const GLOBAL: AddressSpace = AddressSpace(0);
/// The generic address space, which reaches the others through apertures.
pub const GENERIC: AddressSpace = AddressSpace(1);

/// The lane field's value for the focused lane.
const FOCUSED_LANE: u64 = 0x7f;
/// The tag of the view's windows, the first of the reserved ones.
pub const WINDOW: u64 = 0x70;
/// Maximum number of waves that the wave field can name.
pub const MAX_WAVES: u64 = (1 << 17) - 1;

/// The meaning of a client's 64-bit address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A 64-bit address, generic or global.
    Plain(Address),
    /// An address in a space with 32-bit addresses.
    Space {
        /// The space.
        space: AddressSpace,
        /// The wave; `None`: the focused one.
        wave: Option<WaveId>,
        /// The lane; `None`: the focused one.
        lane: Option<LaneId>,
        /// The address in the space.
        offset: u32,
    },
    /// A place in one of the view's windows.
    Window {
        /// The wave; `None`: the focused one.
        wave: Option<WaveId>,
        /// The lane; `None`: the focused one.
        lane: Option<LaneId>,
        /// Frame and slot; the view defines the split.
        offset: u32,
    },
    /// An address with an invalid tag.
    Nothing(u64),
}

/// Decodes an address from a client.
#[must_use]
pub fn decode(address: u64) -> Token {
    match address >> 56 {
        0x00 | 0xff => Token::Plain(Address(address)),
        tag @ (0x02 | 0x03 | 0x05 | 0x06 | 0x20..=0x5f) => {
            let (wave, lane, offset) = fields(address);
            Token::Space { space: AddressSpace(tag), wave, lane, offset }
        }
        WINDOW => {
            let (wave, lane, offset) = fields(address);
            Token::Window { wave, lane, offset }
        }
        _ => Token::Nothing(address),
    }
}

/// Wave and lane of a client's address of an object in private memory, LDS or a window; `None` for other numbers. The
/// spaces of single lanes (0x20-0x5f) do not count: clients see no object in them, and text resembles their addresses.
#[must_use]
pub fn object(number: u64) -> Option<(Option<WaveId>, Option<LaneId>)> {
    match decode(number) {
        Token::Space { space: AddressSpace(..0x20), wave, lane, .. } | Token::Window { wave, lane, .. } => {
            Some((wave, lane))
        }
        _ => None,
    }
}

/// Wave, lane and offset of an address with a tag.
fn fields(address: u64) -> (Option<WaveId>, Option<LaneId>, u32) {
    let wave = address >> 39 & MAX_WAVES;
    let lane = address >> 32 & 0x7f;
    // 17 bits fit u32, 7 bits fit u8, and the offset is the low 32 bits.
    let wave = wave.checked_sub(1).map(|ordinal| WaveId(ordinal as u32));
    (wave, (lane != FOCUSED_LANE).then_some(LaneId(lane as u8)), address as u32)
}

/// Encodes the address of a place in the view's windows; `None` if the wave's ordinal does not fit.
#[must_use]
pub fn window(wave: WaveId, lane: Option<LaneId>, offset: u32) -> Option<u64> {
    pack(WINDOW, Some(wave), lane, offset)
}

fn pack(tag: u64, wave: Option<WaveId>, lane: Option<LaneId>, offset: u32) -> Option<u64> {
    let wave = wave.map_or(0, |wave| u64::from(wave.0) + 1);
    let lane = lane.map_or(FOCUSED_LANE, |lane| u64::from(lane.0));
    (wave <= MAX_WAVES).then_some(tag << 56 | wave << 39 | lane << 32 | u64::from(offset))
}

/// Encodes this place as a client's address; `None` if the space has 64-bit addresses or the wave's ordinal does not
/// fit.
#[must_use]
pub fn encode(space: AddressSpace, wave: Option<WaveId>, lane: Option<LaneId>, offset: u32) -> Option<u64> {
    if !matches!(space.0, 0x02 | 0x03 | 0x05 | 0x06 | 0x20..=0x5f) {
        return None;
    }
    pack(space.0, wave, lane, offset)
}
