//! The answer to a question, and the reasons of its absence.

use serde::Serialize;

use super::arguments::ArgumentError;
use crate::arch::RangeError;
use crate::clean::clean_lines;
use crate::dwarf::text::AssembleError;
use crate::report::schema::{self, Document, Schema};
use crate::report::spaces::AddressError;
use crate::session::print::ParseError;
use crate::session::{DisassemblyError, EvaluateError, ReadError};

/// An answer in the asked form.
#[derive(Serialize)]
#[serde(untagged)]
#[expect(missing_debug_implementations, reason = "a list in JSON is a function that builds it")]
pub enum Body<'a> {
    /// Text, with a line feed at the end of each line.
    Text(String),
    /// A JSON document.
    Json(Box<dyn erased_serde::Serialize + 'a>),
}

impl<'a> Body<'a> {
    /// A JSON document with these members.
    pub fn json(members: impl Schema + 'a) -> Self {
        Self::Json(Box::new(Document::new(members)))
    }
}

/// An answer.
pub struct Answer<'a> {
    /// The answer.
    pub body: Body<'a>,
    /// Whether no lane has a value.
    pub is_without_value: bool,
    /// Whether it is about all of a capture that is truncated.
    pub is_truncated: bool,
}

impl std::fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("is_without_value", &self.is_without_value).finish_non_exhaustive()
    }
}

impl<'a> From<Body<'a>> for Answer<'a> {
    fn from(body: Body<'a>) -> Self {
        Self { body, is_without_value: false, is_truncated: false }
    }
}

impl From<String> for Answer<'_> {
    fn from(text: String) -> Self {
        Body::Text(text).into()
    }
}

impl Answer<'_> {
    /// Marks an answer in which no lane has a value.
    #[must_use]
    pub(super) fn without_value_if(self, is_without_value: bool) -> Self {
        Self { is_without_value, ..self }
    }
}

/// The reason of a missing answer.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// An argument is wrong.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The session cannot read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The place is wrong.
    #[error(transparent)]
    Place(#[from] AddressError),
    /// The name of a register is wrong.
    #[error(transparent)]
    Register(#[from] RangeError),
    /// The path is malformed.
    #[error("{error}")]
    Path {
        /// The path.
        path: String,
        /// The position and the cause.
        error: ParseError,
    },
    /// The expression is malformed.
    #[error("the expression at {error}")]
    Expression {
        /// The expression.
        text: String,
        /// The position and the cause.
        error: AssembleError,
    },
    /// No expression, or two.
    #[error("either expression or bytes is needed")]
    NoExpression,
    /// The expression cannot be evaluated.
    #[error(transparent)]
    Evaluate(EvaluateError),
    /// The code cannot be disassembled.
    #[error(transparent)]
    Disassemble(#[from] DisassemblyError),
    /// The wave has no such lane.
    #[error("no lane {lane} in a {lanes}-lane wave")]
    NoLane {
        /// The lane.
        lane: u64,
        /// Number of lanes of the wave.
        lanes: u8,
    },
    /// No lane is active.
    #[error("no lane of the wave is active")]
    NoActiveLanes,
    /// The question is about one lane.
    #[error("one lane is needed")]
    SeveralLanes,
    /// The dump has no waves.
    #[error("the dump has no waves")]
    NoWaves,
    /// The dump has no such dispatch.
    #[error("the dump has no dispatch {0}; `dispatches` lists them")]
    NoDispatch(u64),
    /// The wave's dispatch is unknown.
    #[error("the dispatch of this wave is not known")]
    UnknownDispatch,
    /// Another reason.
    #[error("{0}")]
    Other(String),
}

impl QuestionError {
    /// The members of the error as JSON, with the position in a malformed path or expression.
    #[must_use]
    pub fn json(&self) -> schema::Error {
        let (line, column) = match self {
            Self::Path { error, .. } => (None, Some(error.column)),
            Self::Expression { error, .. } => (Some(error.line), Some(error.column)),
            _ => (None, None),
        };
        schema::Error {
            error: clean_lines(self.to_string()).into_owned(),
            line,
            column,
            ..schema::Error::default()
        }
    }
}
