//! Errors of disassembly.

use std::time::Duration;

/// The effect of a missing tool, on every page that lacks it.
pub const WITHOUT: &str = "without it there is no cause, no inferred caller and no instruction";

/// An error of disassembly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisassembleError {
    /// No tool is installed.
    #[error(
        "no llvm-objdump or llvm-mc on the PATH, and {WITHOUT}: install LLVM (`apt install llvm`) or ROCm, or pass \
         --disassembler FILE"
    )]
    NoTool,
    /// No instruction has this address: it is no multiple of 4.
    #[error("no instruction lies at {0:#x}: instructions lie at multiples of 4 bytes")]
    Unaligned(u64),
    /// The tool is too old for the GPU, or was built without the AMDGPU target.
    #[error(
        "{tool} does not know {processor} ({words}), and {WITHOUT}: install a newer LLVM, or pass --disassembler FILE"
    )]
    UnknownProcessor {
        /// The program.
        tool: String,
        /// The processor.
        processor: String,
        /// Its output.
        words: String,
    },
    /// The program does not start.
    #[error(
        "cannot run {tool}: {error}, and {WITHOUT}: pass the path of llvm-objdump or llvm-mc with --disassembler FILE"
    )]
    NotRun {
        /// The program.
        tool: String,
        /// The operating system's error.
        error: String,
    },
    /// The program ended with an error, or crashed.
    #[error("{tool} failed ({status}): {words}")]
    Failed {
        /// The program.
        tool: String,
        /// Its exit status.
        status: String,
        /// The first line of its output.
        words: String,
    },
    /// The program exceeded the time limit and was killed.
    #[error("{tool} did not end within {limit:?}, and was stopped")]
    TimedOut {
        /// The program.
        tool: String,
        /// The time limit.
        limit: Duration,
    },
    /// The program printed too much and was killed.
    #[error("{tool} printed more than {limit} bytes, and was stopped")]
    TooMuch {
        /// The program.
        tool: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Its output is not a listing of the given code.
    #[error("{tool} printed no listing of its input: {why}")]
    NoListing {
        /// The program.
        tool: String,
        /// The error, with its position.
        why: ListingError,
    },
}

/// The error in a tool's listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    /// A line of `llvm-objdump` has no address.
    #[error("no address in `{0}`")]
    NoAddress(String),
    /// A line of `llvm-objdump` is not for the next instruction.
    #[error("not the address {expected:#x} in `{line}`")]
    Address {
        /// Address of the next instruction.
        expected: u64,
        /// The line.
        line: String,
    },
    /// A line of `llvm-objdump` has no dwords.
    #[error("no dwords in `{0}`")]
    NoDwords(String),
    /// A line of `llvm-objdump` covers bytes past the code.
    #[error("more than it was given in `{0}`")]
    TooMuch(String),
    /// The listing ends at another address than the code.
    #[error("it ends at {found:#x}, not at {expected:#x}")]
    End {
        /// The end of the last instruction.
        found: u64,
        /// The end of the code.
        expected: u64,
    },
    /// The listing ends before the code; the offset of the first missing byte.
    #[error("it prints no instruction for the byte {0}")]
    Short(usize),
    /// The listing continues past the code.
    #[error("it continues after the byte {at} of {size}")]
    Long {
        /// The first byte past the listed instructions.
        at: usize,
        /// Bytes of the code.
        size: usize,
    },
    /// `llvm-mc` encodes an instruction differently; the offset of its first byte.
    #[error(
        "it encodes the instruction at the byte {0} otherwise than the code has it; llvm-objdump does better"
    )]
    Encoding(usize),
}

impl DisassembleError {
    /// Whether a tool is missing, or too old for the GPU.
    #[must_use]
    pub fn is_lack_of_tool(&self) -> bool {
        matches!(self, Self::NoTool | Self::NotRun { .. } | Self::UnknownProcessor { .. })
    }

    /// Whether another tool may succeed. After a timeout no further tool runs.
    pub(super) fn is_of_this_tool(&self) -> bool {
        !matches!(self, Self::NoTool | Self::Unaligned(_) | Self::TimedOut { .. })
    }
}
