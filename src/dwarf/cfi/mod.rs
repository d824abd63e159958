//! Call frame information: instructions to a row of rules, rules to locations.
//!
//! Follows "Call Frame Information" of the 2020 AMDGPU text and DWARF 5 section 6.4, with the instructions that LLVM
//! added for address spaces. The canonical frame address is a location, generally in an address space of its own, and
//! lies on the stack when the expression of a rule begins. On AMDGPU a register without a rule keeps its value, whether
//! the table defines a CFA or not. The return address is the exception where it does not: such a table names no caller.
//!
//! CIE and FDE headers, and which FDE covers a PC, are the caller's business.

mod answers;
mod listing;
mod row;
mod unwind;

pub use answers::Answers;
pub use listing::{FrameExpression, dialect, expressions};
pub(super) use row::standard_name;
pub use row::{CfaRule, Decoded, Factors, Placement, RegisterRule, Row};
pub use unwind::Unwind;
