//! Places of private memory: the queue's backing memory, cut by shader engine and slot.

use super::memory::CoreMemory;
use crate::arch::save_area::ScratchRing;

/// Fields of `amd_queue_t` after its `read_dispatch_id`, to which the queue's read pointer points.
const TMPRING: u64 = 0x0c;
/// `scratch_backing_memory_location`.
pub(super) const LOCATION: u64 = 0x20;
const BYTE_SIZE: u64 = 0x28;

/// Since this version of the runtime's debugger interface, `amd_queue_t` has no size of the backing memory.
const NO_BYTE_SIZE: u32 = 11;

/// A queue's backing memory for one XCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scratch {
    /// Address of the XCC's part.
    base: u64,
    /// Bytes for each wave.
    pub(super) wave_size: u64,
    /// Number of waves of each shader engine.
    waves: u64,
    /// Number of shader engines.
    engines: u64,
    /// Set if the waves' registers place private memory instead of the queue.
    pub(super) inferred: Option<Inferred>,
}

/// Certainty of the size of private memory that the waves' registers place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inferred {
    /// The registers determine the size for each wave.
    Exact,
    /// The size is an upper bound.
    AtMost,
}

/// The reason that private memory is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoScratch {
    /// The queue's descriptor was not captured.
    NoQueue,
    /// The number of waves is not a multiple of the engines.
    Uneven,
    /// The wave has no slot there, or the addresses are exhausted.
    Outside,
    /// The register for the base has another value.
    Disagrees,
    /// That register was not captured.
    NoBase,
}

impl NoScratch {
    /// The reason as text.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NoQueue => "the queue's amd_queue_t was not captured",
            Self::Uneven => {
                "COMPUTE_TMPRING_SIZE has a number of waves that the shader engines do not divide"
            }
            Self::Outside => "its shader engine or slot is beyond what COMPUTE_TMPRING_SIZE allots",
            Self::Disagrees => "the register with its base and the queue's amd_queue_t do not agree",
            Self::NoBase => "the register with its base was not captured",
        }
    }
}

impl Scratch {
    /// Reads the queue's fields; `Ok(None)`: it has no backing memory.
    pub(super) fn read(
        memory: &CoreMemory,
        read_pointer: u64,
        row: &ScratchRing,
        engines: u32,
        xcc: u32,
        r_version: Option<u32>,
    ) -> Result<Option<Self>, NoScratch> {
        let at = |offset| read_pointer.checked_add(offset).ok_or(NoScratch::NoQueue);
        let tmpring = memory.u32(at(TMPRING)?).ok_or(NoScratch::NoQueue)?;
        let location = memory.u64(at(LOCATION)?).ok_or(NoScratch::NoQueue)?;
        let waves = u64::from(row.waves.of(tmpring));
        let wave_size = u64::from(row.size.of(tmpring)) * u64::from(row.granule);
        if waves == 0 || wave_size == 0 {
            return Ok(None);
        }
        let engines = u64::from(engines);
        let (waves, all) = if row.per_engine {
            (waves, waves * engines)
        } else {
            if engines == 0 || !waves.is_multiple_of(engines) {
                return Err(NoScratch::Uneven);
            }
            (waves / engines, waves)
        };
        let computed = all * wave_size;
        // A runtime of unknown version counts as a recent one if the field is implausible.
        let given = match r_version {
            Some(version) if version >= NO_BYTE_SIZE => None,
            Some(_) => memory.u64(at(BYTE_SIZE)?),
            None => memory.u64(at(BYTE_SIZE)?).filter(|size| *size >= computed && size.is_multiple_of(4096)),
        };
        let part = given.unwrap_or(computed);
        let base = part.checked_mul(u64::from(xcc)).and_then(|offset| location.checked_add(offset));
        Ok(Some(Self { base: base.ok_or(NoScratch::Outside)?, wave_size, waves, engines, inferred: None }))
    }

    /// Bytes of the XCC's part.
    fn size(&self) -> u64 {
        self.waves.saturating_mul(self.engines).saturating_mul(self.wave_size)
    }

    /// First and last address of the XCC's part; `None`: only the waves' registers place it.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        Some((self.base, self.base.saturating_add(self.size().checked_sub(1)?)))
    }

    /// Whether an address is the start of a wave's part.
    pub(super) fn is_slot(&self, address: u64) -> bool {
        address
            .checked_sub(self.base)
            .is_some_and(|offset| offset < self.size() && offset % self.wave_size == 0)
    }

    /// Whether an address is the start of the XCC's first slot.
    pub(super) fn is_begin(&self, address: u64) -> bool {
        address == self.base
    }

    /// Private memory that the waves' registers place.
    pub(super) fn of_registers(wave_size: u64, inferred: Inferred) -> Self {
        Self { base: 0, wave_size, waves: 0, engines: 0, inferred: Some(inferred) }
    }

    /// Address of a wave's part.
    pub(super) fn of(&self, engine: u32, slot: u32) -> Result<u64, NoScratch> {
        let (engine, slot) = (u64::from(engine), u64::from(slot));
        // The memory there belongs to another wave.
        if engine >= self.engines || slot >= self.waves {
            return Err(NoScratch::Outside);
        }
        let index = self.waves.saturating_mul(engine).saturating_add(slot);
        let offset = index.checked_mul(self.wave_size);
        offset.and_then(|offset| self.base.checked_add(offset)).ok_or(NoScratch::Outside)
    }
}

#[cfg(test)]
#[path = "tests/scratch.rs"]
mod tests;
