//! Shared lexer of the text formats: unwrapped lines ([`Lines`]), words of a line ([`Cursor`]), registers of an unknown
//! GPU, and names of GPUs. Each format's folder has the grammar of its rows (`line.rs`).
//!
//! A log names registers before their processor is known. Values go into one bounded arena ([`Kept`]), each with its
//! name and line, and become blocks of registers when the kind of the wave is known ([`Placer`]).

mod launch;
mod lines;
mod pieces;
mod place;
mod processor;
mod unwrap;
mod values;
mod words;

pub(super) use launch::{launch, missing, ttmp};
pub(super) use lines::{Line, Lines};
pub(super) use pieces::Pieces;
pub(super) use place::{Placer, Sizes};
pub(super) use processor::processors_in;
pub(super) use unwrap::{Order, Utf16, decoded, line as unwrapped, prefix, shown};
pub(super) use values::{Kept, Value};
pub(super) use words::{Cursor, excerpt, find, hex, skip_spaces};

#[cfg(test)]
pub(super) use words::MAX_EXCERPT;

/// Maximum number of waves: the limit of a client's addresses (17 bits, and one for the focused wave).
pub(super) const MAX_WAVES: usize = (1 << 17) - 1;

#[cfg(test)]
mod tests;
