//! A variable's object in one lane, for the attributes of its type: lengths of arrays, places of virtual bases, data
//! at other addresses.
//!
//! DWARF 5 sections 2.5.1.3 (`DW_OP_push_object_address`), 5.5 to 5.7 and 5.18.

use std::borrow::Cow;
use std::cell::Cell;

use crate::bounds::MAX_OBJECT_DEPTH;
use crate::debuginfo::Location as Described;
use crate::debuginfo::{
    DebugInfo, DynamicAttribute, DynamicError, DynamicSource, LocationAttribute, NumberError, Object,
    OwnedContents, TypeId, TypeKind,
};
use crate::dwarf::{
    CapturedLane, Entry, Evaluator, Focus, LaneNeed, Lanes, Location, Machine as _, Number, Offset, Program,
    Storage, clang_xderef, fetch,
};
use crate::session::MemoryAddress;
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::session::stack::frame::FrameContext;
use crate::session::variables::lds_objects;
use crate::units::{Address, BitSize, LaneId, LaneSet};

/// An object in one lane of a frame.
#[derive(Debug)]
pub(in crate::session) struct LaneObject<'a> {
    context: &'a FrameContext<'a>,
    debug: &'a DebugInfo,
    lane: LaneId,
    /// Its location, with those of other lanes.
    location: Cow<'a, Location>,
    depth: usize,
    /// Whether a type's attribute was evaluated: then the shown value depends on more than the object's bits.
    asked: Cell<bool>,
}

impl<'a> LaneObject<'a> {
    pub(in crate::session) fn new(
        context: &'a FrameContext<'a>,
        debug: &'a DebugInfo,
        lane: LaneId,
        location: Cow<'a, Location>,
    ) -> Self {
        Self { context, debug, lane, location, depth: 0, asked: Cell::new(false) }
    }

    /// Whether an attribute of the type was evaluated.
    pub(in crate::session) fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// The location at that number of bits from the object's first.
    fn place(&self, bits: i64) -> Result<Location, DynamicError> {
        let from = i128::try_from(self.location.offset.get(self.lane)).unwrap_or(i128::MAX);
        let to = u128::try_from(from.saturating_add(i128::from(bits)));
        let to = to.map_err(|_| DynamicError::BeforeStorage)?;
        let bytes = u64::try_from(to / 8).map_err(|_| DynamicError::PastStorage)?;
        let offset = Offset { bytes: Lanes::Uniform(bytes), bits: Lanes::Uniform((to % 8) as u8) };
        Ok(Location { storage: self.location.at(self.lane).storage, offset })
    }

    fn program(
        &self,
        attribute: &DynamicAttribute,
        location: &LocationAttribute,
    ) -> Result<Program, DynamicError> {
        let found = self.debug.location_at(attribute.unit, location, self.context.elf_pc)?;
        let bytes = found.expression().filter(|bytes| !bytes.is_empty());
        let bytes = bytes.ok_or(DynamicError::NotAtPc(attribute.attribute))?;
        let program = self.context.decode(bytes).map_err(|error| failed(attribute, error))?;
        Ok(if self.context.reading.is_some() { clang_xderef::of_object(&program) } else { program })
    }

    /// Evaluates with the part's place as the object, which is also the initial stack for attributes that need one.
    fn evaluated<T>(
        &self,
        attribute: &DynamicAttribute,
        at: i64,
        pointer: Option<u64>,
        evaluate: impl FnOnce(&mut Evaluator<'_>, Focus, &[Entry]) -> Result<T, crate::dwarf::Error>,
    ) -> Result<T, DynamicError> {
        let place = self.place(at)?;
        let mut initial = Vec::new();
        initial.extend(pointer.map(|pointer| Entry::Number(Number::generic(pointer))));
        if attribute.begins_with_object() || pointer.is_some() {
            initial.push(Entry::Location(place.clone()));
        }
        initial.extend(attribute.dimension.map(|dimension| Entry::Number(Number::generic(dimension))));
        let before = self.context.object.replace(Some(place).filter(|_| pointer.is_none()));
        let focus = Focus::Lanes(LaneSet::one(self.lane));
        let result = evaluate(&mut Evaluator::new(self.context), focus, &initial);
        self.context.object.replace(before);
        result.map_err(|error| failed(attribute, error))
    }

    /// The location that an attribute gives for the part at a number of bits from the object's first. `pointer`: the
    /// value of a pointer to a member, the first stack entry for its `DW_AT_use_location`, below the object's place.
    pub(in crate::session) fn located(
        &self,
        attribute: &DynamicAttribute,
        location: &LocationAttribute,
        at: i64,
        pointer: Option<u64>,
    ) -> Result<Location, DynamicError> {
        let program = self.program(attribute, location)?;
        let found = self.evaluated(attribute, at, pointer, |evaluator, focus, initial| {
            let group = evaluator.location(&program, focus, initial).into_iter().next();
            group.map_or_else(|| Ok(Location::undefined()), |group| group.result)
        })?;
        Ok(self.context.generic(found.at(self.lane), self.lane))
    }

    /// The value of a variable: of its scalar type, at most 8 bytes.
    fn variable(
        &self,
        attribute: &DynamicAttribute,
        die: crate::units::DieOffset,
    ) -> Result<i64, DynamicError> {
        let found = self.debug.referenced_die(die, self.context.elf_pc)?;
        let attribute = attribute.attribute;
        let unknown = |cause: NumberError| DynamicError::Variable { attribute, cause };
        let (size, is_signed) = self.scalar(found.type_id)?;
        let location = match &found.location {
            Described::ConstValue(bytes) => Location::implicit(bytes),
            location => {
                let bytes = location.expression().filter(|bytes| !bytes.is_empty());
                let program = self.context.decode(bytes.ok_or(DynamicError::NoVariable(attribute))?)?;
                let (described, lanes) = (lds_objects::Described::number(size), LaneSet::one(self.lane));
                let (groups, _) = self.context.locate_whole(
                    self.context,
                    &program,
                    self.context.reading,
                    &described,
                    lanes,
                );
                let found = groups.into_iter().next().ok_or(DynamicError::NoVariable(attribute))?;
                found.result.map_err(|error| unknown(error.into()))?
            }
        };
        self.stored(&location, size, is_signed).map_err(unknown)
    }

    /// Size and sign of a scalar type; 8 bytes if no type gives them.
    fn scalar(&self, id: Option<TypeId>) -> crate::debuginfo::Result<(u64, bool)> {
        let Some(id) = id else { return Ok((8, false)) };
        let size = self.debug.byte_size(id)?.unwrap_or(8);
        let found = self.debug.stripped(id)?;
        let is_signed = found.is_some_and(|found| match &found.kind {
            TypeKind::Base(base) => base.encoding.is_signed(),
            _ => false,
        });
        Ok((size, is_signed))
    }

    fn stored(&self, location: &Location, size: u64, is_signed: bool) -> Result<i64, NumberError> {
        if !(1..=8).contains(&size) {
            return Err(NumberError::Size(size));
        }
        let bits = fetch(self.context, location, Some(self.lane), BitSize(size * 8))?;
        let number = bits.number().ok_or(match bits.is_undefined() {
            true => NumberError::OptimizedOut,
            false => NumberError::NotCaptured,
        })?;
        let unused = 64 - size as u32 * 8;
        Ok(if is_signed { (number << unused) as i64 >> unused } else { number as i64 })
    }
}

fn failed(attribute: &DynamicAttribute, error: crate::dwarf::Error) -> DynamicError {
    DynamicError::Attribute { attribute: attribute.attribute, error }
}

impl Object for LaneObject<'_> {
    fn number(&self, attribute: &DynamicAttribute, at: i64) -> Result<i64, DynamicError> {
        self.asked.set(true);
        let location = match &attribute.source {
            DynamicSource::Variable(die) => return self.variable(attribute, *die),
            DynamicSource::Location(location) => location,
        };
        if let Some(size) = attribute.stored {
            let location = self.located(attribute, location, at, None)?;
            let attribute = attribute.attribute;
            let number = self.stored(&location, size, false);
            return number.map_err(|cause| DynamicError::Number { attribute, cause });
        }
        let program = self.program(attribute, location)?;
        let number = self.evaluated(attribute, at, None, |evaluator, focus, initial| {
            let group = evaluator.value(&program, focus, initial).into_iter().next();
            group.map_or_else(|| Ok(Number::generic(0)), |group| group.result)
        })?;
        let (kind, bits, _) = number.ty().shape();
        let low = number.low().get(self.lane);
        // A value narrower than 64 bits has its type's sign; generic values are 64 bits wide.
        let unused = 64u32.saturating_sub(bits);
        Ok(match kind {
            crate::dwarf::ValueClass::Signed => (low << unused) as i64 >> unused,
            _ => low as i64,
        })
    }

    fn part(&self, attribute: &DynamicAttribute, at: i64) -> Result<Box<dyn Object + '_>, DynamicError> {
        self.asked.set(true);
        if self.depth >= MAX_OBJECT_DEPTH {
            return Err(DynamicError::TooDeep(MAX_OBJECT_DEPTH));
        }
        let DynamicSource::Location(location) = &attribute.source else {
            return Err(DynamicError::NotAPlace(attribute.attribute));
        };
        let location = Cow::Owned(self.located(attribute, location, at, None)?);
        let (context, debug, lane) = (self.context, self.debug, self.lane);
        let depth = self.depth + 1;
        Ok(Box::new(LaneObject { context, debug, lane, location, depth, asked: Cell::default() }))
    }

    fn fetch(&self, skip: i64, size: u64) -> Result<OwnedContents, DynamicError> {
        self.asked.set(true);
        let place = self.place(skip.saturating_mul(8))?;
        let bits = fetch(self.context, &place, Some(self.lane), BitSize(size.saturating_mul(8)))?;
        Ok(OwnedContents {
            bytes: bits.bytes().to_vec(),
            undefined: bits.undefined().to_vec(),
            unavailable: bits.not_captured().to_vec(),
        })
    }
}

impl FrameContext<'_> {
    /// Memory at an address that was read from the program: a generic address if the unit's expressions name no address
    /// spaces.
    fn generic(&self, location: Location, lane: LaneId) -> Location {
        let Storage::Memory { space: GLOBAL, .. } = location.storage else { return location };
        let bits = location.offset.get(lane);
        let Some(address) = u64::try_from(bits / 8).ok().filter(|_| self.reading.is_some()) else {
            return location;
        };
        let walk = self.level.walk();
        let place = MemoryAddress {
            space: GENERIC,
            address: Address(address),
            wave: Some(walk.wave),
            lane: Some(lane),
        };
        let concrete = walk.reader.generic(place).ok().filter(|place| place.space != GLOBAL);
        let info = concrete.and_then(|place| Some((place, self.level.space(place.space)?)));
        let Some((place, info)) = info else { return location };
        let lane = match info.lane {
            LaneNeed::None => CapturedLane::None,
            LaneNeed::Now | LaneNeed::WhenRead => CapturedLane::Fixed(lane),
            LaneNeed::Fixed(lane) => CapturedLane::Fixed(lane),
        };
        let storage = Storage::Memory { space: place.space, address_bits: info.address_bits, lane };
        let offset =
            Offset { bytes: Lanes::Uniform(place.address.0), bits: Lanes::Uniform((bits % 8) as u8) };
        Location { storage, offset }
    }

    /// The symbol of a code object that holds a run-time address, demangled.
    pub(in crate::session) fn symbol(&self, address: u64) -> Option<String> {
        let walk = self.level.walk();
        let capture = walk.reader.dump().capture();
        let agent = capture.wave(walk.wave).map(|wave| wave.agent);
        let loaded = walk.reader.dump().objects().at(capture, address, agent)?;
        let object = loaded.object(capture).ok()?;
        let (symbol, offset) = object.symbol_at(loaded.elf(address))?;
        let name = crate::debuginfo::source_name(&symbol.name);
        Some(if offset == 0 { name } else { format!("{name}+{offset}") })
    }
}
