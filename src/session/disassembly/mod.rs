//! Instructions around a wave: a function, or a number of them from an address, with lanes, source lines and branch
//! targets.
//!
//! Bytes come from the reader: they include what-if writes, and missing bytes stay absent. Bytes alone do not show
//! where an instruction begins: a listing begins at a function's start, at a row of the line table, or at the
//! requested address.

mod bounds;
mod code;
mod function;
mod function_code;
mod list;
mod marks;
pub(super) mod text;

pub(super) use bounds::machine;
pub(super) use function::function;
pub(super) use function_code::{DecodedFunctions, ObjectCodeError, instructions, target};
pub(super) use list::list;

use std::sync::Arc;

use super::ReadError;
use crate::isa::{Instruction, UnknownProcessorError};
use crate::units::{Address, LaneId, LaneSet, Pc, WaveId};

/// Maximum number of bytes of code in a listing; larger functions are listed around the PC.
pub const MAX_LISTED_BYTES: u64 = 256 * 1024;
/// Number of instructions listed if no function has a known end.
pub(super) const WITHOUT_END: usize = 32;

/// The requested instructions; the default is the function of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// The lane whose stack has the frame; `None`: the wave's stack.
    pub lane: Option<LaneId>,
    /// The frame, 0 innermost.
    pub frame: usize,
    /// An address instead of the frame's PC: lists the function that holds it, or with `count` the instructions from
    /// it on.
    pub address: Option<u64>,
    /// Number of instructions, from the function's start or the address on.
    pub count: Option<usize>,
    /// Number of instructions before and after the one at the PC or the address.
    pub around: Option<usize>,
    /// The processor to decode for, by LLVM's name; `None`: that of the code.
    pub processor: Option<&'static str>,
}

/// A listing of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembly {
    /// The wave.
    pub wave: WaveId,
    /// The marked frame.
    pub frame: usize,
    /// The frame's resume address; `None`: not captured.
    pub pc: Option<Pc>,
    /// The requested function, if known.
    pub function: Option<FunctionBounds>,
    /// The code object that holds it.
    pub code_object: Option<String>,
    /// The code's processor by LLVM's name: `gfx90a`.
    pub processor: String,
    /// Whether the instructions are the capture's text, which has no bytes.
    pub is_text: bool,
    /// The instructions by address.
    pub instructions: Vec<ListedInstruction>,
    /// Messages for missing parts.
    pub problems: Vec<String>,
}

impl Disassembly {
    /// The origin of the texts; `None` without an instruction.
    #[must_use]
    pub fn tool(&self) -> Option<&'static str> {
        let tool = if self.is_text { "the capture's text" } else { "lanescope" };
        (!self.instructions.is_empty()).then_some(tool)
    }
}

/// The bounds of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBounds {
    /// Its demangled name.
    pub name: Arc<str>,
    /// Its first address, or the first known one.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Whether it begins before `start`, at an unknown address: offsets in it are unknown.
    pub begins_before: bool,
}

/// An address relative to a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbolic {
    /// The function.
    pub function: Arc<str>,
    /// Bytes from its start.
    pub offset: u64,
}

/// An instruction of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInstruction {
    /// Its address.
    pub address: Address,
    /// The instruction; its text has no symbol names.
    pub code: Instruction,
    /// Its bytes, lowest address first; empty: the capture has the text only.
    pub bytes: Vec<u8>,
    /// Its function and offset.
    pub symbol: Option<Symbolic>,
    /// The branch target.
    pub target: Option<(Address, Option<Symbolic>)>,
    /// Source file, if the line table has it.
    pub file: Option<Arc<str>>,
    /// Source line.
    pub line: Option<u64>,
    /// Whether the frame resumes here.
    pub is_pc: bool,
    /// The lanes that are known to resume here in the frame.
    pub lanes: LaneSet,
    /// The active ones among them; `None`: unknown.
    pub active: Option<LaneSet>,
}

/// Reasons for a missing listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisassemblyError {
    /// There is no such wave, lane or frame, or no PC.
    #[error(transparent)]
    ReadError(#[from] ReadError),
    /// No instruction has this address: it is no multiple of 4.
    #[error("no instruction lies at {0:#x}: instructions lie at multiples of 4 bytes")]
    Unaligned(u64),
    /// The code is for a processor that is not known.
    #[error(transparent)]
    Processor(#[from] UnknownProcessorError),
}
