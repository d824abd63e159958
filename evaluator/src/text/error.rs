//! Errors of the assembler.

/// A syntax error in an expression's text: the first wrong position, the problem and the expected text.
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
