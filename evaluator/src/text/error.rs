//! Errors of the assembler.

/// A text that is not an expression: the first wrong place, what it has and what is expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}; expected {expected}")]
pub struct AssembleError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The problem.
    pub what: String,
    /// The expected text.
    pub expected: String,
}
