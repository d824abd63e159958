//! The values that a loop polls: addresses, contents, and names of variables.

use std::collections::BTreeMap;

use super::PolledValue;
use super::state::{CodePosition, Position};
use crate::arch::SpaceScope;
use crate::isa::{LaneAddress, WaveContext, named_registers};
use crate::session::{Byte, Inspect, LaneValue, MemoryAddress, WaveInfo};
use crate::triage::registers::{WaveRegisters, apertures};
use crate::units::{Address, AddressSpace, LaneId, LaneSet};

/// Maximum number of frames whose variables may name a polled value.
const MAX_FRAMES: usize = 4;
/// Maximum number of elements between a pointer and a polled element.
const MAX_INDEX: u64 = 1 << 20;
/// Maximum number of bytes of a polled value.
const MAX_BYTES: u16 = 8;

/// Maximum number of loads of a loop.
const MAX_LOADS: usize = 32;

/// The values that a wave polls, by address; at most `most`.
pub(super) fn values(
    session: &dyn Inspect,
    info: &WaveInfo,
    position: &Position,
    most: usize,
) -> Vec<PolledValue> {
    let (CodePosition::Polling(loads), Some(exec)) = (&position.place, info.exec) else { return Vec::new() };
    let registers = WaveRegisters::new(session, info.wave);
    let apertures = apertures(session, info.wave);
    let context = WaveContext { arch: registers.arch(), exec, apertures: &apertures };
    let mut found: BTreeMap<(AddressSpace, u64), (Option<u16>, LaneSet)> = BTreeMap::new();
    for load in loads.iter().take(MAX_LOADS).filter(|load| are_addresses_kept(position, **load)) {
        let instruction = position.listing.instructions.get(*load);
        let effects = instruction.and_then(|one| one.effects.as_ref().ok());
        let Some(access) = effects.and_then(|effects| effects.access.as_ref()) else { continue };
        for one in access.addresses(&context, &registers) {
            let LaneAddress::Memory { space, address, .. } = one.address else { continue };
            let (_, lanes) = found.entry((space, address.0)).or_insert((one.bytes, LaneSet::EMPTY));
            *lanes = LaneSet(lanes.0 | one.lane.map_or(0, |lane| LaneSet::one(lane).0));
        }
    }
    let each = found.into_iter().take(most).map(|((space, address), (bytes, lanes))| {
        let place = MemoryAddress { space, address: Address(address), wave: Some(info.wave), lane: None };
        let bytes = bytes.unwrap_or(4).min(MAX_BYTES);
        PolledValue {
            address,
            is_lds: is_lds(session, space),
            bytes,
            value: read(session, place, bytes),
            lanes,
            name: None,
        }
    });
    each.collect()
}

/// Whether the registers of a load's address at the PC are those of its next or its last execution.
fn are_addresses_kept(position: &Position, load: usize) -> bool {
    let effects = |index: usize| {
        let one = position.listing.instructions.get(index)?;
        Some((one, one.effects.as_ref().ok()?))
    };
    let Some((one, of_load)) = effects(load) else { return false };
    let mut address = named_registers(&one.text);
    for data in of_load.access.iter().flat_map(|access| &access.data) {
        if let Some(at) = address.iter().position(|range| range == data) {
            address.remove(at);
        }
    }
    let writes = |index: usize| {
        let Some((_, effects)) = effects(index) else { return true };
        effects.writes.iter().any(|write| address.iter().any(|range| range.overlaps(write.range)))
    };
    // Executed between the PC and the next execution of the load, and since the last one, the load itself included.
    let pc = position.index;
    let (mut until_next, mut since_last) = (false, false);
    for index in position.body.iter().copied().filter(|index| writes(*index)) {
        let is_ahead = if pc <= load { (pc..load).contains(&index) } else { index >= pc || index < load };
        until_next |= is_ahead;
        since_last |= !is_ahead;
    }
    !until_next || !since_last
}

fn is_lds(session: &dyn Inspect, space: AddressSpace) -> bool {
    let kind = session.kind();
    let found = kind.target.spaces.iter().find(|known| known.id == space);
    found.is_some_and(|space| space.scope == SpaceScope::WorkGroup)
}

fn read(session: &dyn Inspect, place: MemoryAddress, bytes: u16) -> Option<u64> {
    let mut buffer = [0; 8];
    let part = buffer.get_mut(..usize::from(bytes))?;
    (session.read(place, part).ok()? == part.len()).then_some(())?;
    Some(u64::from_le_bytes(buffer))
}

/// The expression of a polled value: a pointer variable that leads there, or the only array with it in one allocation.
pub(super) fn name(session: &dyn Inspect, info: &WaveInfo, polled: &PolledValue) -> Option<String> {
    let lane = polled.lanes.first().or_else(|| info.exec?.first()).unwrap_or(LaneId(0));
    let target = generic(session, info, polled, lane);
    let region = session.region(target, info.wave);
    let mut elements: Vec<String> = Vec::new();
    for frame in 0..MAX_FRAMES {
        let Ok(locals) = session.locals(info.wave, LaneSet::one(lane), frame) else { break };
        for variable in locals.variables.iter().rev() {
            let Some(element) = variable.type_name.strip_suffix('*') else { continue };
            let Some(value) = variable.lanes.first().and_then(pointer) else { continue };
            if value == target {
                return Some(format!("*{}", variable.name));
            }
            let distance = target.checked_sub(value).filter(|_| region.start <= value);
            let Some((distance, size)) = distance.zip(element_size(element).map(u64::from)) else { continue };
            if distance % size == 0 && distance / size < MAX_INDEX {
                elements.push(format!("{}[{}]", variable.name, distance / size));
            }
        }
    }
    elements.dedup();
    elements.pop().filter(|_| elements.is_empty())
}

/// The generic address of a polled value, which pointers hold.
fn generic(session: &dyn Inspect, info: &WaveInfo, polled: &PolledValue, lane: LaneId) -> u64 {
    let kind = session.kind();
    let space = kind.target.spaces.iter().find(|space| space.scope == SpaceScope::WorkGroup);
    let Some(space) = space.filter(|_| polled.is_lds) else { return polled.address };
    let address = Address(polled.address);
    let place = MemoryAddress { space: space.id, address, wave: Some(info.wave), lane: Some(lane) };
    session.generic_address(place).map_or(polled.address, |address| address.0)
}

/// The value of a pointer of 8 bytes.
fn pointer(value: &LaneValue) -> Option<u64> {
    let known = |byte: &Byte| match byte {
        Byte::Known(byte) => Some(*byte),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = value.bytes.iter().map(known).collect();
    let bytes: [u8; 8] = bytes?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes)).filter(|value| *value != 0)
}

/// The size of a fundamental type in bytes; `None`: another type.
fn element_size(name: &str) -> Option<u8> {
    let words =
        name.split_whitespace().filter(|word| !matches!(*word, "const" | "volatile" | "signed" | "unsigned"));
    let words: Vec<&str> = words.collect();
    Some(match words.as_slice() {
        ["char" | "bool" | "uchar" | "int8_t" | "uint8_t"] => 1,
        ["short" | "ushort" | "int16_t" | "uint16_t"] | ["short", "int"] => 2,
        [] | ["int" | "uint" | "float" | "int32_t" | "uint32_t"] => 4,
        ["long" | "ulong" | "double" | "int64_t" | "uint64_t" | "size_t"]
        | ["long", "int" | "long"]
        | ["long", "long", "int"] => 8,
        _ => return None,
    })
}
