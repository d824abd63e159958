//! Variables of a wave's frame, lane by lane.

use std::fmt;

use super::LaneStates;
use crate::dwarf::Location;
use crate::dwarf::legacy::Idiom;
use crate::units::{LaneId, Pc, WaveId};

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
    /// What of the function's debug information cannot be read, each with its unit, DIE and offset: variables may be missing.
    pub problems: Vec<String>,
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
    /// Its bytes, lowest address first.
    pub bytes: Vec<Byte>,
    /// What there is to show.
    pub state: ValueState,
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

/// Two hex digits, `xx` for what was not captured, `..` for what the compiler kept nowhere.
impl fmt::Display for Byte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(byte) => write!(f, "{byte:02x}"),
            Self::NotCaptured => f.write_str("xx"),
            Self::OptimizedOut => f.write_str(".."),
        }
    }
}

/// What there is to show of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// A value, as C++ would print it; parts of it may say `<unavailable>`.
    Value(String),
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
            Self::Value(words)
            | Self::OptimizedOut(words)
            | Self::Unavailable(words)
            | Self::Error(words) => words,
        }
    }
}
