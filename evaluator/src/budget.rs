//! The budget of work shared by all evaluations of a question.
//!
//! Thousands of variables or waves may each reach the bound of one evaluation, [`MAX_WORK`](super::limits::MAX_WORK).
//! So each evaluation, and each run of call frame instructions, has a small share in proportion to its bytes; further
//! work is charged to the question's budget. Cheap expressions still work after the budget is spent.

use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Cause, Error};
use super::limits::{
    MAX_OWN_WORK, MAX_QUESTION_VALUES, MAX_QUESTION_WORK, OWN_ROW_WORK, WAVE_VALUES, WAVE_WORK,
};
use super::operation::{Encoding, Program};
use crate::units::ExprOffset;

/// Units of work ([`MAX_WORK`](super::limits::MAX_WORK)) left for a question beyond the shares of its evaluations.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    /// Values of variables left, and their initial number.
    values: AtomicU64,
    most_values: u64,
    /// Units used so far.
    used: AtomicU64,
    /// The last wave for which [`WAVE_WORK`] and [`WAVE_VALUES`] were added.
    wave: AtomicU64,
}

/// No wave.
const NONE: u64 = u64::MAX;

impl Default for Budget {
    /// The budget of a new question.
    fn default() -> Self {
        Self::of_values(MAX_QUESTION_VALUES)
    }
}

impl Budget {
    /// Creates the budget of a new question with a limit on values of variables.
    #[must_use]
    pub fn of_values(most_values: u64) -> Self {
        Self {
            left: AtomicU64::new(MAX_QUESTION_WORK),
            values: AtomicU64::new(most_values),
            most_values,
            used: AtomicU64::new(0),
            wave: AtomicU64::new(NONE),
        }
    }

    /// Starts another question.
    pub fn restart(&self) {
        self.left.store(MAX_QUESTION_WORK, Ordering::Relaxed);
        self.values.store(self.most_values, Ordering::Relaxed);
        self.wave.store(NONE, Ordering::Relaxed);
    }

    /// Adds the share of one wave, [`WAVE_WORK`] and [`WAVE_VALUES`], if the wave differs from the last one. `wave` is
    /// any number chosen by the caller.
    pub fn add_wave(&self, wave: u32) {
        let wave = u64::from(wave);
        if self.wave.swap(wave, Ordering::Relaxed) != wave {
            self.change(|left| left.saturating_add(WAVE_WORK));
            let values = self.values.load(Ordering::Relaxed);
            self.values.store(values.saturating_add(WAVE_VALUES), Ordering::Relaxed);
        }
    }

    /// Number of units left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Number of units that all questions used, with those that no budget is charged for.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Charges work of the caller, of which the first `own` units are free.
    ///
    /// # Errors
    /// [`Cause::Limit`] if more than the question has left; nothing is charged then.
    pub fn take(&self, units: u64, own: u64) -> Result<(), Cause> {
        let mut share = Share::new(Some(self), own, ("units of work", u64::MAX));
        share.take(units)?;
        share.spend();
        Ok(())
    }

    /// Charges values of variables.
    ///
    /// # Errors
    /// [`Cause::Limit`] if more than the question has left; nothing is charged then.
    pub fn take_values(&self, count: u64) -> Result<(), Cause> {
        let (what, limit) = ("values of variables of all waves", self.most_values);
        let left = self.values.load(Ordering::Relaxed).checked_sub(count);
        self.values.store(left.ok_or(Cause::Limit { what, limit })?, Ordering::Relaxed);
        Ok(())
    }

    fn spend(&self, units: u64) {
        self.change(|left| left.saturating_sub(units));
    }

    /// One thread works on a question. Two threads with the same budget may lose a change, which costs only precision.
    fn change(&self, change: impl Fn(u64) -> u64) {
        self.left.store(change(self.left()), Ordering::Relaxed);
    }
}

impl Program {
    /// [`Self::decode`] within a question's budget: bytes beyond [`MAX_OWN_WORK`] are charged to it.
    ///
    /// # Errors
    /// The errors of [`Self::decode`]; class limit if the budget is spent.
    pub fn decode_within(budget: Option<&Budget>, bytes: &[u8], encoding: Encoding) -> Result<Self, Error> {
        let mut share = Share::new(budget, MAX_OWN_WORK, ("bytes of an expression", u64::MAX));
        let taken = share.take(bytes.len() as u64);
        share.spend();
        taken.map_err(|cause| Error { at: ExprOffset(0), op: "expression", cause })?;
        Self::decode(bytes, encoding)
    }
}

/// The share of one evaluation, or of one run of call frame instructions.
#[derive(Debug)]
pub(super) struct Share<'b> {
    budget: Option<&'b Budget>,
    own: u64,
    most: u64,
    /// Its bound, and the bound's name.
    bound: (&'static str, u64),
    used: u64,
    /// How many of them the budget has counted.
    counted: u64,
}

impl<'b> Share<'b> {
    /// Creates a share of `own` units plus the rest of the budget, up to a bound.
    pub(super) fn new(budget: Option<&'b Budget>, own: u64, bound: (&'static str, u64)) -> Self {
        let left = budget.map_or(u64::MAX, Budget::left);
        Self { budget, own, most: own.saturating_add(left).min(bound.1), bound, used: 0, counted: 0 }
    }

    /// Creates the share of a run of call frame instructions.
    pub(super) fn of_row(budget: Option<&'b Budget>) -> Self {
        Self::new(budget, OWN_ROW_WORK, ("units of work", u64::MAX))
    }

    /// Charges units.
    ///
    /// # Errors
    /// [`Cause::Limit`] if more than its bound, or than the question has left.
    pub(super) fn take(&mut self, units: u64) -> Result<(), Cause> {
        self.used = self.used.saturating_add(units);
        if self.used <= self.most {
            return Ok(());
        }
        let (what, limit) = match self.used > self.bound.1 {
            true => self.bound,
            false => ("units of work of all evaluations of a question", MAX_QUESTION_WORK),
        };
        Err(Cause::Limit { what, limit })
    }

    /// Charges the units beyond its own to the budget; called at the end.
    pub(super) fn spend(&mut self) {
        if let Some(budget) = self.budget {
            budget.spend(self.used.saturating_sub(self.own));
            // Units beyond the share ended the run instead of being worked.
            let worked = self.used.min(self.most);
            let used = budget.used().saturating_add(worked.saturating_sub(self.counted));
            budget.used.store(used, Ordering::Relaxed);
            self.counted = worked;
        }
        self.own = self.own.max(self.used);
    }

    /// Number of charged units.
    pub(super) fn used(&self) -> u64 {
        self.used
    }
}
