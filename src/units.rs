//! Newtypes for every number with a unit, so that a lane cannot be passed where a byte offset is due.
//!
//! Those of expressions and waves come from the evaluator's crate; [`WaveId`] belongs to captures. "Address" kinds are separate:
//! a [`Pc`] is a run-time address of code, an [`Address`] is an offset in some address space and means nothing without its
//! [`AddressSpace`].

use std::fmt;

pub use dwarf_heterogeneous::units::{
    Address, AddressSpace, BitSize, DieOffset, DwarfReg, ExprOffset, LaneId, LaneSet, Pc, WaveSize,
};

/// A wave's ordinal in its capture, from 0. Clients see it plus one as the thread id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WaveId(pub u32);

impl fmt::Display for WaveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
