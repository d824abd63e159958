//! Children of a DIE, and its type.

use gimli::DwTag;

use crate::debuginfo::error::Result;
use crate::debuginfo::types::TypeId;
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::Entry;

/// The direct children of a DIE, in order.
pub(in crate::debuginfo) fn children<'a>(die: &Die<'a>) -> Result<Vec<Die<'a>>> {
    children_while(die, |_| Some(true))
}

/// The wanted direct children of a DIE, up to one whose tag ends the search (`None`).
pub(in crate::debuginfo) fn children_while<'a>(
    die: &Die<'a>,
    wanted: impl Fn(DwTag) -> Option<bool>,
) -> Result<Vec<Die<'a>>> {
    let mut found = Vec::new();
    read_children(die, wanted, &mut found)?;
    Ok(found)
}

/// [`children_while`], with the children before an unreadable one.
pub(in crate::debuginfo) fn read_children<'a>(
    die: &Die<'a>,
    wanted: impl Fn(DwTag) -> Option<bool>,
    found: &mut Vec<Die<'a>>,
) -> Result<()> {
    let view = &die.view;
    if !die.entry.has_children() {
        return Ok(());
    }
    let mut raw = view.entries_from(die.offset())?;
    let mut entry = Entry::null();
    raw.read_entry(&mut entry).map_err(|why| view.broken(die.offset(), why))?;
    // The depth at which the reader began.
    let mut base = 0;
    while !raw.is_empty() && base + raw.next_depth() > 0 {
        let (offset, depth) = (raw.next_offset(), base + raw.next_depth());
        let at = view.die_offset(offset);
        let fail = |why| view.broken(at, why);
        let Some(abbreviation) = raw.read_abbreviation().map_err(fail)? else { continue };
        let is_wanted = match depth {
            1 => wanted(abbreviation.tag()),
            _ => Some(false),
        };
        match is_wanted {
            Some(true) => {
                let entry = view.entry(at)?;
                found.push(Die { view: std::rc::Rc::clone(view), entry });
            }
            Some(false) => {}
            None => break,
        }
        // Nested types would be read again for each enclosing type.
        if abbreviation.has_children()
            && let Some(after) = view.index().after(at)
        {
            if !view.slot.contains(after) {
                break;
            }
            (raw, base) = (view.entries_from(after)?, depth);
            continue;
        }
        raw.skip_attributes(abbreviation.attributes()).map_err(fail)?;
    }
    Ok(())
}

pub(in crate::debuginfo) fn target(reading: Reading<'_>, die: &Die<'_>) -> Result<Option<TypeId>> {
    Ok(die.reference(reading.units, gimli::DW_AT_type)?.map(TypeId))
}
