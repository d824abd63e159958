//! The physical frames of a wave: each frame's registers are read through the call frame information of the inner
//! frame.
//!
//! [`Unwinder`] goes from the innermost frame outwards, one call at a time, and stops with a reason. [`PhysicalFrame`] is one of
//! its frames for the evaluator: frame 0's registers are the wave's, frame 0's call frame information gives the
//! places of its caller's registers, and so on. A register without a rule keeps the callee's value ("Since a
//! subprogram A with fewer registers can be called from subprogram B that has more allocated", 2020 AMDGPU text), but
//! only if the table has any instruction: clang 22 writes tables without one.

mod frame;
mod rules;
#[cfg(test)]
pub(in crate::session) mod tests;
mod unwinder;

pub(in crate::session) use frame::PhysicalFrame;
pub(in crate::session) use rules::{Found as FoundRules, RowCache, UnwindTable};
pub(in crate::session) use unwinder::{Code, Physical, Unwinder};
