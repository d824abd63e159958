//! Values as gdb prints them, and as a tree for machines.
//!
//! *You give* a type, its bytes with what is missing of them, and how much to print.
//! *You get* a [`Value`]: text by its `Display`, JSON by its `Serialize`.
//! *Not for* reading memory: what a pointer points to is the caller's business.
//!
//! The text is gdb 13's `info locals`, character by character, but for static members, which are not part of a value.

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
pub use known::KnownTypes;
pub use letter::{Letter, Scalar};
pub use options::{GDB_ELEMENTS, GDB_REPEATS, Options, SpaceName, SymbolName};
pub use value::{Absence, Element, Field, Value, ValueError};
