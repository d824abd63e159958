//! Calls that Triton inlines into a kernel under the kernel's own name: `src/debuginfo/scope/own_calls.rs`.

use gimli::constants;
use gimli::write::{AttributeValue, ConvertUnitEntry, UnitEntryId};

use super::Slice;
use super::entry::Conversion;
use crate::debuginfo::HELPER;
use crate::units::DieOffset;

/// The name of a function that may contain such calls.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    function: Option<DieOffset>,
    origin: Option<DieOffset>,
    name: String,
}

impl<'r> Conversion<'_, '_, '_, 'r> {
    /// Whether a DIE is a call in its function under the function's name.
    pub(super) fn is_helper(
        &mut self,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        function: Option<DieOffset>,
    ) -> bool {
        if entry.tag() != constants::DW_TAG_inlined_subroutine || !self.unit.facts.producer_is_triton() {
            return false;
        }
        let Some(function) = function else { return false };
        if self.kernel.function != Some(function) {
            let found = self.unit.debug.function(function).ok();
            let name = found.and_then(|found| found.subprogram.name.as_deref().map(str::to_owned));
            let origin = self.unit.debug.origin_of(function);
            self.kernel = Kernel { function: Some(function), origin, name: name.unwrap_or_default() };
        }
        let origin = entry.attrs.iter().find(|one| one.name() == constants::DW_AT_abstract_origin);
        let origin = origin.and_then(|attribute| match attribute.value() {
            gimli::AttributeValue::UnitRef(at) => Some(self.unit.die(entry.read_unit, at)),
            gimli::AttributeValue::DebugInfoRef(at) => Some(self.unit.die_at(at.0)),
            _ => None,
        });
        origin.is_some() && origin == self.kernel.origin
    }

    /// Names a helper. It has no abstract instance, from which a debugger would give it the kernel's variables as
    /// optimised away.
    pub(super) fn name_helper(&mut self, id: UnitEntryId) {
        let name = AttributeValue::String(format!("{}{HELPER}", self.kernel.name).into_bytes());
        self.to.unit.get_mut(id).set(constants::DW_AT_name, name);
    }
}
