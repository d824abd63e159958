//! DWARF expressions and call frame information with AMD's heterogeneous extensions.
//!
//! *You give* the bytes of an expression, a [`Dialect`], and a [`Context`] that answers for registers, memory and
//! debugging information entries. *You get* locations and values for any set of lanes at once, each with the reason
//! where there is none. *Not here*: reading files, choosing DIEs, names of GPUs.
//!
//! Three steps, kept apart: [`Program::decode`] turns bytes into operations, [`Evaluator`] turns operations into
//! [`Location`]s and [`Number`]s, [`fetch()`] turns a location into bits with what is known of each. gimli is not used
//! because its evaluator has no locations on the stack; see `docs/evaluator.md`.
//!
//! Expressions are evaluated once for a whole set of lanes. A quantity that depends on the lane is kept per lane
//! ([`Lanes`]), everything else once; only where lanes need different operations, or fail differently, do they part.
//! The result is that of evaluating every lane alone.

mod arith;
mod attributes;
mod budget;
pub mod cfi;
mod composite;
mod constants;
mod context;
mod decode;
mod dialect;
pub mod draft;
mod error;
pub mod explain;
mod fetch;
mod half;
mod lanes;
pub mod legacy;
pub mod limits;
mod location;
mod machine;
mod operation;
mod origin;
pub mod print;
mod saved;
#[cfg(test)]
mod tests;
pub mod text;
mod value;
mod wide;
pub mod write;

pub use attributes::{active_lanes, lane_pcs, mask_lanes};
pub use budget::Budget;
pub use composite::{Composite, Part};
pub use context::{
    Answer, Attribute, Context, Die, DieLocation, DieRef, FrameRegister, FrameStart, LaneNeed, MemoryAt,
    ObjectMap, Realigned, RegisterBytes, SpaceInfo,
};
pub use dialect::AMD_AUGMENTATION;
pub use error::{Cause, Class, Error, Missing};
pub use fetch::{Bits, Known, fetch, fetch_lanes};
pub use lanes::{LANES, Lanes};
pub use location::{CapturedLane, Frame, Implicit, ImplicitPointer, Location, Offset, Storage};
pub use machine::{Entry, Evaluator, Failure, Focus, Group, Step, Tracer};
pub use operation::{Binary, Dialect, Encoding, Operation, Padding, Placed, Program, Target, Unary};
pub use origin::{Origin, WhyUndefined};
pub use value::{BaseType, Encoding as TypeEncoding, GENERIC_BITS, Kind, Number, Type};
