//! Cached results of a frame's rules, and their cost.
//!
//! A rule may read other registers of its frame, and their rules others again. Without a cache a dozen rules that each
//! read the next register four times take millions of evaluations. Errors are not cached: each ends the whole question,
//! and its text depends on the path of rules.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::super::error::{Cause, Error};
use super::super::limits::MAX_RULE_WORK;
use super::super::location::Location;
use crate::units::{DwarfReg, ExprOffset};

/// Cached results of one frame, whose state is constant, and the work limit of its stack.
#[derive(Debug)]
pub struct Answers {
    cfa: RefCell<Option<Location>>,
    registers: RefCell<HashMap<DwarfReg, Location>>,
    left: Rc<Cell<u32>>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            cfa: RefCell::default(),
            registers: RefCell::default(),
            left: Rc::new(Cell::new(MAX_RULE_WORK)),
        }
    }
}

impl Answers {
    /// Creates the cache of another frame of the same stack, with the same work limit.
    #[must_use]
    pub fn of_same_stack(&self) -> Self {
        Self { left: Rc::clone(&self.left), ..Self::default() }
    }

    /// Units of work spent on all frames of the stack.
    #[must_use]
    pub fn spent(&self) -> u32 {
        MAX_RULE_WORK - self.left.get()
    }

    pub(super) fn cfa_or(
        &self,
        evaluate: impl FnOnce() -> Result<Location, Error>,
    ) -> Result<Location, Error> {
        if let Some(known) = &*self.cfa.borrow() {
            return Ok(known.clone());
        }
        let found = evaluate()?;
        self.cfa.replace(Some(found.clone()));
        Ok(found)
    }

    pub(super) fn register_or(
        &self,
        register: DwarfReg,
        evaluate: impl FnOnce() -> Result<Location, Error>,
    ) -> Result<Location, Error> {
        if let Some(known) = self.registers.borrow().get(&register) {
            return Ok(known.clone());
        }
        let found = evaluate()?;
        self.registers.borrow_mut().insert(register, found.clone());
        Ok(found)
    }

    /// Whether another rule may be evaluated.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.left.get() > 0 {
            return Ok(());
        }
        let (what, limit) = ("units of work of call frame information", u64::from(MAX_RULE_WORK));
        Err(Error { at: ExprOffset(0), op: "expression", cause: Cause::Limit { what, limit } })
    }

    pub(super) fn spend(&self, work: u32) {
        self.left.set(self.left.get().saturating_sub(work));
    }
}
