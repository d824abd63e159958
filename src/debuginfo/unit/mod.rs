//! One unit: its root DIE is read when the unit may hold an answer, everything else when a question falls into it.

pub(super) mod abbreviations;
pub(super) mod attr;
pub(super) mod die;
pub(super) mod evaluator;
pub(super) mod expressions;
pub(super) mod index;
pub(super) mod interval;
pub(super) mod line;
pub(super) mod location;
pub(super) mod sections;
pub(super) mod texts;
pub(super) mod units;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gimli::Section as _;
use gimli::{Abbreviations, DebugInfoOffset, DebugTypes, DwLang, Reader as _};

use super::error::{DebugInfoError, Result};
use super::model;
use super::view::UnitView;
use crate::codeobject::Bytes;
use crate::debuginfo::unit::abbreviations::{Tables, Unread};
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::index::UnitIndex;
use crate::debuginfo::unit::line::{Lines, SourceName};
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, Entry, GimliUnit, UnitHeader};
use crate::debuginfo::unit::texts::Texts;
use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// A unit's place in the file's order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// The properties of a unit that the evaluator and the printer need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFacts {
    /// Which unit this is.
    pub id: UnitId,
    /// Offset of the unit's header in `.debug_info`; what `DW_OP_call2` and `call4` count from.
    pub offset: DieOffset,
    /// DWARF version, 2 to 5.
    pub version: u16,
    /// Bytes of an offset in the unit's format: 4 (32-bit DWARF) or 8; the operand size of `DW_OP_call_ref`.
    pub offset_size: u8,
    /// Bytes of an address by the header; 8 for AMDGPU.
    pub address_size: u8,
    /// `DW_AT_language`.
    pub language: Language,
    /// `DW_AT_producer`.
    pub producer: Option<Arc<str>>,
    /// `DW_AT_name`.
    pub name: Option<Arc<str>>,
    /// `DW_AT_comp_dir`.
    pub comp_dir: Option<Arc<str>>,
    /// `DW_AT_LLVM_augmentation`, by its one known code 0x3e09.
    pub augmentation: Option<Arc<str>>,
    /// The dialect of its expressions, by the user or the augmentation; `None`: the decoder infers it.
    pub dialect: Option<Dialect>,
    /// `DW_AT_low_pc`, the base of the unit's lists; 0 when absent.
    pub low_pc: u64,
    /// `DW_AT_dwo_name`: this is a skeleton, and the rest of the unit is in that file (DWARF 5 section 7.3.2).
    pub dwo_name: Option<Arc<str>>,
}

impl UnitFacts {
    /// Whether clang (upstream or AMD's) compiled the unit.
    #[must_use]
    pub fn producer_is_clang(&self) -> bool {
        self.producer.as_deref().is_some_and(|producer| producer.contains("clang"))
    }

    /// Whether the numbers of [`crate::dwarf::draft`] mean something in the unit: of tags and attributes as of operations.
    #[must_use]
    pub fn is_draft(&self) -> bool {
        self.dialect == Some(Dialect::Draft)
    }

    /// Whether the unit names amdgpu-usage-2020 as its dialect: augmentation `[amd:v0.0]`.
    #[must_use]
    pub fn is_amd_augmented(&self) -> bool {
        self.augmentation.as_deref().is_some_and(|augmentation| augmentation.contains("[amd:v0.0"))
    }
}

/// Languages of DWARF 6 that `gimli` lacks.
const DW_LANG_C23: DwLang = DwLang(0x3e);
const DW_LANG_FORTRAN23: DwLang = DwLang(0x3f);

/// A `DW_LANG` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Language(pub u16);

impl Language {
    /// The C languages, where a tag name needs `struct` before it. OpenCL C is not among them: gdb prints it like C++.
    #[must_use]
    pub fn is_c(self) -> bool {
        // 0: a unit without a language.
        matches!(
            DwLang(self.0),
            DwLang(0)
                | gimli::DW_LANG_C89
                | gimli::DW_LANG_C
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17
                | DW_LANG_C23
        )
    }

    /// The first index of an array whose DIE has none: DWARF 5 table 7.17 and later registrations. HIP, by both of
    /// its codes (0x8100 of the 2020 proposal, 0x30), and OpenCL count from 0.
    #[must_use]
    pub fn lower_bound(self) -> i64 {
        match DwLang(self.0) {
            // `gimli` has no bound for them.
            gimli::DW_LANG_Ada2005
            | gimli::DW_LANG_Ada2012
            | gimli::DW_LANG_Fortran18
            | DW_LANG_FORTRAN23 => 1,
            language => language.default_lower_bound().map_or(0, |bound| bound as i64),
        }
    }

    /// Whether the first index of an array moves fastest: Fortran.
    #[must_use]
    pub fn is_column_major(self) -> bool {
        matches!(
            DwLang(self.0),
            gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08
                | gimli::DW_LANG_Fortran18
                | DW_LANG_FORTRAN23
        )
    }
}

/// The attributes of a unit's root DIE.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) facts: UnitFacts,
    /// From the lowest to the highest address of the unit; `None` if absent or unreadable.
    pub(super) span: Option<Range<u64>>,
    pub(super) line_offset: Option<gimli::DebugLineOffset>,
    str_offsets_base: gimli::DebugStrOffsetsBase,
    addr_base: gimli::DebugAddrBase,
    loclists_base: gimli::DebugLocListsBase,
    rnglists_base: gimli::DebugRngListsBase,
}

/// The data that the units of a file share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The user's dialect for all units.
    pub(super) said: Option<Dialect>,
    /// `.debug_loclists`, which `gimli` does not show.
    pub(super) loclists: Bytes,
    pub(super) tables: Tables,
    pub(super) lines: Lines,
    pub(super) texts: Texts,
    /// Ranges of root DIEs that may still be read.
    pub(super) ranges: AtomicUsize,
}

impl Shared {
    /// Takes the place of one range of a root DIE; whether there was one. Many units may name one list.
    fn take_range(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.ranges.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// One unit with what was read of it so far.
#[derive(Debug)]
pub(super) struct UnitSlot {
    pub(super) id: UnitId,
    /// Where its header is; a unit of `.debug_types` counts on from the end of `.debug_info`.
    pub(super) offset: DebugInfoOffset,
    pub(super) end: usize,
    /// The offset in `.debug_types`, for a unit that stands there (DWARF 4).
    pub(super) in_types: Option<usize>,
    shared: Arc<Shared>,
    /// Signature and offset of the type, for a type unit.
    pub(super) signature: Option<(u64, usize)>,
    /// Why nothing of it can be read, by its header.
    refused: Option<DebugInfoError>,
    root: OnceLock<Result<Root>>,
    ranges: OnceLock<Vec<Range<u64>>>,
    index: OnceLock<UnitIndex>,
    pub(super) files: OnceLock<Result<Vec<Option<SourceName>>>>,
}

impl UnitSlot {
    pub(super) fn new(
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

    pub(super) fn die_offset(&self) -> DieOffset {
        DieOffset(self.offset.0 as u64)
    }

    pub(super) fn contains(&self, die: DieOffset) -> bool {
        (self.offset.0 as u64..self.end as u64).contains(&die.0)
    }

    /// The unit's functions, globals and namespaces.
    pub(super) fn index(&self, view: &UnitView<'_>) -> &UnitIndex {
        self.index.get_or_init(|| UnitIndex::read(view))
    }

    /// Whether the unit's ranges contain the address.
    pub(super) fn holds(&self, dwarf: &Dwarf<'_>, address: u64) -> bool {
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

    pub(super) fn root(&self, dwarf: &Dwarf<'_>) -> Result<&Root> {
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        self.root.get_or_init(|| self.read_root(dwarf)).as_ref().map_err(Clone::clone)
    }

    /// The unit ready for questions: cheap once its root was read.
    pub(super) fn view<'a>(&'a self, dwarf: &'a Dwarf<'a>) -> Result<UnitView<'a>> {
        let root = self.root(dwarf)?;
        let mut unit = self.bare(dwarf)?;
        unit.low_pc = root.facts.low_pc;
        unit.str_offsets_base = root.str_offsets_base;
        unit.addr_base = root.addr_base;
        unit.loclists_base = root.loclists_base;
        unit.rnglists_base = root.rnglists_base;
        Ok(UnitView { dwarf, unit, slot: self, root })
    }

    fn fail(&self, what: &'static str, why: gimli::Error) -> DebugInfoError {
        DebugInfoError::Unit { unit: self.die_offset(), what, why }
    }

    /// The unit without its root DIE's attributes.
    fn bare<'a>(&self, dwarf: &Dwarf<'a>) -> Result<GimliUnit<'a>> {
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
    pub(super) fn texts(&self) -> &Texts {
        &self.shared.texts
    }

    /// The line tables of the file.
    pub(super) fn lines(&self) -> &Lines {
        &self.shared.lines
    }

    fn header<'a>(&self, dwarf: &Dwarf<'a>) -> gimli::Result<UnitHeader<'a>> {
        let Some(at) = self.in_types else { return dwarf.unit_header(self.offset) };
        let mut section = *dwarf.debug_types.reader();
        section.skip(at)?;
        DebugTypes::from(section).units().next()?.ok_or(gimli::Error::UnexpectedEof(section.offset_id()))
    }

    /// Whether DIEs may refer to those of other units by their offset in the section, by the table of abbreviations.
    pub(super) fn refers_to_others(&self, dwarf: &Dwarf<'_>) -> Result<bool> {
        let header = self.header(dwarf).map_err(|why| self.fail("header", why))?;
        let table = self.shared.tables.get(dwarf, header.debug_abbrev_offset());
        Ok(table.map_err(|why| self.unread(why))?.refers_to_others)
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
        // The bases may stand after the attributes that need them, so those are read in a second pass.
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
                model::table(section, ".debug_addr", offset, unit.addr_base.0, 0)?;
            }
            if has(gimli::DW_AT_loclists_base) {
                let section = &self.shared.loclists;
                model::table(section, ".debug_loclists", offset, unit.loclists_base.0, model::OFFSET_COUNT)?;
            }
            if has(gimli::DW_AT_rnglists_base) {
                let section = dwarf.ranges.debug_rnglists().reader().slice();
                model::table(section, ".debug_rnglists", offset, unit.rnglists_base.0, model::OFFSET_COUNT)?;
            }
        }
        let (str_offsets_base, addr_base) = (unit.str_offsets_base, unit.addr_base);
        let (loclists_base, rnglists_base) = (unit.loclists_base, unit.rnglists_base);
        let line_offset = match root.attr_value(gimli::DW_AT_stmt_list) {
            Some(AttributeValue::DebugLineRef(offset)) => Some(offset),
            _ => None,
        };
        unit.low_pc = facts.low_pc;
        // A unit without readable ranges is searched by its functions instead. A thousand units with a thousand ranges
        // each (functions in sections of their own) are not kept, only where they begin and end.
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

/// Visits the addresses of a DIE: `DW_AT_ranges`, or `DW_AT_low_pc` with `DW_AT_high_pc`; DWARF 5 section 2.17. `visit` returns
/// whether to go on; so does this, at the end.
pub(super) fn visit_ranges<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    entry: &Entry<'a>,
    mut visit: impl FnMut(Range<u64>) -> bool,
) -> gimli::Result<bool> {
    let value = |name| entry.attr_value(name);
    if let Some(mut list) =
        value(gimli::DW_AT_ranges).map(|list| dwarf.attr_ranges(unit, list)).transpose()?.flatten()
    {
        while let Some(range) = list.next()? {
            if !visit(range.begin..range.end) {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let address = |value| dwarf.attr_address(unit, value);
    let Some(low) = value(gimli::DW_AT_low_pc).map(address).transpose()?.flatten() else { return Ok(true) };
    let high = match value(gimli::DW_AT_high_pc) {
        Some(AttributeValue::Udata(size)) => low.checked_add(size),
        Some(value) => address(value)?,
        None => None,
    };
    // A linker marks dropped code with the highest addresses (or 0, which real code may have, with an empty range).
    let high = high.filter(|high| low < *high && low < u64::MAX - 1);
    Ok(high.is_none_or(|high| visit(low..high)))
}
