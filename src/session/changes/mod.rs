//! A client's what-if writes: a layer of changes over the immutable capture.
//!
//! [`Layer`] is sparse. It holds dwords of registers and bytes of memory that differ from the capture: a write of the
//! captured value removes the entry. The keys are *storage*: a byte has one change in all address spaces, and a
//! register stored in SGPRs (vcc) has its change in those SGPRs.
//!
//! [`Reader`](super::Reader) applies the layer to every read. `write` validates writes and does each as a whole or not
//! at all. `location` does the same for an object by its DWARF location. `list` lists the changes.

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
pub use write::ChangeError;

use crate::arch::{RegId, RegisterValue};
use crate::units::WaveId;
pub(super) use batch::Batch;
pub(super) use location::draft;
pub(super) use memory::{Memory, Run};

/// Maximum number of changed registers of waves: 65536 of 64 lanes take 18 MB.
pub const MAX_CHANGED_REGISTERS: usize = 1 << 16;

/// Maximum number of changed pieces of memory of [`PIECE`] bytes: 8 MiB if all are full.
pub const MAX_CHANGED_PIECES: usize = 1 << 17;

/// Bytes of memory in one piece.
pub const PIECE: u64 = 64;

/// The owner of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Owner {
    /// Global memory.
    Global,
    /// LDS of the work-group of that index.
    Group(usize),
    /// Private memory of a wave, in its backing layout.
    Wave(WaveId),
}

/// A client's changes.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// The known dwords are the changed ones. Each entry has at least one.
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
