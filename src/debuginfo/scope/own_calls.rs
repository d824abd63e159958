//! Calls that Triton inlines into a kernel under the kernel's own name.
//!
//! Situation: a helper that a `@triton.jit` kernel calls becomes a `DW_TAG_inlined_subroutine` whose
//! `DW_AT_abstract_origin` is the kernel itself. The helper's name is lost, and it has no variables of its own.
//!
//! Consequence: by the rules of DWARF 5, section 3.3.8.2, such a call would have all variables of the kernel, optimised
//! away. It gets the kernel's variables with their locations instead, and a name that differs from the kernel's.

use std::sync::Arc;

use crate::debuginfo::DebugInfo;
use crate::debuginfo::scope::function::Scope;
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::unit::die::{Die, Origins};
use crate::units::DieOffset;

/// The words after a kernel's name in the name of a helper.
pub(crate) const HELPER: &str = "[helper]";

/// The calls of a function under its own name.
#[derive(Debug, Default)]
pub(super) struct OwnCalls {
    /// The function's abstract instance; `None`: the compiler is not Triton.
    origin: Option<DieOffset>,
    scopes: Vec<usize>,
}

impl OwnCalls {
    /// Prepares for the calls in a function.
    pub(super) fn of(origins: &Origins<'_>) -> Self {
        let is_triton = origins.chain.first().is_some_and(|die| die.view.facts().producer_is_triton());
        // Without an abstract instance nothing was inlined into the function.
        let origin = origins.last().filter(|_| is_triton && origins.chain.len() > 1);
        Self { origin: origin.map(|die| die.offset()), scopes: Vec::new() }
    }

    /// Whether an abstract instance is the function's.
    pub(super) fn is_own(&self, origin: Option<DieOffset>) -> bool {
        origin.is_some() && origin == self.origin
    }

    /// Records a call's scope, if the call has the function's name.
    pub(super) fn add(&mut self, origin: Option<DieOffset>, scope: usize) {
        if self.is_own(origin) {
            self.scopes.push(scope);
        }
    }

    /// Gives the variables of the body to the recorded calls, each counted by `take_part`.
    pub(super) fn share(&self, scopes: &mut [Scope], take_part: &mut dyn FnMut() -> bool) {
        let Some(of_body) = scopes.first().map(|body| body.variables.clone()) else { return };
        for call in &self.scopes {
            let Some(call) = scopes.get_mut(*call) else { continue };
            for variable in &of_body {
                if !take_part() {
                    return;
                }
                call.variables.push(Arc::clone(variable));
            }
        }
    }
}

impl DebugInfo {
    /// The abstract instance of a function, if it has one.
    pub(crate) fn origin_of(&self, function: DieOffset) -> Option<DieOffset> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let origins = reading.with_origins(reading.die(function).ok()?).ok()?;
        origins.last().filter(|_| origins.chain.len() > 1).map(Die::offset)
    }
}

/// Gives a helper a name of its own: `softmax_kernel[helper]`.
pub(super) fn name_helper(of: &mut Subprogram) {
    for name in [&mut of.name, &mut of.qualified_name].into_iter().flatten() {
        *name = format!("{name}{HELPER}").into();
    }
    // The symbol is the kernel's.
    of.linkage_name = None;
}
