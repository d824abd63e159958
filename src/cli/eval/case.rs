//! A case's view of the state for the evaluator, with entries decoded in the case's dialect.

use std::sync::Arc;

use super::file::{ProcedureText, Tag};
use super::state::State;
use super::text::{Hex, Int, NumberOrBytes};
use crate::dwarf::{
    Answer, Attribute, BaseType, CallFrame, ContextError, Die, DieLocation, DieRef, Encoding, Frame,
    Location, Machine, MemoryAt, ObjectMap, Program, RegisterBytes, SpaceInfo, Unit,
};
use crate::units::{AddressSpace, BitSize, DieOffset, DwarfReg, Pc, WaveSize};

/// The state from the view of one case.
#[derive(Debug)]
pub(super) struct CaseContext<'f> {
    pub(super) state: &'f State<'f>,
    pub(super) encoding: Encoding,
}

impl CaseContext<'_> {
    fn decode(&self, bytes: &[u8]) -> Answer<Arc<Program>> {
        Ok(Arc::new(Program::decode(bytes, self.encoding)?))
    }

    fn attribute(&self, text: &NumberOrBytes) -> Answer<Attribute> {
        match text {
            NumberOrBytes::Number(number) => Ok(Attribute::Constant(*number)),
            NumberOrBytes::Bytes(bytes) => self.decode(bytes).map(Attribute::Expression),
        }
    }

    fn die_location(&self, die: &ProcedureText) -> Answer<DieLocation> {
        if let Some(Hex(bytes)) = &die.location {
            return self.decode(bytes).map(DieLocation::Expression);
        }
        if let Some(entries) = &die.loclist {
            let pc = self.state.pc().ok_or_else(|| ContextError::not_captured("no program location"))?;
            let entry = entries.iter().find(|entry| (entry.low.0..entry.high.0).contains(&pc.0));
            return match entry {
                Some(entry) => self.decode(&entry.location.0).map(DieLocation::Expression),
                None => Ok(DieLocation::NotHere),
            };
        }
        match &die.const_value {
            Some(Hex(bytes)) => Ok(DieLocation::ConstValue(bytes.as_slice().into())),
            None => Ok(DieLocation::None),
        }
    }
}

impl Machine for CaseContext<'_> {
    fn wave_size(&self) -> WaveSize {
        self.state.kind.wave_size
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        self.state.space_info(space)
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        self.state.register_size(register)
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        self.state.read_register(register, frame == Frame::Caller, into);
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        self.state.read_memory(at, into)
    }
}

impl CallFrame for CaseContext<'_> {
    fn pc(&self) -> Option<Pc> {
        self.state.pc()
    }

    fn object(&self) -> Answer<Location> {
        let object = self
            .state
            .text
            .object
            .ok_or_else(|| ContextError::not_captured("no object is being evaluated"))?;
        self.state.location(object).map_err(|error| ContextError::not_captured(error.to_string()))
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        let absent = || ContextError::absent("the function has no DW_AT_frame_base");
        self.decode(&self.state.text.frame_base.as_ref().ok_or_else(absent)?.0)
    }

    fn cfa(&self) -> Answer<Location> {
        let cfa =
            self.state.text.cfa.ok_or_else(|| ContextError::not_captured("no call frame information"))?;
        self.state.location(cfa).map_err(|error| ContextError::not_captured(error.to_string()))
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        self.state.text.lanes.as_ref().map(|lanes| self.attribute(lanes)).transpose()
    }
}

impl Unit for CaseContext<'_> {
    fn die(&self, die: DieRef) -> Answer<Die> {
        let offset = die.offset();
        let found = self.state.text.procedure.iter().find(|procedure| procedure.offset.0 == offset.0);
        let found = found.ok_or_else(|| ContextError::absent(format!("no DIE at {offset}")))?;
        Ok(Die { is_procedure: found.tag == Tag::DwarfProcedure, location: self.die_location(found)? })
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        self.state.base_type(die).ok_or_else(|| ContextError::absent(format!("no base type at {die}")))
    }

    fn debug_addr(&self, index: u64) -> Answer<u64> {
        let address = usize::try_from(index).ok().and_then(|index| self.state.text.debug_addr.get(index));
        let absent = || ContextError::absent(format!("no address {index} in .debug_addr"));
        address.map(|Int(address)| *address).ok_or_else(absent)
    }

    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        let found = self.state.text.object_map.iter().find(|map| map.offset.0 == die.0);
        let map = found.ok_or_else(|| ContextError::absent(format!("no object map at {die}")))?;
        let mut ranges: Vec<(Pc, Pc)> =
            map.ranges.iter().map(|[low, high]| (Pc(low.0), Pc(high.0))).collect();
        if let (Some(low), Some(high)) = (map.low_pc, map.high_pc) {
            ranges.push((Pc(low.0), Pc(high.0)));
        }
        Ok(Arc::new(ObjectMap {
            mem_location: self.attribute(&map.mem_location)?,
            cntl_ordinal: self.attribute(&map.cntl_ordinal)?,
            vec_location: self.attribute(&map.vec_location)?,
            element_size: self.attribute(&map.element_size)?,
            element_count: self.attribute(&map.element_count)?,
            ranges,
        }))
    }
}
