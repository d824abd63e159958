//! Decoded code of waves, with its lines.

use std::collections::HashMap;
use std::sync::Arc;

use super::registers::WaveRegisters;
use crate::arch::{Generation, Processor};
use crate::isa::{self, Instruction, ReadRegister as _, RegisterFile};
use crate::session::{Disassembly, DisassemblyError, FunctionBounds, Inspect, ListedInstruction};
use crate::units::{LaneId, WaveId};

/// Maximum number of addresses whose code is decoded for one question.
pub(super) const MAX_LISTED: usize = 64;

/// An address in the code of a wave.
#[derive(Clone, Copy)]
pub(super) struct CodeAt<'a> {
    /// The session that serves the wave.
    pub(super) session: &'a dyn Inspect,
    /// The wave.
    pub(super) wave: WaveId,
    /// The address: a PC, or a return address minus one.
    pub(super) address: u64,
}

/// Kind of wave, agent and requested address.
type Key = (String, u32, u64);

/// Decoded functions of a dump's waves.
#[derive(Debug, Default)]
pub(super) struct Listings {
    known: HashMap<Key, Result<Arc<Listing>, DisassemblyError>>,
}

/// A decoded function, or the part of it around an address.
#[derive(Debug)]
pub(super) struct Listing {
    /// The function, if known.
    pub(super) function: Option<FunctionBounds>,
    /// The generation of the code's processor, if known.
    pub(super) generation: Option<Generation>,
    /// The instructions by address, without gaps.
    pub(super) instructions: Vec<Decoded>,
}

/// An instruction with its line.
#[derive(Clone, Debug)]
pub(super) struct Decoded {
    /// The instruction.
    pub(super) code: Instruction,
    /// Source file, if the line table has it.
    pub(super) file: Option<Arc<str>>,
    /// Source line.
    pub(super) line: Option<u64>,
}

impl std::ops::Deref for Decoded {
    type Target = Instruction;

    fn deref(&self) -> &Instruction {
        &self.code
    }
}

impl Listings {
    /// The listing of the code at an address. Of more than [`MAX_LISTED`] addresses in as many functions there is none.
    ///
    /// # Errors
    /// The wave is unknown, or the processor is.
    pub(super) fn around(&mut self, at: CodeAt<'_>) -> Option<Result<Arc<Listing>, DisassemblyError>> {
        let mode = at.mode();
        let key = at.key(mode)?;
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        // Other addresses of a function have its listing.
        let is_same = |(kind, agent, _): &Key| (kind, *agent) == (&key.0, key.1) && mode.is_none();
        let holds = |of: &Arc<Listing>| of.is_whole() && of.holding(at.address).is_some();
        let mut known = self.known.iter().filter(|(of, _)| is_same(of));
        let same = known.find_map(|(_, of)| of.as_ref().ok().filter(|of| holds(of)).cloned());
        if same.is_none() && self.known.len() >= MAX_LISTED {
            return None;
        }
        let listing = same.map_or_else(|| at.listing(mode).map(Arc::new), Ok);
        self.known.insert(key, listing.clone());
        Some(listing)
    }
}

impl CodeAt<'_> {
    fn listing(&self, mode: Option<u32>) -> Result<Listing, DisassemblyError> {
        let found = self.session.function(self.wave, self.address)?;
        let mut listing = Listing::of(found, &self.session.kind().target.name);
        if let Some(mode) = mode {
            listing.check_mode(self.address, mode);
        }
        Ok(listing)
    }

    fn key(&self, mode: Option<u32>) -> Option<Key> {
        let info = self.session.wave(self.wave).ok()?;
        let mut kind = format!("{}:{}", info.kind.target.name, info.kind.wave_size);
        // Waves with other bits may use other registers at the same address.
        if let Some(mode) = mode {
            kind = format!("{kind}:{:#x}", isa::vgpr_msb(mode));
        }
        Some((kind, info.agent, self.address))
    }

    /// MODE of the wave, if it extends the numbers of vector registers and the address is the wave's PC.
    fn mode(&self) -> Option<u32> {
        let info = self.session.wave(self.wave).ok()?;
        let extends = Processor::named(&info.kind.target.name)?.generation == Generation::Gfx125;
        let is_pc = info.pc.is_some_and(|pc| pc.0 == self.address);
        let registers = WaveRegisters::new(self.session, self.wave);
        registers.dword(RegisterFile::Mode, 0, LaneId::default()).filter(|_| extends && is_pc)
    }
}

impl Listing {
    /// Leaves the effects of instructions on vector registers unknown if a wave's MODE at its PC is not that of the
    /// code.
    fn check_mode(&mut self, pc: u64, mode: u32) {
        let start = self.instructions.first().map(|one| one.address);
        let is_whole = self.function.as_ref().is_some_and(|function| Some(function.start) == start);
        if !isa::has_other_msb(self.instructions.iter().map(|one| &one.code), is_whole, pc, mode) {
            return;
        }
        for one in &mut self.instructions {
            one.code.forget_vectors();
        }
    }

    /// The instructions of a listing. `gpu`: the waves' GPU, for an unknown processor of the code.
    pub(super) fn of(found: Disassembly, gpu: &str) -> Self {
        let processor = Processor::named(&found.processor).or_else(|| Processor::named(gpu));
        let decoded = |one: ListedInstruction| Decoded { code: one.code, file: one.file, line: one.line };
        let instructions = found.instructions.into_iter().map(decoded).collect();
        Self { function: found.function, generation: processor.map(|known| known.generation), instructions }
    }

    /// The index of the instruction that begins at an address.
    pub(super) fn index(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |one| one.address).ok()
    }

    /// The index of the instruction whose bytes hold an address.
    pub(super) fn holding(&self, address: u64) -> Option<usize> {
        let after = self.instructions.partition_point(|one| one.address <= address);
        let index = after.checked_sub(1)?;
        let one = self.instructions.get(index)?;
        (address < one.end()).then_some(index)
    }

    /// Whether the listing has all of its function.
    fn is_whole(&self) -> bool {
        let end = self.instructions.last().map(|last| last.end());
        self.has_start() && self.function.as_ref().is_some_and(|function| end >= Some(function.end))
    }

    /// Whether the listing begins at the function's start.
    pub(super) fn has_start(&self) -> bool {
        let first = self.instructions.first().map(|one| one.address);
        self.function.as_ref().is_some_and(|function| first == Some(function.start))
    }
}
