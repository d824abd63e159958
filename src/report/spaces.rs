//! Places in memory in a user's notation: `private_lane 0x10`, `local#0x40`, `0x7f0000200000`.

use crate::session::{Inspect, MemoryAddress, ReadError, Waves};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// The error of an unusable place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not a number.
    #[error("`{0}` is not a number: write 64 or 0x40")]
    Number(String),
    /// Not an address.
    #[error("`{0}` is not an address: write 0x40, 64 or a register, `$pc`")]
    Address(String),
    /// A register whose value is unknown.
    #[error("{0} was not captured")]
    Register(String),
    /// Not an address space.
    #[error("no address space `{asked}`; there are {there}")]
    Space {
        /// The user's text.
        asked: String,
        /// The valid names.
        there: String,
    },
    /// The session's error.
    #[error(transparent)]
    ReadError(#[from] ReadError),
}

/// A number in a user's notation: decimal, or hexadecimal after `0x`.
///
/// # Errors
/// [`AddressError::Number`].
pub fn number(text: &str) -> Result<u64, AddressError> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| AddressError::Number(text.to_owned()))
}

/// An address in a user's notation: a number, or `$NAME` for the value of a wave's register. `$pc` is the lane's PC if
/// the lane has a stack of its own, as in clients. A vector register has the lane's value.
///
/// # Errors
/// The text is neither a number nor a register with a known value, or the wave or lane does not exist.
pub fn address(
    session: &dyn Inspect,
    wave: WaveId,
    lane: Option<LaneId>,
    text: &str,
) -> Result<u64, AddressError> {
    let wrong = || AddressError::Address(text.to_owned());
    let Some(name) = text.strip_prefix('$') else { return number(text).map_err(|_| wrong()) };
    let kind = session.wave(wave)?.kind;
    let register = kind.named(name).ok_or_else(wrong)?;
    let lane = lane.unwrap_or(session.focus(wave));
    if register.name == "pc" && session.has_own_stack(wave, lane)? {
        let stack = session.activations(wave, Some(lane), 1)?;
        if let Some(pc) = stack.frames.first().map(|frame| frame.pc) {
            return Ok(pc.0);
        }
    }
    let value = session.register(wave, register.id)?;
    let value = match register.is_vector() {
        true => value.dword(u16::from(lane.0)).map(u64::from),
        false => value.scalar(),
    };
    value.ok_or_else(|| AddressError::Register(register.name.clone()))
}

/// The place of `space` (a name, or a DWARF number) and `address`, for a wave's focused lane or the given one.
///
/// # Errors
/// The text is no number or names no space, or the wave or lane does not exist.
pub fn parse_place(
    session: &dyn Inspect,
    wave: WaveId,
    lane: Option<LaneId>,
    space: &str,
    address: &str,
) -> Result<MemoryAddress, AddressError> {
    let target = &session.wave(wave)?.kind.target;
    let by_number = number(space).ok().and_then(|id| target.space(AddressSpace(id)));
    let Some(space) = target.space_named(space).or(by_number) else {
        // The 64 names private_lane<N> would hide the others.
        let named = target.spaces.iter().filter(|space| space.id.0 < 0x20);
        let there = named.map(|space| space.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(AddressError::Space { asked: space.to_owned(), there });
    };
    let lane = lane.unwrap_or(session.focus(wave));
    let address = Address(self::address(session, wave, Some(lane), address)?);
    Ok(MemoryAddress { space: space.id, address, wave: Some(wave), lane: Some(lane) })
}

/// [`parse_place`] for one word: `local#0x40`, or an address in a client's notation (see [`crate::session::address`]).
///
/// # Errors
/// The errors of [`parse_place`].
pub fn parse_word(
    session: &dyn Inspect,
    wave: WaveId,
    lane: Option<LaneId>,
    word: &str,
) -> Result<MemoryAddress, AddressError> {
    match word.split_once('#') {
        Some((space, address)) => parse_place(session, wave, lane, space, address),
        None => {
            let place = session.place(address(session, wave, lane, word)?, wave)?;
            Ok(MemoryAddress { lane: lane.or(place.lane), ..place })
        }
    }
}

/// A place in a user's notation: `private_lane#0x10`, a plain number in global memory.
#[must_use]
pub fn place_name(session: &dyn Waves, place: MemoryAddress) -> String {
    let kind = session.kind();
    match kind.target.space(place.space) {
        Some(space) if place.space.0 != 0 => format!("{}#{}", space.name, place.address),
        _ => place.address.to_string(),
    }
}
