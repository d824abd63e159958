//! References to DIEs that the view lacks: those that a stock debugger would misread, and those after an unreadable
//! position. One such reference keeps gimli from writing the whole.

use std::collections::HashSet;

use gimli::DwAt;
use gimli::write::{AttributeValue, DebugInfoRef, Dwarf, UnitEntryId, UnitId};

/// Removes such references.
pub(super) fn close(dwarf: &mut Dwarf) {
    let mut there: HashSet<(UnitId, UnitEntryId)> = HashSet::new();
    for (unit, contents) in dwarf.units.iter() {
        let mut next: Vec<UnitEntryId> =
            if contents.count() > 0 { vec![contents.root()] } else { Vec::new() };
        while let Some(die) = next.pop() {
            there.insert((unit, die));
            next.extend(contents.get(die).children());
        }
    }
    let all: Vec<(UnitId, UnitEntryId)> = there.iter().copied().collect();
    for (unit, die) in all {
        let die = dwarf.units.get_mut(unit).get_mut(die);
        let leads_nowhere = |value: &AttributeValue| match value {
            AttributeValue::UnitRef(at) => !there.contains(&(unit, *at)),
            AttributeValue::DebugInfoRef(DebugInfoRef::Entry(unit, at)) => !there.contains(&(*unit, *at)),
            _ => false,
        };
        let lost: Vec<DwAt> = die
            .attrs()
            .filter(|attribute| leads_nowhere(attribute.get()))
            .map(|attribute| attribute.name())
            .collect();
        lost.into_iter().for_each(|name| die.delete(name));
    }
}
