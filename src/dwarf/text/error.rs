//! Why a text is no expression.

/// The place where a text stops being an expression, what stands there and what could.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}; expected {expected}")]
pub struct AssembleError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
    /// What could stand there.
    pub expected: String,
}
