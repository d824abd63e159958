//! A debugger's questions over a captured state: threads, lanes, registers, memory, variables, stop.
//!
//! [`Inspect`] is the seam that the server asks through; `Session` answers over one shared capture with one client's
//! focus. Every register and byte is read through the session's one reader, so that a client's what-if writes can be a
//! layer on it.

pub mod address;
mod answers;
mod inspect;
mod locals;

pub use answers::{CodeObjectInfo, LaneInfo, LaneState, Place, Region, Unreadable, WaveInfo};
#[cfg(test)]
pub(crate) use inspect::MockInspect;
pub use inspect::Inspect;
pub use locals::{LaneValue, Locals, Scope, ValueState, Variable};
