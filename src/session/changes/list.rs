//! The list of a client's changes, and their removal.

use super::write::aliases_of;
use super::{Layer, Owner};
use crate::arch::{RegId, SpaceScope, WaveArch};
use crate::session::reading::address::GLOBAL;
use crate::session::reading::reader::Reader;
use crate::session::{MemoryAddress, ReadError};
use crate::units::{Address, LaneId, WaveId};

/// Bytes shown of a run of changed memory.
pub const SHOWN_BYTES: usize = 16;

/// The differences from the capture, in order, up to the requested limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Dwords of registers.
    pub registers: Vec<RegisterChange>,
    /// Runs of memory.
    pub memory: Vec<MemoryChange>,
    /// Number of dwords and runs beyond the limit.
    pub left_out: usize,
}

/// A dword of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// The wave.
    pub wave: WaveId,
    /// The dump's id of it.
    pub id: u32,
    /// The register.
    pub name: String,
    /// Registers stored in it: `vcc`.
    pub aliases: Vec<String>,
    /// The lane of a vector.
    pub lane: Option<LaneId>,
    /// The dword of a register that has two, 0 for the low one.
    pub dword: Option<u16>,
    /// The captured value; `None`: not captured.
    pub old: Option<u32>,
    /// The current value.
    pub new: u32,
}

/// A run of bytes of memory. Private memory is listed by lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryChange {
    /// The first byte; LDS and private memory have the wave that owns them.
    pub place: MemoryAddress,
    /// The place as text.
    pub words: String,
    /// Bytes of the run.
    pub length: u64,
    /// The captured value of the first [`SHOWN_BYTES`] bytes; `None`: not captured.
    pub old: Vec<Option<u8>>,
    /// The current value of those bytes.
    pub new: Vec<u8>,
}

/// The changes to drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// All changes.
    All,
    /// Changes of registers.
    Registers,
    /// Changes of memory.
    Memory,
}

/// The dropped changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Dwords of registers.
    pub dwords: u64,
    /// Bytes of memory.
    pub bytes: u64,
}

impl Reader {
    /// Returns the differences from the capture: at most `most` dwords of registers and runs of memory.
    ///
    /// # Errors
    /// The operating system's error for a file.
    pub fn changes(&self, most: usize) -> Result<Changes, ReadError> {
        let mut found = Changes::default();
        for ((id, register), value) in &self.changes.registers {
            for index in (0..value.dwords()).filter(|index| value.knows(*index)) {
                if found.registers.len() >= most {
                    found.left_out += 1;
                } else if let Some(new) = value.dword(index) {
                    found.registers.push(self.changed_register(*id, *register, index, new)?);
                }
            }
        }
        for owner in self.changes.memory.owners() {
            self.changed_memory(owner, most, &mut found);
        }
        Ok(found)
    }

    fn changed_register(
        &self,
        id: WaveId,
        register: RegId,
        index: u16,
        new: u32,
    ) -> Result<RegisterChange, ReadError> {
        let (wave, known) = self.described(id, register)?;
        let old = self.names(id, register, index)?.into_iter().flatten().next();
        let aliases = aliases_of(wave, register).into_iter();
        let is_vector = known.is_vector();
        Ok(RegisterChange {
            wave: id,
            id: wave.id,
            name: known.name.clone(),
            aliases: aliases.filter_map(|(alias, _)| Some(wave.kind.register(alias)?.name.clone())).collect(),
            lane: is_vector.then_some(LaneId(index as u8)),
            dword: (!is_vector && known.dwords > 1).then_some(index),
            old,
            new,
        })
    }

    fn changed_memory(&self, owner: Owner, most: usize, found: &mut Changes) {
        let capture = self.dump().capture();
        let wave = match owner {
            Owner::Global => None,
            Owner::Wave(id) => Some(id),
            Owner::Group(index) => {
                let of = capture.waves.iter().position(|wave| wave.workgroup == Some(index));
                of.and_then(|ordinal| u32::try_from(ordinal).ok()).map(WaveId)
            }
        };
        let kind = wave.and_then(|wave| capture.wave(wave)).map(|wave| &wave.kind);
        let space_of = |scope: SpaceScope| {
            let found = kind.and_then(|kind| kind.target.spaces.iter().find(|space| space.scope == scope));
            found.map_or(GLOBAL, |space| space.id)
        };
        let mut runs: Vec<(MemoryAddress, u64)> = Vec::new();
        let plain = |space, address| MemoryAddress { space, address: Address(address), wave, lane: None };
        for (first, last) in self.changes.memory.runs(owner) {
            match (owner, kind) {
                (Owner::Global, _) => runs.push((plain(GLOBAL, first), last - first + 1)),
                (Owner::Group(_), _) => {
                    runs.push((plain(space_of(SpaceScope::WorkGroup), first), last - first + 1))
                }
                (Owner::Wave(_), None) => {}
                (Owner::Wave(_), Some(kind)) => {
                    // Every byte belongs to a lane; a row has one dword of each lane.
                    let space = space_of(SpaceScope::Lane);
                    let mut at = first;
                    while at <= last {
                        let (lane, address) = kind.private_lane(Address(at));
                        let length = kind.private_run(address).min(last - at + 1);
                        runs.push((MemoryAddress { space, address, wave, lane: Some(lane) }, length));
                        at += length;
                    }
                }
            }
        }
        if matches!(owner, Owner::Wave(_)) {
            runs.sort_by_key(|(place, _)| (place.lane, place.address));
            runs.dedup_by(|(next, more), (before, length)| {
                let touches = next.lane == before.lane && before.address.0 + *length == next.address.0;
                if touches {
                    *length += *more;
                }
                touches
            });
        }
        for (place, length) in runs {
            if found.memory.len() >= most {
                found.left_out += 1;
                continue;
            }
            found.memory.push(self.changed_run(place, length, owner, kind.map(|kind| &**kind)));
        }
    }

    fn changed_run(
        &self,
        place: MemoryAddress,
        length: u64,
        owner: Owner,
        kind: Option<&WaveArch>,
    ) -> MemoryChange {
        let mut new = vec![0; SHOWN_BYTES.min(usize::try_from(length).unwrap_or(SHOWN_BYTES))];
        let got = self.read_if_captured(place, &mut new);
        new.truncate(got);
        let old = (0u64..).zip(&new).map(|(index, _)| {
            let at = Address(place.address.0 + index);
            let at = match (owner, place.lane) {
                (Owner::Wave(_), Some(lane)) => kind?.private_wave(lane, at)?,
                _ => at,
            };
            let mut byte = [0];
            (self.read_captured(owner, at.0, &mut byte) == 1).then_some(byte[0])
        });
        MemoryChange { place, words: self.describe(place), length, old: old.collect(), new }
    }

    /// Drops changes: everything reads as captured again.
    pub fn reset(&mut self, what: Reset) -> Dropped {
        let Layer { registers, memory } = &mut self.changes;
        let mut dropped = Dropped::default();
        if what != Reset::Memory {
            let dwords = registers.values().map(|value| u64::from(value.known().count_ones()));
            dropped.dwords = dwords.sum();
            registers.clear();
        }
        if what != Reset::Registers {
            dropped.bytes = memory.bytes();
            *memory = super::Memory::default();
        }
        self.generation += 1;
        dropped
    }
}
