//! The cause of a crash or hang: the suspected accesses to memory with their evidence, best first, or the other cause.
//!
//! Input: sessions over a dump, one for each served kind of waves. Output: [`Triage`], which `page` renders as text and
//! `json` as `lanescope.triage/1`. Statements have a [`Confidence`] and typed reasons; missing data excludes nothing.

use std::fmt::{self, Display};

mod access;
mod accessed;
mod analysis;
mod cause;
mod causes;
mod hang;
pub mod json;
mod judge;
mod listings;
mod map;
pub mod page;
mod patterns;
mod rank;
mod registers;
mod scene;
mod source;
mod steps;
mod summary;
mod survey;
mod walk;

pub use access::{
    AddressOf, Confidence, DeclaredBounds, Evidence, IndexRule, Neighbour, Pattern, PatternOf, Suspect, Term,
    UnknownAddressCause, UnknownLanes, Variable,
};
pub use analysis::{Question, triage};
pub use cause::{Arithmetic, Assertion, Cause, Foreign, QueueError};
pub use hang::{GroupWait, Hang, PolledValue, WaitPlace, WaveState, WaveWait};
pub(crate) use map::{Map, Span};
pub use page::sentence;
pub use scene::Scene;
pub(crate) use scene::short;
pub use source::describe;
pub use steps::Step;
pub use summary::{stops, summary};
pub use survey::has_faulted;

use crate::capture::Fault;
use crate::notation::counted;
use crate::units::{Pc, WaveId};

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triage {
    /// The cause. `None`: no wave stopped for a fault, no fault is reported, and nothing hangs.
    pub cause: Option<Cause>,
    /// The reported faults.
    pub faults: Vec<Fault>,
    /// The suspected accesses, best first.
    pub suspects: Vec<Suspect>,
    /// Number of further suspects, without their facts.
    pub further: usize,
    /// Waves that stopped for the reported cause, and the rest.
    pub waves: Stops,
    /// States of waves and work-groups, if no wave faulted or the question asks for them.
    pub hang: Option<Hang>,
    /// Data that the analysis lacks, with its effect.
    pub missing: Vec<MissingData>,
}

/// The waves of a dump by the cause of their stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Number of waves that stopped for a fault.
    pub faulted: usize,
    /// Number of waves without a fault of their own, if another wave faulted.
    pub bystanders: usize,
    /// Number of waves with an unknown stop reason.
    pub unknown: usize,
    /// Number of waves that the question is about.
    pub asked: usize,
    /// PCs of the faulted waves with the number of waves, the most frequent first.
    pub pcs: Vec<(Pc, usize)>,
    /// The wave that the page describes.
    pub chosen: Option<WaveId>,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceAt {
    /// The function, demangled.
    pub function: Option<String>,
    /// The file, as the debug information names it.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The text of the line, if the capture has the source.
    pub text: Option<String>,
}

/// Data that an analysis lacks, and its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingData {
    /// No report names a page: several accesses remain.
    Page,
    /// No tool can decode the code.
    Instructions(String),
    /// The paths to a PC: the accesses before it are no suspects.
    Code(u64),
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
    /// The PCs of waves: their states in a hang.
    WavePcs {
        /// Number of waves.
        waves: usize,
    },
    /// The code at the PCs of waves: their states in a hang.
    WaveCode {
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

impl Display for MissingData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page => f.write_str(
                "no page of the fault: add the program's output with --log FILE or --fault-address ADDRESS",
            ),
            Self::Instructions(value) => write!(f, "instructions ({value}): install llvm-objdump of LLVM 22"),
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
                write!(f, "the PC of {}: an unknown state", counted(*waves, "wave"))
            }
            Self::WaveCode { waves } => {
                let waves = counted(*waves, "wave");
                write!(f, "the code at the PC of {waves}: add it with --code-object FILE")
            }
            Self::BarrierStatus { bit, waves } => {
                write!(f, "{bit} of {} at the barrier: a deadlock is not proven", counted(*waves, "wave"))
            }
        }
    }
}
