//! Facts that a dump lacks.

/// A fact that an expectation needs and the dump lacks, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FactError(String);

impl FactError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
