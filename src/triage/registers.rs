//! Registers of a wave by the names of instructions, read through its session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::arch::{RegId, RegisterValue, WaveArch};
use crate::isa::{ReadOperand, ReadRegister, RegisterFile, RegisterRange};
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveId, WaveSize};

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

impl WaveRegisters<'_> {
    /// The lanes of VCC or EXEC.
    pub(super) fn mask(&self, file: RegisterFile) -> Option<LaneSet> {
        let part = |index| self.dword(file, index, LaneId::default()).map(u64::from);
        let high = if self.arch.wave_size == WaveSize::W64 { part(1)? } else { 0 };
        Some(LaneSet(part(0)? | high << 32))
    }
}

/// The registers at the PC.
impl ReadOperand for WaveRegisters<'_> {
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool> {
        let part = mask.first.checked_add(u16::from(lane.0 / 32))?;
        Some(self.dword(mask.file, part, LaneId::default())? >> (lane.0 % 32) & 1 == 1)
    }

    fn scc(&self) -> Option<bool> {
        ["status", "state_priv"].into_iter().find_map(|name| {
            let register = self.arch.named(name)?;
            let field = self.arch.fields(register)?.fields.iter().find(|field| field.name == "SCC")?;
            let value = self.session.register(self.wave, register.id).ok()?.scalar()?;
            Some(field.value(value) != 0)
        })
    }

    fn aperture(&self, _name: &str) -> Option<u64> {
        None
    }

    fn wave_size(&self) -> Option<WaveSize> {
        Some(self.arch.wave_size)
    }

    fn next(&self) -> Option<u64> {
        None
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
