//! A check of the debug information: all problems, before a debugger meets them.

use std::collections::HashSet;

use super::DebugInfo;
use super::diagnostics::Diagnostics;
use super::error::{DebugInfoError, Result};
use super::types::TypeId;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::die::Reading;
use crate::debuginfo::unit::line::table_problem;
use crate::debuginfo::unit::location::{ListOffset, LocationAttribute};
use crate::units::DieOffset;

/// Maximum bytes of units that [`DebugInfo::check`] reads. A debugger reads units on demand, a check all at once.
pub const MAX_CHECKED_BYTES: usize = 16 << 20;
/// Maximum scopes and variables that a check reads. Those of an abstract instance count for each inlined call.
const MAX_CHECKED_PARTS: usize = 1 << 19;

const TOO_MANY: &str = "more than 524288 scopes and variables; what follows is not checked";

/// Counts and problems of a check.
struct Seen {
    lists: HashSet<(UnitId, ListOffset)>,
    parts: usize,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The problems, some dozens at most, each with its unit and, where known, its DIE and offset.
    pub problems: Vec<DebugInfoError>,
    /// Units beyond [`MAX_CHECKED_BYTES`], which the check skipped.
    pub unread: u32,
}

impl Checked {
    /// The message about skipped units, if there are any.
    #[must_use]
    pub fn unread_words(&self) -> Option<String> {
        let count = self.unread;
        (count > 0).then(|| {
            format!("{count} units were not checked: only the first {MAX_CHECKED_BYTES} bytes of units are")
        })
    }
}

impl DebugInfo {
    /// Reads units with their line tables, functions, variables, location lists and named types, up to
    /// [`MAX_CHECKED_BYTES`]. Reports the unreadable parts.
    #[must_use]
    pub fn check(&self) -> Checked {
        self.check_up_to(MAX_CHECKED_BYTES)
    }

    /// The reasons that a unit, or the part after a DIE, is unreadable; empty for a readable unit.
    #[must_use]
    pub fn unit_problems(&self, unit: UnitId) -> Vec<DebugInfoError> {
        let dwarf = self.sections.dwarf();
        match self.reading(&dwarf).view(unit) {
            Ok(view) => view.index().problems.clone(),
            Err(why) => vec![why],
        }
    }

    pub(super) fn check_up_to(&self, most: usize) -> Checked {
        let mut damage = Diagnostics::default();
        damage.extend(self.problems());
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let mut seen = Seen { lists: HashSet::new(), parts: 0 };
        let mut read = 0usize;
        let mut unread = 0;
        for slot in &reading.units.slots {
            read = read.saturating_add(slot.end.saturating_sub(slot.offset.0));
            if read > most || seen.parts > MAX_CHECKED_PARTS {
                unread += 1;
            } else if !damage.is_full() {
                let checked = self.check_unit(reading, slot.id, &mut seen, &mut damage);
                damage.or_none(checked);
            }
        }
        Checked { problems: damage.into_problems(), unread }
    }

    fn check_unit(
        &self,
        reading: Reading<'_>,
        unit: UnitId,
        seen: &mut Seen,
        damage: &mut Diagnostics,
    ) -> Result<()> {
        let view = reading.view(unit)?;
        let index = view.index();
        damage.extend(index.problems.iter().cloned());
        damage.extend(table_problem(&view));
        let functions: std::collections::BTreeSet<DieOffset> = index.functions().collect();
        for die in functions {
            let Some(function) = damage.or_none(self.function(die)) else { continue };
            damage.extend(function.problems.iter().cloned());
            seen.parts = seen.parts.saturating_add(function.parts());
            if seen.parts > MAX_CHECKED_PARTS {
                return Err(DebugInfoError::Bound {
                    unit: view.facts().offset,
                    what: "functions",
                    why: TOO_MANY,
                });
            }
            let base = (function.unit, &function.frame_base, die, gimli::DW_AT_frame_base);
            self.check_list(base, seen, damage);
            for variable in function.scopes.iter().flat_map(|scope| &scope.variables) {
                let location = (variable.unit, &variable.location, variable.die, gimli::DW_AT_location);
                self.check_list(location, seen, damage);
            }
        }
        for global in self.globals(unit)? {
            damage.extend(global.problems);
        }
        for die in &index.types {
            if let Some(found) = damage.or_none(self.type_of(TypeId(*die))) {
                damage.extend(found.problems().iter().cloned());
            }
        }
        Ok(())
    }

    fn check_list(
        &self,
        (unit, attribute, die, name): (UnitId, &LocationAttribute, DieOffset, gimli::DwAt),
        seen: &mut Seen,
        damage: &mut Diagnostics,
    ) {
        if let LocationAttribute::List(list) = attribute
            && seen.lists.insert((unit, *list))
        {
            let referred = |error| DebugInfoError::Referred {
                attribute: super::AttributeName::standard(name),
                die,
                error: Box::new(error),
            };
            damage.or_none(self.location_list(unit, *list).map_err(referred));
        }
    }
}
