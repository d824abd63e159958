//! Location attributes: an expression, a list by PC, a constant, or nothing.
//!
//! Expressions are handed on as bytes and never evaluated here. DWARF 5 sections 2.6 and 7.7.3; the old lists of
//! `.debug_loc` (DWARF 4) answer the same way.

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

/// A location attribute as it stands in its DIE, before a PC is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocationAttribute {
    /// There is no such attribute.
    Missing,
    /// One expression for all PCs.
    Expression(Bytes),
    /// A location list, by its offset in the unit's list section.
    List(ListOffset),
    /// `DW_AT_const_value`: the object's bytes.
    Constant(Arc<[u8]>),
    /// There is one that cannot be read, and why.
    Broken(Box<DebugInfoError>),
}

impl LocationAttribute {
    /// Why it cannot be read, if so.
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
        /// The entry's expression; an empty one is "optimised out here".
        expression: Bytes,
        /// The PCs it is for; `None` for the default entry, which is for PCs that no other entry holds.
        range: Option<Range<ElfAddress>>,
    },
    /// A location list without an entry for the PC: optimised out here.
    NotAtPc,
    /// The object's bytes, known when compiled.
    ConstValue(Arc<[u8]>),
    /// The attribute, or its location list, cannot be read.
    Broken(Box<DebugInfoError>),
}

impl Location {
    /// The expression to evaluate, if it is one.
    #[must_use]
    pub fn expression(&self) -> Option<&Bytes> {
        match self {
            Self::Expression(expression) | Self::ListEntry { expression, .. } => Some(expression),
            Self::None | Self::NotAtPc | Self::ConstValue(_) | Self::Broken(_) => None,
        }
    }
}

/// One entry of a location list, bases applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntry {
    /// The PCs it is for; `None` for the default entry.
    pub range: Option<Range<ElfAddress>>,
    /// Its expression.
    pub expression: Bytes,
}

/// Times that each byte of location lists is read at the most, where lists begin within others.
const MAX_READS: usize = 4;
/// Bytes of an entry at the least.
const MIN_ENTRY: usize = 3;

/// The lists that were read so far: lists that begin within others cost as many steps as all of them have entries.
#[derive(Debug, Default)]
pub(in crate::debuginfo) struct Lists(Mutex<ListsRead>);

#[derive(Debug, Default)]
struct ListsRead {
    seen: HashSet<(UnitId, ListOffset)>,
    /// Bytes of them, at the least.
    bytes: usize,
}

/// A list that is being read, until it is dropped.
struct ListReading<'l> {
    lists: &'l Lists,
    list: (UnitId, ListOffset),
    entries: usize,
}

impl Lists {
    /// Begins to read a list, of a section of so many bytes.
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
    /// The value of a location attribute at a PC. If several entries hold the PC, the first counts.
    ///
    /// # Errors
    /// The location list cannot be read.
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
    /// The location list cannot be read.
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

    /// [`Self::located`] of the attribute of a DIE, with what cannot be read as its answer.
    pub(in crate::debuginfo) fn located_or_broken(
        &self,
        view: Result<&UnitView<'_>>,
        attribute: &LocationAttribute,
        pc: ElfAddress,
        (die, name): (DieOffset, DwAt),
    ) -> Location {
        let found = view.and_then(|view| {
            self.located(view, attribute, pc).map_err(|error| match error {
                // A list does not know who refers to it.
                DebugInfoError::List { .. } => {
                    let attribute = AttributeName::of(name, view.facts());
                    DebugInfoError::Referred { attribute, die, error: Box::new(error) }
                }
                error => error,
            })
        });
        found.unwrap_or_else(|why| Location::Broken(Box::new(why)))
    }

    /// [`Self::location_at`] where the unit is at hand.
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
    /// [`Self::location_attribute`], with what cannot be read as its answer.
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
