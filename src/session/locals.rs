//! Variables of a wave's frame, lane by lane.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::backtrace::Frames;
use super::variables::locals_along;
use super::{LaneStates, Stack, Unreadable};
use crate::dwarf::Location;
use crate::dwarf::legacy::Idiom;
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// The variables in scope of a frame.
#[derive(Clone, Debug)]
pub struct Locals {
    /// The wave.
    pub wave: WaveId,
    /// The frame's number in the wave's call stack, 0 innermost.
    pub frame: usize,
    /// The frame's PC; of a caller the return address.
    pub pc: Pc,
    /// The function, qualified and demangled.
    pub function: Option<String>,
    /// Source file, if the line table covers the PC.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// What the lanes do in the frame: what lies in the variables of one that is not active need not be theirs.
    pub states: LaneStates,
    /// The variables, outermost scope first, in the order of their declarations.
    pub variables: Vec<Variable>,
    /// Variables beyond the bounds of docs/security.md, which are not among them.
    pub left_out: usize,
    /// What of the function's debug information cannot be read, each with its unit, DIE and offset: variables may be missing.
    pub problems: Vec<String>,
}

/// The stack of a wave, walked once for questions about all of its frames.
#[derive(Debug)]
pub struct WaveFrames<'a>(Frames<'a>);

impl<'a> WaveFrames<'a> {
    pub(super) fn new(frames: Frames<'a>) -> Self {
        Self(frames)
    }

    /// The stack of the wave as a whole.
    #[must_use]
    pub fn stack(&self) -> Stack {
        self.0.of_wave()
    }

    /// The variables of a frame, as [`Inspect::locals`](super::Inspect::locals).
    ///
    /// # Errors
    /// As there.
    pub fn locals(&self, lanes: LaneSet, frame: usize) -> Result<Locals, Unreadable> {
        locals_along(&self.0, lanes, frame, &mut |_, _, _| ())
    }
}

/// One variable with its value in each lane that was asked for.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Argument, local, static or global.
    pub scope: Scope,
    /// Its type as C++ spells it.
    pub type_name: String,
    /// Its size in bytes, if its type is complete.
    pub size: Option<u64>,
    /// Line of its declaration.
    pub line: Option<u64>,
    /// One for each lane asked for, lowest lane first.
    pub lanes: Vec<LaneValue>,
}

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A parameter.
    Argument,
    /// A local.
    Local,
    /// A local with static storage.
    Static,
    /// A variable of namespace scope.
    Global,
}

/// A variable in one lane.
#[derive(Clone, Debug)]
pub struct LaneValue {
    /// The lane.
    pub lane: LaneId,
    /// Where it is, in words; absent when it is nowhere.
    pub location: Option<String>,
    /// Where it is, for programs: nothing in it depends on the lane any more.
    pub place: Option<Location>,
    /// The compiler's idiom by which the location was read, where that was not by the book.
    pub idiom: Option<Idiom>,
    /// Its bytes, lowest address first; lanes with the same bytes share them.
    pub bytes: Arc<[Byte]>,
    /// What there is to show.
    pub state: ValueState,
    /// The lanes whose registers, private memory or variables the value is made of. Empty: no lane matters, as for `$exec` and
    /// objects in global memory.
    pub of: LaneSet,
}

/// A byte of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    /// Its value.
    Known(u8),
    /// It exists and was not captured.
    NotCaptured,
    /// The compiler kept it nowhere.
    OptimizedOut,
}

impl Byte {
    /// Two hex digits, `xx` for what was not captured, `..` for what the compiler kept nowhere.
    #[must_use]
    pub fn digits(self) -> [char; 2] {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
        match self {
            Self::Known(byte) => [digit(byte >> 4), digit(byte & 15)],
            Self::NotCaptured => ['x', 'x'],
            Self::OptimizedOut => ['.', '.'],
        }
    }
}

/// Its [`Byte::digits`].
impl fmt::Display for Byte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().iter().try_for_each(|digit| f.write_char(*digit))
    }
}

/// What there is to show of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// A value, as C++ would print it; parts of it may say `<unavailable>`.
    Value(Arc<str>),
    /// The compiler kept it nowhere at this PC.
    OptimizedOut(String),
    /// It is somewhere, but what is needed was not captured.
    Unavailable(String),
    /// Its description cannot be evaluated.
    Error(String),
}

impl ValueState {
    /// The value, or why there is none.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Value(words) => words,
            Self::OptimizedOut(words) | Self::Unavailable(words) | Self::Error(words) => words,
        }
    }
}
