//! Contradictions in a case file.

use thiserror::Error;

use super::text::TextError;
use crate::arch::TargetError;
use crate::units::{Address, AddressSpace, LaneId, WaveSize};

/// The reason that the state or a case cannot be evaluated.
#[derive(Debug, Error)]
pub(crate) enum CaseError {
    /// A part of a case.
    #[error("case {name:?}: {error}")]
    Case { name: String, error: Box<Self> },
    #[error("another case has that name")]
    SameName,
    #[error("call frame information is wanted: expected cie or fde, and no bytes")]
    NoInstructions,
    #[error("an expression's result is wanted: expected bytes, and neither cie nor fde")]
    NoExpression,
    #[error("initial_stack: {0}")]
    InitialStack(Box<Self>),
    #[error("no return_address")]
    NoReturnAddress,
    #[error("no register")]
    NoRegister,
    #[error("expect: {0}")]
    Expectation(#[from] serde_json::Error),
    #[error("address space {0} is reserved")]
    Reserved(AddressSpace),
    #[error("a place in address space {0} needs a lane")]
    NeedsLane(AddressSpace),
    #[error("state: wave_size = {0}: not 32 or 64")]
    WaveSize(u64),
    #[error("state: {0}")]
    Target(Box<TargetError>),
    #[error("state: {0} has no wave sizes")]
    NoWaveSizes(String),
    #[error("state: lane = {0}: not a lane of {1}")]
    Lane(LaneId, WaveSize),
    #[error("state.apertures: no address space {0:?}")]
    Aperture(String),
    #[error("state.{map}.{register}: {cause}")]
    Register { map: &'static str, register: String, cause: Box<RegisterCause> },
    #[error("state.memory: lane = {lane} with space = {space}: expected it only with space = 5")]
    LaneOfSpace { lane: u8, space: u64 },
    #[error("state.memory: no memory of address space {space} at {address}: {cause}")]
    NoMemory { space: AddressSpace, address: Address, cause: MemoryCause },
    #[error("state.{key}: offset = {offset:#x}: another DIE has that offset")]
    SameOffset { key: &'static str, offset: u64 },
    #[error("state.procedure at {0:#x}: expected at most one of location, const_value and loclist")]
    Procedure(u64),
}

impl From<TargetError> for CaseError {
    fn from(error: TargetError) -> Self {
        Self::Target(error.into())
    }
}

impl CaseError {
    /// The same, with the case's name.
    pub(super) fn of_case(self, name: &str) -> Self {
        Self::Case { name: name.to_owned(), error: self.into() }
    }
}

/// The reason that a register rejects its contents.
#[derive(Debug, Error)]
pub(crate) enum RegisterCause {
    #[error("not a DWARF register number")]
    Number,
    #[error("it is a vector register: expected a list of one number for each lane")]
    Vector,
    #[error("it is no vector register: expected a number of {0} bits")]
    Scalar(u64),
    #[error("{0} lanes: expected at most the {1} of the wave")]
    Lanes(usize, u64),
    #[error(transparent)]
    Text(#[from] TextError),
}

/// The reason that the state has no memory at an address.
#[derive(Debug, Error)]
pub(crate) enum MemoryCause {
    #[error("it is a lane's: expected lane = N")]
    NeedsLane,
    #[error("lane {0} is not one of the {1}")]
    Lane(LaneId, WaveSize),
    #[error(
        "byte {offset:#x} of the wave (lane {lane} of {lanes}, swizzled) is beyond scratch_bytes = {size:#x}"
    )]
    Scratch { offset: u64, lane: LaneId, lanes: u32, size: u64 },
    #[error("the address is beyond what 64 bits count")]
    Wraps,
    #[error("it is beyond scratch_bytes or lds_bytes, in no aperture, or the space is reserved")]
    Beyond,
}
