//! Notifications of a running evaluation.

use super::super::error::Cause;
use super::super::operation::Placed;
use super::stack::Entry;
use crate::units::{ExprOffset, LaneSet};

/// One operation that ran, for a [`Tracer`].
#[derive(Debug)]
pub struct Step<'s> {
    /// How many expressions this one runs within; 0 for the caller's own.
    pub depth: u32,
    /// The role of its expression in the one that runs it.
    pub within: Option<&'static str>,
    /// The lanes it ran for.
    pub lanes: LaneSet,
    /// The operation.
    pub placed: &'s Placed,
    /// The stack before it, the top last.
    pub before: &'s [Entry],
    /// The stack after it, the top last.
    pub stack: &'s [Entry],
    /// Operations that ran before it for these lanes.
    pub steps: u32,
}

/// An operation that failed, for a [`Tracer`].
#[derive(Debug)]
pub struct Failure<'s> {
    /// How many expressions this one runs within.
    pub depth: u32,
    /// The role of its expression in the one that runs it.
    pub within: Option<&'static str>,
    /// The lanes it fails for.
    pub lanes: LaneSet,
    /// Its offset.
    pub at: ExprOffset,
    /// Its name, `result` at the end of an expression.
    pub op: &'static str,
    /// Why it failed.
    pub cause: &'s Cause,
    /// The stack that it found, the top last; entries may have been converted already.
    pub stack: &'s [Entry],
}

/// A listener for every operation that ran, in order; where lanes part, one part after the other.
pub trait Tracer {
    /// Whether the next notification has stacks; otherwise they are empty.
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
