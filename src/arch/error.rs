//! Errors in a target, a register's name or number, or an address space.

use std::path::PathBuf;
use std::sync::Arc;

use crate::units::{AddressSpace, DwarfReg, LaneId, WaveSize};

/// Why there is no such target.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TargetError {
    /// No file describes it.
    #[error("there is no target {name:?}; there are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// It does not run waves of that size.
    #[error("{target} has no {wave_size} waves")]
    WaveSize {
        /// The target.
        target: String,
        /// The requested name.
        wave_size: WaveSize,
    },
    /// A file or folder cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why; shared, because a failed load is remembered.
        #[source]
        error: Arc<std::io::Error>,
    },
    /// A file is far too long to describe a processor.
    #[error("{}: {size} bytes; a target file has at most {most}", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most bytes that are read.
        most: u64,
    },
    /// Two files of one folder describe one target.
    #[error("{first} and {second} both describe {name}")]
    Twice {
        /// The target.
        name: String,
        /// The file that was read first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A file is not TOML or not of the schema.
    #[error("{file}: {error}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and why.
        #[source]
        error: Box<toml::de::Error>,
    },
    /// A file breaks rules of the schema.
    #[error("{file}: {}", list(problems))]
    Invalid {
        /// The file.
        file: String,
        /// All that is wrong, in the order of the file's blocks.
        problems: Vec<TargetFileError>,
    },
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{block}: {key}: {what} [{check}]")]
pub struct TargetFileError {
    /// The rule's name, that of its function in `arch::check`.
    pub check: &'static str,
    /// The block: `[[register]] v{0..255}`.
    pub block: String,
    /// The key within it.
    pub key: &'static str,
    /// The error, with the value.
    pub what: String,
}

fn list(problems: &[TargetFileError]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n  ")
}

/// Why a DWARF register number names no register of a wave.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DwarfRegError {
    /// The mapping assigns it to nothing, or to newer GPUs.
    #[error("DWARF register {number} is reserved for {what} on {target}")]
    Reserved {
        /// The number.
        number: DwarfReg,
        /// First and last number of the reserved range.
        range: (DwarfReg, DwarfReg),
        /// The purpose it is reserved for.
        what: String,
        /// The target.
        target: String,
    },
    /// The mapping names a register that this target does not have.
    #[error("DWARF register {number} is {name}, {why}")]
    Absent {
        /// The number.
        number: DwarfReg,
        /// The register that is meant, as AMDGPUUsage spells it.
        name: String,
        /// Why it is not there: "which gfx900 does not have".
        why: String,
    },
    /// It names a register as waves of the other size have it.
    #[error("DWARF register {number} is {name} of {meant}, this is a {here} wave")]
    OtherWaveSize {
        /// The number.
        number: DwarfReg,
        /// The register that is meant, as AMDGPUUsage spells it.
        name: String,
        /// The wave size that is meant.
        meant: WaveSize,
        /// The wave size of the wave.
        here: WaveSize,
    },
    /// It is beyond the mapping.
    #[error("DWARF register {number} is not in the register mapping of {target}")]
    Unknown {
        /// The number.
        number: DwarfReg,
        /// The target.
        target: String,
    },
}

/// Why a text names no run of registers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// No register has that name.
    #[error("{target} has no register {name:?} in {wave_size} waves")]
    Unknown {
        /// The name.
        name: String,
        /// The target.
        target: String,
        /// The wave size.
        wave_size: WaveSize,
    },
    /// The ends are not of one numbered kind, lowest first.
    #[error("{text:?} is not a run of registers of one kind, lowest first")]
    NotARun {
        /// The text.
        text: String,
    },
    /// A register in the middle does not exist.
    #[error("{text:?} has a hole: there is no {missing}")]
    Hole {
        /// The text.
        text: String,
        /// The first missing register.
        missing: String,
    },
}

/// Why an address space number names no space of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// The target reserves it.
    #[error("address space {0} is reserved")]
    Reserved(AddressSpace),
    /// It is private memory of a lane that the wave does not have.
    #[error("address space {space} is private memory of lane {lane}, this is a {here} wave")]
    NoSuchLane {
        /// The number.
        space: AddressSpace,
        /// The lane that is meant.
        lane: LaneId,
        /// The wave size of the wave.
        here: WaveSize,
    },
    /// It is beyond all spaces.
    #[error("there is no address space {0}")]
    Unknown(AddressSpace),
}
