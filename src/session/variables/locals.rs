//! Variables of a wave's frame, lane by lane.

use crate::notation::names;
use crate::session::stack::backtrace::Frames;
use crate::session::variables::locals_along;
use crate::session::{Inferred, LaneStates, LaneValue, ReadError, Stack};
use crate::units::{LaneSet, Pc, WaveId};

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
    /// The inferences behind the frame.
    pub inferred: Inferred,
    /// The lanes' states in the frame: variables of an inactive lane may hold foreign data.
    pub states: LaneStates,
    /// The variables, outermost scope first, in the order of their declarations.
    pub variables: Vec<Variable>,
    /// The reason that the function has lines and no variables, with the remedy.
    pub note: Option<&'static str>,
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

names!(Scope {
    Self::Argument => "argument",
    Self::Local => "local",
    Self::Static => "static",
    Self::Global => "global",
});
