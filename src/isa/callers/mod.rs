//! Values of a function's caller, by the function's code alone.
//!
//! LLVM up to 22 writes no call frame information for AMDGPU, and release builds leave it out. The code shows the same
//! facts: the stack pointer moves by constants, the return address and the registers that a callee preserves move to
//! lanes of vector registers, and those to slots in private memory. [`CallerCode`] follows these moves along every path
//! from the function's entry. Contents on which two paths differ are unknown.
//!
//! Sources: LLVM's AMDGPUUsage, "Non-Kernel Functions"; `SIFrameLowering::emitPrologue` and `SIRegisterInfo.td`. A call
//! changes registers that callees need not preserve, but LLVM keeps a value in one of them only if it knows that the
//! callee does not change it. docs/instructions.md, "Frames without call frame information", has the rules.

mod find;
mod paths;
mod run;
mod state;
mod step;
#[cfg(test)]
pub(crate) mod tests;

pub use find::{CallerState, Execution, Half, Scalar, StackPointer};
pub(super) use paths::{Around, Paths, Pointers};
pub(super) use state::Value;
pub use state::{Slot, SlotBase, Vector};

use super::Instruction;
use crate::arch::Generation;

/// Maximum number of instructions of an analysed function.
pub(super) const MAX_STEPS: usize = 1 << 16;

/// The reason that a function's code does not show its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndecidedError {
    /// The function is too large.
    #[error("the function has more than {MAX_STEPS} instructions")]
    TooLong,
    /// A bound of the analysis.
    #[error("the paths of the function's code are too many to follow")]
    TooComplex,
    /// Code after the function's last instruction, or a branch out of it.
    #[error("the function's code continues outside of it after {0:#x}")]
    Outside(u64),
    /// A jump that is no return and no tail call.
    #[error("the function jumps to a computed address at {0:#x}")]
    Jump(u64),
    /// No path leads to the address.
    #[error("no path from the function's entry leads to {0:#x}")]
    Unreached(u64),
    /// The address is not that of an instruction.
    #[error("{0:#x} is not in an instruction of the function")]
    NoInstruction(u64),
}

/// The target of a function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeTarget {
    /// The GPU's generation.
    pub generation: Generation,
    /// Whether private memory is reached through buffers: the stack pointer then counts bytes of the whole wave.
    pub buffer_scratch: bool,
    /// Lanes of a wave.
    pub lanes: u8,
}

/// A function's code with the values of its caller.
#[derive(Debug)]
pub struct CallerCode(Paths);

impl CallerCode {
    /// Analyses a function. `code`: its instructions by address, of all parts; `entry`: the address of its first one.
    ///
    /// # Errors
    /// The code does not show the callers.
    pub fn read(code: &[Instruction], entry: u64, target: CodeTarget) -> Result<Self, UndecidedError> {
        if code.len() > MAX_STEPS {
            return Err(UndecidedError::TooLong);
        }
        let paths = Paths::follow(code, entry, target, Value::Stack(0))?;
        match paths.problem {
            Some(problem) => Err(problem),
            None => Ok(Self(paths)),
        }
    }

    /// Returns the values of the caller before the instruction at an address. An address within an instruction means
    /// the time in which a call at that instruction runs.
    ///
    /// # Errors
    /// No path leads to the address.
    pub fn at(&self, address: u64) -> Result<CallerState, UndecidedError> {
        self.0.at(address).map(CallerState::new)
    }

    /// Its size in memory, in units of about 80 bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.size()
    }
}
