//! The physical frames of a wave. The call frame information of the inner frame gives the places of a frame's
//! registers.
//!
//! [`Unwinder`] unwinds from the innermost frame outwards, one call at a time, and stops with a reason.
//! [`PhysicalFrame`] is one of its frames for the evaluator; frame 0's registers are the wave's. A register without a
//! rule keeps the callee's value, but only if the table has any instruction: clang 22 writes tables without one. 2020
//! AMDGPU text: "Since a subprogram A with fewer registers can be called from subprogram B that has more allocated".

mod code;
mod code_row;
mod frame;
mod rules;
mod table_faults;
#[cfg(test)]
pub(in crate::session) mod tests;
mod unwinder;

pub(in crate::session) use code::CallerCodes;
pub(in crate::session) use frame::PhysicalFrame;
pub(in crate::session) use rules::{Found as FoundRules, RowCache, RulesError, UnwindTable};
pub(in crate::session) use unwinder::{Code, Physical, Unwinder};
