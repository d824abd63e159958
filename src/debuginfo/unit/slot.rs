//! One unit: its root DIE is read when the unit may hold an answer, all other parts at the first question for them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gimli::Section as _;
use gimli::{Abbreviations, DebugInfoOffset, DebugTypes, Reader as _};

use crate::codeobject::Bytes;
use crate::debuginfo::address_model;
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::{Language, UnitFacts, UnitId};
use crate::debuginfo::unit::abbreviations::{Table, Tables, Unread};
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::index::UnitIndex;
use crate::debuginfo::unit::line_table::{Lines, SourceName};
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, Entry, GimliUnit, UnitHeader, visit_ranges};
use crate::debuginfo::unit::texts::Texts;
use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// The attributes of a unit's root DIE.
#[derive(Debug)]
pub(in crate::debuginfo) struct Root {
    pub(in crate::debuginfo) facts: UnitFacts,
    /// From the lowest to the highest address of the unit; `None` if absent or unreadable.
    pub(in crate::debuginfo) span: Option<Range<u64>>,
    pub(in crate::debuginfo) line_offset: Option<gimli::DebugLineOffset>,
    pub(in crate::debuginfo) str_offsets_base: gimli::DebugStrOffsetsBase,
    pub(in crate::debuginfo) addr_base: gimli::DebugAddrBase,
    pub(in crate::debuginfo) loclists_base: gimli::DebugLocListsBase,
    pub(in crate::debuginfo) rnglists_base: gimli::DebugRngListsBase,
}

/// The data that the units of a file share.
#[derive(Debug)]
pub(in crate::debuginfo) struct Shared {
    /// The user's dialect for all units.
    pub(in crate::debuginfo) said: Option<Dialect>,
    /// `.debug_loclists`, to which `gimli` has no access.
    pub(in crate::debuginfo) loclists: Bytes,
    pub(in crate::debuginfo) tables: Tables,
    pub(in crate::debuginfo) lines: Lines,
    pub(in crate::debuginfo) texts: Texts,
    /// Remaining ranges of root DIEs to read.
    pub(in crate::debuginfo) ranges: AtomicUsize,
}

impl Shared {
    /// Takes one range of a root DIE; returns false if none is left. Many units may refer to one list.
    fn take_range(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.ranges.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// One unit with its cached parts.
#[derive(Debug)]
pub(in crate::debuginfo) struct UnitSlot {
    pub(in crate::debuginfo) id: UnitId,
    /// The offset of its header; units of `.debug_types` follow the end of `.debug_info`.
    pub(in crate::debuginfo) offset: DebugInfoOffset,
    pub(in crate::debuginfo) end: usize,
    /// The offset in `.debug_types`, for a unit of that section (DWARF 4).
    pub(in crate::debuginfo) in_types: Option<usize>,
    shared: Arc<Shared>,
    /// Signature and offset of the type, for a type unit.
    pub(in crate::debuginfo) signature: Option<(u64, usize)>,
    /// The reason in its header, if the whole unit is unreadable.
    refused: Option<DebugInfoError>,
    pub(in crate::debuginfo) root: OnceLock<Result<Root>>,
    pub(in crate::debuginfo) ranges: OnceLock<Vec<Range<u64>>>,
    pub(in crate::debuginfo) index: OnceLock<UnitIndex>,
    pub(in crate::debuginfo) files: OnceLock<Result<Vec<Option<SourceName>>>>,
}

impl UnitSlot {
    pub(in crate::debuginfo) fn new(
        id: UnitId,
        offset: usize,
        end: usize,
        in_types: Option<usize>,
        header: std::result::Result<Option<(u64, usize)>, DebugInfoError>,
        shared: Arc<Shared>,
    ) -> Self {
        let (signature, refused) = match header {
            Ok(signature) => (signature, None),
            Err(refused) => (None, Some(refused)),
        };
        Self {
            id,
            offset: DebugInfoOffset(offset),
            end,
            in_types,
            shared,
            signature,
            refused,
            root: OnceLock::new(),
            ranges: OnceLock::new(),
            index: OnceLock::new(),
            files: OnceLock::new(),
        }
    }

    pub(in crate::debuginfo) fn die_offset(&self) -> DieOffset {
        DieOffset(self.offset.0 as u64)
    }

    pub(in crate::debuginfo) fn contains(&self, die: DieOffset) -> bool {
        (self.offset.0 as u64..self.end as u64).contains(&die.0)
    }

    pub(in crate::debuginfo) fn root(&self, dwarf: &Dwarf<'_>) -> Result<&Root> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        self.root.get_or_init(|| self.read_root(dwarf)).as_ref().map_err(Clone::clone)
    }

    fn fail(&self, what: &'static str, why: gimli::Error) -> DebugInfoError {
        DebugInfoError::Unit { unit: self.die_offset(), what, why: ParseError::new(why) }
    }

    /// The unit without its root DIE's attributes.
    pub(in crate::debuginfo) fn bare<'a>(&self, dwarf: &Dwarf<'a>) -> Result<GimliUnit<'a>> {
        let header = self.header(dwarf).map_err(|why| self.fail("header", why))?;
        let table = self.shared.tables.get(dwarf, header.debug_abbrev_offset());
        let abbreviations = table.map_err(|why| self.unread(why))?.abbreviations;
        Ok(Self::with(header, abbreviations))
    }

    fn unread(&self, why: Unread) -> DebugInfoError {
        let what = "abbreviations";
        match why {
            Unread::Malformed(why) => self.fail(what, why),
            Unread::Bound(why) => DebugInfoError::Bound { unit: self.die_offset(), what, why },
        }
    }

    /// The long texts of the file.
    pub(in crate::debuginfo) fn texts(&self) -> &Texts {
        &self.shared.texts
    }

    /// The line tables of the file.
    pub(in crate::debuginfo) fn lines(&self) -> &Lines {
        &self.shared.lines
    }

    pub(in crate::debuginfo) fn header<'a>(&self, dwarf: &Dwarf<'a>) -> gimli::Result<UnitHeader<'a>> {
        let Some(at) = self.in_types else { return dwarf.unit_header(self.offset) };
        let mut section = *dwarf.debug_types.reader();
        section.skip(at)?;
        DebugTypes::from(section).units().next()?.ok_or(gimli::Error::UnexpectedEof(section.offset_id()))
    }

    /// Its abbreviations.
    pub(in crate::debuginfo) fn table(&self, dwarf: &Dwarf<'_>) -> Result<Table> {
        let header = self.header(dwarf).map_err(|why| self.fail("header", why))?;
        let table = self.shared.tables.get(dwarf, header.debug_abbrev_offset());
        table.map_err(|why| self.unread(why))
    }

    fn with<'a>(header: UnitHeader<'a>, abbreviations: Arc<Abbreviations>) -> GimliUnit<'a> {
        let (encoding, file_type) = (header.encoding(), gimli::DwarfFileType::Main);
        GimliUnit {
            abbreviations,
            name: None,
            comp_dir: None,
            low_pc: 0,
            str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file_type),
            addr_base: gimli::DebugAddrBase(0),
            loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, file_type),
            rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, file_type),
            line_program: None,
            dwo_id: None,
            header,
        }
    }

    fn read_root(&self, dwarf: &Dwarf<'_>) -> Result<Root> {
        let header = self.header(dwarf).map_err(|why| self.fail("header", why))?;
        let code = header.range_from(header.root_offset()..).and_then(|mut dies| dies.read_uleb128());
        let code = code.map_err(|why| self.fail("abbreviations", why))?;
        let abbreviations = self.shared.tables.one(dwarf, header.debug_abbrev_offset(), code);
        let abbreviations: Arc<Abbreviations> = abbreviations.map_err(|why| self.unread(why))?;
        let mut unit = Self::with(header, Arc::clone(&abbreviations));
        let fail = |why| self.fail("root DIE", why);
        let mut raw = header.entries_raw(&abbreviations, None).map_err(fail)?;
        let mut root = Entry::null();
        raw.read_entry(&mut root).map_err(fail)?;
        for attribute in root.attrs() {
            match attribute.value() {
                AttributeValue::DebugStrOffsetsBase(base) => unit.str_offsets_base = base,
                AttributeValue::DebugAddrBase(base) => unit.addr_base = base,
                AttributeValue::DebugLocListsBase(base) => unit.loclists_base = base,
                AttributeValue::DebugRngListsBase(base) => unit.rnglists_base = base,
                _ => {}
            }
        }
        // The bases may follow the attributes that need them, hence the second pass.
        let text = |value| self.texts().get(dwarf, &unit, value).ok();
        let string = |name| root.attr_value(name).and_then(text);
        let low_pc = root.attr_value(gimli::DW_AT_low_pc);
        let low_pc = low_pc.and_then(|value| dwarf.attr_address(&unit, value).ok().flatten());
        let encoding = unit.encoding();
        let augmentation = Heterogeneous::Augmentation.value(&root, false).and_then(|(_, value)| text(value));
        let facts = UnitFacts {
            id: self.id,
            offset: self.die_offset(),
            version: encoding.version,
            offset_size: encoding.format.word_size(),
            address_size: encoding.address_size,
            language: match root.attr_value(gimli::DW_AT_language) {
                Some(AttributeValue::Language(language)) => Language(language.0),
                _ => Language::default(),
            },
            producer: string(gimli::DW_AT_producer),
            name: string(gimli::DW_AT_name),
            comp_dir: string(gimli::DW_AT_comp_dir),
            dialect: self.shared.said.or_else(|| Dialect::of_augmentation(augmentation.as_deref()?)),
            augmentation,
            low_pc: low_pc.unwrap_or(0),
            dwo_name: string(gimli::DW_AT_dwo_name).or_else(|| string(gimli::DW_AT_GNU_dwo_name)),
        };
        if encoding.version >= 5 {
            let has = |name| root.attr_value(name).is_some();
            let offset = self.die_offset();
            if has(gimli::DW_AT_addr_base) {
                let section = dwarf.debug_addr.reader().slice();
                address_model::table(section, ".debug_addr", offset, unit.addr_base.0, 0)?;
            }
            if has(gimli::DW_AT_loclists_base) {
                let section = &self.shared.loclists;
                address_model::table(
                    section,
                    ".debug_loclists",
                    offset,
                    unit.loclists_base.0,
                    address_model::OFFSET_COUNT,
                )?;
            }
            if has(gimli::DW_AT_rnglists_base) {
                let section = dwarf.ranges.debug_rnglists().reader().slice();
                address_model::table(
                    section,
                    ".debug_rnglists",
                    offset,
                    unit.rnglists_base.0,
                    address_model::OFFSET_COUNT,
                )?;
            }
        }
        let (str_offsets_base, addr_base) = (unit.str_offsets_base, unit.addr_base);
        let (loclists_base, rnglists_base) = (unit.loclists_base, unit.rnglists_base);
        let line_offset = match root.attr_value(gimli::DW_AT_stmt_list) {
            Some(AttributeValue::DebugLineRef(offset)) => Some(offset),
            _ => None,
        };
        unit.low_pc = facts.low_pc;
        // A unit without readable ranges is searched by its functions. Of a thousand units with a thousand ranges each
        // (functions in sections of their own), only the span is stored.
        let mut span: Option<Range<u64>> = None;
        let whole = visit_ranges(dwarf, &unit, &root, |range| {
            let so_far = span.get_or_insert_with(|| range.clone());
            *so_far = so_far.start.min(range.start)..so_far.end.max(range.end);
            self.shared.take_range()
        });
        let span = span.filter(|_| whole == Ok(true));
        Ok(Root { facts, span, line_offset, str_offsets_base, addr_base, loclists_base, rnglists_base })
    }
}
