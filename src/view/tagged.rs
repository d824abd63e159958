//! Pointers in the program's form and in the client's form, which adds the wave and the lane of the memory; LDS has
//! those of its work-group's representative.

use std::ops::Range;

use super::layout::STRIDE;
use super::typed::POINTER;
use crate::arch::SpaceScope;
use crate::session::address::{self, GENERIC, GLOBAL, Token};
use crate::session::{ChangeError, Inspect, MemoryAddress, PointerAt, ValueState, Waves};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

pub(super) const PART_OF_POINTER: &str = "a part of a pointer cannot be written; write the whole pointer";

/// The wave and lane for the read of a pointer; for a pointer in LDS the representative of the work-group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) wave: WaveId,
    /// `None`: the pointer is in LDS, shared by all lanes of the work-group.
    pub(super) lane: Option<LaneId>,
}

impl Holder {
    /// The wave and lane of a pointer's own place; the lane in focus if the place has none.
    pub(super) fn of(session: &dyn Waves, place: MemoryAddress) -> Self {
        let wave = place.wave.unwrap_or_default();
        if is_shared(session, place.space) {
            return Self { wave: session.group_wave(wave), lane: None };
        }
        Self { wave, lane: Some(place.lane.unwrap_or_else(|| session.focus(wave))) }
    }
}

/// The target of a pointer in private memory, LDS or another space of a wave, and its address in the client's form.
/// `None` for a pointer to global memory, a null pointer, one from LDS to private memory, or a target without such an
/// address. The client then reads the number unchanged.
///
/// If other members of a union share the bytes, the number decides: the pointer is the active member if it leads to
/// memory.
pub(super) fn target(
    session: &dyn Inspect,
    holder: Holder,
    pointer: &PointerAt,
    number: u64,
) -> Option<(MemoryAddress, u64)> {
    let Holder { wave, lane } = holder;
    let place = match pointer.space {
        GLOBAL | GENERIC => match address::decode(number) {
            Token::Plain(_) => session.place(number, wave).ok()?,
            _ => return None,
        },
        space => MemoryAddress { space, address: Address(number), wave: None, lane: None },
    };
    if lane.is_none() && !is_shared(session, place.space) {
        return None;
    }
    let place = MemoryAddress { wave: Some(wave), lane, ..place };
    let shown = shown(session, place)?;
    (!pointer.is_shared || session.exists(place)).then_some((place, shown))
}

/// The client's address of a place in a space of a wave; `None` for global memory. LDS has one address for all waves and
/// lanes of a work-group: lane 0 of the first served wave.
pub(super) fn shown(session: &dyn Waves, place: MemoryAddress) -> Option<u64> {
    let (wave, lane) = match is_shared(session, place.space) {
        true => (place.wave.map(|wave| session.group_wave(wave)), Some(LaneId(0))),
        false => (place.wave, place.lane),
    };
    address::encode(place.space, wave, lane, u32::try_from(place.address.0).ok()?)
}

/// The number to write in place of the bytes `part` of a pointer; `shown` is its client form, and `new` is that form
/// with the client's bytes. `None`: write the bytes unchanged, because they belong to another member of a union.
///
/// # Errors
/// The errors of [`hardware`], and a write to a part of a pointer.
pub(super) fn stored(
    session: &dyn Inspect,
    holder: Holder,
    pointer: &PointerAt,
    shown: u64,
    new: u64,
    part: Range<u64>,
) -> Result<Option<u64>, ChangeError> {
    let is_whole = part == (0..POINTER);
    if new == shown || is_whole && (!pointer.is_shared || names_object(session, new)) {
        return hardware(session, holder, pointer, new).map(Some);
    }
    // A bit-field write returns the bytes of an earlier read. Lane and low bits of the wave stay, and the bits above
    // them change.
    let [.., lane, wave, above, tag] = (shown ^ new).to_le_bytes();
    // A whole write below 2^32 is a number: of some waves the address has zeros in these bytes, too.
    let is_number = is_whole && new >> 32 == 0;
    let keeps_lane = [lane, wave] == [0; 2] && [above, tag] != [0; 2] && part.start <= 4 && !is_number;
    if !pointer.is_shared || keeps_lane && names_object(session, shown) {
        return Err(refused(PART_OF_POINTER));
    }
    Ok(None)
}

/// The pointer in the program's form for an address that a client writes. Other numbers may belong to another member of
/// a union.
///
/// # Errors
/// The address names an object that the pointer cannot reach: memory of another wave, lane or work-group, a variable
/// outside of memory, a space without a pointer form.
pub(super) fn hardware(
    session: &dyn Inspect,
    holder: Holder,
    pointer: &PointerAt,
    written: u64,
) -> Result<u64, ChangeError> {
    if pointer.is_shared && !names_object(session, written) {
        return Ok(written);
    }
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
    let is_shared = is_shared(session, space);
    let is_reached = match holder.lane {
        Some(held) if !is_shared => wave == holder.wave && lane == held,
        _ => session.group_wave(wave) == session.group_wave(holder.wave),
    };
    if !is_reached {
        let whose = if is_shared { "work-group" } else { "wave or lane" };
        return Err(refused(&format!(
            "the address is in memory of another {whose}, which this pointer cannot hold"
        )));
    }
    let place =
        MemoryAddress { space, address: Address(offset.into()), wave: Some(holder.wave), lane: holder.lane };
    let number = match pointer.space {
        of if is_generic(of) => session.generic_address(place).map(|address| address.0),
        of if of == space => Some(offset.into()),
        _ => None,
    };
    number.ok_or_else(|| refused("the pointer has no number for that address space"))
}

/// Rejects bytes with an object's address in the client's form, at a place without a known pointer. `first`: the
/// address of the bytes, for their alignment.
///
/// # Errors
/// 8 bytes name an object of a served wave; in a longer write any aligned 8 bytes that lead to memory do.
pub(super) fn refuse_addresses(session: &dyn Inspect, first: u64, bytes: &[u8]) -> Result<(), ChangeError> {
    let is_one = bytes.len() as u64 == POINTER;
    let skipped = if is_one { 0 } else { (first.wrapping_neg() % POINTER) as usize };
    let aligned = bytes.get(skipped..).unwrap_or_default();
    for number in aligned.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)) {
        if names_object(session, number) && (is_one || leads_to_memory(session, number)) {
            return Err(refused(&format!(
                "{number:#x} is the address of an object as debuggers see it, and no type has a pointer there; \
                 `monitor set` writes the program's number"
            )));
        }
    }
    Ok(())
}

/// Whether a number is an object's address in the client's form, of a served wave and one of its lanes.
fn names_object(session: &dyn Waves, number: u64) -> bool {
    address::object(number).is_some_and(|(wave, lane)| {
        wave.is_none_or(|wave| session.has_wave(wave))
            && lane.is_none_or(|lane| session.kind().wave_size.has(lane))
    })
}

/// Whether such an address leads to memory, or to the variables of a window.
fn leads_to_memory(session: &dyn Inspect, number: u64) -> bool {
    /// Windows are sparse: their variables are at their beginning.
    const NEAR: u32 = 1 << 16;
    match address::decode(number) {
        Token::Space { space, wave, lane, offset } => {
            session.exists(MemoryAddress { space, address: Address(offset.into()), wave, lane })
        }
        Token::Window { offset, .. } => offset % STRIDE < NEAR,
        _ => false,
    }
}

fn is_generic(space: AddressSpace) -> bool {
    space == GLOBAL || space == GENERIC
}

/// Whether addresses of a space are global ones.
fn is_wide(session: &dyn Waves, space: AddressSpace) -> bool {
    session.kind().target.space(space).is_some_and(|space| space.address_bits > 32)
}

/// Whether all waves and lanes of a work-group share a space: LDS.
fn is_shared(session: &dyn Waves, space: AddressSpace) -> bool {
    session.kind().target.space(space).is_some_and(|space| matches!(space.scope, SpaceScope::WorkGroup))
}

pub(super) fn refused(why: &str) -> ChangeError {
    ChangeError::State(ValueState::Error(why.to_owned().into()))
}
