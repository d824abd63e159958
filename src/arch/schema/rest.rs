//! Blocks about address spaces, address classes and stop reasons.

use serde::Deserialize;

use crate::arch::names::Names;
use crate::arch::target::SpaceScope;

/// `[[space]]`: an address space or a run of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct SpaceBlock {
    pub(in crate::arch) name: Names,
    pub(in crate::arch) number: u16,
    pub(in crate::arch) bits: u8,
    pub(in crate::arch) null: u64,
    pub(in crate::arch) scope: ScopeName,
    pub(in crate::arch) aperture: Option<u64>,
    /// The base differs between drivers: only a capture's agent has it.
    #[serde(default)]
    pub(in crate::arch) aperture_of_agent: bool,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl SpaceBlock {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[space]] {}", self.name)
    }
}

/// The owner of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::arch) enum ScopeName {
    Global,
    Generic,
    Agent,
    WorkGroup,
    Wave,
    /// A single block: the focused lane. A run: lane 0, 1, 2 ...
    Lane,
}

impl ScopeName {
    pub(in crate::arch) fn single(self) -> SpaceScope {
        match self {
            Self::Global => SpaceScope::Global,
            Self::Generic => SpaceScope::Generic,
            Self::Agent => SpaceScope::Agent,
            Self::WorkGroup => SpaceScope::WorkGroup,
            Self::Wave => SpaceScope::Wave,
            Self::Lane => SpaceScope::Lane,
        }
    }
}

/// `[[space_reserved]]`: numbers without a meaning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct SpaceGap {
    pub(in crate::arch) first: u16,
    pub(in crate::arch) last: u16,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl SpaceGap {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[space_reserved]] {:#x}-{:#x}", self.first, self.last)
    }
}

/// `[[address_classes]]`: the meaning of `DW_AT_address_class` in units of one augmentation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct ClassTable {
    /// Absent: for all units without another table.
    pub(in crate::arch) augmentation: Option<String>,
    /// The space of a pointer without the attribute.
    pub(in crate::arch) absent: String,
    /// Class N is space N.
    #[serde(default)]
    pub(in crate::arch) classes_are_spaces: bool,
    #[serde(default)]
    pub(in crate::arch) class: Vec<Class>,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl ClassTable {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[address_classes]] {}", self.augmentation.as_deref().unwrap_or("of all other units"))
    }
}

/// One address class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct Class {
    pub(in crate::arch) number: u64,
    pub(in crate::arch) name: String,
    pub(in crate::arch) space: String,
}

/// `[[stop_reason]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct Reason {
    pub(in crate::arch) name: String,
    pub(in crate::arch) words: String,
    pub(in crate::arch) signal: u8,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl Reason {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[stop_reason]] {}", self.name)
    }
}

/// `[[faults]]`: register bits that give a stop reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct Faults {
    pub(in crate::arch) register: String,
    /// The register with the enabling bits.
    pub(in crate::arch) enabled_by: Option<String>,
    /// Whether AMD's library draws the same conclusion.
    pub(in crate::arch) dbgapi: bool,
    pub(in crate::arch) bits: Vec<FaultBit>,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl Faults {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[faults]] {}", self.register)
    }
}

/// A bit that gives a stop reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct FaultBit {
    pub(in crate::arch) bit: u8,
    pub(in crate::arch) reason: String,
    /// The bit of `enabled_by`.
    pub(in crate::arch) enable: Option<u8>,
    /// A bit of the same register that overrides this one.
    pub(in crate::arch) unless: Option<u8>,
}

/// `[[trap_id]]`: the meaning of a trap ID saved by the trap handler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct TrapId {
    /// Absent: every other ID except 0.
    pub(in crate::arch) id: Option<u8>,
    pub(in crate::arch) reason: String,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl TrapId {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        self.id.map_or_else(|| "[[trap_id]] of all others".to_owned(), |id| format!("[[trap_id]] {id}"))
    }
}
