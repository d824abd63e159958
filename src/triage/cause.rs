//! Causes of a stop.

use super::{Confidence, SourceAt};
use crate::units::{LaneId, LaneSet, WaveId};

/// The cause of a crash or hang.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// An access to memory; [`super::Triage::suspects`] has the candidates.
    Memory,
    /// The PC is in no code: a bad return address or function pointer.
    BadPc {
        /// The PC.
        pc: u64,
        /// Registers that hold the PC: return addresses.
        holders: Vec<String>,
        /// The caller, if a register leads there.
        caller: Option<SourceAt>,
    },
    /// A failed assertion.
    Assertion(Assertion),
    /// A trap of the program: `__builtin_trap`, `abort`.
    Trap {
        /// The place.
        at: SourceAt,
        /// The trap's number.
        id: Option<u8>,
    },
    /// An illegal instruction.
    IllegalInstruction {
        /// The place.
        at: SourceAt,
        /// Address of the instruction.
        address: u64,
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its text, if it is legal on the wave's processor: then the PC may be late, and `elsewhere` is empty.
        legal: Option<String>,
        /// Processors on which the bytes are an instruction, with its text.
        elsewhere: Vec<Foreign>,
        /// The code object's processor, if it differs from the GPU's.
        compiled_for: Option<String>,
    },
    /// An arithmetic exception.
    Arithmetic(Arithmetic),
    /// An uncorrectable memory error.
    Ecc,
    /// The wave has no fault of its own, and another wave faulted.
    Bystander {
        /// The first wave that faulted.
        faulted: WaveId,
    },
    /// An error of a queue without a wave.
    Queue(QueueError),
    /// A stop of the wave for a debugger, perhaps beside the fault of another one: a breakpoint, a debug trap.
    Breakpoint {
        /// Names of the stop reasons.
        reasons: Vec<String>,
        /// The place.
        at: SourceAt,
    },
    /// A hang; [`super::Triage::hang`] has the states.
    Hang,
}

impl Cause {
    /// Its place in the source; accesses to memory have their own.
    #[must_use]
    pub fn place(&self) -> Option<&SourceAt> {
        match self {
            Self::BadPc { caller, .. } => caller.as_ref(),
            Self::Assertion(of) => Some(&of.at),
            Self::Trap { at, .. } | Self::IllegalInstruction { at, .. } | Self::Breakpoint { at, .. } => {
                Some(at)
            }
            Self::Arithmetic(of) => Some(&of.at),
            Self::Memory | Self::Ecc | Self::Bystander { .. } | Self::Queue(_) | Self::Hang => None,
        }
    }
}

/// A failed assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The place of the `assert`, through inlined frames.
    pub at: SourceAt,
    /// The condition, if a string of the program or the source has it.
    pub condition: Option<String>,
    /// Whether only the program's output has it, and the names of its function and of the wave's differ.
    pub is_inferred: bool,
    /// The lanes that failed, if EXEC shows them.
    pub lanes: LaneSet,
    /// The wave.
    pub wave: WaveId,
}

/// An arithmetic exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// The exceptions by AMD's names.
    pub kinds: Vec<String>,
    /// The place of the instruction, and of all others; else that of the PC.
    pub at: SourceAt,
    /// The instruction before the PC that raised it, or the nearest one that can have, with its address.
    pub instruction: Option<(u64, String)>,
    /// Further instructions that can have raised it, the nearest first.
    pub others: Vec<(u64, String)>,
    /// Whether the instruction is the cause: `Possible` or `Likely`.
    pub confidence: Confidence,
    /// The reason for which it is only possible.
    pub doubt: Option<String>,
    /// Whether the lanes of the operands are an upper bound: EXEC before the instruction is unknown.
    pub is_bound: bool,
    /// Operands of the lanes that explain it: `v3 = 0`; those of a scalar operation have no lane.
    pub operands: Vec<(Option<LaneId>, String)>,
    /// The wave.
    pub wave: WaveId,
}

impl Arithmetic {
    /// The lanes with operands that explain it.
    #[must_use]
    pub fn lanes(&self) -> LaneSet {
        self.operands.iter().filter_map(|(lane, _)| *lane).collect()
    }
}

/// An instruction of another processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The processor.
    pub processor: String,
    /// The text.
    pub text: String,
}

/// An error of a queue without a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError {
    /// The error in AMD's words.
    pub text: String,
    /// The kernel, if the report names it.
    pub kernel: Option<String>,
}
