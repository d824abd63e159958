//! What the text formats share: lines of any file in UTF-8 or UTF-16, hex, registers before the GPU is known, and names of GPUs.
//!
//! A log names registers before anything says which processor they are of. So values go into one arena as they are read
//! ([`Kept`]), each with its name and line, and become blocks of registers when the kind of the wave is known
//! ([`Placer`]). What is kept is bounded, whatever the file's size.

mod kept;
mod launch;
mod lines;
mod pieces;
mod place;
mod processor;
mod utf16;
mod words;

pub(super) use kept::{Kept, Value};
pub(super) use launch::{launch, missing, ttmp};
pub(super) use lines::{Line, Lines, uncoloured};
pub(super) use pieces::Pieces;
pub(super) use place::{Placer, Sizes};
pub(super) use processor::processors_in;
pub(super) use utf16::{Order, Utf16};
pub(super) use words::{Cursor, find, hex, skip_spaces};

/// The most waves that are read: a client's address names no more (17 bits, and one for the focused wave).
pub(super) const MOST_WAVES: usize = (1 << 17) - 1;

#[cfg(test)]
mod tests;
