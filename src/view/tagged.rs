//! Pointers as the program has them, and as a client is shown them: with the wave and the lane whose memory they lead to.

use crate::session::address::{self, GENERIC, GLOBAL, Token};
use crate::session::{Inspect, Place, PointerAt, Unwritable, ValueState, WaveInfo};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// The wave and the lane that a pointer is read by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) wave: WaveId,
    pub(super) lane: LaneId,
}

impl Holder {
    /// Those of the place that a pointer is at; where it names no lane, the lane in focus.
    pub(super) fn of(session: &dyn Inspect, place: Place) -> Self {
        let wave = place.wave.unwrap_or_default();
        Self { wave, lane: place.lane.unwrap_or_else(|| session.focus(wave)) }
    }
}

/// Where in private memory, LDS or another space of a wave a pointer leads to, and the address that a client is shown. `None`: to
/// global memory, to nothing, or to what has no such address; the client is shown the number as it is.
pub(super) fn target(
    session: &dyn Inspect,
    holder: Holder,
    space: AddressSpace,
    pointer: u64,
) -> Option<(Place, u64)> {
    let Holder { wave, lane } = holder;
    let place = match space {
        GLOBAL | GENERIC => match address::decode(pointer) {
            Token::Plain(_) => session.place(pointer, wave).ok()?,
            _ => return None,
        },
        space => Place { space, address: Address(pointer), wave: None, lane: None },
    };
    let place = Place { wave: Some(wave), lane: Some(lane), ..place };
    Some((place, shown(place)?))
}

/// The address that a client is shown for a place in a space of a wave; `None` for global memory.
pub(super) fn shown(place: Place) -> Option<u64> {
    address::encode(place.space, place.wave, place.lane, u32::try_from(place.address.0).ok()?)
}

/// The pointer as the program has it for the address that a client writes.
///
/// # Errors
/// The address names what the pointer cannot: memory of another wave, lane or work-group, a variable outside of
/// memory, a space that the pointer has no number for.
pub(super) fn hardware(
    session: &dyn Inspect,
    holder: Holder,
    pointer: &PointerAt,
    written: u64,
) -> Result<u64, Unwritable> {
    let (space, wave, lane, offset) = match address::decode(written) {
        Token::Space { space, wave, lane, offset } => (space, wave, lane, offset),
        Token::Window { .. } => {
            return Err(refused(
                "a variable outside of memory has no address in the program: pointers cannot hold it",
            ));
        }
        Token::Plain(_) if is_generic(pointer.space) || is_wide(session, pointer.space) => {
            return Ok(written);
        }
        Token::Plain(Address(0)) => {
            let null = session.kind().target.space(pointer.space).map_or(0, |space| space.null.0);
            return Ok(null);
        }
        Token::Plain(_) => return Err(refused("the pointer can hold addresses of its address space only")),
        Token::Nothing(_) => return Ok(written),
    };
    let wave = wave.unwrap_or(holder.wave);
    let lane = lane.unwrap_or_else(|| session.focus(wave));
    let is_shared = session
        .kind()
        .target
        .space(space)
        .is_some_and(|space| matches!(space.scope, crate::arch::SpaceScope::WorkGroup));
    let is_reached = match is_shared {
        true => wave == holder.wave || same_group(session, wave, holder.wave),
        false => wave == holder.wave && lane == holder.lane,
    };
    if !is_reached {
        let whose = if is_shared { "work-group" } else { "wave or lane" };
        return Err(refused(&format!(
            "the address is in memory of another {whose}, which this pointer cannot hold"
        )));
    }
    let place =
        Place { space, address: Address(offset.into()), wave: Some(holder.wave), lane: Some(holder.lane) };
    let number = match pointer.space {
        of if is_generic(of) => session.generic_address(place).map(|address| address.0),
        of if of == space => Some(offset.into()),
        _ => None,
    };
    number.ok_or_else(|| refused("the pointer has no number for that address space"))
}

/// Refuses 8 bytes that are the address of an object as clients are shown it.
///
/// # Errors
/// They are.
pub(super) fn refuse_address(session: &dyn Inspect, bytes: &[u8]) -> Result<(), Unwritable> {
    let Ok(bytes) = <[u8; 8]>::try_from(bytes) else { return Ok(()) };
    let (wave, lane) = match address::decode(u64::from_le_bytes(bytes)) {
        Token::Space { space: AddressSpace(0x20..), .. } => return Ok(()),
        Token::Space { wave: Some(wave), lane: Some(lane), .. }
        | Token::Window { wave: Some(wave), lane: Some(lane), .. } => (wave, lane),
        _ => return Ok(()),
    };
    if !session.has_wave(wave) || !session.kind().wave_size.has(lane) {
        return Ok(());
    }
    Err(refused(
        "the number is the address of an object as debuggers see it, and no type says that a pointer is there; \
         `monitor set` writes pointers as the program has them",
    ))
}

fn is_generic(space: AddressSpace) -> bool {
    space == GLOBAL || space == GENERIC
}

/// Whether addresses of a space are global ones.
fn is_wide(session: &dyn Inspect, space: AddressSpace) -> bool {
    session.kind().target.space(space).is_some_and(|space| space.address_bits > 32)
}

fn same_group(session: &dyn Inspect, one: WaveId, other: WaveId) -> bool {
    let group = |info: WaveInfo| info.workgroup.map(|group| (info.agent, info.queue, info.dispatch, group));
    let (one, other) = (session.wave(one).ok().and_then(group), session.wave(other).ok().and_then(group));
    one.is_some() && one == other
}

pub(super) fn refused(why: &str) -> Unwritable {
    Unwritable::State(ValueState::Error(why.to_owned()))
}
