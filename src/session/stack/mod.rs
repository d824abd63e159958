//! Call stacks of waves and lanes.

pub(super) mod activations;
pub(super) mod around;
pub(super) mod backtrace;
pub(super) mod frame;
pub(super) mod frame_code;
pub(super) mod unwind;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::error::SourceError;
use super::{Inferred, ReadError};
use crate::debuginfo::demangle;
use crate::notation::names;
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// The call stack of a wave, or of one of its lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The wave.
    pub wave: WaveId,
    /// The lane; `None`: the wave as a whole.
    pub lane: Option<LaneId>,
    /// The frames, the innermost first. For a lane: only those whose function it entered.
    pub frames: Vec<StackFrame>,
    /// The reason for the stack's end.
    pub end: StackEnd,
}

impl Stack {
    /// Returns the stack from that frame number on; frames keep their numbers.
    ///
    /// # Errors
    /// [`ReadError::NoSuchFrame`].
    pub fn from_frame(mut self, first: usize) -> Result<Self, ReadError> {
        let last = self.frames.len().saturating_sub(1);
        if first > last {
            return Err(ReadError::NoSuchFrame { frame: first, last });
        }
        self.frames.retain(|frame| frame.level >= first);
        Ok(self)
    }

    /// The inferences behind its frames.
    #[must_use]
    pub fn inferred(&self) -> Inferred {
        self.frames.iter().fold(Inferred::NONE, |all, frame| all.or(frame.inferred))
    }
}

impl LaneStack {
    /// [`Stack::from_frame`] for several lanes' stacks; stacks without such a frame are left out.
    ///
    /// # Errors
    /// [`ReadError::NoSuchFrame`]: no stack has it.
    pub fn from_frame(stacks: Vec<Self>, first: usize) -> Result<Vec<Self>, ReadError> {
        let last = stacks.iter().map(|one| one.stack.frames.len().saturating_sub(1)).max().unwrap_or(0);
        if first > last {
            return Err(ReadError::NoSuchFrame { frame: first, last });
        }
        let cut = stacks.into_iter().filter_map(|Self { lanes, stack }| {
            stack.from_frame(first).ok().map(|stack| Self { lanes, stack })
        });
        Ok(cut.collect())
    }
}

/// A function's activation: a physical frame, or a call that was inlined into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// Its number in this stack, from 0 innermost.
    pub level: usize,
    /// Its number in the stack of the wave as a whole, the key of questions about variables; `None` if the lane's
    /// position differs from the wave's.
    pub of_wave: Option<usize>,
    /// Number of inner physical frames: inlined calls share that of the function they were inlined into.
    pub physical: usize,
    /// Whether it is an inlined call.
    pub inlined: bool,
    /// The function, qualified; the ELF symbol without debug information.
    pub function: Option<String>,
    /// The symbol of a target region of OpenMP, which `function` names by the source.
    pub symbol: Option<String>,
    /// The mangled C++ name, which has the enclosing functions and the parameters that `function` lacks.
    pub mangled: Option<Arc<str>>,
    /// Source file: for an outer frame the call's.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// Source column.
    pub column: Option<u64>,
    /// Bytes from the start of the ELF symbol, if only that names the function.
    pub offset: Option<u64>,
    /// Its resume address: the PC, or the return address. For a lane: the lane's own; `None` if unknown.
    pub pc: Option<Pc>,
    /// The canonical frame address as text, if call frame information gives one.
    pub cfa: Option<String>,
    /// Name of the code object.
    pub code_object: Option<String>,
    /// The reason for missing parts: unreadable debug information, a lane with an unknown position.
    pub problem: Option<SourceError>,
    /// The inferences behind its PC and registers.
    pub inferred: Inferred,
    /// Identities of the whole texts of `function` and `file` if they are long: an answer may hold only the first
    /// bytes. They are valid for the stacks of one reader.
    pub whole: [Option<TextId>; 2],
}

impl StackFrame {
    /// The function with its enclosing functions and parameters, if they are known: `kern(int*)::L::m(int)`.
    #[must_use]
    pub fn full_name(&self) -> Option<Cow<'_, str>> {
        let demangled = self.mangled.as_deref().and_then(demangle).map(Cow::Owned);
        demangled.or_else(|| self.function.as_deref().map(Cow::Borrowed))
    }
}

/// Hashes of a text with random keys: a capture cannot prepare collisions.
pub type TextId = [u64; 2];

/// Lanes that have the same call stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneStack {
    /// The lanes.
    pub lanes: LaneSet,
    /// The stack of the first of them.
    pub stack: Stack,
}

/// Reasons for the end of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StackEnd {
    /// The outermost frame has no caller by call frame information, or is a kernel without rules for a caller.
    Outermost,
    /// The wave's PC was not captured.
    PcNotCaptured,
    /// The lane has no work-item and no stack.
    NoWorkItem,
    /// No readable code object holds the PC.
    NoCodeObject {
        /// The PC.
        pc: Pc,
    },
    /// Call frame information has no entry for the frame.
    NoUnwindInformation {
        /// The frame's PC.
        pc: Pc,
        /// The reason.
        why: String,
        /// Whether the function's code might show the caller, and its processor is unknown.
        is_undecoded: bool,
    },
    /// The place of the return address is known, but not its value.
    CallerPcUnknown {
        /// The place as text.
        place: String,
        /// The reason that it is unreadable.
        why: String,
    },
    /// Call frame information cannot be evaluated.
    CallFrame {
        /// Its section.
        section: String,
        /// Offset of the FDE in the section.
        entry: u64,
        /// Offset of the instruction among those of the FDE, or of its CIE.
        instruction: usize,
        /// The reason, with the instruction.
        why: String,
    },
    /// The frame repeats an earlier one: PC and CFA are the same.
    Cycle {
        /// The PC of both.
        pc: Pc,
        /// The physical frame that it repeats.
        frame: usize,
    },
    /// The stack exceeds the limit of frames.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The return address is invalid.
    BadCallerPc {
        /// The address.
        pc: Pc,
        /// The reason.
        why: BadPc,
    },
}

/// Reasons that an address is no return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadPc {
    /// It is 0.
    Zero,
    /// It is not the address of an instruction.
    Unaligned,
    /// No known code object holds it.
    NoCode,
    /// It is not in executable memory.
    NotExecutable,
    /// The instruction before it is no call.
    NoCall,
    /// The instruction before it is unreadable: a call is not proven.
    CallUnread,
}

names!(StackEnd {
    Self::Outermost => "outermost",
    Self::PcNotCaptured => "pc_not_captured",
    Self::NoWorkItem => "no_work_item",
    Self::NoCodeObject { .. } => "no_code_object",
    Self::NoUnwindInformation { .. } => "no_unwind_information",
    Self::CallerPcUnknown { .. } => "caller_pc_unknown",
    Self::CallFrame { .. } => "call_frame_error",
    Self::Cycle { .. } => "cycle",
    Self::TooDeep { .. } => "too_deep",
    Self::BadCallerPc { .. } => "bad_caller_pc",
});

impl StackEnd {
    /// Whether the stack is complete.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        *self == Self::Outermost
    }
}

impl fmt::Display for BadPc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zero => "the return address is 0",
            Self::Unaligned => "the return address is not that of an instruction",
            Self::NoCode => "no known code object holds the return address",
            Self::NotExecutable => "the return address is not in executable memory",
            Self::NoCall => "the instruction before the return address is no call",
            Self::CallUnread => "the instruction before the return address cannot be read: it may be no call",
        })
    }
}

impl fmt::Display for StackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outermost => f.write_str("the outermost frame has no caller"),
            Self::PcNotCaptured => f.write_str("the PC was not captured"),
            Self::NoWorkItem => f.write_str("the lane has no work-item"),
            Self::NoCodeObject { pc } => write!(f, "no code object that can be read holds the PC {pc}"),
            Self::NoUnwindInformation { pc, why, .. } => write!(f, "no unwind information for {pc}: {why}"),
            Self::CallerPcUnknown { place, why } => {
                write!(f, "the return address is at {place} and cannot be read: {why}")
            }
            Self::CallFrame { section, entry, why, .. } => {
                write!(f, "call frame information of the {section} entry at {entry:#x}: {why}")
            }
            Self::Cycle { pc, frame } => write!(f, "PC {pc} and CFA repeat those of physical frame {frame}"),
            Self::TooDeep { limit } => write!(f, "more than {limit} frames"),
            Self::BadCallerPc { pc, why } => match why {
                BadPc::Zero => write!(f, "{why}"),
                _ => write!(f, "{why} ({pc})"),
            },
        }
    }
}
