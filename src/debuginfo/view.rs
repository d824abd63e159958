//! A unit borrowed for one question: its DIEs and their attributes, with errors that have places.

use std::ops::Range;
use std::sync::Arc;

use gimli::{DwAt, EntriesRaw, Reader as _, Section as _, UnitOffset};

use super::error::{DebugInfoError, Result};
use super::unit::{Root, UnitFacts, UnitSlot, visit_ranges};
use crate::debuginfo::unit::attr::{AttributeName, WHOLE_DIE};
use crate::debuginfo::unit::index::UnitIndex;
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, Entry, GimliUnit, Slice};
use crate::debuginfo::unit::units::Units;
use crate::units::DieOffset;

/// Ranges of DIEs without lists, and of small files.
const MIN_RANGES: usize = 1024;

/// A unit borrowed for one question.
#[derive(Debug)]
pub(super) struct UnitView<'a> {
    pub(super) dwarf: &'a Dwarf<'a>,
    pub(super) unit: GimliUnit<'a>,
    pub(super) slot: &'a UnitSlot,
    pub(super) root: &'a Root,
}

impl<'a> UnitView<'a> {
    pub(super) fn facts(&self) -> &'a UnitFacts {
        &self.root.facts
    }

    /// The offset in `.debug_info` of an offset in this unit.
    pub(super) fn die_offset(&self, offset: UnitOffset) -> DieOffset {
        DieOffset(self.slot.offset.0.saturating_add(offset.0) as u64)
    }

    /// Reads DIEs from one on; the reader's depth starts at 0 there.
    pub(super) fn entries_from(&self, die: DieOffset) -> Result<EntriesRaw<'_, Slice<'a>>> {
        let offset = usize::try_from(die.0).ok().and_then(|offset| offset.checked_sub(self.slot.offset.0));
        let offset = offset.filter(|_| self.slot.contains(die)).ok_or(DebugInfoError::NoSuchDie(die))?;
        self.unit.entries_raw(Some(UnitOffset(offset))).map_err(|why| self.broken(die, why))
    }

    /// The DIE at an offset.
    pub(super) fn entry(&self, die: DieOffset) -> Result<Entry<'a>> {
        let mut entry = Entry::null();
        let read = self.entries_from(die)?.read_entry(&mut entry).map_err(|why| self.broken(die, why))?;
        if read { Ok(entry) } else { Err(DebugInfoError::NoSuchDie(die)) }
    }

    /// The error of a DIE that cannot be read.
    pub(super) fn broken(&self, die: DieOffset, why: gimli::Error) -> DebugInfoError {
        DebugInfoError::Die { unit: self.slot.die_offset(), die, attribute: WHOLE_DIE, why }
    }

    /// The error of an attribute that cannot be read.
    pub(super) fn unreadable(&self, entry: &Entry<'_>, name: DwAt, why: gimli::Error) -> DebugInfoError {
        let (unit, die) = (self.slot.die_offset(), self.die_offset(entry.offset()));
        DebugInfoError::Die { unit, die, attribute: AttributeName::of(name, self.facts()), why }
    }

    /// The error of an attribute of another class than it can have.
    pub(super) fn unexpected(
        &self,
        entry: &Entry<'_>,
        name: DwAt,
        expected: &'static str,
        found: impl std::fmt::Debug,
    ) -> DebugInfoError {
        let (unit, die) = (self.slot.die_offset(), self.die_offset(entry.offset()));
        let form = entry.attr(name).map(|attribute| attribute.form().to_string());
        let found = form.unwrap_or_else(|| format!("{found:?}"));
        let attribute = AttributeName::of(name, self.facts());
        DebugInfoError::Attribute { unit, die, attribute, expected, found }
    }

    /// The unit's functions, globals and namespaces.
    pub(super) fn index(&self) -> &'a UnitIndex {
        self.slot.index(self)
    }

    /// The addresses of a DIE. `capacity`: how many ranges the DIEs of one question may still have.
    pub(super) fn ranges(&self, entry: &Entry<'a>, capacity: &mut usize) -> Result<Vec<Range<u64>>> {
        let mut ranges = Vec::new();
        let is_whole = visit_ranges(self.dwarf, &self.unit, entry, |range| {
            ranges.push(range);
            let left =
                if entry.has_attr(gimli::DW_AT_ranges) { capacity.checked_sub(1) } else { Some(*capacity) };
            *capacity = left.unwrap_or(0);
            left.is_some()
        });
        if is_whole.map_err(|why| self.unreadable(entry, gimli::DW_AT_ranges, why))? {
            return Ok(ranges);
        }
        let error = DebugInfoError::Bound {
            unit: self.slot.die_offset(),
            what: "ranges",
            why: "lists that several DIEs name have more entries than their section has bytes; code is left out",
        };
        let attribute = AttributeName::of(gimli::DW_AT_ranges, self.facts());
        Err(DebugInfoError::Referred {
            attribute,
            die: self.die_offset(entry.offset()),
            error: Box::new(error),
        })
    }

    /// How many ranges the DIEs of one question may have: lists that do not overlap have no more.
    pub(super) fn ranges_capacity(&self) -> usize {
        ranges_capacity(self.dwarf)
    }

    /// A string attribute, cleaned; `None` when absent.
    pub(super) fn string(&self, entry: &Entry<'a>, name: DwAt) -> Result<Option<Arc<str>>> {
        let Some(value) = entry.attr_value(name) else { return Ok(None) };
        // In a file that was not given: see `DebugInfo::problems`.
        if matches!(value, AttributeValue::DebugStrRefSup(_)) {
            return Ok(None);
        }
        let text = self.slot.texts().get(self.dwarf, &self.unit, value);
        Ok(Some(text.map_err(|why| self.unreadable(entry, name, why))?))
    }

    /// A constant attribute that cannot be negative; `None` if absent or not a constant (for example an expression).
    pub(super) fn constant(&self, entry: &Entry<'a>, name: DwAt) -> Option<u64> {
        entry.attr_value(name).and_then(|value| unsigned(&value))
    }

    /// Whether a flag is there and true.
    pub(super) fn flag(&self, entry: &Entry<'a>, name: DwAt) -> bool {
        matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
    }

    /// The DIE that a reference attribute names; `None` when absent.
    pub(super) fn reference(
        &self,
        units: &Units,
        entry: &Entry<'a>,
        name: DwAt,
    ) -> Result<Option<DieOffset>> {
        match entry.attr_value(name) {
            None => Ok(None),
            Some(AttributeValue::UnitRef(offset)) => Ok(Some(self.die_offset(offset))),
            Some(AttributeValue::DebugInfoRef(offset)) => Ok(Some(DieOffset(offset.0 as u64))),
            Some(AttributeValue::DebugTypesRef(signature)) => match units.signed_type(signature.0) {
                Some(die) => Ok(Some(die)),
                None => {
                    Err(self.unexpected(entry, name, "the signature of a type unit of this file", signature))
                }
            },
            Some(value) => Err(self.unexpected(entry, name, "a reference", value)),
        }
    }
}

/// A constant of any form as an unsigned number; a negative one is not.
pub(super) fn unsigned(value: &AttributeValue<'_>) -> Option<u64> {
    value.udata_value().or_else(|| value.sdata_value().and_then(|number| u64::try_from(number).ok()))
}

/// Entries of lists of ranges that a file can hold: one takes a byte at the least.
pub(super) fn ranges_capacity(dwarf: &Dwarf<'_>) -> usize {
    let (old, new) =
        (dwarf.ranges.debug_ranges().reader().len(), dwarf.ranges.debug_rnglists().reader().len());
    old.saturating_add(new).saturating_add(MIN_RANGES)
}
