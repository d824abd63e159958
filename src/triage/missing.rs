//! Data that an analysis lacks.

use std::fmt::{self, Display};

use crate::notation::{counted, plural};

/// Data that an analysis lacks, and its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingData {
    /// No report names a page: several accesses remain.
    Page,
    /// The access to a reported page: no known address of the capture is on it.
    Access {
        /// First byte of the page.
        page: u64,
    },
    /// No tool can decode the code.
    Instructions(String),
    /// The reason of a halt without one in the wave's registers.
    StopReason,
    /// The paths to a PC: the accesses before it are no suspects.
    Code(u64),
    /// The function at a PC: the accesses before it are no suspects.
    Function(u64),
    /// The code at a PC: the accesses before it are no suspects.
    CodeObject(u64),
    /// The caller of the function at an address: its accesses are no suspects.
    Caller(u64),
    /// The function that the instruction at an address called: its accesses are no suspects.
    Callee(u64),
    /// Registers of a wave.
    Registers {
        /// The wave's id in the dump.
        wave: u32,
        /// Their names.
        registers: String,
    },
    /// The memory map: segments of a capture without all of global memory.
    MemoryMap,
    /// Parts of the analysis beyond its limit.
    Limit(Limit),
    /// The PCs of waves: their states in a hang, and the accesses before a fault.
    WavePcs {
        /// Number of waves.
        waves: usize,
    },
    /// The code at the PCs of waves: their states in a hang.
    WaveCode {
        /// Number of waves.
        waves: usize,
    },
    /// The dispatch of waves that spin: further waves of it may run.
    Dispatch {
        /// Number of waves.
        waves: usize,
    },
    /// A bit of the status of waves at a barrier: whether they wait.
    BarrierStatus {
        /// The bit by AMD's name.
        bit: &'static str,
        /// Number of waves.
        waves: usize,
    },
}

/// A limit of an analysis that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// PCs of faults.
    Pcs,
    /// Accesses of waves whose registers are read.
    Accesses,
    /// Instructions that are visited for paths and loops before the PCs.
    Paths,
    /// Instructions that are computed again for overwritten registers.
    Registers,
    /// PCs, loops and polled values of a hang.
    Hang,
}

/// Names of the variants in JSON: the list and the match have the same entries.
macro_rules! names {
    ($($variant:pat => $name:literal,)*) => {
        impl MissingData {
            /// All names.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// The name in JSON.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $($variant => $name,)*
                }
            }
        }
    };
}

names! {
    Self::Page => "page",
    Self::Access { .. } => "access",
    Self::Instructions(_) => "instructions",
    Self::StopReason => "stop_reason",
    Self::Code(_) => "code",
    Self::Function(_) => "function",
    Self::CodeObject(_) => "code_object",
    Self::Caller(_) => "caller",
    Self::Callee(_) => "callee",
    Self::Registers { .. } => "registers",
    Self::MemoryMap => "memory_map",
    Self::Limit(_) => "limit",
    Self::WavePcs { .. } => "wave_pcs",
    Self::WaveCode { .. } => "wave_code",
    Self::Dispatch { .. } => "dispatch",
    Self::BarrierStatus { .. } => "barrier_status",
}

impl Display for MissingData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page => f.write_str(
                "no page of the fault: add the program's output with --log FILE or --fault-address ADDRESS",
            ),
            Self::Access { page } => write!(
                f,
                "the access to the reported page {page:#x}: its wave may have ended or lack in the capture, or \
                 the report may be of another run"
            ),
            Self::Instructions(value) => write!(f, "instructions: {value}"),
            Self::StopReason => f.write_str(
                "the reason of the halt: add the program's output or a kernel log with --log FILE",
            ),
            Self::Function(value) => write!(
                f,
                "the function at {value:#x}: earlier accesses are no candidates; add its code object with \
                 --code-object FILE"
            ),
            Self::CodeObject(value) => {
                write!(f, "the code at {value:#x}: add its code object with --code-object FILE")
            }
            Self::Code(value) => write!(f, "the paths to {value:#x}: earlier accesses are no candidates"),
            Self::Caller(value) => {
                write!(f, "the caller of the function at {value:#x}: its accesses are no candidates")
            }
            Self::Callee(value) => {
                write!(f, "the function called at {value:#x}: its accesses are no candidates")
            }
            Self::Registers { wave, registers } => write!(f, "registers of wave {wave}: {registers}"),
            Self::MemoryMap => {
                f.write_str("the list of the process's memory: an unlisted address may be mapped")
            }
            Self::Limit(limit) => f.write_str(match limit {
                Limit::Pcs => "further PCs of faults (limit): the cause may be at another one; try --wave",
                Limit::Accesses => "the accesses of further waves (limit): try --wave",
                Limit::Paths => "further paths to the PCs (limit): each access may have another one",
                Limit::Registers => "values of further overwritten registers (limit): try --wave",
                Limit::Hang => "the states or polled values of further waves (limit)",
            }),
            Self::WavePcs { waves } => {
                let of = plural(*waves, "its state and accesses", "their states and accesses");
                write!(f, "the PC of {}: {of} are unknown", counted(*waves, "wave"))
            }
            Self::WaveCode { waves } => {
                let waves = counted(*waves, "wave");
                write!(f, "the code at the PC of {waves}: add its code object with --code-object FILE")
            }
            Self::Dispatch { waves } => {
                let of = plural(*waves, "wave that spins", "waves that spin");
                write!(f, "the dispatch of {waves} {of}: waves that are not captured may run")
            }
            Self::BarrierStatus { bit, waves } => {
                write!(f, "{bit} of {} at the barrier: a deadlock is not proven", counted(*waves, "wave"))
            }
        }
    }
}
