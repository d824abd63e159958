//! Pointers in private memory and LDS, within objects whose addresses a client has.
//!
//! A pointer of the program is the same number in every wave and lane: an address in an aperture. A client reads it as
//! the address of `&object`, with wave and lane; LDS has those of its work-group's representative. The types of
//! variables, and of their pointers' targets, locate pointers; a number alone never makes a pointer. Bytes without a
//! known type stay unchanged.
//!
//! LLDB caches lines of memory, thus the pointers of a line must be known before the server sends it. The first pointer
//! of a stack that a client requests adds all variables of the stack, and each pointer adds its target.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::tagged::{self, Holder};
use crate::arch::SpaceScope;
use crate::debuginfo::TypeId;
use crate::session::print::ObjectAt;
use crate::session::{ChangeError, Inspect, MemoryAddress, PointerAt, Waves};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// The maximum of recorded pointers and variables; beyond it all are dropped.
const MAX_KNOWN: usize = 1 << 16;
/// Passes over one read: each may find targets of its pointers in the same bytes.
const MAX_PASSES: usize = 16;
/// The maximum of pointers to follow for one object: its own, and those in their targets.
const MAX_FOLLOWED: usize = 1 << 12;
/// Bytes of a pointer with an address in the client's form. Smaller pointers are numbers for a client, except in
/// variables.
pub(super) const POINTER: u64 = 8;

/// Known types of one client's memory.
#[derive(Debug, Default)]
pub struct TypedMemory(RefCell<Known>);

/// An object of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    /// The code object of the type.
    pub(super) code_object: usize,
    pub(super) type_id: TypeId,
    /// In bytes.
    pub(super) size: u64,
    /// Whether it exists only if a union's pointer to it is the active member.
    pub(super) is_shared: bool,
}

/// The owner of memory: LDS belongs to the work-group's first served wave, as in its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Owner {
    space: AddressSpace,
    wave: WaveId,
    lane: Option<LaneId>,
}

/// A pointer of 8 bytes, and the code object of its type.
#[derive(Clone, Copy, Debug)]
struct Cell {
    pointer: PointerAt,
    code_object: usize,
}

impl Cell {
    /// Its target, if its type gives one.
    fn target(&self) -> Option<Typed> {
        let Self { pointer, code_object } = *self;
        let (type_id, size) = pointer.to?;
        Some(Typed { code_object, type_id, size, is_shared: pointer.is_shared })
    }
}

/// By address.
#[derive(Debug, Default)]
struct Cells {
    pointers: BTreeMap<u64, Cell>,
    /// Variables: start and end of each.
    variables: BTreeMap<u64, u64>,
}

impl Cells {
    fn len(&self) -> usize {
        self.pointers.len() + self.variables.len()
    }
}

#[derive(Debug, Default)]
struct Known {
    owners: HashMap<Owner, Cells>,
    /// Pointers and variables of all owners.
    count: usize,
    /// Stacks with recorded variables, for one generation of the session.
    stacks: HashSet<(WaveId, LaneId, bool)>,
    generation: u64,
}

/// A pointer without a recorded target: its place, its holder and its type.
type Found = (MemoryAddress, Cell);

impl TypedMemory {
    /// Records the variables of a stack, once.
    pub(super) fn stack(&self, session: &dyn Inspect, wave: WaveId, lane: LaneId, own_stack: bool) {
        {
            let mut known = self.0.borrow_mut();
            let generation = session.generation();
            if known.generation != generation {
                known.generation = generation;
                known.stacks.clear();
            }
            if !known.stacks.insert((wave, lane, own_stack)) {
                return;
            }
        }
        for object in session.with_pointers(wave, lane, own_stack).unwrap_or_default() {
            let ObjectAt { code_object, type_id, size, .. } = object;
            let typed = Typed { code_object, type_id, size, is_shared: false };
            self.variable(session, object.place, typed);
        }
    }

    /// Records a variable. It replaces earlier types of its bytes.
    pub(super) fn variable(&self, session: &dyn Inspect, place: MemoryAddress, typed: Typed) {
        self.0.borrow_mut().learn(session, place, typed, true);
    }

    /// Records a pointer's target. Types from variables take precedence for these bytes.
    pub(super) fn target(
        &self,
        session: &dyn Inspect,
        place: MemoryAddress,
        code_object: usize,
        pointer: &PointerAt,
    ) {
        self.0.borrow_mut().learn_target(session, place, Cell { pointer: *pointer, code_object });
    }

    /// Converts the pointers in bytes that were read from a place on to the client's form.
    pub fn show(&self, session: &dyn Inspect, place: MemoryAddress, bytes: &mut [u8]) {
        let mut known = self.0.borrow_mut();
        let Some(owner) = owner(session, place) else { return };
        // A pointer's target may have pointers in the same bytes.
        for _ in 0..MAX_PASSES {
            let before = known.count;
            for (at, cell) in known.within(owner, place.address.0, bytes.len() as u64) {
                let from = MemoryAddress { address: Address(at), ..place };
                let Some((shown, to)) = known.follow_one(session, from, cell) else { continue };
                if let Some(to) = to {
                    known.learn_target(session, to, cell);
                }
                overlay(bytes, place.address.0, at, &shown.to_le_bytes());
            }
            if known.count == before {
                return;
            }
        }
    }

    /// The bytes to write at a place for a client's bytes: with pointers in the program's form.
    ///
    /// # Errors
    /// Only another wave or lane has the pointer; the bytes are a part of a pointer; an object's address is at a place
    /// without a known type.
    pub fn written(
        &self,
        session: &dyn Inspect,
        place: MemoryAddress,
        bytes: &[u8],
    ) -> Result<Vec<u8>, ChangeError> {
        let known = self.0.borrow();
        let mut written = bytes.to_vec();
        let end = place.address.0.saturating_add(bytes.len() as u64);
        let cells =
            owner(session, place).map(|owner| known.within(owner, place.address.0, bytes.len() as u64));
        for (at, cell) in cells.unwrap_or_default() {
            let holder = Holder::of(session, place);
            let mut current = [0; POINTER as usize];
            let from = MemoryAddress { address: Address(at), ..place };
            let shown = match known.follow_one(session, from, cell) {
                Some((shown, _)) => shown,
                None if session.read(from, &mut current) == Ok(current.len()) => u64::from_le_bytes(current),
                None => 0,
            };
            let mut new = shown.to_le_bytes();
            overlay(&mut new, at, place.address.0, bytes);
            let part = place.address.0.saturating_sub(at)..end.saturating_sub(at).min(POINTER);
            let new = u64::from_le_bytes(new);
            if let Some(number) = tagged::stored(session, holder, &cell.pointer, shown, new, part)? {
                overlay(&mut written, place.address.0, at, &number.to_le_bytes());
            }
        }
        tagged::refuse_addresses(session, place.address.0, &written)?;
        Ok(written)
    }
}

impl Known {
    /// The pointers that overlap some bytes.
    fn within(&self, owner: Owner, at: u64, length: u64) -> Vec<(u64, Cell)> {
        let Some(cells) = self.owners.get(&owner) else { return Vec::new() };
        let range = at.saturating_sub(POINTER - 1)..at.saturating_add(length);
        cells.pointers.range(range).map(|(at, cell)| (*at, *cell)).collect()
    }

    fn learn(&mut self, session: &dyn Inspect, place: MemoryAddress, typed: Typed, is_variable: bool) {
        let mut found = Vec::new();
        let mut looked_at = self.add(session, place, typed, is_variable, &mut found);
        while let Some((from, cell)) = found.pop() {
            looked_at += 1;
            if looked_at > MAX_FOLLOWED {
                return;
            }
            if let Some((_, Some(to))) = self.follow_one(session, from, cell)
                && let Some(typed) = cell.target()
            {
                looked_at += self.add(session, to, typed, false, &mut found);
            }
        }
    }

    fn learn_target(&mut self, session: &dyn Inspect, to: MemoryAddress, cell: Cell) {
        if let Some(typed) = cell.target() {
            self.learn(session, to, typed, false);
        }
    }

    /// Adds the pointers of an object, the new ones also to `found`; returns their number.
    fn add(
        &mut self,
        session: &dyn Inspect,
        place: MemoryAddress,
        typed: Typed,
        is_variable: bool,
        found: &mut Vec<Found>,
    ) -> usize {
        let Some(owner) = owner(session, place) else { return 0 };
        let start = place.address.0;
        let Some(end) = start.checked_add(typed.size).filter(|end| *end <= 1 << 32) else { return 0 };
        let pointers = session.pointers_in(typed.code_object, typed.type_id);
        if self.count.saturating_add(pointers.len()) >= MAX_KNOWN {
            (self.owners, self.count) = (HashMap::new(), 0);
            self.stacks.clear();
        }
        if pointers.is_empty() && !is_variable {
            return 0;
        }
        let cells = self.owners.entry(owner).or_default();
        let before = cells.len();
        if is_variable {
            cells.variables.retain(|from, to| *to <= start || *from >= end);
            cells.variables.insert(start, end);
            let of_it: HashMap<u64, &PointerAt> =
                shown(&pointers).map(|pointer| (start.saturating_add(pointer.offset), pointer)).collect();
            let stale: Vec<u64> = cells
                .pointers
                .range(start.saturating_sub(POINTER - 1)..end)
                .map(|(at, _)| *at)
                .filter(|at| !of_it.contains_key(at))
                .collect();
            for at in stale {
                cells.pointers.remove(&at);
            }
        }
        for pointer in shown(&pointers) {
            let at = start.saturating_add(pointer.offset);
            let is_shared = pointer.is_shared || typed.is_shared;
            let pointer = PointerAt { is_shared, ..*pointer };
            let cell = Cell { pointer, code_object: typed.code_object };
            let from = MemoryAddress { address: Address(at), ..place };
            match cells.pointers.get_mut(&at) {
                Some(there) if is_variable => {
                    *there = cell;
                    found.push((from, cell));
                }
                Some(_) => {}
                None => {
                    let holder = cells.variables.range(..=at).next_back();
                    let is_others = holder.is_some_and(|(_, end)| at < *end) && !is_variable;
                    let range = at.saturating_sub(POINTER - 1)..at.saturating_add(POINTER);
                    if !is_others && cells.pointers.range(range).next().is_none() {
                        cells.pointers.insert(at, cell);
                        found.push((from, cell));
                    }
                }
            }
        }
        self.count = (self.count + cells.len()).saturating_sub(before);
        pointers.len()
    }

    /// The client form of a pointer, and its target in private memory or LDS. `None` if its bytes were not captured.
    fn follow_one(
        &self,
        session: &dyn Inspect,
        from: MemoryAddress,
        cell: Cell,
    ) -> Option<(u64, Option<MemoryAddress>)> {
        let mut raw = [0; POINTER as usize];
        if session.read(from, &mut raw).ok()? < raw.len() {
            return None;
        }
        let raw = u64::from_le_bytes(raw);
        let holder = Holder::of(session, from);
        Some(match tagged::target(session, holder, &cell.pointer, raw) {
            Some((place, shown)) => (shown, Some(place)),
            None => (raw, None),
        })
    }
}

/// Pointers with another address in the client's form.
pub(super) fn shown(pointers: &[PointerAt]) -> impl Iterator<Item = &PointerAt> {
    pointers.iter().filter(|pointer| u64::from(pointer.bytes) == POINTER)
}

/// Copies the part of `from`, which begins at `at`, that overlaps `bytes`, which begin at `start`.
pub(super) fn overlay(bytes: &mut [u8], start: u64, at: u64, from: &[u8]) {
    for (index, byte) in from.iter().enumerate() {
        let to = at.checked_add(index as u64).and_then(|at| at.checked_sub(start));
        if let Some(to) = to.and_then(|to| bytes.get_mut(usize::try_from(to).ok()?)) {
            *to = *byte;
        }
    }
}

/// The owner of the memory at a place; `None` outside of a lane's private memory and LDS.
fn owner(session: &dyn Waves, place: MemoryAddress) -> Option<Owner> {
    let wave = place.wave?;
    let (wave, lane) = match session.kind().target.space(place.space)?.scope {
        SpaceScope::WorkGroup => (session.group_wave(wave), None),
        SpaceScope::Lane => (wave, Some(place.lane?)),
        _ => return None,
    };
    Some(Owner { space: place.space, wave, lane })
}
