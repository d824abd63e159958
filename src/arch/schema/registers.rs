//! Blocks about registers: the registers themselves, their named bits, and DWARF numbers without a register.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::arch::names::Names;
use crate::arch::register::{RegClass, ValueType};
use crate::units::WaveSize;

/// A number for both wave sizes, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number or { wave32 = N, wave64 = N }")]
pub(in crate::arch) enum PerWave {
    Same(u16),
    Each(Each),
}

/// A number for each wave size, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct Each {
    pub(in crate::arch) wave32: Option<u16>,
    pub(in crate::arch) wave64: Option<u16>,
}

impl PerWave {
    pub(in crate::arch) fn of(self, size: WaveSize) -> Option<u16> {
        match (self, size) {
            (Self::Same(number), _) => Some(number),
            (Self::Each(each), WaveSize::W32) => each.wave32,
            (Self::Each(each), WaveSize::W64) => each.wave64,
        }
    }

    /// Iterates over the numbers with their wave size; `None`: both sizes.
    pub(in crate::arch) fn each(self) -> impl Iterator<Item = (Option<WaveSize>, u16)> {
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

/// `[[register]]`: a register or a run of them, in the order of the clients.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct RegisterBlock {
    pub(in crate::arch) name: Names,
    pub(in crate::arch) class: RegClass,
    #[serde(rename = "type")]
    pub(in crate::arch) value_type: ValueType,
    /// Absent for `lanes`; a wave size without a number lacks the register.
    pub(in crate::arch) bits: Option<PerWave>,
    pub(in crate::arch) dwarf: Option<PerWave>,
    /// AMDGPUUsage's spelling, by wave size if it differs.
    pub(in crate::arch) dwarf_name: Option<DwarfNames>,
    pub(in crate::arch) dbgapi: Option<PerWave>,
    pub(in crate::arch) dbgapi_shadow: Option<u16>,
    pub(in crate::arch) fields: Option<String>,
    pub(in crate::arch) sgprs_from_end: Option<u16>,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl RegisterBlock {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[register]] {}", self.name)
    }

    /// Returns the dwords of each register in waves of that size; `None` if they have none of them.
    pub(in crate::arch) fn dwords(&self, size: WaveSize) -> Option<u16> {
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
pub(in crate::arch) enum DwarfNames {
    Same(Names),
    Each(EachName),
}

/// A name for each wave size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct EachName {
    pub(in crate::arch) wave32: Names,
    pub(in crate::arch) wave64: Names,
}

impl DwarfNames {
    pub(in crate::arch) fn of(&self, size: Option<WaveSize>) -> &Names {
        match (self, size) {
            (Self::Same(names), _) => names,
            (Self::Each(each), Some(WaveSize::W32)) => &each.wave32,
            (Self::Each(each), _) => &each.wave64,
        }
    }
}

/// `[[dbgapi_only]]`: a number of AMD's debugger library without a register on this processor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct DbgapiOnly {
    pub(in crate::arch) name: Names,
    pub(in crate::arch) number: u16,
    pub(in crate::arch) bits: u16,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

/// `[[fields]]`: the named bits of a register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct Fields {
    pub(in crate::arch) name: String,
    pub(in crate::arch) bits: BTreeMap<String, Bits>,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl Fields {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self) -> String {
        format!("[[fields]] {}", self.name)
    }
}

/// One bit, or a run in the order of hardware manuals: high, low.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a bit or [HIGH, LOW]")]
pub(in crate::arch) enum Bits {
    One(u8),
    Run([u8; 2]),
}

impl Bits {
    pub(in crate::arch) fn low(self) -> u8 {
        match self {
            Self::One(bit) => bit,
            Self::Run([_, low]) => low,
        }
    }

    pub(in crate::arch) fn high(self) -> u8 {
        match self {
            Self::One(bit) => bit,
            Self::Run([high, _]) => high,
        }
    }
}

/// `[[dwarf_reserved]]` and `[[dwarf_absent]]`: DWARF numbers without a register on this processor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::arch) struct DwarfGap {
    pub(in crate::arch) first: u16,
    pub(in crate::arch) last: u16,
    /// The registers of the numbers, if they have any.
    pub(in crate::arch) names: Option<Names>,
    /// Completes "register N is reserved for …" (required) or "register N is NAME, …" (default: the processor lacks it).
    pub(in crate::arch) what: Option<String>,
    #[serde(default)]
    pub(in crate::arch) source: String,
}

impl DwarfGap {
    /// The block's heading in messages.
    pub(in crate::arch) fn block(&self, table: &str) -> String {
        format!("[[{table}]] {}-{}", self.first, self.last)
    }
}
