//! Constants of a call that the code before it computes from the PC: its target, and the addresses of strings.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::source_at;
use crate::isa::{Control, Effects, Instruction, ReadOperand, ReadRegister, RegisterFile, RegisterRange};
use crate::session::{Inspect, MemoryAddress, WaveInfo};
use crate::triage::SourceAt;
use crate::triage::listings::Listing;
use crate::units::{Address, LaneId, WaveSize};

/// Maximum number of instructions before the call that are searched for a value.
const MAX_BEFORE: usize = 64;
/// Maximum number of instructions that a value depends on.
const MAX_WORK: usize = 256;
/// Maximum number of bytes of a string.
const MAX_STRING: usize = 1024;
/// Number of bytes that are read at once: memory behind a string may not be captured.
const CHUNK: usize = 64;

/// A call in the code of a wave.
pub(in crate::triage) struct Call {
    pub(in crate::triage) listing: Arc<Listing>,
    /// The instruction of the call.
    pub(in crate::triage) index: usize,
}

impl Call {
    /// Its place in the source.
    pub(super) fn place(&self, session: &dyn Inspect) -> Option<SourceAt> {
        let call = self.listing.instructions.get(self.index)?;
        let function = self.listing.function.as_ref().map(|function| function.name.to_string());
        Some(source_at(session, function, call.file.as_ref().map(|file| file.to_string()), call.line))
    }

    /// The address of the called function, if the code before the call computes it from the PC.
    pub(in crate::triage) fn target(&self, size: WaveSize) -> Option<u64> {
        let call = self.listing.instructions.get(self.index)?;
        if call.target.is_some() {
            return call.target;
        }
        let to = call.named_registers().last()?;
        let (targets, work) = (self.targets(), Cell::new(MAX_WORK));
        let before = self.before(&targets, &work, size);
        let dword = |index| before.dword(to.file, to.first.checked_add(index)?, LaneId(0)).map(u64::from);
        (to.count == 2).then_some(())?;
        Some(dword(0)? | dword(1)? << 32)
    }

    fn targets(&self) -> BTreeSet<u64> {
        self.listing.instructions.iter().filter_map(|one| one.target).collect()
    }

    fn before<'a>(&'a self, targets: &'a BTreeSet<u64>, work: &'a Cell<usize>, size: WaveSize) -> Before<'a> {
        Before { listing: &self.listing, targets, size, index: self.index, work }
    }

    /// The string behind a pointer in the first two VGPRs, which hold the first argument; `None`: the code before the
    /// call does not show it.
    pub(super) fn string(&self, session: &dyn Inspect, info: &WaveInfo) -> Option<String> {
        let (targets, work) = (self.targets(), Cell::new(MAX_WORK));
        let before = self.before(&targets, &work, info.kind.wave_size);
        let dword = |index| before.dword(RegisterFile::Vector, index, LaneId(0)).map(u64::from);
        let address = dword(0)? | dword(1)? << 32;
        string(session, info, address)
    }
}

/// A printable string that ends in a zero.
fn string(session: &dyn Inspect, info: &WaveInfo, address: u64) -> Option<String> {
    let space = session.kind().target.space_named("global")?.id;
    let mut text = Vec::new();
    while text.len() < MAX_STRING {
        let mut chunk = [0; CHUNK];
        let start = address.checked_add(u64::try_from(text.len()).ok()?)?;
        let place = MemoryAddress { space, address: Address(start), wave: Some(info.wave), lane: None };
        let count = session.read(place, &mut chunk).ok()?;
        let part = chunk.get(..count)?;
        match part.iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(part.get(..end)?);
                let text = String::from_utf8(text).ok()?;
                return (!text.is_empty() && !text.contains(char::is_control)).then_some(text);
            }
            None if part.is_empty() => return None,
            None => text.extend_from_slice(part),
        }
    }
    None
}

/// Registers before an instruction, as far as the straight code before it computes them from constants.
struct Before<'a> {
    listing: &'a Listing,
    /// The targets of its branches.
    targets: &'a BTreeSet<u64>,
    size: WaveSize,
    index: usize,
    work: &'a Cell<usize>,
}

impl Before<'_> {
    /// The last instruction before this one that writes a register.
    fn writer(&self, range: RegisterRange) -> Option<(Self, &Instruction)> {
        self.work.set(self.work.get().checked_sub(1)?);
        for index in (0..self.index).rev().take(MAX_BEFORE) {
            let one = self.listing.instructions.get(index)?;
            let effects: &Effects = one.effects().ok()?;
            // Other instructions may precede only if no branch leads between.
            let after = self.listing.instructions.get(index + 1)?.address;
            if effects.control != Control::Next || self.targets.contains(&after) {
                return None;
            }
            if let Some(write) = effects.writes.iter().find(|write| write.range.overlaps(range)) {
                let before = Self { index, ..*self };
                return (!write.keeps_old && effects.access.is_none()).then_some((before, &one.code));
            }
        }
        None
    }
}

impl ReadRegister for Before<'_> {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let (before, one) = self.writer(RegisterRange::new(file, index, 1))?;
        one.value((file, index), lane, &before)
    }
}

impl ReadOperand for Before<'_> {
    fn bit(&self, _: RegisterRange, _: LaneId) -> Option<bool> {
        None
    }

    fn scc(&self) -> Option<bool> {
        let (before, one) = self.writer(RegisterRange::new(RegisterFile::Scc, 0, 1))?;
        one.condition(LaneId(0), &before)
    }

    fn aperture(&self, _: &str) -> Option<u64> {
        None
    }

    fn wave_size(&self) -> Option<WaveSize> {
        Some(self.size)
    }

    fn next(&self) -> Option<u64> {
        Some(self.listing.instructions.get(self.index + 1)?.address)
    }
}
