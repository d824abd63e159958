//! What-if writes: a client's changes above the capture, which itself never changes.
//!
//! [`Layer`] is sparse. It holds dwords of registers and bytes of memory that read otherwise than they were captured: what
//! is written back to the captured value leaves it again. Memory is kept by where it is *stored*, so that a byte has one
//! change whichever address space names it; a register that lives in SGPRs (vcc) is kept in those SGPRs.
//!
//! The one reader lays it over all that it reads ([`Reader`](super::Reader)); `write` decides what may be written and
//! does so as a whole or not at all, `location` does the same for an object by its DWARF location, `list` says what has
//! changed.

mod batch;
mod list;
mod location;
mod memory;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

pub use list::{Changes, Dropped, MemoryChange, RegisterChange, Reset, SHOWN_BYTES};
pub use location::write_location;
pub use write::Unwritable;

use crate::arch::{RegId, RegisterValue};
use crate::units::WaveId;
pub(super) use batch::Batch;
pub(super) use location::draft;
pub(super) use memory::{Memory, Run};

/// Registers of waves that can be changed: 65536 of 64 lanes take 18 MB.
pub const MAX_CHANGED_REGISTERS: usize = 1 << 16;

/// Pieces of memory of [`PIECE`] bytes that can be changed: 8 MiB where they are full.
pub const MAX_CHANGED_PIECES: usize = 1 << 17;

/// Bytes of memory that are kept together.
pub const PIECE: u64 = 64;

/// Whose memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Owner {
    /// Everybody's.
    Global,
    /// LDS of the work-group of that index.
    Group(usize),
    /// Private memory of a wave, in its backing layout.
    Wave(WaveId),
}

/// A client's changes.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// The known dwords are the changed ones. None is without.
    registers: BTreeMap<(WaveId, RegId), RegisterValue>,
    memory: Memory,
}

impl Layer {
    /// Changed memory.
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether a register of a wave is changed.
    pub(super) fn touches(&self, wave: WaveId) -> bool {
        self.registers.range((wave, RegId(0))..=(wave, RegId(u16::MAX))).next().is_some()
    }

    /// A changed dword of a register.
    pub(super) fn dword(&self, wave: WaveId, register: RegId, index: u16) -> Option<u32> {
        self.registers.get(&(wave, register))?.dword(index)
    }
}
