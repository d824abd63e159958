//! The shape of a file in `targets/`, as it is written; [`super::check`] says what else must hold of it.
//!
//! One flat file per processor and no inheritance: a reader with AMDGPUUsage at hand can check a file by eye, from top
//! to bottom, and a mistake in one processor stays in one processor. Unknown keys are errors, so that a misspelt one is
//! not a fact that is silently missing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::names::Names;
use super::register::{RegClass, ValueType};
use super::target::SpaceScope;
use crate::units::WaveSize;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) target: Head,
    pub(super) sgprs: Sgprs,
    #[serde(default)]
    pub(super) register: Vec<RegisterBlock>,
    #[serde(default)]
    pub(super) dbgapi_only: Vec<DbgapiOnly>,
    #[serde(default)]
    pub(super) fields: Vec<Fields>,
    #[serde(default)]
    pub(super) dwarf_reserved: Vec<DwarfGap>,
    #[serde(default)]
    pub(super) dwarf_absent: Vec<DwarfGap>,
    #[serde(default)]
    pub(super) space: Vec<SpaceBlock>,
    #[serde(default)]
    pub(super) space_reserved: Vec<SpaceGap>,
    #[serde(default)]
    pub(super) address_classes: Vec<ClassTable>,
    #[serde(default)]
    pub(super) stop_reason: Vec<Reason>,
    #[serde(default)]
    pub(super) faults: Vec<Faults>,
    #[serde(default)]
    pub(super) trap_id: Vec<TrapId>,
}

/// `[target]`: what the processor is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) products: String,
    pub(super) elf_machine: u32,
    pub(super) wave_sizes: Vec<u64>,
    pub(super) features: Vec<String>,
    pub(super) scratch: Scratch,
    #[serde(default)]
    pub(super) source: String,
}

/// How private memory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scratch {
    /// Through buffers: stack and frame pointers count bytes of the whole wave.
    Buffer,
    /// By flat instructions: they count bytes of a lane.
    Flat,
}

impl Head {
    /// The wave sizes, in the file's order.
    pub(super) fn sizes(&self) -> impl Iterator<Item = WaveSize> + '_ {
        self.wave_sizes.iter().filter_map(|lanes| WaveSize::from_lanes(*lanes))
    }
}

/// `[sgprs]`: how a wave's allocation ends in aliases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sgprs {
    pub(super) most: u16,
    pub(super) alias_limit: u16,
    #[serde(default)]
    pub(super) source: String,
}

/// A number for both wave sizes, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number or { wave32 = N, wave64 = N }")]
pub(super) enum PerWave {
    Same(u16),
    Each(Each),
}

/// A number for each wave size that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Each {
    pub(super) wave32: Option<u16>,
    pub(super) wave64: Option<u16>,
}

impl PerWave {
    pub(super) fn of(self, size: WaveSize) -> Option<u16> {
        match (self, size) {
            (Self::Same(number), _) => Some(number),
            (Self::Each(each), WaveSize::W32) => each.wave32,
            (Self::Each(each), WaveSize::W64) => each.wave64,
        }
    }

    /// The numbers with the wave size to which each belongs; `None`: to both.
    pub(super) fn each(self) -> impl Iterator<Item = (Option<WaveSize>, u16)> {
        let pairs = match self {
            Self::Same(number) => [Some((None, number)), None],
            Self::Each(each) => [
                each.wave32.map(|number| (Some(WaveSize::W32), number)),
                each.wave64.map(|number| (Some(WaveSize::W64), number)),
            ],
        };
        pairs.into_iter().flatten()
    }
}

/// `[[register]]`: a register or a run of them, in the order in which clients see them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RegisterBlock {
    pub(super) name: Names,
    pub(super) class: RegClass,
    #[serde(rename = "type")]
    pub(super) value_type: ValueType,
    /// Left out for `lanes`; a wave size without a number does not have the register.
    pub(super) bits: Option<PerWave>,
    pub(super) dwarf: Option<PerWave>,
    /// AMDGPUUsage's spelling, where it differs by wave size each of them.
    pub(super) dwarf_name: Option<DwarfNames>,
    pub(super) dbgapi: Option<PerWave>,
    pub(super) dbgapi_shadow: Option<u16>,
    pub(super) fields: Option<String>,
    pub(super) sgprs_from_end: Option<u16>,
    #[serde(default)]
    pub(super) source: String,
}

impl RegisterBlock {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[register]] {}", self.name)
    }

    /// Dwords of each of its registers in such a wave; `None` if that has none of them.
    pub(super) fn dwords(&self, size: WaveSize) -> Option<u16> {
        match (self.value_type, self.bits) {
            (ValueType::Lanes, _) => Some(u16::from(size.lanes())),
            (_, Some(bits)) => bits.of(size).map(|bits| bits / 32),
            (_, None) => None,
        }
    }
}

/// Names in the DWARF mapping.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a name or { wave32 = NAME, wave64 = NAME }")]
pub(super) enum DwarfNames {
    Same(Names),
    Each(EachName),
}

/// A name for each wave size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EachName {
    pub(super) wave32: Names,
    pub(super) wave64: Names,
}

impl DwarfNames {
    pub(super) fn of(&self, size: Option<WaveSize>) -> &Names {
        match (self, size) {
            (Self::Same(names), _) => names,
            (Self::Each(each), Some(WaveSize::W32)) => &each.wave32,
            (Self::Each(each), _) => &each.wave64,
        }
    }
}

/// `[[dbgapi_only]]`: a number of AMD's debugger library behind which this processor has no register.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DbgapiOnly {
    pub(super) name: Names,
    pub(super) number: u16,
    pub(super) bits: u16,
    #[serde(default)]
    pub(super) source: String,
}

/// `[[fields]]`: the named bits of a register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    pub(super) name: String,
    pub(super) bits: BTreeMap<String, Bits>,
    #[serde(default)]
    pub(super) source: String,
}

impl Fields {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[fields]] {}", self.name)
    }
}

/// One bit, or a run as hardware manuals write it: high, low.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a bit or [HIGH, LOW]")]
pub(super) enum Bits {
    One(u8),
    Run([u8; 2]),
}

impl Bits {
    pub(super) fn low(self) -> u8 {
        match self {
            Self::One(bit) => bit,
            Self::Run([_, low]) => low,
        }
    }

    pub(super) fn high(self) -> u8 {
        match self {
            Self::One(bit) => bit,
            Self::Run([high, _]) => high,
        }
    }
}

/// `[[dwarf_reserved]]` and `[[dwarf_absent]]`: DWARF numbers without a register here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DwarfGap {
    pub(super) first: u16,
    pub(super) last: u16,
    /// The registers that the numbers mean, where they mean any.
    pub(super) names: Option<Names>,
    /// Completes "register N is reserved …" or "register N is NAME, …".
    pub(super) what: String,
    #[serde(default)]
    pub(super) source: String,
}

impl DwarfGap {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self, table: &str) -> String {
        format!("[[{table}]] {}-{}", self.first, self.last)
    }
}

/// `[[space]]`: an address space or a run of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpaceBlock {
    pub(super) name: Names,
    pub(super) number: u16,
    pub(super) bits: u8,
    pub(super) null: u64,
    pub(super) scope: ScopeName,
    pub(super) aperture: Option<u64>,
    #[serde(default)]
    pub(super) source: String,
}

impl SpaceBlock {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[space]] {}", self.name)
    }
}

/// What a space belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ScopeName {
    Global,
    Generic,
    Agent,
    WorkGroup,
    Wave,
    /// A single block: the focused lane. A run: lane 0, 1, 2 ...
    Lane,
}

impl ScopeName {
    pub(super) fn single(self) -> SpaceScope {
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

/// `[[space_reserved]]`: numbers that mean nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpaceGap {
    pub(super) first: u16,
    pub(super) last: u16,
    #[serde(default)]
    pub(super) source: String,
}

impl SpaceGap {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[space_reserved]] {:#x}-{:#x}", self.first, self.last)
    }
}

/// `[[address_classes]]`: what `DW_AT_address_class` says in units of one augmentation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassTable {
    /// Absent: in all units that no other table claims.
    pub(super) augmentation: Option<String>,
    /// The space of a pointer without the attribute.
    pub(super) absent: String,
    /// Class N is space N.
    #[serde(default)]
    pub(super) classes_are_spaces: bool,
    #[serde(default)]
    pub(super) class: Vec<Class>,
    #[serde(default)]
    pub(super) source: String,
}

impl ClassTable {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[address_classes]] {}", self.augmentation.as_deref().unwrap_or("of all other units"))
    }
}

/// One address class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Class {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) space: String,
}

/// `[[stop_reason]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reason {
    pub(super) name: String,
    pub(super) words: String,
    pub(super) signal: u8,
    #[serde(default)]
    pub(super) source: String,
}

impl Reason {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[stop_reason]] {}", self.name)
    }
}

/// `[[faults]]`: bits of a register that say why a wave stopped.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Faults {
    pub(super) register: String,
    /// The register with the enabling bits.
    pub(super) enabled_by: Option<String>,
    /// Whether AMD's library concludes so too.
    pub(super) dbgapi: bool,
    pub(super) bits: Vec<FaultBit>,
    #[serde(default)]
    pub(super) source: String,
}

impl Faults {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        format!("[[faults]] {}", self.register)
    }
}

/// One such bit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultBit {
    pub(super) bit: u8,
    pub(super) reason: String,
    /// The bit of `enabled_by`.
    pub(super) enable: Option<u8>,
    /// A bit of the same register that overrules this one.
    pub(super) unless: Option<u8>,
}

/// `[[trap_id]]`: what the id that the trap handler saved says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrapId {
    /// Absent: every other id but 0.
    pub(super) id: Option<u8>,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) source: String,
}

impl TrapId {
    /// The block as a person finds it in the file.
    pub(super) fn block(&self) -> String {
        self.id.map_or_else(|| "[[trap_id]] of all others".to_owned(), |id| format!("[[trap_id]] {id}"))
    }
}
