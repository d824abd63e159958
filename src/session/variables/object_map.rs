//! A frame's object maps (DWARF issue 230712.4) for the evaluator.

use std::sync::Arc;

use crate::codeobject::ElfAddress;
use crate::debuginfo::{Location, LocationAttribute};
use crate::dwarf::{Answer, Attribute, CallFrame as _, ContextError, ObjectMap};
use crate::session::stack::frame::{FrameContext, absent};
use crate::units::{DieOffset, Pc};

impl FrameContext<'_> {
    /// The object map at an offset in the unit.
    pub(in crate::session) fn map_of(&self, die: DieOffset) -> Answer<ObjectMap> {
        let unit = self.debug()?.unit(self.unit()?).map_err(absent)?;
        let offset = unit.offset.0.checked_add(die.0).map(DieOffset);
        let offset = offset.ok_or_else(|| ContextError::absent(format!("no DIE at {die}")))?;
        let map = self.debug()?.object_map(offset).map_err(absent)?;
        if map.unit != unit.id {
            return Err(ContextError::absent(format!("the unit at {} ends before {die}", unit.offset)));
        }
        let run_time = |address: ElfAddress| self.loaded(address.0).map(Pc);
        let ranges = map.ranges.iter().flatten();
        let ranges = ranges.map(|range| Ok((run_time(range.start)?, run_time(range.end)?)));
        let mut ranges = ranges.collect::<Answer<Vec<(Pc, Pc)>>>()?;
        if map.ranges.is_some() && ranges.is_empty() {
            // A range list without code covers no PC, whereas a missing range list covers all.
            ranges.push((Pc(0), Pc(0)));
        }
        Ok(ObjectMap {
            // An entry missing from a list is the empty expression: no location.
            mem_location: match self.is_here(&map.mem_location)? {
                true => self.of_map(offset, &map.mem_location, "DW_AT_mem_location")?,
                false => Attribute::Expression(Arc::new(self.decode(&[])?)),
            },
            // Step 2 of the issue: without defined chunks none is in registers.
            cntl_ordinal: match self.is_here(&map.cntl_ordinal)? {
                true => self.of_map(offset, &map.cntl_ordinal, "DW_AT_cntl_ordinal")?,
                false => Attribute::Constant(0),
            },
            vec_location: match self.is_here(&map.vec_location)? {
                true => self.of_map(offset, &map.vec_location, "DW_AT_vec_location")?,
                false => Attribute::Expression(Arc::new(self.decode(&[])?)),
            },
            element_size: self.of_map(offset, &map.element_size, "DW_AT_element_size")?,
            element_count: self.of_map(offset, &map.element_count, "DW_AT_element_count")?,
            ranges,
        })
    }

    fn of_map(&self, map: DieOffset, attribute: &LocationAttribute, what: &str) -> Answer<Attribute> {
        let found = self.attribute(attribute, what)?;
        found.ok_or_else(|| ContextError::absent(format!("the object map at {map} has no {what}")))
    }

    /// Whether an attribute has an entry for the PC.
    fn is_here(&self, attribute: &LocationAttribute) -> Answer<bool> {
        let location = self.debug()?.location_at(self.unit()?, attribute, self.elf_pc).map_err(absent)?;
        Ok(location != Location::NotAtPc)
    }
}
