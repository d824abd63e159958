//! The debug sections of one code object, as shared bytes.
//!
//! gimli's readers borrow, and threads share one [`crate::debuginfo::DebugInfo`]. The sections are therefore owned
//! here, and each question borrows a `gimli::Dwarf`, which takes a few dozen moves.

use std::ops::Range;

use gimli::{EndianSlice, LittleEndian, Reader as _, Section as _, SectionId};

use crate::codeobject::{Bytes, CodeObject};
use crate::debuginfo::error::{DebugInfoError, Result};

/// A borrowed part of a section.
pub(in crate::debuginfo) type Slice<'a> = EndianSlice<'a, LittleEndian>;
/// All sections in gimli's form, borrowed.
pub(in crate::debuginfo) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
/// A unit, borrowed.
pub(in crate::debuginfo) type GimliUnit<'a> = gimli::Unit<Slice<'a>>;
/// A unit's header, borrowed.
pub(in crate::debuginfo) type UnitHeader<'a> = gimli::UnitHeader<Slice<'a>>;
/// A DIE, borrowed.
pub(in crate::debuginfo) type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;
/// An attribute's value, borrowed.
pub(in crate::debuginfo) type AttributeValue<'a> = gimli::AttributeValue<Slice<'a>>;

/// Ranges that every file may have, for DIEs without lists and for small files.
const MIN_RANGES: usize = 1024;

/// The sections of all questions.
#[derive(Debug, Default)]
pub(in crate::debuginfo) struct Sections {
    pub(in crate::debuginfo) abbrev: Bytes,
    pub(in crate::debuginfo) addr: Bytes,
    pub(in crate::debuginfo) info: Bytes,
    pub(in crate::debuginfo) line: Bytes,
    pub(in crate::debuginfo) line_str: Bytes,
    pub(in crate::debuginfo) loc: Bytes,
    pub(in crate::debuginfo) loclists: Bytes,
    pub(in crate::debuginfo) ranges: Bytes,
    pub(in crate::debuginfo) rnglists: Bytes,
    pub(in crate::debuginfo) str: Bytes,
    pub(in crate::debuginfo) str_offsets: Bytes,
    pub(in crate::debuginfo) aranges: Bytes,
    pub(in crate::debuginfo) names: Bytes,
    pub(in crate::debuginfo) types: Bytes,
    /// `.debug_frame`, which linkers keep in the code object or move with the others.
    pub(in crate::debuginfo) frame: Option<Bytes>,
    /// The supplementary file of the sections.
    pub(in crate::debuginfo) shared: Option<std::sync::Arc<str>>,
}

impl Sections {
    pub(in crate::debuginfo) fn of(code_object: &CodeObject) -> Result<Self> {
        let read = |name: &str| code_object.section_bytes(name);
        let optional = |name: &str| Ok::<_, DebugInfoError>(read(name)?.unwrap_or_else(Bytes::empty));
        Ok(Self {
            info: read(".debug_info")?.ok_or(DebugInfoError::NoDebugInfo)?,
            abbrev: optional(".debug_abbrev")?,
            addr: optional(".debug_addr")?,
            line: optional(".debug_line")?,
            line_str: optional(".debug_line_str")?,
            loc: optional(".debug_loc")?,
            loclists: optional(".debug_loclists")?,
            ranges: optional(".debug_ranges")?,
            rnglists: optional(".debug_rnglists")?,
            str: optional(".debug_str")?,
            str_offsets: optional(".debug_str_offsets")?,
            aranges: optional(".debug_aranges")?,
            names: optional(".debug_names")?,
            types: optional(".debug_types")?,
            frame: read(".debug_frame")?.filter(|bytes| !bytes.is_empty()),
            shared: code_object.debug_alt_link().map(std::sync::Arc::from),
        })
    }

    pub(in crate::debuginfo) fn dwarf(&self) -> Dwarf<'_> {
        let section = |id| EndianSlice::new(self.get(id), LittleEndian);
        Dwarf {
            debug_abbrev: section(SectionId::DebugAbbrev).into(),
            debug_addr: section(SectionId::DebugAddr).into(),
            debug_info: section(SectionId::DebugInfo).into(),
            debug_line: section(SectionId::DebugLine).into(),
            debug_line_str: section(SectionId::DebugLineStr).into(),
            debug_str: section(SectionId::DebugStr).into(),
            debug_str_offsets: section(SectionId::DebugStrOffsets).into(),
            debug_aranges: section(SectionId::DebugAranges).into(),
            debug_names: section(SectionId::DebugNames).into(),
            debug_types: section(SectionId::DebugTypes).into(),
            locations: gimli::LocationLists::new(
                section(SectionId::DebugLoc).into(),
                section(SectionId::DebugLocLists).into(),
            ),
            ranges: gimli::RangeLists::new(
                section(SectionId::DebugRanges).into(),
                section(SectionId::DebugRngLists).into(),
            ),
            ..Dwarf::default()
        }
    }

    /// The owned bytes of a borrowed part, such as an expression.
    pub(in crate::debuginfo) fn own(&self, part: Slice<'_>) -> Bytes {
        let homes = [&self.info, &self.loclists, &self.loc, &self.types];
        let found = homes.into_iter().find_map(|home| home.slice_ref(part.slice()));
        found.unwrap_or_else(|| Bytes::from(part.slice().to_vec()))
    }

    fn get(&self, id: SectionId) -> &[u8] {
        match id {
            SectionId::DebugAbbrev => &self.abbrev,
            SectionId::DebugAddr => &self.addr,
            SectionId::DebugInfo => &self.info,
            SectionId::DebugLine => &self.line,
            SectionId::DebugLineStr => &self.line_str,
            SectionId::DebugLoc => &self.loc,
            SectionId::DebugLocLists => &self.loclists,
            SectionId::DebugRanges => &self.ranges,
            SectionId::DebugRngLists => &self.rnglists,
            SectionId::DebugStr => &self.str,
            SectionId::DebugStrOffsets => &self.str_offsets,
            SectionId::DebugAranges => &self.aranges,
            SectionId::DebugNames => &self.names,
            SectionId::DebugTypes => &self.types,
            _ => &[],
        }
    }
}

/// A constant of any form as an unsigned number; `None` if it is negative.
pub(in crate::debuginfo) fn unsigned(value: &AttributeValue<'_>) -> Option<u64> {
    value.udata_value().or_else(|| value.sdata_value().and_then(|number| u64::try_from(number).ok()))
}

/// Maximum entries of range lists in a file: one takes at least a byte.
pub(in crate::debuginfo) fn ranges_capacity(dwarf: &Dwarf<'_>) -> usize {
    let (old, new) =
        (dwarf.ranges.debug_ranges().reader().len(), dwarf.ranges.debug_rnglists().reader().len());
    old.saturating_add(new).saturating_add(MIN_RANGES)
}

/// Visits the addresses of a DIE: `DW_AT_ranges`, or `DW_AT_low_pc` with `DW_AT_high_pc`; DWARF 5 section 2.17. `visit`
/// returns whether to continue; so does this function.
pub(in crate::debuginfo) fn visit_ranges<'a>(
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
    // A linker marks dropped code by the highest addresses, or by 0 with an empty range; real code may be at 0.
    let high = high.filter(|high| low < *high && low < u64::MAX - 1);
    Ok(high.is_none_or(|high| visit(low..high)))
}
