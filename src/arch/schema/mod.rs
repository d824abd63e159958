//! The schema of files in `targets/`; [`super::check`] has the further rules.
//!
//! A file is flat, for comparison with AMDGPUUsage from top to bottom. Processors without facts of their own are
//! steppings of one file. Unknown keys are errors: a misspelt key would lose its fact.

mod registers;
mod rest;

use serde::Deserialize;

pub(super) use registers::{Bits, DbgapiOnly, DwarfGap, Each, Fields, PerWave, RegisterBlock};
pub(super) use rest::{ClassTable, Faults, Reason, ScopeName, SpaceBlock, SpaceGap, TrapId};

use super::save_area::SaveArea;
use super::wave_words::WaveWords;
use crate::units::WaveSize;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) target: Head,
    #[serde(default)]
    pub(super) stepping: Vec<Stepping>,
    pub(super) sgprs: Sgprs,
    pub(super) save_area: Option<SaveArea>,
    pub(super) wave_words: Option<WaveWords>,
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

/// `[target]`: the processor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) products: String,
    pub(super) elf_machine: u32,
    pub(super) wave_sizes: Vec<u64>,
    pub(super) features: Vec<String>,
    pub(super) scratch: Scratch,
    pub(super) gdb: Option<String>,
    #[serde(default)]
    pub(super) source: String,
}

/// `[[stepping]]`: a processor that differs in name, products, ELF machine number and name for gdb only.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stepping {
    pub(super) name: String,
    pub(super) products: String,
    pub(super) elf_machine: u32,
    pub(super) gdb: Option<String>,
    #[serde(default)]
    pub(super) source: String,
}

impl File {
    /// Returns the file of the named stepping: the base's facts with the stepping's own keys.
    pub(super) fn stepping(mut self, name: &str) -> Option<Self> {
        let own = self.stepping.iter().find(|stepping| stepping.name == name)?.clone();
        self.target.name = own.name;
        self.target.products = own.products;
        self.target.elf_machine = own.elf_machine;
        self.target.gdb = own.gdb.or(self.target.gdb);
        Some(self)
    }
}

impl Stepping {
    /// The block's heading in messages.
    pub(super) fn block(&self) -> String {
        format!("[[stepping]] {}", self.name)
    }
}

/// The access method of private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scratch {
    /// Through buffers: stack and frame pointers count bytes of the whole wave.
    Buffer,
    /// By flat instructions: stack and frame pointers count bytes of a lane.
    Flat,
}

impl Head {
    /// Iterates over the wave sizes in the file's order.
    pub(super) fn sizes(&self) -> impl Iterator<Item = WaveSize> + '_ {
        self.wave_sizes.iter().filter_map(|lanes| WaveSize::from_lanes(*lanes))
    }
}

/// `[sgprs]`: the aliases at the end of a wave's allocation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sgprs {
    pub(super) most: u16,
    pub(super) alias_limit: u16,
    #[serde(default)]
    pub(super) source: String,
}
