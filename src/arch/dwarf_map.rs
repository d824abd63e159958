//! The DWARF register mapping: the register of a number, or the reason for none.
//!
//! The numbers form long runs, so the map is a sorted list of runs. It includes the numbers of the other wave size: a
//! wrong wave size in the compiler's options is a common error, and "VGPR0 of wave64" indicates it.

use super::error::DwarfRegError;
use super::names::Names;
use super::register::RegId;
use super::schema::File;
use crate::units::{DwarfReg, WaveSize};

/// A run of numbers.
#[derive(Clone, Debug)]
pub(super) struct DwarfRun {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) means: Means,
}

/// The meaning of a run's numbers.
#[derive(Clone, Debug)]
pub(super) enum Means {
    /// Registers: their names in the mapping, the index of their block in the file, and the wave size, if only one.
    Registers { names: Names, block: usize, wave_size: Option<WaveSize> },
    /// Registers that the target lacks, with the reason.
    Absent { names: Option<Names>, why: String },
    /// Reserved numbers, with the purpose.
    Reserved { names: Option<Names>, what: String },
}

/// Returns all runs of a file, by number. [`super::check`] reports overlaps and gaps.
pub(super) fn runs(file: &File) -> Vec<DwarfRun> {
    let mut runs = Vec::new();
    for (block, register) in file.register.iter().enumerate() {
        let (Some(dwarf), Some(dwarf_name)) = (register.dwarf, &register.dwarf_name) else { continue };
        for (wave_size, first) in dwarf.each() {
            let first = u64::from(first);
            let last = first + u64::from(register.name.count()) - 1;
            let names = dwarf_name.of(wave_size).clone();
            runs.push(DwarfRun { first, last, means: Means::Registers { names, block, wave_size } });
        }
    }
    for gap in &file.dwarf_absent {
        let why = gap.what.clone().unwrap_or_else(|| format!("which {} does not have", file.target.name));
        let means = Means::Absent { names: gap.names.clone(), why };
        runs.push(DwarfRun { first: u64::from(gap.first), last: u64::from(gap.last), means });
    }
    for gap in &file.dwarf_reserved {
        let means = Means::Reserved { names: gap.names.clone(), what: gap.what.clone().unwrap_or_default() };
        runs.push(DwarfRun { first: u64::from(gap.first), last: u64::from(gap.last), means });
    }
    runs.sort_by_key(|run| (run.first, run.last));
    runs
}

/// A run of DWARF numbers for one kind of wave, as a table row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DwarfRange {
    /// The first number.
    pub first: DwarfReg,
    /// The last number.
    pub last: DwarfReg,
    /// The first and the last register name in AMDGPUUsage's spelling, if the numbers have names.
    pub names: Option<(String, String)>,
    /// Their meaning for this kind.
    pub meaning: DwarfMeaning,
}

/// The meaning of a run of DWARF numbers for one kind of wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DwarfMeaning {
    /// Registers, from this one on.
    Registers(RegId),
    /// Registers of waves of the other size.
    OtherWaveSize(WaveSize),
    /// Registers that the target lacks, with the reason.
    Absent(String),
    /// Reserved, with the purpose.
    Reserved(String),
}

/// The mapping for one kind of wave.
#[derive(Debug)]
pub(super) struct DwarfMap {
    pub(super) target: String,
    pub(super) here: WaveSize,
    pub(super) runs: Vec<DwarfRun>,
    /// The first register of each block of the file, if the kind has it.
    pub(super) blocks: Vec<Option<RegId>>,
}

impl DwarfMap {
    fn run(&self, number: DwarfReg) -> Option<(&DwarfRun, u16)> {
        let at = self.runs.partition_point(|run| run.last < number.0);
        let run = self.runs.get(at)?;
        let index = number.0.checked_sub(run.first)?;
        Some((run, u16::try_from(index).ok()?))
    }

    /// Returns the register of that number.
    pub(super) fn find(&self, number: DwarfReg) -> Result<RegId, DwarfRegError> {
        let unknown = || DwarfRegError::Unknown { number, target: self.target.clone() };
        let (run, index) = self.run(number).ok_or_else(unknown)?;
        match &run.means {
            Means::Registers { names, block, wave_size } => match wave_size {
                Some(meant) if *meant != self.here => Err(DwarfRegError::OtherWaveSize {
                    number,
                    name: names.at(index),
                    meant: *meant,
                    here: self.here,
                }),
                _ => {
                    let first = self.blocks.get(*block).copied().flatten().ok_or_else(unknown)?;
                    Ok(RegId(first.0 + index))
                }
            },
            Means::Absent { names, why } => {
                let name = names.as_ref().map_or_else(String::new, |names| names.at(index));
                Err(DwarfRegError::Absent { number, name, why: why.clone() })
            }
            Means::Reserved { names, what } => Err(DwarfRegError::Reserved {
                number,
                range: (DwarfReg(run.first), DwarfReg(run.last)),
                what: match names {
                    Some(names) => format!("{} of {what}", names.at(index)),
                    None => what.clone(),
                },
                target: self.target.clone(),
            }),
        }
    }

    /// Iterates over all runs, by number.
    pub(super) fn ranges(&self) -> impl Iterator<Item = DwarfRange> + '_ {
        self.runs.iter().filter_map(|run| {
            let (names, meaning) = match &run.means {
                Means::Registers { names, block, wave_size } => {
                    let meaning = match wave_size {
                        Some(meant) if *meant != self.here => DwarfMeaning::OtherWaveSize(*meant),
                        _ => DwarfMeaning::Registers(self.blocks.get(*block).copied().flatten()?),
                    };
                    (Some(names), meaning)
                }
                Means::Absent { names, why } => (names.as_ref(), DwarfMeaning::Absent(why.clone())),
                Means::Reserved { names, what } => (names.as_ref(), DwarfMeaning::Reserved(what.clone())),
            };
            let names = names.map(|names| (names.at(0), names.at(names.count() - 1)));
            Some(DwarfRange { first: DwarfReg(run.first), last: DwarfReg(run.last), names, meaning })
        })
    }

    /// Returns the number of a name; a number of this kind takes precedence.
    pub(super) fn named(&self, name: &str) -> Option<DwarfReg> {
        let number = |run: &DwarfRun| {
            let names = match &run.means {
                Means::Registers { names, .. } => names,
                Means::Absent { names, .. } | Means::Reserved { names, .. } => names.as_ref()?,
            };
            Some(DwarfReg(run.first + u64::from(names.index(name)?)))
        };
        let mut numbers = self.runs.iter().filter_map(number);
        let first = numbers.next()?;
        let mut all = std::iter::once(first).chain(numbers);
        Some(all.find(|number| self.find(*number).is_ok()).unwrap_or(first))
    }

    /// Returns AMDGPUUsage's name of that number, even if the kind lacks the register.
    pub(super) fn name(&self, number: DwarfReg) -> Option<String> {
        let (run, index) = self.run(number)?;
        match &run.means {
            Means::Registers { names, .. } => Some(names.at(index)),
            Means::Absent { names, .. } | Means::Reserved { names, .. } => {
                names.as_ref().map(|names| names.at(index))
            }
        }
    }
}
