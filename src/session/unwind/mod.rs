//! The physical frames of a wave: each frame's registers are read through what the frame inside it says of them.
//!
//! [`Walk`] goes from the innermost frame outwards, one call at a time, and stops with a reason. [`Level`] is one of its
//! frames as the evaluator asks about it: frame 0's registers are the wave's, those of its caller are where frame 0's
//! call frame information says, and so on. A register without a rule is the callee's ("Since a subprogram A with fewer
//! registers can be called from subprogram B that has more allocated", 2020 AMDGPU text), but only where the table says
//! something at all: clang 22 writes tables without a single instruction.

mod level;
mod rules;
#[cfg(test)]
pub(super) mod tests;
mod walk;

pub(super) use level::Level;
pub(super) use rules::{Found as FoundRules, UnwindTable};
pub(super) use walk::{Code, Physical, Walk};
