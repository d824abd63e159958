//! The meaning of AMDGPU instructions for an analysis of memory accesses.
//!
//! [`Machine`] decodes code to [`Instruction`]s. Each has its [`Effects`], which are the access to memory, the written
//! registers, the counters that it increments and waits for, and its effect on the flow of control; and its
//! [`Computation`]s, the one place with the meaning of arithmetic. [`Access::addresses`] computes each lane's address from
//! registers, [`Instruction::value`] the results that lead to addresses.
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
mod computation;
mod copies;
mod counters;
mod effects;
mod exec;
mod facts;
mod frames;
mod inputs;
mod lds_address;
mod memory;
mod memory_sizes;
mod registers;
#[cfg(test)]
pub(crate) mod tests;
mod value;
mod vgpr_msb;

pub use access::{Access, Direction, Family, Form, LdsBase, NotComputableCause, ScalarOperand};
pub use address::{AddressError, LaneAccess, LaneAddress, WaveContext};
pub use callers::{
    CallerCode, CallerState, CodeTarget, Execution, Half, Scalar, Slot, SlotBase, StackPointer,
    UndecidedError, Vector,
};
pub use code::{ALIGNMENT, CodeReader, Instruction, MAX_SIZE, Machine, UNKNOWN_MSB, UnknownProcessorError};
pub use computation::{Computation, Number, Operation, Relation, Source};
pub use copies::{CopyOf, RegisterCopy};
pub use counters::{Counter, Wait};
pub use effects::{BranchCondition, Control, Effects, Write};
pub use exec::{ExecBefore, ExecChange};
pub use frames::{
    FrameCode, FrameObjects, FrameSetup, FrameStart, FunctionCode, FunctionExit, frame_setup, function_exit,
};
pub use inputs::Input;
pub use lds_address::{LdsUse, lds_use};
pub use registers::{
    FRAME_POINTER, RETURN_ADDRESS, RETURN_PAIR, ReadRegister, RegisterFile, RegisterRange, STACK_POINTER,
    UnknownRegisterCause,
};
pub use value::ReadOperand;
pub use vgpr_msb::{has_other_msb, vgpr_msb};

/// The reason that the effects of an instruction are unknown. Such an instruction may have any effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No instruction, or one whose effects no table has.
    #[error("unknown instruction")]
    Mnemonic,
    /// The operands differ from those of the mnemonic.
    #[error("unexpected operands")]
    Operands,
    /// The listing does not begin at the function's start, and the instructions before it choose the registers.
    #[error("the instructions that choose the vector registers are unknown")]
    VectorNumbers,
}
