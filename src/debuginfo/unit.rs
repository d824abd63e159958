//! Units: their headers are read on the first question, everything else of a unit when a question falls into it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{Abbreviations, DebugInfoOffset, UnitType};

use super::attr::Heterogeneous;
use super::error::{DebugInfoError, Result};
use super::index::UnitIndex;
use super::interval::Intervals;
use super::line::LineTable;
use super::sections::{AttributeValue, Dwarf, Entry, GimliUnit};
use super::view::UnitView;
use crate::dwarf::Dialect;
use crate::units::DieOffset;

/// A unit's place in the file's order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// What the evaluator and the printer need to know of a unit.
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
    /// Bytes of an address as the header says; 8 for AMDGPU.
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
    /// The dialect of its expressions, where the user or the augmentation says it; `None`: what decodes tells.
    pub dialect: Option<Dialect>,
    /// `DW_AT_low_pc`, the base of the unit's lists; 0 when absent.
    pub low_pc: u64,
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

    /// Whether the unit names seed-2020 as its dialect: augmentation `[amd:v0.0]`.
    #[must_use]
    pub fn is_amd_augmented(&self) -> bool {
        self.augmentation.as_deref().is_some_and(|augmentation| augmentation.contains("[amd:v0.0"))
    }
}

/// A `DW_LANG` code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Language(pub u16);

impl Language {
    /// The C languages, where a tag name needs `struct` before it. OpenCL C is not among them: gdb prints it like C++.
    #[must_use]
    pub fn is_c(self) -> bool {
        // C89, C, C99, C11, C17, and units that do not say.
        matches!(self.0, 0 | 0x1 | 0x2 | 0xc | 0x1d | 0x2c)
    }
}

/// What the root DIE of a unit says.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) facts: UnitFacts,
    pub(super) ranges: Vec<Range<u64>>,
    pub(super) line_offset: Option<gimli::DebugLineOffset>,
    str_offsets_base: gimli::DebugStrOffsetsBase,
    addr_base: gimli::DebugAddrBase,
    loclists_base: gimli::DebugLocListsBase,
    rnglists_base: gimli::DebugRngListsBase,
}

/// One unit with what was read of it so far.
#[derive(Debug)]
pub(super) struct UnitSlot {
    pub(super) id: UnitId,
    pub(super) offset: DebugInfoOffset,
    end: usize,
    /// The dialect that the user says all units to be in.
    said: Option<Dialect>,
    /// Signature and offset of the type, for a type unit.
    signature: Option<(u64, usize)>,
    abbreviations: OnceLock<Result<Arc<Abbreviations>>>,
    root: OnceLock<Result<Root>>,
    index: OnceLock<UnitIndex>,
    pub(super) lines: OnceLock<Result<LineTable>>,
    pub(super) files: OnceLock<Result<Vec<Option<Arc<str>>>>>,
}

/// All units of a file.
#[derive(Debug)]
pub(super) struct Units {
    pub(super) slots: Vec<UnitSlot>,
    /// Why the list ends before the section does.
    pub(super) problem: Option<DebugInfoError>,
    by_address: OnceLock<(Intervals<UnitId>, Vec<UnitId>)>,
}

impl Units {
    /// Reads the headers; a bad one ends the list, since nothing tells where the next begins. `said` is the dialect that
    /// the user says all units to be in.
    pub(super) fn read(dwarf: &Dwarf<'_>, said: Option<Dialect>) -> Self {
        let mut headers = dwarf.units();
        let (mut slots, mut at) = (Vec::new(), 0);
        let problem = loop {
            match headers.next() {
                Ok(Some(header)) => {
                    let Some(offset) = header.debug_info_offset() else { continue };
                    let end = offset.0.saturating_add(header.length_including_self());
                    let signature = match header.type_() {
                        UnitType::Type { type_signature, type_offset } => {
                            Some((type_signature.0, type_offset.0))
                        }
                        _ => None,
                    };
                    at = end;
                    slots.push(UnitSlot {
                        id: UnitId(slots.len() as u32),
                        offset,
                        end,
                        said,
                        signature,
                        abbreviations: OnceLock::new(),
                        root: OnceLock::new(),
                        index: OnceLock::new(),
                        lines: OnceLock::new(),
                        files: OnceLock::new(),
                    });
                }
                Ok(None) => break None,
                Err(why) => {
                    break Some(DebugInfoError::Unit { unit: DieOffset(at as u64), what: "header", why });
                }
            }
        };
        Self { slots, problem, by_address: OnceLock::new() }
    }

    pub(super) fn slot(&self, id: UnitId) -> Result<&UnitSlot> {
        self.slots.get(id.0 as usize).ok_or(DebugInfoError::NoSuchDie(DieOffset(u64::from(id.0))))
    }

    /// The unit that a DIE stands in.
    pub(super) fn holding(&self, die: DieOffset) -> Result<&UnitSlot> {
        let offset = usize::try_from(die.0).unwrap_or(usize::MAX);
        let after = self.slots.partition_point(|slot| slot.offset.0 <= offset);
        let slot = after.checked_sub(1).and_then(|index| self.slots.get(index));
        slot.filter(|slot| offset < slot.end).ok_or(DebugInfoError::NoSuchDie(die))
    }

    /// The type DIE of a type unit.
    pub(super) fn signed_type(&self, signature: u64) -> Option<DieOffset> {
        self.slots.iter().find_map(|slot| {
            let (_, offset) = slot.signature.filter(|(own, _)| *own == signature)?;
            Some(DieOffset(slot.offset.0.checked_add(offset)? as u64))
        })
    }

    /// Units that may hold code at the address: those whose ranges say so, then those that do not say.
    ///
    /// Units whose root cannot be read are left out: they cannot answer anything either.
    pub(super) fn at(&self, dwarf: &Dwarf<'_>, address: u64) -> impl Iterator<Item = UnitId> {
        let (ranged, silent) = self.by_address.get_or_init(|| {
            let roots = || self.slots.iter().filter_map(|slot| slot.root(dwarf).ok());
            let ranged =
                roots().flat_map(|root| root.ranges.iter().map(|range| (range.clone(), root.facts.id)));
            let silent = roots().filter(|root| root.ranges.is_empty()).map(|root| root.facts.id);
            (Intervals::new(ranged), silent.collect())
        });
        ranged.at(address).chain(silent).copied()
    }
}

impl UnitSlot {
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

    pub(super) fn root(&self, dwarf: &Dwarf<'_>) -> Result<&Root> {
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

    /// The unit without what its root DIE says.
    fn bare<'a>(&self, dwarf: &Dwarf<'a>) -> Result<GimliUnit<'a>> {
        let header = dwarf.unit_header(self.offset).map_err(|why| self.fail("header", why))?;
        let abbreviations = self.abbreviations.get_or_init(|| {
            let read = header.abbreviations(&dwarf.debug_abbrev);
            read.map(Arc::new).map_err(|why| self.fail("abbreviations", why))
        });
        let (encoding, file_type) = (header.encoding(), gimli::DwarfFileType::Main);
        Ok(GimliUnit {
            abbreviations: abbreviations.clone()?,
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
        })
    }

    fn read_root(&self, dwarf: &Dwarf<'_>) -> Result<Root> {
        let mut unit = self.bare(dwarf)?;
        let header = unit.header;
        let abbreviations = Arc::clone(&unit.abbreviations);
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
        let text = |value| dwarf.attr_string(&unit, value).ok().map(|text| Arc::from(text.to_string_lossy()));
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
            dialect: self.said.or_else(|| Dialect::of_augmentation(augmentation.as_deref()?)),
            augmentation,
            low_pc: low_pc.unwrap_or(0),
        };
        let (str_offsets_base, addr_base) = (unit.str_offsets_base, unit.addr_base);
        let (loclists_base, rnglists_base) = (unit.loclists_base, unit.rnglists_base);
        let line_offset = match root.attr_value(gimli::DW_AT_stmt_list) {
            Some(AttributeValue::DebugLineRef(offset)) => Some(offset),
            _ => None,
        };
        unit.low_pc = facts.low_pc;
        // A unit without readable ranges is searched by its functions instead.
        let ranges = die_ranges(dwarf, &unit, &root).unwrap_or_default();
        Ok(Root { facts, ranges, line_offset, str_offsets_base, addr_base, loclists_base, rnglists_base })
    }
}

/// The addresses of a DIE: `DW_AT_ranges`, or `DW_AT_low_pc` with `DW_AT_high_pc`; DWARF 5 section 2.17.
pub(super) fn die_ranges<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    entry: &Entry<'a>,
) -> gimli::Result<Vec<Range<u64>>> {
    let value = |name| entry.attr_value(name);
    if let Some(list) =
        value(gimli::DW_AT_ranges).map(|list| dwarf.attr_ranges(unit, list)).transpose()?.flatten()
    {
        return list.map(|range| range.map(|range| range.begin..range.end)).collect();
    }
    let address = |value| dwarf.attr_address(unit, value);
    let Some(low) = value(gimli::DW_AT_low_pc).map(address).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let high = match value(gimli::DW_AT_high_pc) {
        Some(AttributeValue::Udata(size)) => low.checked_add(size),
        Some(value) => address(value)?,
        None => None,
    };
    // A linker marks dropped code with the highest addresses (or 0, which real code may have, with an empty range).
    Ok(high.filter(|high| low < *high && low < u64::MAX - 1).map(|high| low..high).into_iter().collect())
}
