//! A wave's registers as they were before the PC: those that nothing wrote since.

use std::collections::HashMap;

use super::launch::Launches;
use super::work::Work;
use crate::arch::WaveArch;
use crate::isa::{Instruction, ReadRegister, RegisterFile, RegisterRange};
use crate::session::Inspect;
use crate::triage::registers::WaveRegisters;
use crate::units::{Address, AddressSpace, LaneId, LaneSet, WaveId};

/// Registers of a wave at its PC.
pub(in crate::triage) struct Registers<'a> {
    pub(super) session: &'a dyn Inspect,
    pub(super) wave: WaveId,
    at_pc: WaveRegisters<'a>,
    /// Bases of apertures.
    pub(super) apertures: &'a HashMap<AddressSpace, Address>,
    launches: &'a Launches,
    /// The work that is left for the registers of all waves.
    pub(super) work: &'a Work,
}

impl<'a> Registers<'a> {
    pub(in crate::triage) fn new(
        session: &'a dyn Inspect,
        wave: WaveId,
        apertures: &'a HashMap<AddressSpace, Address>,
        launches: &'a Launches,
        work: &'a Work,
    ) -> Self {
        Self { session, wave, at_pc: WaveRegisters::new(session, wave), apertures, launches, work }
    }

    /// A dword at the start of the kernel.
    pub(super) fn at_start(&self, file: RegisterFile, index: u16) -> Option<u32> {
        (file == RegisterFile::Scalar).then(|| self.launches.dword(self.session, self.wave, index))?
    }

    /// Whether an address is one of the arguments of the wave's kernel.
    pub(super) fn is_argument(&self, address: u64) -> bool {
        self.launches.holds(self.session, self.wave, address)
    }

    /// GPU and wave size.
    pub(super) fn arch(&self) -> &WaveArch {
        self.at_pc.arch()
    }

    /// The result of a scalar comparison with the registers at the PC.
    pub(super) fn compared(&self, one: &Instruction) -> Option<bool> {
        one.condition(LaneId::default(), &self.at_pc)
    }

    /// EXEC at the PC, if captured.
    pub(super) fn exec(&self) -> Option<LaneSet> {
        self.lanes(RegisterRange::new(RegisterFile::Exec, 0, 2))
    }

    /// The lanes of a mask in one or two registers.
    pub(super) fn lanes(&self, range: RegisterRange) -> Option<LaneSet> {
        let dword = |index| self.dword(range.file, range.first.checked_add(index)?, LaneId::default());
        let low = u64::from(dword(0)?);
        let high = if self.arch().wave_size.lanes() > 32 { u64::from(dword(1)?) } else { 0 };
        Some(LaneSet(low | high << 32))
    }
}

impl ReadRegister for Registers<'_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        self.at_pc.dword(file, index, lane)
    }
}

/// The writes between an instruction and the PC.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes(Vec<Written>);

/// A write after the instruction.
#[derive(Clone, Copy, Debug)]
struct Written {
    range: RegisterRange,
    /// The lanes that it may have changed.
    lanes: LaneSet,
    /// The address of the instruction.
    at: u64,
}

impl Writes {
    /// Adds a write that precedes all others.
    pub(super) fn push(&mut self, range: RegisterRange, lanes: LaneSet, at: u64) {
        self.0.push(Written { range, lanes, at });
    }

    /// Adds writes of all registers.
    pub(super) fn push_all(&mut self, lanes: LaneSet, at: u64) {
        use RegisterFile::{Accumulator, FlatScratch, M0, Mode, Scalar, Vcc, Vector};
        for file in [Scalar, Vector, Accumulator, Vcc, M0, FlatScratch, Mode] {
            self.push(RegisterRange::whole(file), lanes, at);
        }
    }

    /// The first write of a dword in a lane.
    pub(super) fn first(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u64> {
        let dword = RegisterRange::new(file, index, 1);
        let is_it = |written: &&Written| {
            written.range.overlaps(dword) && (!file.is_vector() || written.lanes.contains(lane))
        };
        self.0.iter().rev().find(is_it).map(|written| written.at)
    }

    /// Whether anything wrote one of these dwords.
    pub(super) fn has(&self, range: RegisterRange) -> bool {
        self.0.iter().any(|written| written.range.overlaps(range))
    }
}

/// Registers that survived from an instruction to the PC.
pub(super) struct Surviving<'a, 'r> {
    pub(super) registers: &'a Registers<'r>,
    pub(super) writes: &'a Writes,
}

impl ReadRegister for Surviving<'_, '_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        match self.writes.first(file, index, lane) {
            Some(_) => None,
            None => self.registers.dword(file, index, lane),
        }
    }
}
