//! Errors in targets, registers and address spaces.

use std::path::PathBuf;
use std::sync::Arc;

use crate::units::{AddressSpace, DwarfReg, LaneId, WaveSize};

/// A failure to find or load a target.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TargetError {
    /// No file describes the target.
    #[error("there is no target {name:?}; there are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// The target does not run waves of that size.
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
        /// The operating system's error; shared, because a failed load is cached.
        #[source]
        error: Arc<std::io::Error>,
    },
    /// A target file is too long.
    #[error("{}: {size} bytes; a target file has at most {most}", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The maximum size in bytes.
        most: u64,
    },
    /// Two files of one folder describe the same target.
    #[error("{first} and {second} both describe {name}")]
    Twice {
        /// The target.
        name: String,
        /// The file read first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A file is not TOML or violates the schema.
    #[error("{file}: {error}")]
    Syntax {
        /// The file.
        file: String,
        /// The error with its position.
        #[source]
        error: Box<toml::de::Error>,
    },
    /// A file violates rules beyond the schema.
    #[error("{file}: {}", list(problems))]
    Invalid {
        /// The file.
        file: String,
        /// All problems, in the order of the file's blocks.
        problems: Vec<TargetFileError>,
    },
}

/// A violation of a rule in a target file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{block}: {key}: {what} [{check}]")]
pub struct TargetFileError {
    /// The rule's name: its function in `arch::check`.
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

/// An error in the lookup of a DWARF register number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DwarfRegError {
    /// The mapping reserves it, or assigns it to newer GPUs.
    #[error("DWARF register {number} is reserved for {what} on {target}")]
    Reserved {
        /// The number.
        number: DwarfReg,
        /// First and last number of the reserved range.
        range: (DwarfReg, DwarfReg),
        /// The purpose of the reservation.
        what: String,
        /// The target.
        target: String,
    },
    /// The mapping names a register that the target lacks.
    #[error("DWARF register {number} is {name}, {why}")]
    Absent {
        /// The number.
        number: DwarfReg,
        /// The register in AMDGPUUsage's spelling.
        name: String,
        /// The reason: "which gfx900 does not have".
        why: String,
    },
    /// It is a register of waves of the other size.
    #[error("DWARF register {number} is {name} of {meant}, this is a {here} wave")]
    OtherWaveSize {
        /// The number.
        number: DwarfReg,
        /// The register in AMDGPUUsage's spelling.
        name: String,
        /// The wave size of that register.
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

/// An error in the name of a register run.
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
    /// The ends are not of one numbered kind in ascending order.
    #[error("{text:?} is not a run of registers of one kind, lowest first")]
    NotARun {
        /// The text.
        text: String,
    },
    /// A register of the run does not exist.
    #[error("{text:?} has a hole: there is no {missing}")]
    Hole {
        /// The text.
        text: String,
        /// The first missing register.
        missing: String,
    },
}

/// An error in the lookup of an address space number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// The target reserves it.
    #[error("address space {0} is reserved")]
    Reserved(AddressSpace),
    /// It is private memory of a lane beyond the wave size.
    #[error("address space {space} is private memory of lane {lane}, this is a {here} wave")]
    NoSuchLane {
        /// The number.
        space: AddressSpace,
        /// The lane.
        lane: LaneId,
        /// The wave size of the wave.
        here: WaveSize,
    },
    /// It is beyond all spaces.
    #[error("there is no address space {0}")]
    Unknown(AddressSpace),
}
