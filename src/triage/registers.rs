//! Registers of a wave by the names of instructions, read through its session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::arch::{RegId, RegisterValue, WaveArch};
use crate::isa::{ReadRegister, RegisterFile};
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// A wave's registers; each is read once.
pub(super) struct WaveRegisters<'a> {
    session: &'a dyn Inspect,
    wave: WaveId,
    arch: Arc<WaveArch>,
    known: RefCell<HashMap<RegId, Option<RegisterValue>>>,
}

impl<'a> WaveRegisters<'a> {
    pub(super) fn new(session: &'a dyn Inspect, wave: WaveId) -> Self {
        Self { session, wave, arch: session.kind(), known: RefCell::default() }
    }

    /// The wave's kind.
    pub(super) fn arch(&self) -> &WaveArch {
        &self.arch
    }
}

impl ReadRegister for WaveRegisters<'_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let (register, dword) = file.register(index, &self.arch)?;
        let dword = if file.is_vector() { u16::from(lane.0) } else { dword };
        let mut known = self.known.borrow_mut();
        let value = known.entry(register).or_insert_with(|| self.session.register(self.wave, register).ok());
        value.as_ref()?.dword(dword)
    }
}

/// Bases of the apertures in a wave's generic addresses.
pub(super) fn apertures(session: &dyn Inspect, wave: WaveId) -> HashMap<AddressSpace, Address> {
    let base = |space: AddressSpace| {
        let place = MemoryAddress { space, address: Address(0), wave: Some(wave), lane: Some(LaneId(0)) };
        Some((space, session.generic_address(place)?))
    };
    session.kind().target.spaces.iter().filter_map(|space| base(space.id)).collect()
}
