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
        why: String,
    },
}

impl DisassembleError {
    /// Whether another tool may do better. One that takes too long is not followed by more of them.
    pub(super) fn is_of_this_tool(&self) -> bool {
        !matches!(self, Self::NoTool | Self::Unaligned(_) | Self::TimedOut { .. })
    }
}
