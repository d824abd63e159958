//! Location attributes: an expression, a list by PC, a constant, or nothing.
//!
//! Expressions stay bytes here. DWARF 5 sections 2.6 and 7.7.3; the old lists of `.debug_loc` (DWARF 4) have the same
//! interface.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{DwAt, LocationListsOffset, RawLocListEntry};

use crate::codeobject::{Bytes, ElfAddress};
use crate::debuginfo::DebugInfo;
use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::die::Die;
use crate::debuginfo::unit::sections::{AttributeValue, Sections};
use crate::debuginfo::unit::view::UnitView;
use crate::units::DieOffset;

/// A location attribute of a DIE, for any PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocationAttribute {
    /// The DIE lacks the attribute.
    Missing,
    /// One expression for all PCs.
    Expression(Bytes),
    /// A location list, by its offset in the unit's list section.
    List(ListOffset),
    /// `DW_AT_const_value`: the object's bytes.
    Constant(Arc<[u8]>),
    /// The attribute is unreadable, with the reason.
    Broken(Box<DebugInfoError>),
}

impl LocationAttribute {
    /// The reason if it is unreadable.
    #[must_use]
    pub fn problem(&self) -> Option<&DebugInfoError> {
        match self {
            Self::Broken(why) => Some(why),
            _ => None,
        }
    }
}

/// An offset in `.debug_loclists` (DWARF 5) or `.debug_loc` (DWARF 4 and before).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListOffset(pub u64);

/// A location attribute at one PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// No location attribute: optimised out everywhere.
    None,
    /// The one expression for all PCs.
    Expression(Bytes),
    /// The entry of a location list that holds the PC.
    ListEntry {
        /// The entry's expression; empty: optimised out here.
        expression: Bytes,
        /// Its PCs; `None` for the default entry, which has all PCs without another entry.
        range: Option<Range<ElfAddress>>,
    },
    /// A location list without an entry for the PC: optimised out here.
    NotAtPc,
    /// The object's constant bytes.
    ConstValue(Arc<[u8]>),
    /// The attribute, or its location list, is unreadable.
    Broken(Box<DebugInfoError>),
}

impl Location {
    /// The expression, if it has one.
    #[must_use]
    pub fn expression(&self) -> Option<&Bytes> {
        match self {
            Self::Expression(expression) | Self::ListEntry { expression, .. } => Some(expression),
            Self::None | Self::NotAtPc | Self::ConstValue(_) | Self::Broken(_) => None,
        }
    }
}

/// One entry of a location list, with bases applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// Its PCs; `None` for the default entry.
    pub range: Option<Range<ElfAddress>>,
    /// Its expression.
    pub expression: Bytes,
}

/// Maximum reads of each byte of location lists, for lists that begin within others.
const MAX_READS: usize = 4;
/// Minimum bytes of an entry.
const MIN_ENTRY: usize = 3;

/// The location lists read so far. Lists that begin within others cost the steps of all their entries.
#[derive(Debug, Default)]
pub(in crate::debuginfo) struct Lists(Mutex<ListsRead>);

#[derive(Debug, Default)]
struct ListsRead {
    seen: HashSet<(UnitId, ListOffset)>,
    /// Minimum bytes of these lists.
    bytes: usize,
}

/// A list under read, until drop.
struct ListReading<'l> {
    lists: &'l Lists,
    list: (UnitId, ListOffset),
    entries: usize,
}

impl Lists {
    /// Begins the read of a list, in a section of `section` bytes.
    fn begin(&self, list: (UnitId, ListOffset), section: usize) -> Result<ListReading<'_>, &'static str> {
        let read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match read.bytes > section.saturating_mul(MAX_READS) && !read.seen.contains(&list) {
            true => Err("the lists of the file overlap by more than three times their size"),
            false => Ok(ListReading { lists: self, list, entries: 0 }),
        }
    }
}

impl Drop for ListReading<'_> {
    fn drop(&mut self) {
        let mut read = self.lists.0.lock().unwrap_or_else(PoisonError::into_inner);
        if read.seen.insert(self.list) {
            read.bytes = read.bytes.saturating_add(self.entries.saturating_mul(MIN_ENTRY));
        }
    }
}

impl DebugInfo {
    /// The value of a location attribute at a PC; the first of several entries for the PC counts.
    ///
    /// # Errors
    /// The location list is unreadable.
    pub fn location_at(
        &self,
        unit: UnitId,
        attribute: &LocationAttribute,
        pc: ElfAddress,
    ) -> Result<Location> {
        match attribute {
            LocationAttribute::List(_) => {
                let dwarf = self.sections.dwarf();
                self.located(&self.reading(&dwarf).view(unit)?, attribute, pc)
            }
            LocationAttribute::Missing => Ok(Location::None),
            LocationAttribute::Expression(expression) => Ok(Location::Expression(expression.clone())),
            LocationAttribute::Constant(bytes) => Ok(Location::ConstValue(Arc::clone(bytes))),
            LocationAttribute::Broken(why) => Err((**why).clone()),
        }
    }

    /// All entries of a location list in the file's order, for a variable without a location at a PC.
    ///
    /// # Errors
    /// The location list is unreadable.
    pub fn location_list(&self, unit: UnitId, list: ListOffset) -> Result<Vec<ListEntry>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        let mut entries = Vec::new();
        self.each_entry(&view, list, |entry, expression| {
            entries.push(ListEntry { range: entry, expression: self.sections.own(expression) });
            false
        })?;
        Ok(entries)
    }

    /// [`Self::located`] for the attribute of a DIE; an error becomes a value.
    pub(in crate::debuginfo) fn located_or_broken(
        &self,
        view: Result<&UnitView<'_>>,
        attribute: &LocationAttribute,
        pc: ElfAddress,
        (die, name): (DieOffset, DwAt),
    ) -> Location {
        let found = view.and_then(|view| {
            self.located(view, attribute, pc).map_err(|error| match error {
                // The error of a list lacks the attribute that refers to the list.
                DebugInfoError::List { .. } => {
                    let attribute = AttributeName::of(name, view.facts());
                    DebugInfoError::Referred { attribute, die, error: Box::new(error) }
                }
                error => error,
            })
        });
        found.unwrap_or_else(|why| Location::Broken(Box::new(why)))
    }

    /// [`Self::location_at`] for a known unit.
    pub(in crate::debuginfo) fn located(
        &self,
        view: &UnitView<'_>,
        attribute: &LocationAttribute,
        pc: ElfAddress,
    ) -> Result<Location> {
        let list = match attribute {
            LocationAttribute::Missing => return Ok(Location::None),
            LocationAttribute::Expression(expression) => return Ok(Location::Expression(expression.clone())),
            LocationAttribute::Constant(bytes) => return Ok(Location::ConstValue(Arc::clone(bytes))),
            LocationAttribute::Broken(why) => return Err((**why).clone()),
            LocationAttribute::List(list) => *list,
        };
        let (mut found, mut default) = (None, None);
        self.each_entry(view, list, |range, expression| {
            match range {
                Some(range) if range.contains(&pc) => found = Some((range, expression)),
                Some(_) => {}
                None => default = Some(expression),
            }
            found.is_some()
        })?;
        let own = |expression| self.sections.own(expression);
        Ok(match (found, default) {
            (Some((range, expression)), _) => {
                Location::ListEntry { expression: own(expression), range: Some(range) }
            }
            (None, Some(expression)) => Location::ListEntry { expression: own(expression), range: None },
            (None, None) => Location::NotAtPc,
        })
    }

    /// Visits the entries of a list until the visitor stops.
    fn each_entry<'a>(
        &self,
        view: &UnitView<'a>,
        list: ListOffset,
        mut enough: impl FnMut(Option<Range<ElfAddress>>, crate::debuginfo::unit::sections::Slice<'a>) -> bool,
    ) -> Result<()> {
        let (unit, list_at) = (view.facts().offset, DieOffset(list.0));
        let fail = |why| DebugInfoError::List { unit, list: list_at, why: ParseError::new(why) };
        let offset = LocationListsOffset(usize::try_from(list.0).unwrap_or(usize::MAX));
        let mut reading = self
            .lists
            .begin((view.facts().id, list), self.list_bytes().locations)
            .map_err(|why| DebugInfoError::Bound { unit: view.facts().offset, what: "location list", why })?;
        let mut raw = view.dwarf.raw_locations(&view.unit, offset).map_err(fail)?;
        let mut cooked = view.dwarf.locations(&view.unit, offset).map_err(fail)?;
        while let Some(entry) = raw.next().map_err(fail)? {
            reading.entries += 1;
            if let RawLocListEntry::DefaultLocation { data } = entry {
                if enough(None, data.0) {
                    break;
                }
                continue;
            }
            if let Some(entry) = cooked.convert_raw(entry).map_err(fail)? {
                let range = ElfAddress(entry.range.begin)..ElfAddress(entry.range.end);
                if enough(Some(range), entry.data.0) {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Die<'_> {
    /// [`Self::location_attribute`]; an error becomes a value.
    pub(in crate::debuginfo) fn location_or_broken(
        &self,
        sections: &Sections,
        name: DwAt,
        value: AttributeValue<'_>,
    ) -> LocationAttribute {
        let found = self.location_attribute(sections, name, value);
        found.unwrap_or_else(|why| LocationAttribute::Broken(Box::new(why)))
    }

    /// A location attribute's value: an expression, a block (DWARF 2 and 3), or a list.
    pub(in crate::debuginfo) fn location_attribute(
        &self,
        sections: &Sections,
        name: DwAt,
        value: AttributeValue<'_>,
    ) -> Result<LocationAttribute> {
        let view = &self.view;
        Ok(match value {
            AttributeValue::Exprloc(expression) => LocationAttribute::Expression(sections.own(expression.0)),
            AttributeValue::Block(bytes) => LocationAttribute::Expression(sections.own(bytes)),
            AttributeValue::LocationListsRef(offset) => LocationAttribute::List(ListOffset(offset.0 as u64)),
            AttributeValue::DebugLocListsIndex(index) => {
                let offset = view.dwarf.locations_offset(&view.unit, index);
                let offset = offset.map_err(|why| view.unreadable(&self.entry, name, why))?;
                LocationAttribute::List(ListOffset(offset.0 as u64))
            }
            value => {
                return Err(view.unexpected(&self.entry, name, "an expression or a location list", value));
            }
        })
    }
}
