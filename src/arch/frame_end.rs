//! Facts about a frame that straight runs of code show: the way out of the function, and a rounded frame pointer.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions": s[30:31] hold the return address at entry and at the return.

use super::frame_code::CodePart;
use super::frame_paths::FRAME;
use super::instruction::{Arithmetic, Effect, Encoding, Instruction};
use super::processor::Processor;

/// The registers of the return address.
const LINK: [u8; 2] = [30, 31];
/// Maximum number of followed instructions of an epilogue, which has a few for each preserved register.
const MAX_EPILOGUE: usize = 1024;
/// Maximum number of instructions before that which rounds the frame pointer, which comes before others of the prologue.
const MAX_PROLOGUE: usize = 64;

/// The way out of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionExit {
    /// A jump to s[30:31].
    Return,
    /// A jump to an address in other registers: a tail call, or a branch over a long distance.
    Jump,
}

/// Returns the way out of a function to which its code leads from an address on without a choice, a call, or a write to
/// s[30:31]; `None`: there is no such way.
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

/// Whether the first code, before a branch or call, rounds the frame pointer up, for an over-aligned object.
#[must_use]
pub fn rounds_frame(processor: Processor, function: CodePart<'_>) -> bool {
    let Some(encoding) = Encoding::of(processor) else { return false };
    let mut at = function.start;
    for _ in 0..MAX_PROLOGUE {
        let Some((code, Instruction { size, effect })) = instruction(encoding, function, at) else {
            return false;
        };
        match effect {
            Effect::Compute { to: FRAME, how: Arithmetic::And | Arithmetic::AndNot, .. } => return true,
            Effect::Branch { .. } | Effect::End | Effect::Unknown => return false,
            _ if encoding.ends_with_call(code) => return false,
            _ => {}
        }
        let Some(next) = at.checked_add(u64::from(size)) else { return false };
        at = next;
    }
    false
}

/// Decodes the instruction at an address of a function, with its bytes.
fn instruction(encoding: Encoding, function: CodePart<'_>, at: u64) -> Option<(&[u8], Instruction)> {
    let offset = usize::try_from(at.checked_sub(function.start)?).ok()?;
    let code = function.bytes.get(offset..)?;
    let instruction = encoding.decode(code)?;
    Some((code.get(..usize::from(instruction.size))?, instruction))
}
