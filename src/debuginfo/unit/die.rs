//! DIEs across units, with their origins.
//!
//! A concrete DIE inherits name, type and place from its `DW_AT_abstract_origin` (inlining) or `DW_AT_specification`
//! (declaration in a class), possibly in another unit. DWARF 5 sections 2.13.2 and 3.3.8.

use std::rc::Rc;
use std::sync::Arc;

use gimli::DwAt;

use crate::bounds::MAX_ORIGINS;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::line::file_name;
use crate::debuginfo::unit::line_table::SourceLocation;
use crate::debuginfo::unit::sections::unsigned;
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, Entry};
use crate::debuginfo::unit::units::Units;
use crate::debuginfo::unit::view::UnitView;
use crate::dwarf::draft;
use crate::units::DieOffset;

/// The inputs of one question: the borrowed sections and the units.
#[derive(Clone, Copy, Debug)]
pub(in crate::debuginfo) struct Reading<'a> {
    pub(in crate::debuginfo) info: &'a DebugInfo,
    pub(in crate::debuginfo) dwarf: &'a Dwarf<'a>,
    pub(in crate::debuginfo) units: &'a Units,
}

impl<'a> Reading<'a> {
    pub(in crate::debuginfo) fn view(self, unit: UnitId) -> Result<UnitView<'a>> {
        self.units.slot(unit)?.view(self.dwarf)
    }

    /// The unit of a DIE.
    pub(in crate::debuginfo) fn holding(self, die: DieOffset) -> Result<Rc<UnitView<'a>>> {
        self.units.holding(die)?.view(self.dwarf).map(Rc::new)
    }

    /// The DIE at an offset.
    pub(in crate::debuginfo) fn die(self, offset: DieOffset) -> Result<Die<'a>> {
        let view = self.holding(offset)?;
        let entry = view.entry(offset)?;
        Ok(Die { view, entry })
    }

    /// The DIE at an offset, usually in the unit of the reference.
    pub(in crate::debuginfo) fn die_near(
        self,
        view: &Rc<UnitView<'a>>,
        offset: DieOffset,
    ) -> Result<Die<'a>> {
        if view.slot.contains(offset) {
            let entry = view.entry(offset)?;
            return Ok(Die { view: Rc::clone(view), entry });
        }
        self.die(offset)
    }

    /// The definition in a type unit of this file for a declaration (`DW_AT_signature`), else the DIE itself.
    pub(in crate::debuginfo) fn defined(self, die: Die<'a>) -> Result<Die<'a>> {
        let signature = gimli::DW_AT_signature;
        if !die.entry.has_attr(signature) {
            return Ok(die);
        }
        match die.reference(self.units, signature) {
            Ok(Some(definition)) => self.die(definition),
            _ => Ok(die),
        }
    }

    /// A DIE with its abstract origin or specification, and so on.
    pub(in crate::debuginfo) fn with_origins(self, die: Die<'a>) -> Result<Origins<'a>> {
        let mut chain = vec![die];
        self.origins(&mut chain)?;
        Ok(Origins { chain })
    }

    /// [`Self::with_origins`], up to an unreadable origin.
    pub(in crate::debuginfo) fn with_sound_origins(
        self,
        die: Die<'a>,
        damage: &mut Diagnostics,
    ) -> Origins<'a> {
        let mut chain = vec![die];
        damage.or_none(self.origins(&mut chain));
        Origins { chain }
    }

    fn origins(self, chain: &mut Vec<Die<'a>>) -> Result<()> {
        let start = chain.first().map_or(DieOffset(0), Die::offset);
        while let Some(last) = chain.last() {
            let origin = (gimli::DW_AT_abstract_origin, gimli::DW_AT_specification);
            let (name, next) = match last.reference(self.units, origin.0)? {
                Some(next) => (origin.0, Some(next)),
                None => (origin.1, last.reference(self.units, origin.1)?),
            };
            let Some(next) = next else { break };
            if chain.len() == MAX_ORIGINS {
                return Err(DebugInfoError::TooDeep {
                    die: start,
                    what: "abstract origins",
                    limit: MAX_ORIGINS,
                });
            }
            let next = self.die_near(&last.view, next).map_err(|error| last.refers(name, error))?;
            chain.push(next);
        }
        Ok(())
    }
}

/// A DIE in its unit.
#[derive(Clone, Debug)]
pub(in crate::debuginfo) struct Die<'a> {
    pub(in crate::debuginfo) view: Rc<UnitView<'a>>,
    pub(in crate::debuginfo) entry: Entry<'a>,
}

impl<'a> Die<'a> {
    pub(in crate::debuginfo) fn offset(&self) -> DieOffset {
        self.view.die_offset(self.entry.offset())
    }

    pub(in crate::debuginfo) fn tag(&self) -> gimli::DwTag {
        self.entry.tag()
    }

    /// The error in the target of an attribute, with the attribute.
    pub(in crate::debuginfo) fn refers(&self, name: DwAt, error: DebugInfoError) -> DebugInfoError {
        let attribute = AttributeName::of(name, self.view.facts());
        DebugInfoError::Referred { attribute, die: self.offset(), error: Box::new(error) }
    }

    pub(in crate::debuginfo) fn string(&self, name: DwAt) -> Result<Option<Arc<str>>> {
        self.view.string(&self.entry, name)
    }

    pub(in crate::debuginfo) fn constant(&self, name: DwAt) -> Option<u64> {
        self.view.constant(&self.entry, name)
    }

    pub(in crate::debuginfo) fn flag(&self, name: DwAt) -> bool {
        self.view.flag(&self.entry, name)
    }

    /// The target of a reference attribute; `None` if absent.
    pub(in crate::debuginfo) fn reference(&self, units: &Units, name: DwAt) -> Result<Option<DieOffset>> {
        let (view, entry) = (&self.view, &self.entry);
        match entry.attr_value(name) {
            None => Ok(None),
            Some(AttributeValue::UnitRef(offset)) => Ok(Some(view.die_offset(offset))),
            Some(AttributeValue::DebugInfoRef(offset)) => Ok(Some(DieOffset(offset.0 as u64))),
            Some(AttributeValue::DebugTypesRef(signature)) => match units.signed_type(signature.0) {
                Some(die) => Ok(Some(die)),
                None => {
                    Err(view.unexpected(entry, name, "the signature of a type unit of this file", signature))
                }
            },
            Some(value) => Err(view.unexpected(entry, name, "a reference", value)),
        }
    }

    /// An attribute of the heterogeneous extensions, by any of its codes in the DIE's unit.
    pub(in crate::debuginfo) fn extension(
        &self,
        wanted: Heterogeneous,
    ) -> Option<(DwAt, AttributeValue<'a>)> {
        wanted.value(&self.entry, self.view.facts().is_draft())
    }

    /// The name of the tag, including draft names in draft units.
    pub(in crate::debuginfo) fn tag_name(&self) -> String {
        let number = self.tag();
        let draft = self.view.facts().is_draft().then(|| draft::numbers().tag_named(number.0)).flatten();
        draft.map_or_else(|| number.to_string(), |name| format!("DW_TAG_{name}"))
    }

    /// A place from a file, a line and a column attribute; `None` without file and line. An unreadable line table costs
    /// only the file's name: a question for the line of a PC reports it.
    pub(in crate::debuginfo) fn place(&self, file: DwAt, line: DwAt, column: DwAt) -> Option<SourceLocation> {
        let file = match self.entry.attr_value(file) {
            Some(AttributeValue::FileIndex(index)) => Some(index),
            Some(value) => unsigned(&value),
            None => None,
        };
        let line = self.constant(line);
        if file.is_none() && line.is_none() {
            return None;
        }
        let file = file.and_then(|index| file_name(&self.view, index).ok().flatten());
        Some(SourceLocation { file, line: line.unwrap_or(0), column: self.constant(column).unwrap_or(0) })
    }
}

/// A DIE and its origins, the most concrete first. Never empty.
#[derive(Debug)]
pub(in crate::debuginfo) struct Origins<'a> {
    pub(in crate::debuginfo) chain: Vec<Die<'a>>,
}

impl<'a> Origins<'a> {
    /// The first DIE with the attribute.
    pub(in crate::debuginfo) fn having(&self, name: DwAt) -> Option<&Die<'a>> {
        self.chain.iter().find(|die| die.entry.has_attr(name))
    }

    pub(in crate::debuginfo) fn string(&self, name: DwAt) -> Result<Option<Arc<str>>> {
        self.having(name).map_or(Ok(None), |die| die.string(name))
    }

    pub(in crate::debuginfo) fn flag(&self, name: DwAt) -> bool {
        self.having(name).is_some_and(|die| die.flag(name))
    }

    pub(in crate::debuginfo) fn reference(&self, units: &Units, name: DwAt) -> Result<Option<DieOffset>> {
        self.having(name).map_or(Ok(None), |die| die.reference(units, name))
    }

    /// Place of the declaration: file and line of the most concrete DIE with a line.
    pub(in crate::debuginfo) fn declared(&self) -> Option<SourceLocation> {
        let place = |die: &Die<'_>| {
            die.place(gimli::DW_AT_decl_file, gimli::DW_AT_decl_line, gimli::DW_AT_decl_column)
        };
        self.having(gimli::DW_AT_decl_line).and_then(place)
    }

    /// The last origin: the declaration, within its namespace or class.
    pub(in crate::debuginfo) fn last(&self) -> Option<&Die<'a>> {
        self.chain.last()
    }
}
