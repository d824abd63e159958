//! The origin of undefined bits: the operation and the reason.
//!
//! Origins are ignored when locations are compared or merged.

use std::fmt;

use super::print::Names;
use crate::units::{DwarfReg, ExprOffset};

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
    /// A function does not preserve its caller's register.
    Lost {
        /// The register.
        register: DwarfReg,
        /// The function's frame, as [`CallFrame::frame_number`](super::CallFrame::frame_number) counts; `None`: unknown.
        frame: Option<u32>,
    },
    /// An overlay beyond the end of its base leaves a gap.
    Gap,
    /// The pieces end before the object.
    NoPiece,
    /// The code keeps other bytes of the object at its address, and shows no use of these there.
    NotAtAddress,
}

impl fmt::Display for WhyUndefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost { register, frame } => {
                return f.write_str(&lost(&format!("register {register}"), *frame));
            }
            Self::Explicit => "the compiler keeps the value nowhere",
            Self::NoLocationBefore => "no location stands before the piece",
            Self::NothingLeft => "the expression leaves nothing on the stack",
            Self::EntryWithoutLocation => "the entry has no DW_AT_location",
            Self::NotAtThisPc => "the entry's location list has no element for this PC",
            Self::NoPiece => "the pieces end before the object",
            Self::NotAtAddress => "no code before the PC uses these bytes at the object's address in LDS",
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

fn lost(register: &str, frame: Option<u32>) -> String {
    let function =
        frame.map_or_else(|| "a callee".to_owned(), |frame| format!("the function of frame {frame}"));
    format!("{function} does not preserve {register} for its caller")
}

impl Origin {
    /// Formats the origin with names of registers from `names`.
    #[must_use]
    pub fn named(&self, names: &dyn Names) -> String {
        match self.why {
            WhyUndefined::Lost { register, frame } => match names.register(register) {
                Some(name) => lost(&name, frame),
                None => self.to_string(),
            },
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, op, within, why } = self;
        // The rule may have no source that a user can look up.
        if let WhyUndefined::Lost { .. } = why {
            return why.fmt(f);
        }
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
