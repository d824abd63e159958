//! A wave's frame as the evaluator asks about it: registers by DWARF number, tagged memory, and the unit's DIEs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::{Place, Reader, Unreadable};
use crate::arch::{Kind, RegId, RegisterValue, SpaceScope};
use crate::codeobject::ElfAddress;
use crate::debuginfo::{self, DebugInfo, FunctionAt, Lanes, LocationAttribute, UnitId};
use crate::dwarf::print::Names;
use crate::dwarf::{
    Answer, Attribute, BaseType, Context, Die, DieLocation, DieRef, Encoding, Frame, LaneNeed, MemoryAt,
    Missing, Program, RegisterBytes, SpaceInfo,
};
use crate::units::{AddressSpace, BitSize, DieOffset, DwarfReg, Pc, WaveId, WaveSize};

/// Frame 0 of a wave.
#[derive(Debug)]
pub(super) struct FrameContext<'a> {
    pub(super) reader: &'a Reader,
    pub(super) wave: WaveId,
    pub(super) kind: Arc<Kind>,
    /// The debug information of the code at the PC, or why there is none.
    pub(super) debug: Result<Arc<DebugInfo>, String>,
    /// The function at the PC, or why there is none.
    pub(super) function: Result<FunctionAt, String>,
    /// Where the code at the PC was loaded, or why that is not known.
    pub(super) load_address: Result<u64, String>,
    pub(super) pc: Option<Pc>,
    /// Only asked for where there is debug information.
    pub(super) elf_pc: ElfAddress,
    pub(super) encoding: Encoding,
    /// Registers that this question has read: 64 lanes ask for the same vector.
    pub(super) registers: RefCell<HashMap<RegId, RegisterValue>>,
    /// What `DW_OP_push_object_address` pushes while a type's attribute is evaluated.
    pub(super) object: RefCell<Option<crate::dwarf::Location>>,
}

/// AMD's names for the numbers in locations.
impl Names for FrameContext<'_> {
    fn register(&self, register: DwarfReg) -> Option<String> {
        self.kind.dwarf_name(register)
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        self.kind.target.space(space).map(|space| space.name.clone())
    }

    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        self.kind.dwarf_named(name)
    }

    fn space_named(&self, name: &str) -> Option<AddressSpace> {
        self.kind.target.space_named(name).map(|space| space.id)
    }
}

impl FrameContext<'_> {
    fn debug(&self) -> Answer<&DebugInfo> {
        self.debug.as_deref().map_err(|why| lacking("debug information", why))
    }

    fn function(&self) -> Answer<&FunctionAt> {
        self.function.as_ref().map_err(|why| lacking("function", why))
    }

    fn unit(&self) -> Answer<UnitId> {
        Ok(self.function()?.function.unit)
    }

    /// The wave's register of a DWARF number, if it has one.
    fn register(&self, register: DwarfReg, into: &mut RegisterBytes) -> Result<(), Unreadable> {
        let Ok(known) = self.kind.dwarf(register) else { return Ok(()) };
        let mut read = self.registers.borrow_mut();
        let value = match read.entry(known.id) {
            Entry::Occupied(value) => value.into_mut(),
            Entry::Vacant(room) => room.insert(self.reader.register(self.wave, known.id)?),
        };
        let bytes = value.bytes();
        if let Some(room) = into.bytes.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
        }
        into.known = value.known();
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> Answer<Arc<Program>> {
        Ok(Arc::new(Program::decode(bytes, self.encoding)?))
    }

    fn attribute(&self, attribute: &LocationAttribute, what: &str) -> Answer<Option<Attribute>> {
        let location = self.debug()?.location_at(self.unit()?, attribute, self.elf_pc).map_err(absent)?;
        match &location {
            debuginfo::Location::None => Ok(None),
            debuginfo::Location::NotAtPc => Err(Missing::absent(format!("{what} has no entry for this PC"))),
            debuginfo::Location::ConstValue(bytes) => {
                let mut number = [0; 8];
                number.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
                Ok(Some(Attribute::Constant(u64::from_le_bytes(number))))
            }
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => {
                Ok(Some(Attribute::Expression(self.decode(bytes)?)))
            }
        }
    }
}

/// What an expression needs and the PC does not lead to, with the reason.
fn lacking(what: &str, why: &str) -> Missing {
    Missing::not_captured(format!("no {what}: {why}"))
}

/// What the debug information cannot say, as an answer to the evaluator.
fn absent(error: debuginfo::DebugInfoError) -> Missing {
    Missing::absent(error.to_string())
}

impl Context for FrameContext<'_> {
    fn wave_size(&self) -> WaveSize {
        self.kind.wave_size
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let known = self.kind.target.space(space)?;
        let lane = match known.scope {
            SpaceScope::Global | SpaceScope::Agent | SpaceScope::WorkGroup | SpaceScope::Wave => {
                LaneNeed::None
            }
            SpaceScope::Generic => LaneNeed::WhenRead,
            SpaceScope::Lane => LaneNeed::Now,
            SpaceScope::LaneN(lane) => LaneNeed::Fixed(lane),
        };
        Some(SpaceInfo { address_bits: known.address_bits, lane })
    }

    fn register_size(&self, register: DwarfReg) -> Result<BitSize, String> {
        self.kind.dwarf(register).map(|known| BitSize(known.bits())).map_err(|error| error.to_string())
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        into.known = 0;
        // The caller's registers need call frame information, which is not read yet.
        if frame == Frame::Current
            && let Err(error) = self.register(register, into)
        {
            log::warn!("{error}");
        }
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        let place = Place { space: at.space, address: at.address, wave: Some(self.wave), lane: at.lane };
        self.reader.read_if_captured(place, into)
    }

    fn pc(&self) -> Option<Pc> {
        self.pc
    }

    fn object(&self) -> Answer<crate::dwarf::Location> {
        let object = self.object.borrow().clone();
        object.ok_or_else(|| Missing::absent("no object is being evaluated"))
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        match &self.function()?.frame_base {
            debuginfo::Location::NotAtPc => Err(Missing::absent("DW_AT_frame_base has no entry for this PC")),
            location => match location.expression() {
                Some(bytes) => self.decode(bytes),
                None => Err(Missing::absent("the function has no DW_AT_frame_base")),
            },
        }
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        // Without a function the wave's size bounds the lanes, as without the attribute.
        let Ok(function) = &self.function else { return Ok(None) };
        match &function.simd(0).lanes {
            Lanes::Missing => Ok(None),
            Lanes::Constant(lanes) => Ok(Some(Attribute::Constant(*lanes))),
            Lanes::Expression(attribute) => self.attribute(attribute, "DW_AT_LLVM_lanes"),
        }
    }

    fn entry_register(&self, _: DwarfReg, _: BitSize) -> Answer<crate::dwarf::Location> {
        Err(Missing::not_captured("the caller's registers, which need call frame information,"))
    }

    fn die(&self, die: DieRef) -> Answer<Die> {
        let debug = self.debug()?;
        let unit = debug.unit(self.unit()?).map_err(absent)?.offset;
        let offset = match die {
            DieRef::Unit(offset) => unit.0.checked_add(offset.0).map(DieOffset),
            DieRef::Section(offset) => Some(offset),
        };
        let offset = offset.ok_or_else(|| Missing::absent(format!("no DIE at {}", die.offset())))?;
        let found = debug.referenced_die(offset, self.elf_pc).map_err(absent)?;
        let location = match &found.location {
            debuginfo::Location::None => DieLocation::None,
            debuginfo::Location::NotAtPc => DieLocation::NotHere,
            debuginfo::Location::ConstValue(bytes) => DieLocation::ConstValue(Arc::clone(bytes)),
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => {
                DieLocation::Expression(self.decode(bytes)?)
            }
        };
        Ok(Die { is_procedure: found.is_procedure, location })
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        let found = self.debug()?.base_type(self.unit()?, die.0).map_err(absent)?;
        let bits = |bytes: u64| bytes.checked_mul(8).and_then(|bits| u32::try_from(bits).ok());
        let element_bits = bits(found.byte_size)
            .ok_or_else(|| Missing::absent(format!("the base type at {die} is too large")))?;
        let elements = found.base.vector_size.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let encoding = crate::dwarf::TypeEncoding(found.base.encoding.0);
        Ok(BaseType { encoding, element_bits, elements })
    }

    fn debug_addr(&self, index: u64) -> Answer<u64> {
        self.debug()?.indexed_address(self.unit()?, index).map_err(absent)
    }

    fn loaded(&self, address: u64) -> Answer<u64> {
        let base = self.load_address.as_ref().map_err(|why| lacking("load address", why))?;
        Ok(address.wrapping_add(*base))
    }
}
