//! The values that a loop polls: addresses, contents, and expressions of the source.

use std::collections::{BTreeMap, HashMap};

use super::spin::{Compared, Poll};
use super::state::{CodePosition, Position};
use super::{NameInference, PolledValue};
use crate::arch::SpaceScope;
use crate::isa::{Access, LaneAccess, LaneAddress, ReadRegister as _, WaveContext};
use crate::session::address::GLOBAL;
use crate::session::print::{PartSort, PartsQuery, VariablePart};
use crate::session::{Inferred, Inspect, MemoryAddress, Scope, ValueState, Variable, WaveInfo};
use crate::triage::registers::{WaveRegisters, apertures};
use crate::triage::source::Line;
use crate::triage::walk::launch::Launches;
use crate::triage::walk::registers::Registers;
use crate::triage::walk::work::Work;
use crate::triage::{AddressOf, Confidence, SourceAt, Suspect, describe};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, Pc};

/// Maximum number of polled values whose names are searched for.
const MAX_NAMES: usize = 16;
/// Maximum number of waves whose overwritten registers are computed again.
const MAX_RECOVERED: usize = 64;
/// Maximum number of loads of a loop.
const MAX_LOADS: usize = 32;
/// Maximum number of frames whose variables are compared with a value in LDS: inlined calls are frames.
const MAX_FRAMES: usize = 4;
/// Maximum number of bytes of a polled value.
const MAX_BYTES: u16 = 8;

/// An expression and the inference behind it.
type Name = (String, Option<NameInference>);

/// The search for the polled values of all waves.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// Expressions by PC and address.
    names: HashMap<(u64, u64), Option<Name>>,
    recovered: usize,
    work: Work,
    /// Whether the addresses of some values stay unknown because of a limit.
    pub(super) is_cut: bool,
}

impl Search {
    /// The values that a wave polls, by address; at most `most`.
    pub(super) fn values(
        &mut self,
        session: &dyn Inspect,
        info: &WaveInfo,
        position: &Position,
        most: usize,
    ) -> Vec<PolledValue> {
        let (CodePosition::Polling(polls), Some(exec)) = (&position.place, info.exec) else {
            return Vec::new();
        };
        let mut values = Vec::new();
        for poll in polls.iter().take(MAX_LOADS) {
            let instruction = position.listing.instructions.get(poll.load);
            let effects = instruction.and_then(|one| one.effects().ok());
            let Some(access) = effects.and_then(|effects| effects.access.as_ref()) else { continue };
            let found = self.addresses(session, info, position, poll, access, exec);
            let mut by_address: BTreeMap<(AddressSpace, u64), Vec<AddressOf>> = BTreeMap::new();
            for one in found {
                by_address.entry((one.space, one.address)).or_default().push(one);
            }
            let left = most.saturating_sub(values.len());
            for ((space, address), of) in by_address.into_iter().take(left) {
                let place =
                    MemoryAddress { space, address: Address(address), wave: Some(info.wave), lane: None };
                let bytes = of.first().and_then(|of| of.bytes).unwrap_or(4).min(MAX_BYTES);
                let lanes = of.iter().filter_map(|of| of.lane).map(|lane| LaneSet::one(lane).0);
                let lanes = LaneSet(lanes.fold(0, |all, one| all | one));
                let name = self.name(session, info, position, poll, access, of);
                values.push(PolledValue {
                    address,
                    is_lds: is_lds(session, space),
                    bytes,
                    value: read(session, place, bytes),
                    compared: compared(session, info, poll, lanes, bytes),
                    comparison: poll.compared.and_then(|(_, comparison)| comparison),
                    lanes,
                    inferred: name.as_ref().and_then(|(_, inferred)| *inferred),
                    name: name.map(|(name, _)| name),
                });
            }
        }
        values
    }

    /// The addresses of a load in the active lanes; empty: they are unknown.
    fn addresses(
        &mut self,
        session: &dyn Inspect,
        info: &WaveInfo,
        position: &Position,
        poll: &Poll,
        access: &Access,
        exec: LaneSet,
    ) -> Vec<AddressOf> {
        let apertures = apertures(session, info.wave);
        if are_addresses_kept(position, poll.load) {
            let registers = WaveRegisters::new(session, info.wave);
            let context = WaveContext { arch: registers.arch(), exec, apertures: &apertures };
            return access.addresses(&context, &registers).into_iter().filter_map(known).collect();
        }
        // Unoptimised code loads the pointer again in each turn.
        self.recovered += 1;
        if self.recovered > MAX_RECOVERED {
            self.is_cut = true;
            return Vec::new();
        }
        let launches = Launches::default();
        let registers = Registers::new(session, info.wave, &apertures, &launches, &self.work);
        let paths = position.paths(&self.work);
        let found = position.route(poll.load).map(|route| paths.addresses_ahead(access, &route, &registers));
        self.is_cut |= self.work.has_cut_registers();
        found.unwrap_or_default().into_iter().filter_map(known).collect()
    }

    /// The expression of a polled value in the source, and its inference.
    fn name(
        &mut self,
        session: &dyn Inspect,
        info: &WaveInfo,
        position: &Position,
        poll: &Poll,
        access: &Access,
        addresses: Vec<AddressOf>,
    ) -> Option<Name> {
        let one = position.listing.instructions.get(poll.load)?;
        let pc = info.pc?;
        let key = (one.address, addresses.first()?.address);
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        if self.names.len() >= MAX_NAMES {
            return None;
        }
        if let Some((name, place)) = variable(session, info, Pc(one.address), addresses.first()?) {
            let name = (name, placed(place));
            self.names.insert(key, Some(name.clone()));
            return Some(name);
        }
        let file = one.file.as_ref().map(ToString::to_string);
        let text = file.as_deref().zip(one.line).and_then(|(file, line)| session.source_line(file, line));
        let named = text.as_deref().zip(addresses.first());
        if let Some(name) = named.and_then(|(line, of)| without_location(session, info, line, of)) {
            let name = (name, Some(NameInference::Line));
            self.names.insert(key, Some(name.clone()));
            return Some(name);
        }
        let lanes = addresses.iter().filter_map(|of| of.lane).map(|lane| LaneSet::one(lane).0);
        let mut polled = Suspect {
            wave: info.wave,
            pc: Pc(pc.0),
            instruction: one.address,
            text: one.text().into_owned(),
            distance: 0,
            access: access.clone(),
            lanes: LaneSet(lanes.fold(0, |all, one| all | one)),
            is_bound: false,
            addresses,
            origins: Vec::new(),
            written: Vec::new(),
            unknown: None,
            confidence: Confidence::Possible,
            evidence: Vec::new(),
            patterns: Vec::new(),
            also: Vec::new(),
            at: SourceAt { file, line: one.line, text, ..SourceAt::default() },
            frame: None,
            term: None,
        };
        describe(session, &[], &mut polled);
        let term = polled.term.filter(|term| !term.is_inferred || term.alternatives.is_empty());
        let name = term.map(|term| {
            let by_values = Some(NameInference::Values).filter(|_| term.is_inferred);
            (term.expression, by_values.or(placed(term.pointer.inferred)))
        });
        self.names.insert(key, name.clone());
        name
    }
}

/// The address of a lane's access, if known.
fn known(one: LaneAccess) -> Option<AddressOf> {
    let LaneAddress::Memory { space, address, global } = one.address else { return None };
    let global = global.map(|address| address.0);
    Some(AddressOf { lane: one.lane, space, address: address.0, global, bytes: one.bytes })
}

/// The inference behind the name of a variable in an inferred place.
fn placed(inferred: Inferred) -> Option<NameInference> {
    Some(inferred).filter(|inferred| !inferred.is_none()).map(NameInference::Place)
}

/// The variable, or the part of one, that is at an address, with the inferences behind its place.
fn variable(session: &dyn Inspect, info: &WaveInfo, at: Pc, of: &AddressOf) -> Option<(String, Inferred)> {
    let lane = of.lane.or_else(|| info.exec?.first()).unwrap_or(LaneId(0));
    let space = if of.global == Some(of.address) { GLOBAL } else { of.space };
    session.next_question();
    let asked = PartsQuery {
        wave: info.wave,
        lanes: LaneSet::one(lane),
        at,
        names: Vec::new(),
        has_globals: true,
        has_places: true,
        written: Vec::new(),
    };
    let parts = session.parts(&asked).ok()?.parts;
    let is_it = |part: &&VariablePart| {
        let PartSort::Place { bytes } = part.sort else { return false };
        let holds = |address: u64| of.address.checked_sub(address).is_some_and(|offset| offset < bytes);
        part.values.iter().any(|value| value.space == space && holds(value.address))
    };
    parts.iter().find(is_it).map(|part| (part.path.clone(), part.inferred))
}

/// The variable that a line names and that has the size of a value in LDS, but no location: clang describes no
/// locations of HIP's variables in LDS. `None`: none or several have these properties.
fn without_location(session: &dyn Inspect, info: &WaveInfo, line: &str, of: &AddressOf) -> Option<String> {
    if !is_lds(session, of.space) {
        return None;
    }
    let lane = of.lane.or_else(|| info.exec?.first()).unwrap_or(LaneId(0));
    let line = Line::new(line);
    let bytes = of.bytes.map(u64::from)?;
    let is_it = |one: &&Variable| {
        let is_placed = one.lanes.iter().any(|of| {
            of.located.is_some()
                || !matches!(of.state, ValueState::OptimizedOut(_) | ValueState::Unavailable(_))
        });
        let is_pointer = one.type_name.ends_with(['*', '&']);
        let is_local = one.scope != Scope::Argument && !is_placed && !is_pointer;
        is_local && one.size == Some(bytes) && line.has(&one.name)
    };
    session.next_question();
    for frame in 0..MAX_FRAMES {
        let found = session.locals(info.wave, LaneSet::one(lane), frame).ok()?;
        let mut named = found.variables.iter().filter(is_it);
        match (named.next(), named.next()) {
            (Some(only), None) => return Some(only.name.clone()),
            (None, _) => {}
            _ => return None,
        }
    }
    None
}

/// The number that the loop compares the loaded value with.
fn compared(session: &dyn Inspect, info: &WaveInfo, poll: &Poll, lanes: LaneSet, bytes: u16) -> Option<u64> {
    let mask = u64::MAX.checked_shr(64u32.checked_sub(8 * u32::from(bytes))?)?;
    let value = match poll.compared?.0 {
        Compared::Constant(value) => value.cast_unsigned(),
        Compared::Register(range) => {
            let registers = WaveRegisters::new(session, info.wave);
            let lane = lanes.first().or_else(|| info.exec?.first()).unwrap_or(LaneId(0));
            let dword = |index: u16| registers.dword(range.file, range.first.checked_add(index)?, lane);
            let high = if range.count > 1 { u64::from(dword(1)?) } else { 0 };
            u64::from(dword(0)?) | high << 32
        }
    };
    Some(value & mask)
}

/// Whether the registers of a load's address at the PC are those of its next or its last execution.
fn are_addresses_kept(position: &Position, load: usize) -> bool {
    let effects = |index: usize| {
        let one = position.listing.instructions.get(index)?;
        Some((one, one.effects().ok()?))
    };
    let Some((one, of_load)) = effects(load) else { return false };
    let mut address: Vec<_> = one.named_registers().collect();
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
