//! Facts about a frame that straight runs of code show: the setup of the frame pointer, and the way out of the function.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions": `s[30:31]` hold the return address at entry and at the return.

use super::frame_code::CodePart;
use super::frame_paths::sets_frame;
use super::instruction::{Arithmetic, Effect, Encoding, Instruction};
use super::processor::Processor;

/// The registers of the return address.
const LINK: [u8; 2] = [30, 31];
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
/// `s[30:31]`; `None`: there is no such way.
#[must_use]
pub fn function_exit(processor: Processor, function: CodePart<'_>, address: u64) -> Option<FunctionExit> {
    let encoding = Encoding::of(processor)?;
    let mut at = address;
    for _ in 0..MAX_EPILOGUE {
        let (code, Instruction { size, effect }) = instruction(encoding, function, at)?;
        let is_written = match effect {
            Effect::Move { to, .. } | Effect::Compute { to, .. } => LINK.contains(&to),
            Effect::Writes { first, count } => {
                LINK.iter().any(|link| (first..first.saturating_add(count)).contains(link))
            }
            _ => false,
        };
        if is_written || encoding.ends_with_call(code) {
            return None;
        }
        let next = at.checked_add(u64::from(size))?;
        at = match effect {
            Effect::End => {
                let is_return = encoding.jump(code)? == LINK[0];
                return Some(if is_return { FunctionExit::Return } else { FunctionExit::Jump });
            }
            Effect::Unknown | Effect::Branch { conditional: true, .. } => return None,
            Effect::Branch { by, conditional: false } => next.checked_add_signed(i64::from(by))?,
            _ => next,
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
pub fn frame_setup(processor: Processor, function: CodePart<'_>) -> Option<FrameSetup> {
    let encoding = Encoding::of(processor)?;
    let mut setup = None;
    let mut at = function.start;
    for _ in 0..MAX_PROLOGUE {
        let Some((code, Instruction { size, effect })) = instruction(encoding, function, at) else { break };
        let end = at.checked_add(u64::from(size))?;
        if matches!(effect, Effect::Branch { .. } | Effect::End | Effect::Unknown)
            || encoding.ends_with_call(code)
        {
            break;
        }
        if sets_frame(effect) {
            let known = setup.get_or_insert(FrameSetup { end, is_rounded: false });
            let rounds = [Arithmetic::And, Arithmetic::AndNot];
            known.is_rounded |= matches!(effect, Effect::Compute { how, .. } if rounds.contains(&how));
        }
        at = end;
    }
    setup
}

/// Decodes the instruction at an address of a function, with its bytes.
fn instruction(encoding: Encoding, function: CodePart<'_>, at: u64) -> Option<(&[u8], Instruction)> {
    let offset = usize::try_from(at.checked_sub(function.start)?).ok()?;
    let code = function.bytes.get(offset..)?;
    let instruction = encoding.decode(code)?;
    Some((code.get(..usize::from(instruction.size))?, instruction))
}
