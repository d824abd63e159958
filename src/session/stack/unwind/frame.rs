//! One frame of an unwound stack for the evaluator.

use crate::arch::SpaceScope;
use crate::dwarf::cfi::Unwind;
use crate::dwarf::{
    Answer, Budget, CallFrame, ContextError, Error, Frame, LaneNeed, Location, Machine, MemoryAt,
    RegisterBytes, SpaceInfo, Unit,
};
use crate::session::MemoryAddress;
use crate::session::error::SourceError;
use crate::session::stack::frame::lacking;
use crate::session::stack::unwind::rules::RulesError;
use crate::session::stack::unwind::unwinder::{Code, SAVED, Unwinder};
use crate::units::{AddressSpace, BitSize, DwarfReg, ExprOffset, LaneId, Pc, WaveSize};

/// A physical frame of a wave (0: innermost): its registers, memory and caller, without DIEs.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct PhysicalFrame<'w> {
    pub(super) walk: &'w Unwinder<'w>,
    pub(super) level: usize,
}

impl<'w> PhysicalFrame<'w> {
    /// Its number among the physical frames.
    pub(in crate::session) fn number(&self) -> usize {
        self.level
    }

    /// The stack that it belongs to.
    pub(in crate::session) fn walk(&self) -> &'w Unwinder<'w> {
        self.walk
    }

    /// Returns the code of the frame.
    ///
    /// # Errors
    /// The reason for missing code.
    pub(in crate::session) fn code(&self) -> Result<Code<'w>, SourceError> {
        let code = self.walk.frames().get(self.level).and_then(|frame| frame.code);
        code.ok_or_else(|| self.walk.no_code(self.level))
    }

    /// The frame with its rules, which give the places of its caller's registers.
    pub(in crate::session) fn unwind(&self) -> Answer<Unwind<'_>> {
        let words = |why: RulesError| ContextError::not_captured(why.named(&*self.walk.kind));
        let rules = self.walk.rules(self.level).map_err(words)?;
        let frame = self.walk.frames().get(self.level);
        let frame = frame.ok_or_else(|| ContextError::not_captured("there is no such frame"))?;
        Ok(Unwind::new(self, &rules.row, &frame.answers))
    }

    /// Whether it is the innermost frame, whose registers are the wave's: [`Self::settled`] changes no location of it.
    pub(in crate::session) fn is_innermost(&self) -> bool {
        self.level == 0
    }

    /// An object's location with this frame's registers at their current place, in terms of the innermost frame.
    ///
    /// # Errors
    /// A rule cannot be evaluated.
    pub(in crate::session) fn settled(
        &self,
        location: &Location,
        lane: LaneId,
        size: BitSize,
    ) -> Result<Location, Error> {
        self.settled_in(location, 0, lane, size)
    }

    /// [`Self::settled`] in terms of a frame further inside than this one.
    ///
    /// # Errors
    /// A rule cannot be evaluated.
    pub(in crate::session) fn settled_in(
        &self,
        location: &Location,
        inner: usize,
        lane: LaneId,
        size: BitSize,
    ) -> Result<Location, Error> {
        let mut location = location.clone();
        for level in (inner..self.level).rev() {
            let callee = PhysicalFrame { walk: self.walk, level };
            let mut find = |register, _: Frame| {
                let found = callee.unwind().map_err(unknown)?.register(register);
                found.map_err(|error| self.walk.by_code(level, error))
            };
            location = location.with_registers_at(lane, size, &mut find)?;
        }
        Ok(location)
    }
}

/// Converts missing data to an error of a register lookup.
fn unknown(missing: ContextError) -> Error {
    Error { at: ExprOffset(0), op: SAVED, cause: missing.into() }
}

impl Machine for PhysicalFrame<'_> {
    fn wave_size(&self) -> WaveSize {
        self.walk.kind.wave_size
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let known = self.walk.kind.target.space(space)?;
        let lane = match known.scope {
            SpaceScope::Global | SpaceScope::Agent | SpaceScope::WorkGroup | SpaceScope::Wave => {
                LaneNeed::None
            }
            SpaceScope::Generic => LaneNeed::WhenRead,
            SpaceScope::Lane => LaneNeed::Now,
            SpaceScope::LaneN(lane) => LaneNeed::Fixed(lane),
        };
        Some(SpaceInfo { address_bits: known.address_bits, lane })
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        let known = self.walk.kind.dwarf(register);
        known.map(|known| BitSize(known.bits())).map_err(|error| ContextError::absent(error.to_string()))
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        let outer = usize::from(frame == Frame::Caller);
        self.walk.read_register(self.level + outer, register, into);
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        let place =
            MemoryAddress { space: at.space, address: at.address, wave: Some(self.walk.wave), lane: at.lane };
        self.walk.reader.read_if_captured(place, into)
    }

    fn missing_memory(&self, at: MemoryAt) -> u64 {
        let place =
            MemoryAddress { space: at.space, address: at.address, wave: Some(self.walk.wave), lane: at.lane };
        self.walk.reader.missing(place)
    }

    fn budget(&self) -> Option<&Budget> {
        Some(self.walk.reader.budget())
    }
}

impl CallFrame for PhysicalFrame<'_> {
    fn pc(&self) -> Option<Pc> {
        self.walk.frames().get(self.level).map(|frame| frame.lookup)
    }

    /// The number of the function itself, behind those of the calls inlined into it.
    fn frame_number(&self) -> Option<u32> {
        let reader = self.walk.reader;
        let calls = |code: Code<'_>| code.loaded.source(reader, code.elf).calls.len();
        let frames = self.walk.frames().iter().take(self.level + 1);
        let count: usize = frames.map(|frame| frame.code.map_or(1, calls)).sum();
        u32::try_from(count.checked_sub(1)?).ok()
    }

    fn cfa(&self) -> Answer<Location> {
        Ok(self.walk.cfa(self.level)?.0)
    }

    fn entry_register(&self, register: DwarfReg, _: BitSize) -> Answer<Location> {
        Ok(self.unwind()?.register(register)?)
    }

    fn loaded(&self, address: u64) -> Answer<u64> {
        let code = self.code().map_err(|why| lacking("load address", &why))?;
        Ok(address.wrapping_add(code.loaded.address().0))
    }
}

impl Unit for PhysicalFrame<'_> {}
