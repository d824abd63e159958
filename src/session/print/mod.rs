//! Evaluation of C-like paths in a frame, lane by lane: `body.at.x`, `*p@4`, `(local int *) 0x10`, `$v3[17]`.
//!
//! A path is parsed once (`parse()`) and evaluated for each lane, since lanes may point to different places. Names are
//! looked up and their locations evaluated once for all lanes (`names`). Each part of a path is an *object*: a type and
//! a [`Location`](crate::dwarf::Location). Members and elements move the location, pointers replace it (`object`), in
//! registers and in memory alike. Bytes are read for pointers and numbers in the path, and at the end (`show`).
//! [`debuginfo::format`](crate::debuginfo::format) formats the values in gdb's notation.

mod arith;
mod assign;
mod cast;
mod eval;
mod explain;
mod index;
mod lex;
mod locate;
mod method;
mod names;
mod object;
mod parse;
mod part;
mod parts;
mod path;
mod pointer;
mod read;
mod show;
#[cfg(test)]
mod tests;
mod typed;
mod typed_read;
mod typed_value;
mod upcast;
mod uplevel;
mod using;
mod wrong;

use std::fmt;

pub(crate) use arith::half;
pub(super) use assign::{assign, write_variable};
pub use explain::Explanation;
pub(super) use explain::explain;
pub use locate::{MAX_COMPOSED_BYTES, ObjectAt, VariableIn, Whereabouts};
pub(super) use locate::{leads_to, locate, with_pointers, write_in};
pub(crate) use names::IN_SCOPE_AT;
pub use parse::{MAX_NESTING, MAX_PATH, ParseError, parse, parse_in};
pub(crate) use part::NO_MEMBER;
pub use parts::{
    ArrayDimension, ElementPath, MAX_PARTS, PartOwner, PartSort, PartValue, Parts, PartsQuery, Pointee,
    VariablePart,
};
pub(super) use parts::{element_paths, member_path, parts};
pub use path::{Binary, MemberSign, Node, Path, TypeName, Unary};
pub(super) use typed_read::typed;
pub use typed_value::{
    EnumValue, FloatFormat, MAX_TYPED_TEXT, MAX_TYPED_VALUES, PointerValue, TypedAddress, TypedField,
    TypedLane, TypedQuery, TypedValue, TypedValues,
};

use super::variables::with_frame;
use super::{LaneState, LaneStates, ReadError, Reader};
use crate::debuginfo::format::{Letter, Value};
use crate::session::stack::backtrace::Frames;
use crate::session::stack::unwind::Unwinder;
use crate::session::values::LaneValue;
use crate::units::{LaneSet, Pc, WaveId};

/// Maximum number of objects in a row, `p @ n`.
pub const MAX_REPEAT: u64 = 1 << 16;
/// Size limit in bytes of a printed object; elements of a larger one can be printed.
pub const MAX_PRINTED_BYTES: u64 = 1 << 16;
/// Maximum number of characters of a pointer's string, the same as gdb's.
pub const MAX_STRING: usize = 200;

/// The answer to a path.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The wave.
    pub wave: WaveId,
    /// The frame's number in the wave's call stack.
    pub frame: usize,
    /// The frame's PC; in a caller the return address. `None`: it was not captured.
    pub pc: Option<Pc>,
    /// The path after parsing.
    pub path: String,
    /// Its type in C++ notation; `None` if it is unknown in all lanes.
    pub type_name: Option<String>,
    /// The lanes' states in the frame.
    pub states: LaneStates,
    /// One for each requested lane, lowest lane first.
    pub lanes: Vec<PrintedLane>,
}

/// The result of a path in one lane.
#[derive(Clone, Debug)]
pub struct PrintedLane {
    /// Lane, place, bytes and text, or the reason for their absence. A computed value has no place.
    pub value: LaneValue,
    /// The value as a tree, if any.
    pub tree: Option<Value>,
    /// The lane's state in the frame; `None` if unknown.
    pub state: Option<LaneState>,
    /// The first missing part of a partly captured value.
    pub missing: Option<String>,
}

/// Reasons that a path has no answer for any lane.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// The text does not parse.
    #[error("{0}")]
    Path(#[from] ParseError),
    /// There is no frame; with the reason.
    #[error(transparent)]
    ReadError(#[from] ReadError),
}

/// A path to print and the format of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The path as the user typed it.
    pub path: String,
    /// The format of numbers; `None`: that of their types.
    pub letter: Option<Letter>,
}

impl Query {
    /// Parses a user's argument of `print`: a path, or `/x` and a path.
    ///
    /// # Errors
    /// The letter is unknown.
    pub fn typed(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let Some(rest) = text.strip_prefix('/') else {
            return Ok(Self { path: text.to_owned(), letter: None });
        };
        let (letter, path) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let letter = Letter::of(letter).ok_or_else(|| ParseError { column: 2, words: no_letter(letter) })?;
        Ok(Self { path: path.trim().to_owned(), letter: Some(letter) })
    }
}

/// The error for an unknown letter.
#[must_use]
pub fn no_letter(asked: &str) -> String {
    let there: String = Letter::ALL.iter().map(|letter| letter.letter()).collect();
    format!("no format `{asked}`: there are the letters {there}")
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.letter {
            Some(letter) => write!(f, "/{} {}", letter.letter(), self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// Evaluates a path in a frame of a wave, for those lanes.
///
/// # Errors
/// The text is no path, or there is no frame.
pub(super) fn print(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
    query: &Query,
) -> Result<Printed, PrintError> {
    with_frame(reader, wave, frame, |found| {
        let lanes = lanes.and(found.frame.context.kind().wave_size.all());
        let states = crate::session::waves::lanes::in_frame(&Frames::near(reader, wave, frame)?, frame)?;
        let scene = eval::Scene::new(reader, wave, &found, lanes);
        let path = scene.parsed(&query.path)?;
        scene.check_names(&path)?;
        scene.check_casts(&path)?;
        let mut type_name = None;
        let each = lanes
            .iter()
            .map(|lane| scene.printed(&path, lane, query.letter, states.of(lane), &mut type_name));
        let lanes = each.collect();
        Ok(Printed { wave, frame, pc: found.pc, path: path.to_string(), type_name, states, lanes })
    })
}
