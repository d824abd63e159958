//! Why code is not disassembled.

use std::time::Duration;

/// Why code is not disassembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisassembleError {
    /// Nothing is installed.
    #[error(
        "no llvm-objdump or llvm-mc on the PATH: install LLVM (`apt install llvm`) or ROCm, or pass --disassembler FILE"
    )]
    NoTool,
    /// The address is that of no instruction.
    #[error("no instruction lies at {0:#x}: instructions lie at multiples of 4 bytes")]
    Unaligned(u64),
    /// The tool is too old for the GPU, or was built without AMD's.
    #[error("{tool} does not know {processor} ({words}): install a newer LLVM, or pass --disassembler FILE")]
    UnknownProcessor {
        /// The program.
        tool: String,
        /// The processor.
        processor: String,
        /// Its output.
        words: String,
    },
    /// The program cannot be started.
    #[error("cannot run {tool}: {error}")]
    NotRun {
        /// The program.
        tool: String,
        /// The operating system's word.
        error: String,
    },
    /// It ended with an error, or crashed.
    #[error("{tool} failed ({status}): {words}")]
    Failed {
        /// The program.
        tool: String,
        /// How it ended.
        status: String,
        /// The first line of its output.
        words: String,
    },
    /// It took too long, and was ended.
    #[error("{tool} did not end within {limit:?}, and was stopped")]
    TimedOut {
        /// The program.
        tool: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// It printed too much, and was ended.
    #[error("{tool} printed more than {limit} bytes, and was stopped")]
    TooMuch {
        /// The program.
        tool: String,
        /// How much was read.
        limit: usize,
    },
    /// Its output is no listing of the given code.
    #[error("{tool} printed no listing of its input: {why}")]
    NoListing {
        /// The program.
        tool: String,
        /// The error, and its place.
        why: ListingError,
    },
}

/// The reason that a tool's output is no listing of the code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    /// A line of `llvm-objdump` has no address.
    #[error("no address in `{0}`")]
    NoAddress(String),
    /// A line of `llvm-objdump` is not about the next instruction.
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
    /// A line of `llvm-objdump` is about bytes past the code.
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
    /// The listing ends before the code; with the byte that it lacks.
    #[error("it prints no instruction for the byte {0}")]
    Short(usize),
    /// The listing goes on after the code.
    #[error("it continues after the byte {at} of {size}")]
    Long {
        /// The first byte past the listed instructions.
        at: usize,
        /// Bytes of the code.
        size: usize,
    },
    /// `llvm-mc` encodes an instruction differently; with its byte.
    #[error(
        "it encodes the instruction at the byte {0} otherwise than the code has it; llvm-objdump does better"
    )]
    Encoding(usize),
}

impl DisassembleError {
    /// Whether another tool may do better. One that takes too long is not followed by more of them.
    pub(super) fn is_of_this_tool(&self) -> bool {
        !matches!(self, Self::NoTool | Self::Unaligned(_) | Self::TimedOut { .. })
    }
}
