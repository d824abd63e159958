//! One processor as its file in `targets/` describes it.

use crate::units::{Address, AddressSpace, LaneId, WaveSize};

/// One processor: everything but registers, which depend on the wave size (see [`super::Kind`]).
#[derive(Debug)]
pub struct Target {
    /// The processor's name: `gfx90a`.
    pub name: String,
    /// EF_AMDGPU_MACH, the low byte of a code object's `e_flags`.
    pub elf_machine: u32,
    /// The wave sizes it can run, the default one first.
    pub wave_sizes: Vec<WaveSize>,
    /// Whether private memory is reached through buffers: the frame base then counts bytes of the whole wave.
    pub buffer_scratch: bool,
    /// Every address space, by number.
    pub spaces: Vec<Space>,
    /// The stop reasons, with their words and signals.
    pub stop_reasons: Vec<StopReason>,
}

/// What an address space belongs to, and so what must be known to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceScope {
    /// One for the process: global memory.
    Global,
    /// Addresses that name other spaces through apertures.
    Generic,
    /// One for the GPU: region (GDS).
    Agent,
    /// One for each work-group: LDS.
    WorkGroup,
    /// One for each wave: private memory in its backing layout.
    Wave,
    /// One for each lane: private memory, swizzled by 4 bytes; the focused lane.
    Lane,
    /// Private memory of that lane, whichever is focused.
    LaneN(LaneId),
}

/// An address space of a target.
#[derive(Clone, Debug)]
pub struct Space {
    /// Its DWARF number (DW_ASPACE).
    pub id: AddressSpace,
    /// AMD's name: `private_lane`.
    pub name: String,
    /// 32 or 64.
    pub address_bits: u8,
    /// The address that points to nothing.
    pub null: Address,
    /// What it belongs to.
    pub scope: SpaceScope,
    /// Base of its aperture in the generic space, where it has one; a capture's agent may say otherwise.
    pub aperture: Option<Address>,
}

/// A reason for which a wave stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReason {
    /// Its name in dumps: `memory_violation`.
    pub name: String,
    /// What a person reads: "memory violation (page fault)".
    pub words: String,
    /// The signal in gdb's numbering: 11 for SIGSEGV.
    pub signal: u8,
}

impl Target {
    /// The address space of that number; `None` if the target reserves or lacks it.
    #[must_use]
    pub fn space(&self, id: AddressSpace) -> Option<&Space> {
        self.spaces.iter().find(|space| space.id == id)
    }

    /// The address space of that name.
    #[must_use]
    pub fn space_named(&self, name: &str) -> Option<&Space> {
        self.spaces.iter().find(|space| space.name == name)
    }

    /// The stop reason of that name.
    #[must_use]
    pub fn stop_reason(&self, name: &str) -> Option<&StopReason> {
        self.stop_reasons.iter().find(|reason| reason.name == name)
    }
}
