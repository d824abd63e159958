//! Data that an analysis lacks.

use std::fmt::{self, Display};

use super::walk::{MAX_CANDIDATES, MAX_DISTANCE};
use crate::notation::{counted, names, plural};

/// Data that an analysis lacks, and its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingData {
    /// The end of the capture, with the sentence about its file.
    Truncated(String),
    /// Waves: the file has reports of faults alone.
    Waves,
    /// No report names a page: several accesses remain.
    Page {
        /// Whether there is a report of the fault, without its page.
        is_reported: bool,
    },
    /// The access to a reported page: no known address of the capture is on it.
    Access {
        /// First byte of the page.
        page: u64,
    },
    /// No tool can decode the code.
    Instructions(String),
    /// The reason of a halt without one in the wave's registers.
    StopReason,
    /// The stop reasons of waves: each of them may have faulted.
    StopReasons {
        /// Number of waves.
        waves: usize,
    },
    /// The paths to a PC: the accesses before it are no suspects.
    Code(u64),
    /// The effects of an instruction: its access, if it has one, is no suspect.
    Instruction {
        /// The address.
        at: u64,
        /// The text.
        text: String,
    },
    /// The function at a PC: the accesses before it are no suspects.
    Function(u64),
    /// The code at a PC: the accesses before it are no suspects.
    CodeObject(u64),
    /// The caller of the function at an address: its accesses are no suspects.
    Caller(u64),
    /// The function that the instruction at an address called: its accesses are no suspects.
    Callee(u64),
    /// The targets of the jump at an address: accesses on paths through it are no suspects.
    Jump(u64),
    /// Registers of a wave.
    Registers {
        /// The wave's id in the dump.
        wave: u32,
        /// Their names.
        registers: String,
    },
    /// The memory map: segments of a capture without all of global memory.
    MemoryMap,
    /// The accesses of waves that a small dump leaves out: they were not searched for the page of an added report.
    LeftOutWaves {
        /// Number of waves.
        waves: usize,
    },
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
    /// Live waves of the dispatches of waves that spin: they may run.
    DispatchWaves {
        /// Number of waves that spin.
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
    /// Reported faults: an access may be on a page of another report.
    Reports,
    /// PCs of faults.
    Pcs,
    /// Accesses of waves whose registers are read.
    Accesses,
    /// Accesses far before the PCs: they are no suspects.
    Distance,
    /// Instructions that are visited for paths and loops before the PCs.
    Paths,
    /// Instructions that are computed again for overwritten registers.
    Registers,
    /// PCs, loops and polled values of a hang.
    Hang,
}

names!(MissingData {
    Self::Truncated(_) => "truncated",
    Self::Waves => "waves",
    Self::Page { .. } => "page",
    Self::Access { .. } => "access",
    Self::Instructions(_) => "instructions",
    Self::StopReason => "stop_reason",
    Self::StopReasons { .. } => "stop_reasons",
    Self::Code(_) => "code",
    Self::Instruction { .. } => "instruction",
    Self::Function(_) => "function",
    Self::CodeObject(_) => "code_object",
    Self::Caller(_) => "caller",
    Self::Callee(_) => "callee",
    Self::Jump(_) => "jump",
    Self::Registers { .. } => "registers",
    Self::MemoryMap => "memory_map",
    Self::LeftOutWaves { .. } => "left_out_waves",
    Self::Limit(_) => "limit",
    Self::WavePcs { .. } => "wave_pcs",
    Self::WaveCode { .. } => "wave_code",
    Self::Dispatch { .. } => "dispatch",
    Self::DispatchWaves { .. } => "dispatch_waves",
    Self::BarrierStatus { .. } => "barrier_status",
});

impl Display for MissingData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(why) => write!(f, "the end of the capture: {why}"),
            Self::Waves => f.write_str("waves: the file has reports of faults alone"),
            Self::Page { is_reported: false } => f.write_str(
                "no page of the fault: add the program's output with --log FILE or --fault-address ADDRESS",
            ),
            Self::Page { is_reported: true } => f.write_str(
                "no page of the fault, which its reports lack: add the kernel log with --log FILE or --fault-address \
                 ADDRESS",
            ),
            Self::Access { page } => write!(
                f,
                "the access to the reported page {page:#x}: its wave may have ended or may be missing from the capture, or \
                 the report may be of another run"
            ),
            Self::Instructions(value) => {
                write!(f, "instructions, which show the access, its lanes and addresses, and loops: {value}")
            }
            Self::StopReason => f.write_str(
                "the reason of the halt: add the program's output or a kernel log with --log FILE",
            ),
            Self::StopReasons { waves } => {
                let of = plural(*waves, "it may have faulted", "each of them may have faulted");
                write!(
                    f,
                    "the stop {} of {}: {of}",
                    plural(*waves, "reason", "reasons"),
                    counted(*waves, "wave")
                )
            }
            Self::Function(value) => write!(
                f,
                "the function at {value:#x}: earlier accesses are no candidates; add its code object with \
                 --code-object FILE"
            ),
            Self::CodeObject(value) => {
                write!(f, "the code at {value:#x}: add its code object with --code-object FILE")
            }
            Self::Instruction { at, text } => write!(
                f,
                "the effects of `{text}` at {at:#x}, which lanescope does not know: its access is no candidate, \
                 and it may have written any register"
            ),
            Self::Code(value) => write!(f, "the paths to {value:#x}: earlier accesses are no candidates"),
            Self::Caller(value) => {
                write!(f, "the caller of the function at {value:#x}: its accesses are no candidates")
            }
            Self::Callee(value) => {
                write!(f, "the function called at {value:#x}: its accesses are no candidates")
            }
            Self::Jump(value) => write!(
                f,
                "the targets of the jump at {value:#x}: accesses on paths through it are no candidates"
            ),
            Self::Registers { wave, registers } => write!(f, "registers of wave {wave}: {registers}"),
            Self::MemoryMap => {
                f.write_str("the list of the process's memory: an unlisted address may be mapped")
            }
            Self::LeftOutWaves { waves } => {
                let (of, are) = (counted(*waves, "wave"), plural(*waves, "is", "are"));
                write!(
                    f,
                    "the accesses of {of} that {are} left out of the dump: give the report to `lanescope slim` of the whole \
                     capture"
                )
            }
            Self::Limit(limit) => f.write_str(match limit {
                Limit::Reports => {
                    "further reported pages (limit): an access off the listed ones may be on them"
                }
                Limit::Pcs => "further PCs of faults (limit): the cause may be at another one; try --wave",
                Limit::Distance => return far(f),
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
            Self::DispatchWaves { waves } => {
                let of = plural(*waves, "wave that spins", "waves that spin");
                write!(f, "waves of the dispatch of {waves} {of}: they may run, so the loop may end")
            }
            Self::BarrierStatus { bit, waves } => {
                write!(f, "{bit} of {} at the barrier: a deadlock is not proven", counted(*waves, "wave"))
            }
        }
    }
}

/// The accesses beyond the limit of the search.
fn far(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "accesses farther before the PCs (limit: {MAX_DISTANCE} instructions, {MAX_CANDIDATES} accesses): they are no \
         candidates"
    )
}

/// `the stop reasons of 2 waves were not captured`; `None`: of no wave.
pub(crate) fn no_stop_reasons(waves: usize) -> Option<String> {
    let (reasons, noun, verb) =
        (plural(waves, "reason", "reasons"), plural(waves, "wave", "waves"), plural(waves, "was", "were"));
    (waves > 0).then(|| format!("the stop {reasons} of {waves} {noun} {verb} not captured"))
}
