//! Newtypes for every number with a unit: a lane is not accepted as a byte offset.
//!
//! The types of expressions and waves come from the evaluator's crate; [`WaveId`] belongs to captures. A [`Pc`] is a
//! run-time address of code; an [`Address`] is an offset that needs an [`AddressSpace`].

use std::fmt;

pub use dwarf_heterogeneous::units::{
    Address, AddressSpace, BitSize, DieOffset, DwarfReg, ExprOffset, LaneId, LaneSet, Pc, WaveSize,
};

/// A wave's ordinal in its capture, from 0. The thread ID in clients is one higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WaveId(pub u32);

impl fmt::Display for WaveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
