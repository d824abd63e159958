//! Instructions around a wave: a function, or so many from an address, with lanes, source lines and branch targets.
//!
//! Bytes are the reader's, so that what-if writes are seen and what was not captured is absent. Where an instruction begins
//! nobody says in the bytes: a listing begins at a function's start, at a row of the line table, or where it is told to.

mod blocks;
mod bounds;
mod list;
mod marks;

pub(super) use list::list;

use std::sync::Arc;

use super::Unreadable;
use crate::disassembler::DisassembleError;
use crate::units::{Address, LaneId, LaneSet, Pc, WaveId};

/// The most bytes of code that a listing is of; larger functions are listed around the PC.
pub const MAX_LISTED_BYTES: u64 = 256 * 1024;
/// Instructions that are listed where no function tells where to end.
pub(super) const WITHOUT_END: usize = 32;

/// Which instructions are asked for: of the function that a frame is in, where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// As that lane's stack has the frame; `None`: the wave's.
    pub lane: Option<LaneId>,
    /// The frame, 0 innermost.
    pub frame: usize,
    /// An address instead of the frame's PC: the function that holds it, or with `count` the instructions from it on.
    pub address: Option<u64>,
    /// How many, from the function's start or the address on.
    pub count: Option<usize>,
    /// So many before and after the one at the PC or the address.
    pub around: Option<usize>,
}

/// A listing of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembly {
    /// The wave.
    pub wave: WaveId,
    /// The frame that is marked.
    pub frame: usize,
    /// Where the frame goes on; `None`: not captured.
    pub pc: Option<Pc>,
    /// The function that was asked for, where there is one.
    pub function: Option<FunctionBounds>,
    /// The code object that holds it.
    pub code_object: Option<String>,
    /// What the code is for, as LLVM names it: `gfx90a`.
    pub processor: String,
    /// The program that decoded it; `None` where there is nothing.
    pub tool: Option<String>,
    /// The instructions by address.
    pub instructions: Vec<ListedInstruction>,
    /// What is missing, and why.
    pub problems: Vec<String>,
}

/// Where a function lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBounds {
    /// Its name: demangled.
    pub name: Arc<str>,
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
}

/// An address as a function has it.
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
    /// Where it lies.
    pub address: Address,
    /// Its bytes, lowest address first.
    pub bytes: Vec<u8>,
    /// What the tool prints, without names.
    pub text: String,
    /// Whether it is an instruction: else `text` shows its bytes.
    pub is_decoded: bool,
    /// The function it is in.
    pub symbol: Option<Symbolic>,
    /// Where it branches to.
    pub target: Option<(Address, Option<Symbolic>)>,
    /// Source file, where the line table has it.
    pub file: Option<Arc<str>>,
    /// Source line.
    pub line: Option<u64>,
    /// Whether the frame goes on here.
    pub is_pc: bool,
    /// The lanes whose frame goes on here, as far as that is known.
    pub lanes: LaneSet,
    /// Those of them that are active; `None`: not known.
    pub active: Option<LaneSet>,
}

/// Why there is no listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDisassembled {
    /// There is no such wave, lane or frame, or no PC.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// No tool can do it.
    #[error(transparent)]
    Tool(#[from] DisassembleError),
}
