//! The origin of undefined bits: the operation and the reason.
//!
//! Origins are ignored when locations are compared or merged.

use std::fmt;

use crate::units::ExprOffset;

/// The reason for an undefined location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyUndefined {
    /// The operation is `DW_OP_LLVM_undefined`.
    Explicit,
    /// A piece without a location before it.
    NoLocationBefore,
    /// The expression leaves nothing on the stack.
    NothingLeft,
    /// The entry called has no `DW_AT_location`.
    EntryWithoutLocation,
    /// The location list of the entry has no element for the PC.
    NotAtThisPc,
    /// Call frame information makes the caller's value unrecoverable.
    CallFrame,
    /// An overlay beyond the end of its base leaves a gap.
    Gap,
}

impl fmt::Display for WhyUndefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "the compiler keeps the value nowhere",
            Self::NoLocationBefore => "no location stands before the piece",
            Self::NothingLeft => "the expression leaves nothing on the stack",
            Self::EntryWithoutLocation => "the entry has no DW_AT_location",
            Self::NotAtThisPc => "the entry's location list has no element for this PC",
            Self::CallFrame => "call frame information marks the caller's value as unrecoverable",
            Self::Gap => "the overlay leaves a gap after what it lies over",
        })
    }
}

/// The operation that made bits undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Its byte offset in its expression.
    pub at: ExprOffset,
    /// Its name, `result` at the end of an expression.
    pub op: &'static str,
    /// The role of its expression; `None` for the caller's own.
    pub within: Option<&'static str>,
    /// The reason.
    pub why: WhyUndefined,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, op, within, why } = self;
        write!(f, "{op} at {at}")?;
        if let Some(within) = within {
            write!(f, " in {within}")?;
        }
        write!(f, ": {why}")
    }
}

/// Formats the origin as the end of a sentence, if it is known.
pub(super) fn because(origin: Option<&Origin>) -> String {
    origin.map_or_else(String::new, |origin| format!(" ({origin})"))
}
