//! Variables outside of functions, by unit and by name.

use crate::codeobject::ElfAddress;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::Result;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::query::FunctionAt;
use crate::debuginfo::scope::variable::Variable;
use crate::units::DieOffset;

impl DebugInfo {
    /// The unit whose code contains a PC; `None` if no unit has it.
    ///
    /// # Errors
    /// A unit is unreadable.
    pub fn unit_at(&self, pc: ElfAddress) -> Result<Option<UnitId>> {
        if let Some(at) = self.function_at(pc)? {
            return Ok(Some(FunctionAt::unit(&at)));
        }
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let mut units = reading.units.at(&dwarf, pc.0);
        Ok(units.find(|id| reading.view(*id).is_ok_and(|view| view.root.span.is_some())))
    }

    /// The variable of a DIE, inside or outside of a function.
    ///
    /// # Errors
    /// The DIE is unreadable.
    pub fn variable(&self, die: DieOffset) -> Result<Variable> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        Ok(Variable::read(reading, reading.die(die)?, false))
    }

    /// The variables of a unit outside of functions, in DIE order: definitions, and declarations of other units'
    /// variables. A static class member's declaration is omitted if the unit defines the member. Unreadable parts of a
    /// variable are absent and among its problems.
    ///
    /// # Errors
    /// The unit is unreadable.
    pub fn globals(&self, unit: UnitId) -> Result<Vec<Variable>> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let view = reading.view(unit)?;
        let index = view.index();
        let mut specified = std::collections::HashSet::new();
        let mut found = Vec::new();
        for offset in &index.globals {
            let die = reading.die(*offset)?;
            specified.extend(die.reference(reading.units, gimli::DW_AT_specification).ok().flatten());
            found.push(Variable::read(reading, die, false));
        }
        found.retain(|variable| !(variable.is_declaration && specified.contains(&variable.die)));
        Ok(found)
    }

    /// The globals with a name in all units, definitions before declarations. The name is simple (`x`) or qualified
    /// (`ns::x`, `::x`). If `.debug_names` has the name, the result has only definitions, and only uncovered units are
    /// read. Otherwise all units are read, and the first call takes time in proportion to the file.
    ///
    /// # Errors
    /// A unit or a variable is unreadable.
    pub fn globals_named(&self, name: &str) -> Result<Vec<Variable>> {
        let qualified = name.strip_prefix("::");
        let wanted = qualified.unwrap_or(name);
        let is_it = |variable: &Variable| match (&variable.name, &variable.qualified_name) {
            (_, Some(full)) if **full == *wanted => true,
            (Some(simple), _) => qualified.is_none() && **simple == *wanted,
            _ => false,
        };
        let mut found = Vec::new();
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let simple = wanted.rsplit("::").next().unwrap_or(wanted);
        if let Some(named) = crate::debuginfo::scope::name_index::named(reading, simple) {
            for die in &named.variables {
                found.extend(Some(Variable::read(reading, reading.die(*die)?, false)).filter(is_it));
            }
            for unit in (0..self.unit_count()).map(UnitId).filter(|unit| !named.covered.contains(unit)) {
                found.extend(self.globals(unit)?.into_iter().filter(is_it));
            }
            if !found.is_empty() {
                found.sort_by_key(|variable| variable.is_declaration);
                return Ok(found);
            }
        }
        for unit in 0..self.unit_count() {
            found.extend(self.globals(UnitId(unit))?.into_iter().filter(is_it));
        }
        found.sort_by_key(|variable| variable.is_declaration);
        Ok(found)
    }

    /// The functions of a unit with code, by address, each once.
    ///
    /// # Errors
    /// The unit is unreadable.
    pub fn functions(&self, unit: UnitId) -> Result<Vec<DieOffset>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        let mut seen = std::collections::HashSet::new();
        Ok(view.index().functions().filter(|die| seen.insert(*die)).collect())
    }
}

impl FunctionAt {
    /// The unit of the function.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        self.function.unit
    }
}
