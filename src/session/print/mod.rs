//! What a C-like path names in a frame, lane by lane: `body.at.x`, `*p@4`, `(local int *) 0x10`, `$v3[17]`.
//!
//! A path is parsed once (`parse()`) and walked for each lane apart, since lanes may point to different places. Names are
//! looked up and their locations evaluated once for all lanes (`names`). Each part of a path is an *object*: a type
//! and a [`Location`](crate::dwarf::Location), which members and elements move and pointers make anew (`object`). So a
//! member of something that is kept in registers is found like one in memory. Bytes are read where a pointer or a number
//! is needed, and in the end (`show`).
//!
//! *Not here*: values in gdb's notation, which is [`debuginfo::format`](crate::debuginfo::format).

mod arith;
mod assign;
mod cast;
mod eval;
mod explain;
mod lex;
mod locate;
mod method;
mod names;
mod object;
mod parse;
mod part;
mod path;
mod pointer;
mod read;
mod show;
#[cfg(test)]
mod tests;
mod typed;
mod upcast;
mod uplevel;
mod using;

use std::fmt;

pub(super) use assign::{assign, write_variable};
pub use explain::Explanation;
pub(super) use explain::explain;
pub use locate::{MAX_COMPOSED_BYTES, ObjectAt, VariableIn, Whereabouts};
pub(super) use locate::{leads_to, locate, with_pointers, write_in};
pub use parse::{MAX_NESTING, MAX_PATH, ParseError, parse};
pub use path::{Binary, Node, Path, TypeName, Unary};

use super::backtrace::Frames;
use super::locals::LaneValue;
use super::unwind::Walk as Walked;
use super::variables::with_frame;
use super::{LaneState, LaneStates, Reader, Unreadable};
use crate::debuginfo::format::{Letter, Value};
use crate::units::{LaneSet, Pc, WaveId};

/// The most objects in a row, `p @ n`.
pub const MAX_REPEAT: u64 = 1 << 16;
/// The largest object that is printed, in bytes; its elements can be printed where it is larger.
pub const MAX_PRINTED_BYTES: u64 = 1 << 16;
/// The most characters of a string that a pointer leads to, as gdb has it.
pub const MAX_STRING: usize = 200;

/// The answer to a path.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The wave.
    pub wave: WaveId,
    /// The frame's number in the wave's call stack.
    pub frame: usize,
    /// The frame's PC; of a caller the return address.
    pub pc: Pc,
    /// The path, as it was understood.
    pub path: String,
    /// Its type as C++ spells it; `None` where no lane came to know it.
    pub type_name: Option<String>,
    /// What the lanes do in the frame.
    pub states: LaneStates,
    /// One for each lane asked for, lowest lane first.
    pub lanes: Vec<PrintedLane>,
}

/// What a path names in one lane.
#[derive(Clone, Debug)]
pub struct PrintedLane {
    /// Lane, place, bytes and text, or why there is none. A computed value has no place.
    pub value: LaneValue,
    /// The value as a tree, where there is one.
    pub tree: Option<Value>,
    /// What the lane does in the frame; `None` where that is not known.
    pub state: Option<LaneState>,
    /// The first of what was not captured of a value that is there in part.
    pub missing: Option<String>,
}

/// Why a path has no answer for any lane.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPrinted {
    /// It is no path.
    #[error("{0}")]
    Path(#[from] ParseError),
    /// There is no frame to ask, and why.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// A path to print and how to write numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The path as the user typed it.
    pub path: String,
    /// How numbers are written; `None`: as their types have it.
    pub letter: Option<Letter>,
}

impl Query {
    /// From what a user typed after `print`: a path, or `/x` and a path.
    ///
    /// # Errors
    /// The letter is none.
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

/// That a letter is none of those there are.
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

/// What a path names in a frame of a wave, for those lanes.
///
/// # Errors
/// The text is no path, or there is no frame to ask.
pub(super) fn print(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
    query: &Query,
) -> Result<Printed, NotPrinted> {
    with_frame(reader, wave, frame, |found| {
        let lanes = lanes.and(found.frame.context.kind().wave_size.all());
        let states = super::lanes::in_frame(&Frames::near(reader, wave, frame)?, frame)?;
        let scene = eval::Scene::new(reader, wave, &found, lanes);
        let path = parse(&query.path, &|name| scene.is_type(name))?;
        let mut type_name = None;
        let each = lanes
            .iter()
            .map(|lane| scene.printed(&path, lane, query.letter, states.of(lane), &mut type_name));
        let lanes = each.collect();
        Ok(Printed { wave, frame, pc: found.pc, path: path.to_string(), type_name, states, lanes })
    })
}
