//! Variables of a wave's frame, lane by lane.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use crate::dwarf::Location;
use crate::dwarf::clang_xderef::Idiom;
use crate::session::stack::backtrace::Frames;
use crate::session::variables::locals_along;
use crate::session::{LaneStates, ReadError, Stack};
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// The variables in scope of a frame.
#[derive(Clone, Debug)]
pub struct Locals {
    /// The wave.
    pub wave: WaveId,
    /// The frame's number in the wave's call stack, 0 innermost.
    pub frame: usize,
    /// The frame's PC; in a caller the return address.
    pub pc: Pc,
    /// The function, qualified and demangled.
    pub function: Option<String>,
    /// Source file, if the line table covers the PC.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// The lanes' states in the frame: variables of an inactive lane may hold foreign data.
    pub states: LaneStates,
    /// The variables, outermost scope first, in the order of their declarations.
    pub variables: Vec<Variable>,
    /// Number of variables beyond the limits of docs/security.md, which are left out.
    pub left_out: usize,
    /// Messages for unreadable debug information of the function, each with its unit, DIE and offset: variables may
    /// be missing.
    pub problems: Vec<String>,
}

/// The stack of a wave, unwound once for questions about all of its frames.
#[derive(Debug)]
pub struct WaveFrames<'a>(Frames<'a>);

impl<'a> WaveFrames<'a> {
    pub(in crate::session) fn new(frames: Frames<'a>) -> Self {
        Self(frames)
    }

    /// The stack of the wave as a whole.
    #[must_use]
    pub fn stack(&self) -> Stack {
        self.0.of_wave()
    }

    /// Returns the variables of a frame, as [`Variables::locals`](crate::session::Variables::locals).
    ///
    /// # Errors
    /// The errors of [`Variables::locals`](crate::session::Variables::locals).
    pub fn locals(&self, lanes: LaneSet, frame: usize) -> Result<Locals, ReadError> {
        locals_along(&self.0, lanes, frame, &mut |_, _, _| ())
    }
}

/// One variable with its value in each requested lane.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Argument, local, static or global.
    pub scope: Scope,
    /// Its type in C++ notation.
    pub type_name: String,
    /// Its size in bytes, if its type is complete.
    pub size: Option<u64>,
    /// Line of its declaration.
    pub line: Option<u64>,
    /// One for each requested lane, lowest lane first.
    pub lanes: Vec<LaneValue>,
}

/// The kind of a variable's declaration.
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
    /// Its location as text; `None` without a location.
    pub location: Option<String>,
    /// Its location for programs, independent of the lane.
    pub place: Option<Location>,
    /// The compiler's idiom of the location's reading, if any.
    pub idiom: Option<Idiom>,
    /// Its bytes, lowest address first; lanes with the same bytes share them.
    pub bytes: Arc<[Byte]>,
    /// The state of its value.
    pub state: ValueState,
    /// The lanes whose registers, private memory or variables the value depends on. Empty: no lane matters, as for
    /// `$exec` and objects in global memory.
    pub of: LaneSet,
}

/// A byte of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    /// Its value.
    Known(u8),
    /// It exists and was not captured.
    NotCaptured,
    /// The compiler keeps it nowhere.
    OptimizedOut,
}

impl Byte {
    /// Two hex digits, `xx` for missing data, `..` for optimized-out bytes.
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

/// The state of a variable's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// A value in C++ notation; parts of it may be `<unavailable>`.
    Value(Arc<str>),
    /// The compiler keeps it nowhere at this PC.
    OptimizedOut(String),
    /// It has a location, but its data was not captured.
    Unavailable(String),
    /// Its description cannot be evaluated.
    Error(String),
}

impl ValueState {
    /// The value, or the reason for its absence.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Value(words) => words,
            Self::OptimizedOut(words) | Self::Unavailable(words) | Self::Error(words) => words,
        }
    }
}
