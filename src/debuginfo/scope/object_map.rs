//! `DW_TAG_object_map` (DWARF issue 230712.4): the locations of an array's elements while chunks of it are in vector
//! registers. It exists only in units of the draft dialect, with the codes of [`crate::dwarf::draft`].

use std::ops::Range;
use std::sync::Arc;

use crate::codeobject::ElfAddress;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::Die;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::dwarf::draft;
use crate::units::DieOffset;

/// An object map, for any PC. Each attribute is an expression, a list of them, or a constant of 8 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMap {
    /// The unit for the evaluation of the attributes.
    pub unit: UnitId,
    /// `DW_AT_mem_location`: the array's place in memory.
    pub mem_location: LocationAttribute,
    /// `DW_AT_cntl_ordinal`: the number of the chunk in registers.
    pub cntl_ordinal: LocationAttribute,
    /// `DW_AT_vec_location`: the vector register.
    pub vec_location: LocationAttribute,
    /// `DW_AT_element_size`: bytes per element.
    pub element_size: LocationAttribute,
    /// `DW_AT_element_count`: elements per chunk.
    pub element_count: LocationAttribute,
    /// The PCs of the map; `None` if the DIE has none.
    pub ranges: Option<Vec<Range<ElfAddress>>>,
}

impl DebugInfo {
    /// The object map at an offset in `.debug_info`.
    ///
    /// # Errors
    /// The offset has no DIE, or the DIE is not an object map of a draft unit. One of the five attributes is missing or
    /// of another class.
    pub fn object_map(&self, die: DieOffset) -> Result<ObjectMap> {
        let dwarf = self.sections.dwarf();
        let found = self.reading(&dwarf).die(die)?;
        let facts = found.view.facts();
        let tag = facts.is_draft().then(|| draft::numbers().tag("object_map")).flatten();
        if tag != Some(found.tag().0) {
            let (expected, found) = ("DW_TAG_object_map of the draft dialect", found.tag_name());
            return Err(DebugInfoError::Tag { die, expected, found });
        }
        let attribute = |wanted, name| self.map_attribute(&found, wanted, name);
        let says_pcs =
            [gimli::DW_AT_low_pc, gimli::DW_AT_ranges].iter().any(|name| found.entry.has_attr(*name));
        let mut capacity = found.view.ranges_capacity();
        let ranges = found.view.ranges(&found.entry, &mut capacity)?.into_iter();
        let ranges = ranges.map(|range| ElfAddress(range.start)..ElfAddress(range.end)).collect();
        Ok(ObjectMap {
            unit: facts.id,
            mem_location: attribute(Heterogeneous::MemLocation, "mem_location")?,
            cntl_ordinal: attribute(Heterogeneous::CntlOrdinal, "cntl_ordinal")?,
            vec_location: attribute(Heterogeneous::VecLocation, "vec_location")?,
            element_size: attribute(Heterogeneous::ElementSize, "element_size")?,
            element_count: attribute(Heterogeneous::ElementCount, "element_count")?,
            ranges: says_pcs.then_some(ranges),
        })
    }

    fn map_attribute(
        &self,
        map: &Die<'_>,
        wanted: Heterogeneous,
        name: &'static str,
    ) -> Result<LocationAttribute> {
        let Some((code, value)) = map.extension(wanted) else {
            return Err(DebugInfoError::Attribute {
                unit: map.view.facts().offset,
                die: map.offset(),
                attribute: AttributeName::of_draft(name),
                expected: "an expression, a location list or a constant",
                found: "missing".to_owned(),
            });
        };
        match crate::debuginfo::unit::sections::unsigned(&value) {
            Some(number) => Ok(LocationAttribute::Constant(Arc::from(number.to_le_bytes()))),
            None => map.location_attribute(&self.sections, code, value),
        }
    }
}
