//! A unit borrowed for one question: DIEs and attributes, with positions in errors.

use std::ops::Range;
use std::sync::Arc;

use gimli::{DwAt, UnitOffset};

use crate::debuginfo::attribute::{AttributeName, WHOLE_DIE};
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::UnitFacts;
use crate::debuginfo::unit::dies::Dies;
use crate::debuginfo::unit::sections::{
    AttributeValue, Dwarf, Entry, GimliUnit, ranges_capacity, unsigned, visit_ranges,
};
use crate::debuginfo::unit::slot::{Root, UnitSlot};
use crate::units::DieOffset;

/// A unit borrowed for one question.
#[derive(Debug)]
pub(in crate::debuginfo) struct UnitView<'a> {
    pub(in crate::debuginfo) dwarf: &'a Dwarf<'a>,
    pub(in crate::debuginfo) unit: GimliUnit<'a>,
    pub(in crate::debuginfo) slot: &'a UnitSlot,
    pub(in crate::debuginfo) root: &'a Root,
}

impl UnitSlot {
    /// Whether the unit's ranges contain the address.
    pub(in crate::debuginfo) fn holds(&self, dwarf: &Dwarf<'_>, address: u64) -> bool {
        if !self.root(dwarf).is_ok_and(|root| root.span.as_ref().is_some_and(|span| span.contains(&address)))
        {
            return false;
        }
        let ranges = self.ranges.get_or_init(|| {
            let Ok(header) = self.header(dwarf) else { return Vec::new() };
            let Ok(view) = self.view(dwarf) else { return Vec::new() };
            let root = view.entry(view.die_offset(header.root_offset()));
            let mut capacity = view.ranges_capacity();
            root.and_then(|root| view.ranges(&root, &mut capacity)).unwrap_or_default()
        });
        ranges.iter().any(|range| range.contains(&address))
    }

    /// The unit for questions; cheap once its root is cached.
    pub(in crate::debuginfo) fn view<'a>(&'a self, dwarf: &'a Dwarf<'a>) -> Result<UnitView<'a>> {
        let root = self.root(dwarf)?;
        let mut unit = self.bare(dwarf)?;
        unit.low_pc = root.facts.low_pc;
        unit.str_offsets_base = root.str_offsets_base;
        unit.addr_base = root.addr_base;
        unit.loclists_base = root.loclists_base;
        unit.rnglists_base = root.rnglists_base;
        Ok(UnitView { dwarf, unit, slot: self, root })
    }
}

impl<'a> UnitView<'a> {
    pub(in crate::debuginfo) fn facts(&self) -> &'a UnitFacts {
        &self.root.facts
    }

    /// The offset in `.debug_info` for an offset in this unit.
    pub(in crate::debuginfo) fn die_offset(&self, offset: UnitOffset) -> DieOffset {
        DieOffset(self.slot.offset.0.saturating_add(offset.0) as u64)
    }

    /// Reads DIEs from a DIE on; the reader's depth starts at 0 there.
    pub(in crate::debuginfo) fn entries_from(&self, die: DieOffset) -> Result<Dies<'a, '_>> {
        let offset = usize::try_from(die.0).ok().and_then(|offset| offset.checked_sub(self.slot.offset.0));
        let offset = offset.filter(|_| self.slot.contains(die)).ok_or(DebugInfoError::NoSuchDie(die))?;
        Dies::of(&self.unit, Some(UnitOffset(offset))).map_err(|why| self.broken(die, why))
    }

    /// The DIE at an offset.
    pub(in crate::debuginfo) fn entry(&self, die: DieOffset) -> Result<Entry<'a>> {
        let mut entry = Entry::null();
        let read = self.entries_from(die)?.read_entry(&mut entry).map_err(|why| self.broken(die, why))?;
        if read { Ok(entry) } else { Err(DebugInfoError::NoSuchDie(die)) }
    }

    /// The error of an unreadable DIE.
    pub(in crate::debuginfo) fn broken(&self, die: DieOffset, why: gimli::Error) -> DebugInfoError {
        DebugInfoError::Die {
            unit: self.slot.die_offset(),
            die,
            attribute: WHOLE_DIE,
            why: ParseError::new(why),
        }
    }

    /// The error of an unreadable attribute.
    pub(in crate::debuginfo) fn unreadable(
        &self,
        entry: &Entry<'_>,
        name: DwAt,
        why: gimli::Error,
    ) -> DebugInfoError {
        let (unit, die) = (self.slot.die_offset(), self.die_offset(entry.offset()));
        DebugInfoError::Die {
            unit,
            die,
            attribute: AttributeName::of(name, self.facts()),
            why: ParseError::new(why),
        }
    }

    /// The error of an attribute with an impossible class.
    pub(in crate::debuginfo) fn unexpected(
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

    /// The addresses of a DIE; `capacity`: the remaining ranges of one question's DIEs.
    pub(in crate::debuginfo) fn ranges(
        &self,
        entry: &Entry<'a>,
        capacity: &mut usize,
    ) -> Result<Vec<Range<u64>>> {
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

    /// The maximum of ranges for one question's DIEs: lists without overlap have no more.
    pub(in crate::debuginfo) fn ranges_capacity(&self) -> usize {
        ranges_capacity(self.dwarf)
    }

    /// A string attribute, cleaned; `None` if absent.
    pub(in crate::debuginfo) fn string(&self, entry: &Entry<'a>, name: DwAt) -> Result<Option<Arc<str>>> {
        let Some(value) = entry.attr_value(name) else { return Ok(None) };
        // In a missing file: see `DebugInfo::problems`.
        if matches!(value, AttributeValue::DebugStrRefSup(_)) {
            return Ok(None);
        }
        let text = self.slot.texts().get(self.dwarf, &self.unit, value);
        Ok(Some(text.map_err(|why| self.unreadable(entry, name, why))?))
    }

    /// A constant non-negative attribute; `None` if absent or not a constant (for example an expression).
    pub(in crate::debuginfo) fn constant(&self, entry: &Entry<'a>, name: DwAt) -> Option<u64> {
        entry.attr_value(name).and_then(|value| unsigned(&value))
    }

    /// Whether a flag is present and true.
    pub(in crate::debuginfo) fn flag(&self, entry: &Entry<'a>, name: DwAt) -> bool {
        matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)))
    }
}
