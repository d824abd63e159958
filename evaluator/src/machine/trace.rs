//! Notifications of a running evaluation.

use super::super::error::Cause;
use super::super::operation::Placed;
use super::stack::Entry;
use crate::units::{ExprOffset, LaneSet};

/// One operation that ran, for a [`Tracer`].
#[derive(Debug)]
pub struct Step<'s> {
    /// Nesting depth of its expression; 0 for the caller's.
    pub depth: u32,
    /// The role of its expression in the enclosing one.
    pub within: Option<&'static str>,
    /// Its lanes.
    pub lanes: LaneSet,
    /// The operation.
    pub placed: &'s Placed,
    /// The stack before it, the top last.
    pub before: &'s [Entry],
    /// The stack after it, the top last.
    pub stack: &'s [Entry],
    /// Number of operations that ran before it for these lanes.
    pub steps: u32,
}

/// An operation that failed, for a [`Tracer`].
#[derive(Debug)]
pub struct Failure<'s> {
    /// Nesting depth of its expression.
    pub depth: u32,
    /// The role of its expression in the enclosing one.
    pub within: Option<&'static str>,
    /// The failing lanes.
    pub lanes: LaneSet,
    /// Its offset.
    pub at: ExprOffset,
    /// Its name, `result` at the end of an expression.
    pub op: &'static str,
    /// The cause.
    pub cause: &'s Cause,
    /// The stack at the failure, the top last; entries may already be converted.
    pub stack: &'s [Entry],
}

/// A listener for all operations in order; split lanes report one subset after the other.
pub trait Tracer {
    /// Whether the next notification includes stacks; otherwise they are empty.
    fn listens(&self) -> bool {
        true
    }

    /// An operation ran.
    fn step(&mut self, step: &Step<'_>);

    /// An operation failed.
    fn failed(&mut self, failure: &Failure<'_>) {
        let _ = failure;
    }
}
