//! What a GPU is: `targets/*.toml` read into registers, widths, aliases, bit fields, address spaces and stop reasons.
//!
//! Facts are data: no register number stands outside `targets/` and this room. A [`Target`] is one processor; a
//! [`Kind`] is a target at one wave size, the unit in which registers have a fixed set, order and width.

mod register;
mod target;

pub use register::{BitField, BitFields, Kind, RegClass, RegId, Register, RegisterValue, SgprAlias, ValueType};
pub use target::{Space, SpaceScope, StopReason, Target};
