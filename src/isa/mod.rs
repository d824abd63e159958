//! The meaning of AMDGPU instructions for an analysis of memory accesses.
//!
//! [`Machine`] decodes code. Input of the effects: the text of an instruction and the GPU's generation. Output:
//! its [`Effects`], which are the access to memory, the written registers, the counters that it increments and waits
//! for, and its effect on the flow of control. [`Access::addresses`] computes each lane's address from registers,
//! [`value()`] the results of the arithmetic that leads to addresses.
//!
//! docs/instructions.md has the forms, formulas and open points. Generations without a target file are unknown.

mod access;
mod addends;
mod address;
mod buffer;
mod callers;
#[cfg(test)]
pub(crate) use callers::tests::Entry as CallerEntry;
mod code;
mod copies;
mod counters;
mod effects;
mod exec;
mod facts;
mod lds_address;
mod memory;
mod memory_sizes;
mod operands;
mod registers;
mod scalar;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod vector;
mod vgpr_msb;

pub use access::{Access, Direction, Family, Form, LdsBase, NotComputableCause, ScalarOperand};
pub use addends::addends;
pub use address::{AddressError, LaneAccess, LaneAddress, WaveContext};
pub use callers::{
    CallerCode, CallerState, CodeTarget, Execution, Half, Scalar, Slot, SlotBase, StackPointer,
    UndecidedError, Vector,
};
pub use code::{ALIGNMENT, CodeReader, Instruction, MAX_SIZE, Machine, UNKNOWN_MSB, UnknownProcessorError};
pub use copies::{CopyOf, RegisterCopy};
pub use counters::{Counter, Wait};
pub use effects::{Control, Effects, Write};
pub use exec::{ExecBefore, ExecChange, exec_before, exec_change};
pub use lds_address::{LdsUse, lds_use};
pub use registers::{ReadRegister, RegisterFile, RegisterRange, UnknownRegisterCause, named_registers};
pub use value::{ReadOperand, condition, value};
pub use vgpr_msb::{has_other_msb, vgpr_msb};

use crate::arch::Generation;
use text::Line;
pub(crate) use text::number;

/// The reason that the effects of an instruction are unknown. Such an instruction may have any effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No target has this generation.
    #[error("instructions of {0:?} are unknown")]
    Generation(Generation),
    /// The mnemonic.
    #[error("unknown mnemonic")]
    Mnemonic,
    /// The operands differ from those of the mnemonic.
    #[error("unexpected operands")]
    Operands,
    /// The listing does not begin at the function's start, and the instructions before it choose the registers.
    #[error("the instructions that choose the vector registers are unknown")]
    VectorNumbers,
    /// LLVM 22 prints an atomic of GFX12 with a cascading policy in one form, whether it returns a value or not.
    #[error("the text does not show whether the atomic returns a value")]
    Return,
}

/// The effects of an instruction, by its text.
///
/// # Errors
/// The effects are unknown: any are possible.
pub fn decode(text: &str, generation: Generation) -> Result<Effects, DecodeError> {
    let facts = facts::of(generation).ok_or(DecodeError::Generation(generation))?;
    if facts.extends_vgprs && text.contains(UNKNOWN_MSB) {
        return Err(DecodeError::VectorNumbers);
    }
    let text = &*text::meant(text);
    let line = Line::parse(text).ok_or(DecodeError::Mnemonic)?;
    if let Some(effects) = memory::effects(&line, facts) {
        return effects;
    }
    let with_copies = |effects| Effects { copies: copies::copies(text), ..effects };
    match line.mnemonic.split_once('_') {
        Some(("v", _)) => vector::effects(text, &line, facts).map(with_copies),
        Some(("s", _)) => scalar::effects(&line, facts).map(with_copies),
        None if matches!(line.mnemonic, "exp" | "export") => {
            let issues = counters::issued(counters::Operation::Export, facts);
            Ok(Effects { issues, ..Effects::default() })
        }
        _ => Err(DecodeError::Mnemonic),
    }
}
