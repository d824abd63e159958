//! Facts about a frame that straight runs of code show: the setup of the frame pointer, and the way out of the function.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions": `s[30:31]` hold the return address at entry and at the return.

use super::{sets_frame, straight};
use crate::isa::registers::RETURN_PAIR;
use crate::isa::{Control, Instruction, Operation};

/// Maximum number of followed instructions of an epilogue, which has a few for each preserved register.
const MAX_EPILOGUE: usize = 1024;
/// Maximum number of followed instructions of a prologue: the frame pointer comes first.
const MAX_PROLOGUE: usize = 64;

/// The way out of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionExit {
    /// A jump to `s[30:31]`.
    Return,
    /// A jump to an address in other registers: a tail call, or a branch over a long distance.
    Jump,
}

/// Returns the way out of a function to which its code leads from an address on without a choice, a call, or a write to
/// `s[30:31]`; `None`: there is no such way. `at`: the instruction at an address of the function.
#[must_use]
pub fn function_exit(at: impl Fn(u64) -> Option<Instruction>, address: u64) -> Option<FunctionExit> {
    let mut next = address;
    for _ in 0..MAX_EPILOGUE {
        let one = at(next)?;
        let effects = one.effects().ok()?;
        if effects.writes.iter().any(|write| write.range.overlaps(RETURN_PAIR)) {
            return None;
        }
        next = match effects.control {
            Control::Return => {
                let is_return = one.named_registers().next() == Some(RETURN_PAIR);
                return Some(if is_return { FunctionExit::Return } else { FunctionExit::Jump });
            }
            Control::Call | Control::End | Control::ConditionalBranch => return None,
            Control::Branch => one.target?,
            _ => one.end(),
        };
    }
    None
}

/// The setup of a frame pointer by the first code of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSetup {
    /// Address behind the first instruction that writes it.
    pub end: u64,
    /// Whether it is rounded up, for an over-aligned object.
    pub is_rounded: bool,
}

/// Returns the setup of the frame pointer before the first branch or call, if any.
#[must_use]
pub fn frame_setup(at: impl Fn(u64) -> Option<Instruction>, entry: u64) -> Option<FrameSetup> {
    let mut setup = None;
    for one in straight(at, entry).take(MAX_PROLOGUE).filter(sets_frame) {
        let known = setup.get_or_insert(FrameSetup { end: one.end(), is_rounded: false });
        known.is_rounded |=
            one.computations().any(|of| matches!(of.operation, Operation::And | Operation::AndNot));
    }
    setup
}
