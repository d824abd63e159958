//! Problems of partly readable debug information: each costs only the object that it describes.

use super::error::{DebugInfoError, Result};

/// Maximum reported problems of one function or one code object; more than these mean that all of it is broken.
pub(super) const MAX_PROBLEMS: usize = 64;

/// The problems of one read.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    problems: Vec<DebugInfoError>,
}

impl Diagnostics {
    /// The value, or the default value and a problem.
    pub(super) fn or_none<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|problem| self.add(problem)).ok()
    }

    /// The value of an attribute that may be absent.
    pub(super) fn absent<T>(&mut self, read: Result<Option<T>>) -> Option<T> {
        self.or_none(read).flatten()
    }

    /// Stores a problem, once.
    pub(super) fn add(&mut self, problem: DebugInfoError) {
        if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn extend(&mut self, problems: impl IntoIterator<Item = DebugInfoError>) {
        problems.into_iter().for_each(|problem| self.add(problem));
    }

    pub(super) fn first(&self) -> Option<&DebugInfoError> {
        self.problems.first()
    }

    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    pub(super) fn into_problems(self) -> Vec<DebugInfoError> {
        self.problems
    }
}
