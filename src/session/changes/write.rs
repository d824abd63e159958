//! Validation and commit of writes: all of a batch or nothing.
//!
//! Uncaptured registers are writable: their value is known then. Memory is writable if it was captured, if a code
//! object is loaded there, or if its owner is known to have that much. Owners are work-groups (LDS) and waves (private
//! memory). Writes to other memory are rejected: its existence is unknown.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::batch::{Batch, Masked};
use super::{Layer, MAX_CHANGED_PIECES, MAX_CHANGED_REGISTERS, Owner, PIECE};
use crate::arch::{RegId, RegisterValue};
use crate::dwarf;
use crate::session::print::ParseError;
use crate::session::reading::reader::{Reader, alias_slots};
use crate::session::reading::stored::{Linear, Storage};
use crate::session::{MemoryAddress, ReadError, ValueState};
use crate::units::WaveId;

/// Reasons that a write fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// There is no such wave, lane, space or frame.
    #[error(transparent)]
    ReadError(#[from] ReadError),
    /// Memory is not known to exist here.
    #[error("{0} cannot be written: nothing was captured there, and no memory is known there")]
    NoMemory(String),
    /// The number of bytes differs from the register's or object's.
    #[error("{what} takes {expected} bytes, not {given}")]
    Size {
        /// Register or object.
        what: String,
        /// Its size in bytes.
        expected: u64,
        /// Number of bytes given.
        given: u64,
    },
    /// The write covers a part of a dword or byte, and the rest of it is unknown.
    #[error("{0} was not captured, and only a part of it would be written")]
    PartOf(String),
    /// The session's limit of changes.
    #[error("more than {limit} {what} would be changed: `monitor reset` drops changes")]
    Limit {
        /// The unit of the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The object at a DWARF location.
    #[error(transparent)]
    Object(#[from] dwarf::write::WriteError),
    /// A location leads to callers' registers that cannot be located.
    #[error("{0}")]
    Location(dwarf::Error),
    /// It has no storage.
    #[error("{what} is {why}: there is nothing to write")]
    Nowhere {
        /// The path or object.
        what: String,
        /// Its state.
        why: &'static str,
    },
    /// A path does not parse.
    #[error("{0}")]
    Path(#[from] ParseError),
    /// A path has no object, or the new value is missing.
    #[error("{}", .0.words())]
    State(ValueState),
}

/// A batch with its bits combined and validated.
#[derive(Debug, Default)]
struct Settled {
    /// A dword, and whether it equals the captured value.
    registers: Vec<((WaveId, RegId, u16), u32, bool)>,
    memory: Vec<((Owner, u64), u8, bool)>,
}

impl Reader {
    /// Writes a whole register of a wave, lowest byte first.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    pub fn write_register(&mut self, id: WaveId, register: RegId, bytes: &[u8]) -> Result<(), ChangeError> {
        let mut batch = Batch::default();
        let (_, known) = self.described(id, register)?;
        if bytes.len() != known.bytes() {
            let (expected, given) = (known.bytes() as u64, bytes.len() as u64);
            return Err(ChangeError::Size { what: known.name.clone(), expected, given });
        }
        let all = vec![0xff; bytes.len()];
        self.add_register(&mut batch, id, register, 0, bytes, &all)?;
        self.commit(&batch)
    }

    /// Writes memory from a place on.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    pub fn write(&mut self, place: MemoryAddress, bytes: &[u8]) -> Result<(), ChangeError> {
        let mut batch = Batch::default();
        self.add_memory(&mut batch, place, bytes, &vec![0xff; bytes.len()])?;
        self.commit(&batch)
    }

    /// Adds bytes of a register from its byte `first` on; `mask` has the valid bits. Returns whether one of the bits
    /// already had another value.
    pub(in crate::session) fn add_register(
        &self,
        batch: &mut Batch,
        id: WaveId,
        register: RegId,
        first: u64,
        bytes: &[u8],
        mask: &[u8],
    ) -> Result<bool, ChangeError> {
        let (wave, known) = self.described(id, register)?;
        let slots = alias_slots(wave, known);
        let mut contradicts = false;
        for (at, (byte, mask)) in (first..).zip(bytes.iter().zip(mask)) {
            let dword = u16::try_from(at / 4).ok().filter(|dword| *dword < known.dwords);
            let Some(dword) = dword else {
                let (expected, given) = (known.bytes() as u64, first.saturating_add(bytes.len() as u64));
                return Err(ChangeError::Size { what: known.name.clone(), expected, given });
            };
            let (of, index) = match slots.as_ref().and_then(|slots| slots.get(usize::from(dword))) {
                Some(slot) => (*slot, 0),
                None => (register, dword),
            };
            let shift = (at % 4) * 8;
            let new = Masked { value: u32::from(*byte) << shift, mask: u32::from(*mask) << shift };
            contradicts |= batch.registers.entry((id, of, index)).or_default().put(new);
        }
        Ok(contradicts)
    }

    /// Adds bytes of memory from a place on; `mask` has the valid bits. Returns whether one of the bits already had
    /// another value.
    pub(super) fn add_memory(
        &self,
        batch: &mut Batch,
        place: MemoryAddress,
        bytes: &[u8],
        mask: &[u8],
    ) -> Result<bool, ChangeError> {
        let storage = self.storage(place)?;
        let nowhere = |at: u64| {
            let address = crate::units::Address(place.address.0.wrapping_add(at));
            ChangeError::NoMemory(self.describe(MemoryAddress { address, ..place }))
        };
        let mut contradicts = false;
        // The known range of existing addresses around the current byte.
        let mut reach: Option<(u64, u64)> = None;
        for (index, (byte, mask)) in (0u64..).zip(bytes.iter().zip(mask)) {
            let (owner, at) = stored(storage, index).ok_or_else(|| nowhere(index))?;
            if !reach.is_some_and(|(first, last)| (first..=last).contains(&at)) {
                reach = Some((at, self.last_existing(storage, at).ok_or_else(|| nowhere(index))?));
            }
            let new = Masked { value: *byte, mask: *mask };
            contradicts |= batch.memory.entry((owner, at)).or_default().put(new);
        }
        Ok(contradicts)
    }

    /// Whether memory is known to exist at a place, captured or not.
    pub(in crate::session) fn exists(&self, place: MemoryAddress) -> bool {
        let first = self.storage(place).ok().and_then(|storage| Some((storage, stored(storage, 0)?)));
        first.is_some_and(|(storage, (_, at))| self.last_existing(storage, at).is_some())
    }

    /// The last address of the run of memory, captured or known to exist, that holds an address.
    fn last_existing(&self, storage: Storage<'_>, at: u64) -> Option<u64> {
        let capture = self.dump().capture();
        let linear = |memory: Linear<'_>| {
            let owned = memory.size.and_then(|size| size.checked_sub(1)).filter(|last| at <= *last);
            owned.or_else(|| memory.map.find(at).map(crate::capture::Segment::last))
        };
        match storage {
            Storage::Linear(memory, _) | Storage::Swizzled(memory, ..) => linear(memory),
            Storage::Global(_, agent) => {
                let captured = capture.global.find(at).map(crate::capture::Segment::last);
                captured.or_else(|| self.dump().objects().segment_end(capture, at, agent))
            }
        }
    }

    /// Whether a batch is writable.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub(super) fn check(&self, batch: &Batch) -> Result<(), ChangeError> {
        self.settle(batch).map(drop)
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// [`ChangeError`]; nothing was written.
    pub(in crate::session) fn commit(&mut self, batch: &Batch) -> Result<(), ChangeError> {
        let settled = self.settle(batch)?;
        let Layer { registers, memory } = &mut self.changes;
        for ((wave, register, index), dword, as_captured) in settled.registers {
            match (registers.entry((wave, register)), as_captured) {
                (Entry::Occupied(mut there), true) => {
                    let value = there.get_mut();
                    value.set_known(value.known() & !(1 << index));
                    if value.known() == 0 {
                        there.remove();
                    }
                }
                (Entry::Vacant(_), true) => {}
                (entry, false) => {
                    // Wide enough for every register: its known dwords are the changed ones.
                    entry.or_insert_with(|| RegisterValue::unknown(u16::MAX)).set_dword(index, dword);
                }
            }
        }
        for ((owner, at), byte, as_captured) in settled.memory {
            if as_captured {
                memory.clear(owner, at);
            } else {
                memory.set(owner, at, byte);
            }
        }
        self.generation += 1;
        Ok(())
    }

    fn settle(&self, batch: &Batch) -> Result<Settled, ChangeError> {
        let mut settled = Settled::default();
        let mut registers = self.changes.registers.len();
        let mut last = None;
        for ((wave, register, index), new) in &batch.registers {
            let (_, known) = self.described(*wave, *register)?;
            let names = self.names(*wave, *register, *index)?;
            let mut dword = new.value;
            if new.mask != u32::MAX {
                let current = self.register(*wave, *register)?.dword(*index);
                let current = current.or_else(|| names.iter().find_map(|name| *name));
                let Some(current) = current else {
                    let lane = if known.is_vector() { format!("[lane {index}]") } else { String::new() };
                    return Err(ChangeError::PartOf(format!("{}{lane}", known.name)));
                };
                dword = current & !new.mask | new.value & new.mask;
            }
            let mut captured = names.into_iter().flatten().peekable();
            let as_captured = captured.peek().is_some() && captured.all(|there| there == dword);
            settled.registers.push(((*wave, *register, *index), dword, as_captured));
            if !as_captured
                && last != Some((*wave, *register))
                && !self.changes.registers.contains_key(&(*wave, *register))
            {
                registers += 1;
                last = Some((*wave, *register));
            }
        }
        if registers > MAX_CHANGED_REGISTERS {
            return Err(ChangeError::Limit { what: "registers", limit: MAX_CHANGED_REGISTERS });
        }
        self.settle_memory(batch, &mut settled)?;
        Ok(settled)
    }

    fn settle_memory(&self, batch: &Batch, settled: &mut Settled) -> Result<(), ChangeError> {
        let mut pieces = self.changes.memory.pieces();
        let mut last = None;
        let mut captured = Captured::default();
        for ((owner, at), new) in &batch.memory {
            let before = captured.byte(self, *owner, *at, &batch.memory);
            let mut byte = new.value;
            if new.mask != 0xff {
                let current = match self.changes.memory.run(*owner, *at, 1) {
                    super::Run::Changed(bytes) => bytes.first().copied(),
                    super::Run::Captured(_) => before,
                };
                let Some(current) = current else {
                    return Err(ChangeError::PartOf(format!("the byte at {at:#x}")));
                };
                byte = current & !new.mask | new.value & new.mask;
            }
            let as_captured = before == Some(byte);
            settled.memory.push(((*owner, *at), byte, as_captured));
            let piece = (*owner, at / PIECE);
            if !as_captured && last != Some(piece) && !self.changes.memory.has_capacity(*owner, *at) {
                pieces += 1;
                last = Some(piece);
            }
        }
        if pieces > MAX_CHANGED_PIECES {
            let what = "pieces of 64 bytes of memory";
            return Err(ChangeError::Limit { what, limit: MAX_CHANGED_PIECES });
        }
        Ok(())
    }

    /// The captured value of a dword under each of its names: its own, and those of the registers stored in it.
    pub(super) fn names(
        &self,
        id: WaveId,
        register: RegId,
        index: u16,
    ) -> Result<Vec<Option<u32>>, ReadError> {
        let wave = self.wave(id)?;
        let mut found = vec![self.captured_register(id, register)?.dword(index)];
        for (alias, dword) in aliases_of(wave, register) {
            found.push(self.captured_register(id, alias)?.dword(dword));
        }
        Ok(found)
    }

    /// Reads the captured memory of an owner.
    pub(super) fn read_captured(&self, owner: Owner, at: u64, buffer: &mut [u8]) -> usize {
        let capture = self.dump().capture();
        let read = match owner {
            Owner::Global => self.read_global(at, None, buffer),
            Owner::Group(index) => match capture.workgroups.get(index) {
                Some(group) => capture.read(&group.lds, at, buffer),
                None => Ok(0),
            },
            Owner::Wave(wave) => match capture.wave(wave) {
                Some(wave) => capture.read(&wave.private, at, buffer),
                None => Ok(0),
            },
        };
        read.unwrap_or_else(|error| {
            log::warn!("cannot read what was captured at {at:#x}: {error}");
            0
        })
    }
}

/// The registers stored in an SGPR of a wave, with the dword of each.
pub(super) fn aliases_of(wave: &crate::capture::Wave, slot: RegId) -> Vec<(RegId, u16)> {
    let mut found = Vec::new();
    for register in wave.kind.registers().iter().filter(|register| register.alias.is_some()) {
        for (index, of) in (0u16..).zip(alias_slots(wave, register).unwrap_or_default()) {
            if of == slot {
                found.push((register.id, index));
            }
        }
    }
    found
}

/// The storage of the byte at `index`; `None` past the end of the addresses.
fn stored(storage: Storage<'_>, index: u64) -> Option<(Owner, u64)> {
    Some(match storage {
        Storage::Linear(memory, at) => (memory.owner, at.checked_add(index)?),
        Storage::Global(at, _) => (Owner::Global, at.checked_add(index)?),
        Storage::Swizzled(memory, swizzle, at) => (memory.owner, swizzle.backing(at.checked_add(index)?)?),
    })
}

/// Captured bytes around the last requested one: requests come in order.
#[derive(Default)]
struct Captured {
    owner: Option<Owner>,
    first: u64,
    bytes: Vec<u8>,
    /// Number of bytes from `first` on that the read requested.
    asked: u64,
}

/// Captured bytes per read.
const AT_ONCE: u64 = 4096;

impl Captured {
    fn byte(
        &mut self,
        reader: &Reader,
        owner: Owner,
        at: u64,
        batch: &BTreeMap<(Owner, u64), Masked<u8>>,
    ) -> Option<u8> {
        let looked = self.owner == Some(owner) && at >= self.first && at - self.first < self.asked;
        let offset = at.wrapping_sub(self.first);
        // A hole ends a read; later bytes need a new one.
        if !looked || offset >= self.bytes.len() as u64 {
            let end = at.saturating_add(AT_ONCE - 1);
            let last = batch.range((owner, at)..=(owner, end)).next_back().map_or(at, |((_, last), _)| *last);
            (self.owner, self.first, self.asked) = (Some(owner), at, last - at + 1);
            self.bytes.resize(self.asked as usize, 0);
            let got = reader.read_captured(owner, at, &mut self.bytes);
            self.bytes.truncate(got);
        }
        self.bytes.get(usize::try_from(at - self.first).ok()?).copied()
    }
}
