//! Values in gdb's notation, and as a tree for machines.
//!
//! Input: a type, its bytes with masks of missing bits, and options. Output: a [`Value`], with text by `Display` and
//! JSON by `Serialize`. Callers read memory, including the targets of pointers.
//!
//! The text equals `info locals` of gdb 13, except for static members, which are not part of a value.

mod array;
mod build;
mod elements;
mod enumerator;
mod fixed;
#[cfg(test)]
mod fixed_tests;
mod float;
mod general;
mod known;
mod letter;
mod number;
mod options;
mod scalar;
mod text;
mod value;

pub use crate::debuginfo::contents::Contents;
pub(crate) use float::float;
pub use known::KnownTypes;
pub use letter::{Letter, Scalar};
pub use options::{GDB_ELEMENTS, GDB_REPEATS, Options, SpaceName, SymbolName};
pub use value::{Absence, Element, Field, Notation, Value, ValueError};
