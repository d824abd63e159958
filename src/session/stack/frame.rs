//! A frame for the evaluator: registers by DWARF number, tagged memory, and the unit's DIEs.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use crate::arch::WaveArch;
use crate::codeobject::ElfAddress;
use crate::debuginfo::{self, DebugInfo, FunctionAt, Lanes, LocationAttribute, UnitId};
use crate::dwarf::print::Names;
use crate::dwarf::{
    self, Answer, Attribute, BaseType, CallFrame, Context, ContextError, Dialect, Die, DieLocation, DieRef,
    Encoding, FrameRegister, LaneNeed, Location, Machine, ObjectMap, Program, Storage, Unit, clang_xderef,
};
use crate::session::error::{CodePlace, SourceError};
use crate::session::stack::unwind::{Code, PhysicalFrame};
use crate::session::{Disassembly, DisassemblyError, MemoryAddress};
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, LaneSet, Pc};

/// A physical frame of a wave with the debug information of its function.
#[derive(Debug)]
pub(in crate::session) struct FrameContext<'w> {
    /// Registers, memory and caller.
    pub(in crate::session) level: PhysicalFrame<'w>,
    /// The debug information of the code at the PC, or the reason for its absence.
    pub(in crate::session) debug: Result<Arc<DebugInfo>, SourceError>,
    /// The function at the PC, or the reason for its absence.
    pub(in crate::session) function: Result<FunctionAt, SourceError>,
    /// The inlined call at the PC: an index into [`FunctionAt::frames`].
    pub(in crate::session) inlined: usize,
    /// The address for scope lookups: within the call instruction in a caller's frame. Used only with debug
    /// information.
    pub(in crate::session) elf_pc: ElfAddress,
    pub(in crate::session) encoding: Encoding,
    /// The reading of locations if the unit has no operation of the extensions; `None`: by the DWARF text.
    pub(in crate::session) reading: Option<clang_xderef::Reading>,
    /// The operand of `DW_OP_push_object_address` during the evaluation of a type's attribute.
    pub(in crate::session) object: RefCell<Option<Location>>,
    /// The instructions of the function, listed on demand.
    pub(in crate::session) listing: OnceCell<Result<Disassembly, DisassemblyError>>,
}

/// AMD's names for the numbers in locations.
impl Names for WaveArch {
    fn register(&self, register: DwarfReg) -> Option<String> {
        self.dwarf_name(register)
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        self.target.space(space).map(|space| space.name.clone())
    }

    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        self.dwarf_named(name)
    }

    fn space_named(&self, name: &str) -> Option<AddressSpace> {
        self.target.space_named(name).map(|space| space.id)
    }
}

impl Names for FrameContext<'_> {
    fn register(&self, register: DwarfReg) -> Option<String> {
        Names::register(&**self.kind(), register)
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        Names::space(&**self.kind(), space)
    }

    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        self.kind().register_named(name)
    }

    fn space_named(&self, name: &str) -> Option<AddressSpace> {
        self.kind().space_named(name)
    }
}

impl<'w> FrameContext<'w> {
    /// Creates a frame from the parts that exist, for its function or for one of the calls inlined there (`None`: the
    /// function itself). The dialect is set later: by the variables in scope, or by the evaluated attribute.
    pub(in crate::session) fn of(level: PhysicalFrame<'w>, inlined: Option<usize>) -> Self {
        Self::at(level, level.code(), inlined)
    }

    /// [`Self::of`] at a lane's position that differs from the wave's in the same function.
    pub(in crate::session) fn at(
        level: PhysicalFrame<'w>,
        code: Result<Code<'_>, SourceError>,
        inlined: Option<usize>,
    ) -> Self {
        let reader = level.walk().reader;
        let capture = reader.dump().capture();
        let elf_pc = code.as_ref().map_or(ElfAddress(0), |code| code.elf);
        let (debug, function) = match &code {
            Err(why) => (Err(why.clone()), Err(why.clone())),
            Ok(code) => {
                let source = code.loaded.source(reader, code.elf);
                match source.function(reader.rereads()) {
                    Ok(Some((debug, function))) => (Ok(debug), Ok(function)),
                    Err(why) => (code.loaded.debug(capture).map_err(SourceError::from), Err(why.into())),
                    Ok(None) => {
                        let debug = code.loaded.debug(capture).map_err(SourceError::from);
                        let why = debug.as_ref().err().cloned().or_else(|| source.problem.clone());
                        let none = SourceError::NoFunction(CodePlace::Pc);
                        (debug, Err(why.unwrap_or(none).seen_at(CodePlace::Pc)))
                    }
                }
            }
        };
        let calls = function.as_ref().map_or(0, |at| at.frames.len());
        let inlined = inlined.unwrap_or(calls.saturating_sub(1));
        let mut encoding = Encoding::new(Dialect::LlvmUser);
        if let (Ok(debug), Ok(at)) = (&debug, &function) {
            encoding.dwarf64 = debug.unit(at.function.unit).is_ok_and(|unit| unit.offset_size == 8);
        }
        let (reading, object, listing) = (None, RefCell::default(), OnceCell::new());
        Self { level, debug, function, inlined, elf_pc, encoding, reading, object, listing }
    }

    pub(in crate::session) fn debug(&self) -> Answer<&DebugInfo> {
        self.debug.as_deref().map_err(|why| lacking("debug information", why))
    }

    fn function(&self) -> Answer<&FunctionAt> {
        self.function.as_ref().map_err(|why| lacking("function", why))
    }

    pub(in crate::session) fn unit(&self) -> Answer<UnitId> {
        Ok(self.function()?.function.unit)
    }

    pub(in crate::session) fn kind(&self) -> &Arc<WaveArch> {
        &self.level.walk().kind
    }

    /// Whether a location is in the private memory of a wave that never had any.
    pub(in crate::session) fn lacks_private(&self, location: &Location, lane: LaneId) -> bool {
        let Storage::Memory { space, .. } = &location.storage else { return false };
        let walk = self.level.walk();
        let address = Address(u64::try_from(location.offset.get(lane) / 8).unwrap_or(0));
        walk.reader.lacks_private(MemoryAddress {
            space: *space,
            address,
            wave: Some(walk.wave),
            lane: Some(lane),
        })
    }

    /// The lanes whose private memory holds an object, by `lane`'s location of it.
    pub(in crate::session) fn lanes_of(&self, location: &Location, lane: LaneId, size: BitSize) -> LaneSet {
        let first = location.offset.get(lane);
        match &location.storage {
            Storage::Memory { space, lane: captured, .. } => {
                let need = |space| self.level.space(space).map(|known| known.lane);
                let walk = self.level.walk();
                let address = Address(u64::try_from(first / 8).unwrap_or(0));
                let place = MemoryAddress { space: *space, address, wave: Some(walk.wave), lane: Some(lane) };
                let found = match need(*space) {
                    Some(LaneNeed::WhenRead) => {
                        walk.reader.generic(place).ok().and_then(|place| need(place.space))
                    }
                    need => need,
                };
                match found {
                    Some(LaneNeed::Now) => LaneSet::one(captured.seen_by(Some(lane)).unwrap_or(lane)),
                    Some(LaneNeed::Fixed(lane)) => LaneSet::one(lane),
                    Some(LaneNeed::WhenRead | LaneNeed::None) | None => LaneSet::EMPTY,
                }
            }
            Storage::Composite(_) => {
                let mut left = size.0;
                let mut lanes = LaneSet::EMPTY;
                for part in location.canonical_from_offset(lane) {
                    let taken = part.size.0.min(left);
                    if taken == 0 {
                        break;
                    }
                    lanes = lanes.or(self.lanes_of(&part.location, lane, BitSize(taken)));
                    left -= taken;
                }
                lanes
            }
            // Compilers spill scalars into lanes of a vector register, active or not.
            Storage::Register { .. }
            | Storage::Undefined(_)
            | Storage::Implicit(_)
            | Storage::ImplicitPointer(_) => LaneSet::EMPTY,
        }
    }

    /// The frame for expressions of another unit of the code object.
    pub(in crate::session) fn of_unit(&self, unit: UnitId, encoding: Encoding) -> UnitContext<'_, 'w> {
        UnitContext { frame: self, unit, encoding }
    }

    /// Decodes an expression of the frame's unit, within the question's budget.
    pub(in crate::session) fn decode(&self, bytes: &[u8]) -> Result<Program, dwarf::Error> {
        Program::decode_within(self.machine().budget(), bytes, self.encoding)
    }

    /// An attribute of a function at the frame's PC; `None` if it is missing, or if its list has no entry for the PC.
    pub(in crate::session) fn stated(
        &self,
        attribute: &LocationAttribute,
        what: &str,
    ) -> Answer<Option<Attribute>> {
        let location = self.debug()?.location_at(self.unit()?, attribute, self.elf_pc).map_err(absent)?;
        if location == debuginfo::Location::NotAtPc {
            return Ok(None);
        }
        self.attribute(attribute, what)
    }

    /// An attribute at the frame's PC; `None` if it is missing.
    pub(in crate::session) fn attribute(
        &self,
        attribute: &LocationAttribute,
        what: &str,
    ) -> Answer<Option<Attribute>> {
        let location = self.debug()?.location_at(self.unit()?, attribute, self.elf_pc).map_err(absent)?;
        match &location {
            debuginfo::Location::None => Ok(None),
            debuginfo::Location::NotAtPc => {
                Err(ContextError::absent(format!("{what} has no entry for this PC")))
            }
            debuginfo::Location::Broken(why) => Err(absent((**why).clone())),
            debuginfo::Location::ConstValue(bytes) => {
                let mut number = [0; 8];
                number.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
                Ok(Some(Attribute::Constant(u64::from_le_bytes(number))))
            }
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => {
                Ok(Some(Attribute::Expression(Arc::new(self.decode(bytes)?))))
            }
        }
    }
}

/// The error for data that an expression needs and that the PC does not lead to, with the reason.
pub(in crate::session) fn lacking(what: &str, why: &SourceError) -> ContextError {
    ContextError::not_captured(format!("no {what}: {why}"))
}

/// Converts missing debug information to an answer for the evaluator.
pub(in crate::session) fn absent(error: debuginfo::DebugInfoError) -> ContextError {
    ContextError::absent(error.to_string())
}

impl Context for FrameContext<'_> {
    fn machine(&self) -> &dyn Machine {
        &self.level
    }

    fn call_frame(&self) -> &dyn CallFrame {
        self
    }

    fn unit(&self) -> &dyn Unit {
        self
    }
}

impl CallFrame for FrameContext<'_> {
    fn pc(&self) -> Option<Pc> {
        self.level.pc()
    }

    fn object(&self) -> Answer<Location> {
        let object = self.object.borrow().clone();
        object.ok_or_else(|| ContextError::absent("no object is being evaluated"))
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        match &self.function()?.frame_base {
            debuginfo::Location::NotAtPc => {
                Err(ContextError::absent("DW_AT_frame_base has no entry for this PC"))
            }
            debuginfo::Location::Broken(why) => Err(absent((**why).clone())),
            location => match location.expression() {
                Some(bytes) => {
                    let program = self.decode(bytes)?;
                    self.unset_frame(&program)?;
                    Ok(Arc::new(program))
                }
                None => Err(ContextError::absent("the function has no DW_AT_frame_base")),
            },
        }
    }

    fn frame_register(&self) -> Option<FrameRegister> {
        self.known_frame_register()
    }

    fn cfa(&self) -> Answer<Location> {
        self.level.cfa()
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        // Without a function the wave's size bounds the lanes, the same as without the attribute.
        let Ok(function) = &self.function else { return Ok(None) };
        match &function.simd(self.inlined).lanes {
            Lanes::Missing => Ok(None),
            Lanes::Constant(lanes) => Ok(Some(Attribute::Constant(*lanes))),
            Lanes::Expression(attribute) => self.stated(attribute, "DW_AT_LLVM_lanes"),
        }
    }

    fn entry_register(&self, register: DwarfReg, size: BitSize) -> Answer<Location> {
        self.level.entry_register(register, size)
    }

    fn loaded(&self, address: u64) -> Answer<u64> {
        self.level.loaded(address)
    }
}

impl Unit for FrameContext<'_> {
    fn die(&self, die: DieRef) -> Answer<Die> {
        // The reason is missing debug information, not the missing function.
        self.debug()?;
        self.of_unit(self.unit()?, self.encoding).die(die)
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        // The reason is missing debug information, not the missing function.
        self.debug()?;
        self.of_unit(self.unit()?, self.encoding).base_type(die)
    }

    fn converted_bits(&self, die: DieOffset) -> Option<u32> {
        self.of_unit(self.unit().ok()?, self.encoding).converted_bits(die)
    }

    fn debug_addr(&self, index: u64) -> Answer<u64> {
        // The reason is missing debug information, not the missing function.
        self.debug()?;
        self.of_unit(self.unit()?, self.encoding).debug_addr(index)
    }

    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        self.map_of(die).map(Arc::new)
    }
}

/// A frame for expressions of another unit: a global's location names base types and addresses by its own unit.
#[derive(Debug)]
pub(in crate::session) struct UnitContext<'f, 'w> {
    frame: &'f FrameContext<'w>,
    unit: UnitId,
    encoding: Encoding,
}

impl Context for UnitContext<'_, '_> {
    fn machine(&self) -> &dyn Machine {
        self.frame.machine()
    }

    fn call_frame(&self) -> &dyn CallFrame {
        self.frame
    }

    fn unit(&self) -> &dyn Unit {
        self
    }
}

impl Unit for UnitContext<'_, '_> {
    fn die(&self, die: DieRef) -> Answer<Die> {
        let debug = self.frame.debug()?;
        let unit = debug.unit(self.unit).map_err(absent)?.offset;
        let offset = match die {
            DieRef::Unit(offset) => unit.0.checked_add(offset.0).map(DieOffset),
            DieRef::Section(offset) => Some(offset),
        };
        let offset = offset.ok_or_else(|| ContextError::absent(format!("no DIE at {}", die.offset())))?;
        let found = debug.referenced_die(offset, self.frame.elf_pc).map_err(absent)?;
        let location = match &found.location {
            debuginfo::Location::None => DieLocation::None,
            debuginfo::Location::NotAtPc => DieLocation::NotHere,
            debuginfo::Location::Broken(why) => return Err(absent((**why).clone())),
            debuginfo::Location::ConstValue(bytes) => DieLocation::ConstValue(Arc::clone(bytes)),
            debuginfo::Location::Expression(bytes)
            | debuginfo::Location::ListEntry { expression: bytes, .. } => {
                let program = Program::decode_within(self.machine().budget(), bytes, self.encoding)?;
                DieLocation::Expression(Arc::new(program))
            }
        };
        Ok(Die { is_procedure: found.is_procedure, location })
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        let found = self.frame.debug()?.base_type(self.unit, die.0).map_err(absent)?;
        let bits = |bytes: u64| bytes.checked_mul(8).and_then(|bits| u32::try_from(bits).ok());
        let element_bits = bits(found.byte_size)
            .ok_or_else(|| ContextError::absent(format!("the base type at {die} is too large")))?;
        let elements = found.base.vector_size.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        let encoding = crate::dwarf::TypeEncoding(found.base.encoding.code());
        Ok(BaseType { encoding, element_bits, elements })
    }

    fn converted_bits(&self, die: DieOffset) -> Option<u32> {
        let name = self.frame.debug().ok()?.base_type(self.unit, die.0).ok()?.name?;
        let width = ["DW_ATE_unsigned_", "DW_ATE_signed_"].iter().find_map(|kind| name.strip_prefix(kind))?;
        width.parse().ok()
    }

    fn debug_addr(&self, index: u64) -> Answer<u64> {
        self.frame.debug()?.indexed_address(self.unit, index).map_err(absent)
    }

    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        if self.unit != self.frame.unit()? {
            return Err(ContextError::absent(format!(
                "the object map at {die} is of another unit than the frame's"
            )));
        }
        self.frame.map_of(die).map(Arc::new)
    }
}
