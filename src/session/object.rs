//! A variable's object in one lane, for the attributes of its type: lengths of arrays, places of virtual bases, data
//! at other addresses.
//!
//! DWARF 5 sections 2.5.1.3 (`DW_OP_push_object_address`), 5.5 to 5.7 and 5.18.

use std::borrow::Cow;
use std::cell::Cell;

use super::MemoryAddress;
use super::address::{GENERIC, GLOBAL};
use super::frame::FrameContext;
use crate::debuginfo::Location as Described;
use crate::debuginfo::{
    DebugInfo, DynamicAttribute, DynamicSource, LocationAttribute, Object, OwnedContents, TypeId, TypeKind,
};
use crate::dwarf::{
    CapturedLane, Entry, Evaluator, Focus, LaneNeed, Lanes, Location, Machine as _, Number, Offset, Program,
    Storage, clang_xderef, fetch,
};
use crate::units::{Address, BitSize, LaneId, LaneSet};

/// Maximum depth of variables whose length depends on another variable: no source nests deeper.
const MAX_DEPTH: usize = 8;

/// An object in one lane of a frame.
#[derive(Debug)]
pub(super) struct LaneObject<'a> {
    context: &'a FrameContext<'a>,
    debug: &'a DebugInfo,
    lane: LaneId,
    /// Its location, independent of the lane.
    location: Cow<'a, Location>,
    depth: usize,
    /// Whether a type's attribute was evaluated: then the shown value depends on more than the object's bits.
    asked: Cell<bool>,
}

impl<'a> LaneObject<'a> {
    pub(super) fn new(
        context: &'a FrameContext<'a>,
        debug: &'a DebugInfo,
        lane: LaneId,
        location: Cow<'a, Location>,
    ) -> Self {
        Self { context, debug, lane, location, depth: 0, asked: Cell::new(false) }
    }

    /// Whether an attribute of the type was evaluated.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// The location at that number of bits from the object's first.
    fn place(&self, bits: i64) -> Result<Location, String> {
        let from = i128::try_from(self.location.offset.get(self.lane)).unwrap_or(i128::MAX);
        let to = u128::try_from(from.saturating_add(i128::from(bits)));
        let to = to.map_err(|_| "a part of the object lies before its storage".to_owned())?;
        let bytes =
            u64::try_from(to / 8).map_err(|_| "a part of the object lies past its storage".to_owned())?;
        let offset = Offset { bytes: Lanes::Uniform(bytes), bits: Lanes::Uniform((to % 8) as u8) };
        Ok(Location { storage: self.location.storage.clone(), offset })
    }

    fn program(&self, attribute: &DynamicAttribute, location: &LocationAttribute) -> Result<Program, String> {
        let found = self.debug.location_at(attribute.unit, location, self.context.elf_pc);
        let found = found.map_err(|error| error.to_string())?;
        let bytes = found.expression().filter(|bytes| !bytes.is_empty());
        let bytes = bytes.ok_or_else(|| format!("{} says nothing at this PC", attribute.attribute))?;
        let program =
            self.context.decode(bytes).map_err(|error| format!("{}: {error}", attribute.attribute))?;
        Ok(if self.context.reading.is_some() { clang_xderef::of_object(&program) } else { program })
    }

    /// Evaluates with the part's place as the object, which is also the initial stack for attributes that need one.
    fn evaluated<T>(
        &self,
        attribute: &DynamicAttribute,
        at: i64,
        pointer: Option<u64>,
        evaluate: impl FnOnce(&mut Evaluator<'_>, Focus, &[Entry]) -> Result<T, crate::dwarf::Error>,
    ) -> Result<T, String> {
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
        result.map_err(|error| format!("{}: {error}", attribute.attribute))
    }

    /// The location that an attribute gives, for the part that begins that many bits into the object. `pointer`: the
    /// value of a pointer to a member, which its `DW_AT_use_location` begins with, below the object's place.
    pub(super) fn located(
        &self,
        attribute: &DynamicAttribute,
        location: &LocationAttribute,
        at: i64,
        pointer: Option<u64>,
    ) -> Result<Location, String> {
        let program = self.program(attribute, location)?;
        let found = self.evaluated(attribute, at, pointer, |evaluator, focus, initial| {
            let group = evaluator.location(&program, focus, initial).into_iter().next();
            group.map_or_else(|| Ok(Location::undefined()), |group| group.result)
        })?;
        Ok(self.context.generic(found.at(self.lane), self.lane))
    }

    /// The value of a variable: of its scalar type, at most 8 bytes.
    fn variable(&self, attribute: &DynamicAttribute, die: crate::units::DieOffset) -> Result<i64, String> {
        let words = |error: crate::debuginfo::DebugInfoError| error.to_string();
        let found = self.debug.referenced_die(die, self.context.elf_pc).map_err(words)?;
        let unknown = |why: &str| format!("{} is the value of a variable {why}", attribute.attribute);
        let location = match &found.location {
            Described::ConstValue(bytes) => Location::implicit(bytes),
            location => {
                let bytes = location.expression().filter(|bytes| !bytes.is_empty());
                let bytes = bytes.ok_or_else(|| unknown("that was optimized out"))?;
                let program = self.context.decode(bytes).map_err(|error| error.to_string())?;
                let found = Evaluator::new(self.context).location_for(&program, Some(self.lane));
                found.map_err(|error| unknown(&format!("without a value: {error}")))?
            }
        };
        let (size, is_signed) = self.scalar(found.type_id).map_err(words)?;
        self.stored(&location, size, is_signed).map_err(|why| unknown(&format!("without a value: {why}")))
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

    fn stored(&self, location: &Location, size: u64, is_signed: bool) -> Result<i64, String> {
        if !(1..=8).contains(&size) {
            return Err(format!("a number of {size} bytes, expected 1 to 8"));
        }
        let bits = fetch(self.context, location, Some(self.lane), BitSize(size * 8));
        let bits = bits.map_err(|error| error.to_string())?;
        let number = bits.number().ok_or_else(|| match bits.is_undefined() {
            true => "it was optimized out".to_owned(),
            false => "it was not captured".to_owned(),
        })?;
        let unused = 64 - size as u32 * 8;
        Ok(if is_signed { (number << unused) as i64 >> unused } else { number as i64 })
    }
}

impl Object for LaneObject<'_> {
    fn number(&self, attribute: &DynamicAttribute, at: i64) -> Result<i64, String> {
        self.asked.set(true);
        let location = match &attribute.source {
            DynamicSource::Variable(die) => return self.variable(attribute, *die),
            DynamicSource::Location(location) => location,
        };
        if let Some(size) = attribute.stored {
            let location = self.located(attribute, location, at, None)?;
            return self
                .stored(&location, size, false)
                .map_err(|why| format!("{}: {why}", attribute.attribute));
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

    fn part(&self, attribute: &DynamicAttribute, at: i64) -> Result<Box<dyn Object + '_>, String> {
        self.asked.set(true);
        if self.depth >= MAX_DEPTH {
            return Err(format!("objects that lead to objects do not end after {MAX_DEPTH} steps"));
        }
        let DynamicSource::Location(location) = &attribute.source else {
            return Err(format!("{} names a variable, expected a place", attribute.attribute));
        };
        let location = Cow::Owned(self.located(attribute, location, at, None)?);
        let (context, debug, lane) = (self.context, self.debug, self.lane);
        let depth = self.depth + 1;
        Ok(Box::new(LaneObject { context, debug, lane, location, depth, asked: Cell::default() }))
    }

    fn fetch(&self, skip: i64, size: u64) -> Result<OwnedContents, String> {
        self.asked.set(true);
        let place = self.place(skip.saturating_mul(8))?;
        let bits = fetch(self.context, &place, Some(self.lane), BitSize(size.saturating_mul(8)));
        let bits = bits.map_err(|error| error.to_string())?;
        Ok(OwnedContents {
            bytes: bits.bytes().to_vec(),
            undefined: bits.undefined().to_vec(),
            unavailable: bits.not_captured().to_vec(),
        })
    }
}

impl FrameContext<'_> {
    /// Memory at an address that was read out of the program: a generic address if the unit's expressions name no
    /// address spaces.
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
    pub(super) fn symbol(&self, address: u64) -> Option<String> {
        let walk = self.level.walk();
        let capture = walk.reader.dump().capture();
        let agent = capture.wave(walk.wave).map(|wave| wave.agent);
        let loaded = walk.reader.dump().objects().at(capture, address, agent)?;
        let object = loaded.object(capture).ok()?;
        let (symbol, offset) = object.symbol_at(loaded.elf(address))?;
        let name = crate::debuginfo::demangle(&symbol.name).unwrap_or_else(|| symbol.name.clone());
        Some(if offset == 0 { name } else { format!("{name}+{offset}") })
    }
}
