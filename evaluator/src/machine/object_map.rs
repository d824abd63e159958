//! `DW_OP_object_map` (DWARF issue 230712.4): elements of an array while chunks of it are in vector registers.
//!
//! All numbers are exact: byte offsets and chunk sizes are products of two 64-bit numbers, kept in 128 bits.

use super::super::composite::{Composite, Part};
use super::super::context::{Attribute, ObjectMap};
use super::super::error::{Cause, ContextError};
use super::super::lanes::Lanes;
use super::super::location::{Location, Offset, Storage};
use super::super::value::{Number, Type, ValueClass};
use super::offset::signed_limbs;
use super::stack::{Entry, Fiber, agreed, part_by_cause, whole};
use super::{Env, Evaluator, GLOBAL, Stop, Want};
use crate::units::{Address, BitSize, DieOffset, DwarfReg, LaneId, LaneSet};

/// The name of attribute expressions in errors.
const WHAT: &str = "DW_TAG_object_map";

/// Size of the largest address space in bytes, above all element offsets.
const MAX_BYTES: u128 = 1 << 64;

impl Evaluator<'_> {
    /// Replaces the index on top by the element: in the vector registers if they hold its chunk, else in memory.
    pub(super) fn object_map(&mut self, env: Env, fiber: &mut Fiber, die: DieOffset) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        let index = index(fiber)?;
        let map = self.context.unit().object_map(die)?;
        let size = self.count_inside(env, fiber, &map.element_size, "DW_AT_element_size")?;
        let count = self.count_inside(env, fiber, &map.element_count, "DW_AT_element_count")?;
        let chunk = size.clone().zip(count, |size, count| size * count);
        // Step 3 of the issue.
        let offset = index.clone().zip(size.clone(), |index, size| index * size);
        let in_registers = self.in_registers(env, fiber, &map, &offset, &chunk)?;
        if !in_registers.is_empty() && in_registers != lanes {
            return Err(Stop::Part(vec![in_registers, lanes.without(in_registers)]));
        }
        let (base, bytes) = if in_registers.is_empty() {
            (&map.mem_location, offset)
        } else {
            (&map.vec_location, offset.zip(chunk, |offset, chunk| offset.checked_rem(chunk).unwrap_or(0)))
        };
        let location = self.place_inside(env, fiber, base)?;
        if location.is_undefined() {
            fiber.replace(1, location);
            return Ok(());
        }
        let beyond = bytes.lanes_where(lanes, |bytes| bytes >= MAX_BYTES);
        part_by_cause(lanes, beyond, |lane| Cause::Index { index: index.get(lane) as i128 })?;
        let location = match location.storage {
            Storage::Register { .. } if !in_registers.is_empty() => {
                self.in_consecutive_registers(lanes, location, &bytes, &size)?
            }
            _ => {
                let by = |lane| (bytes.get(lane) * 8) as i128;
                let offset = location.moved(lanes, bytes.is_uniform(), by)?;
                Location { offset, ..location }
            }
        };
        fiber.replace(1, location);
        Ok(())
    }

    /// Returns the lanes whose element is in the chunk in registers: steps 1, 2, 4 and 5 of the issue.
    fn in_registers(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        map: &ObjectMap,
        offset: &Lanes<u128>,
        chunk: &Lanes<u128>,
    ) -> Result<LaneSet, Stop> {
        let here = match (map.ranges.is_empty(), self.context.call_frame().pc()) {
            (true, _) => true,
            (false, Some(pc)) => map.ranges.iter().any(|(low, high)| (*low..*high).contains(&pc)),
            (false, None) => return Err(ContextError::not_captured("no program location").into()),
        };
        if !here {
            return Ok(LaneSet::EMPTY);
        }
        let ordinal = self.integer_inside(env, fiber, &map.cntl_ordinal)?;
        let lanes = fiber.lanes.iter();
        let in_registers = lanes.filter(|lane| {
            let quotient = offset.get(*lane).checked_div(chunk.get(*lane));
            let ordinal = u128::try_from(ordinal.get(*lane)).ok().filter(|ordinal| *ordinal != 0);
            ordinal.is_some() && quotient == ordinal
        });
        Ok(in_registers.collect())
    }

    /// Returns the element at a byte offset in consecutive registers: "the product of element size and element count
    /// divided by the byte size of the vector register location gives the number of vector registers that make up a
    /// chunk". An element across two of them is a composite.
    fn in_consecutive_registers(
        &mut self,
        lanes: LaneSet,
        first: Location,
        bytes: &Lanes<u128>,
        size: &Lanes<u128>,
    ) -> Result<Location, Stop> {
        let Storage::Register { register, frame, size: bits } = first.storage else { return Ok(first) };
        let each = u128::from(bits.0).max(1);
        let start = |lane: LaneId| first.offset.get(lane) + bytes.get(lane) * 8;
        let nth = Lanes::from_fn(|lane| (start(LaneId(lane)) / each) as u64);
        let nth = agreed(&nth, lanes)?;
        let named = |number: u64| Location::register_of(DwarfReg(number), frame, bits);
        let number = self.consecutive(register, bits, nth)?;
        let inside = |lane: LaneId| start(lane) % each;
        let crosses = lanes.iter().any(|lane| inside(lane) + size.get(lane) * 8 > each);
        if !crosses {
            let location = named(number);
            let uniform = bytes.is_uniform() && first.is_uniform();
            let offset = location.moved(lanes, uniform, |lane| inside(lane) as i128)?;
            return Ok(Location { offset, ..location });
        }
        // The element's position determines the sizes of the parts.
        let mut at = agreed(&Lanes::from_fn(|lane| inside(LaneId(lane))), lanes)?;
        let mut left = agreed(size, lanes)? * 8;
        let mut composite = Composite::default();
        let mut nth = nth;
        while left > 0 {
            let taken = left.min(each - at);
            let location =
                Location { offset: Offset::from_bits(at), ..named(self.consecutive(register, bits, nth)?) };
            self.append(&mut composite, vec![Part { location, size: BitSize(taken as u64) }])?;
            (left, at, nth) = (left - taken, 0, nth.saturating_add(1));
        }
        Ok(whole(composite))
    }

    /// Returns the number of the nth register after `first`, which must have the same size.
    fn consecutive(&self, first: DwarfReg, size: BitSize, nth: u64) -> Result<u64, Stop> {
        let none = || Cause::NoRegister {
            register: first,
            reason: ContextError::absent(format!("{nth} registers after it there is none")),
        };
        let number = first.0.checked_add(nth).ok_or_else(none)?;
        let found = self.register_size(DwarfReg(number))?.0;
        if found != size.0 {
            let (of, register) = (Some(DwarfReg(number)), first);
            return Err(Cause::RuleSize { of, found, register, size: size.0 }.into());
        }
        Ok(number)
    }

    /// Evaluates an attribute as a location.
    fn place_inside(&mut self, env: Env, fiber: &mut Fiber, attribute: &Attribute) -> Result<Location, Stop> {
        match attribute {
            Attribute::Expression(program) => self.location_inside(env, fiber, program, WHAT),
            Attribute::Constant(address) => {
                let bits = self.space_info(GLOBAL)?.address_bits;
                Ok(Location::memory(GLOBAL, bits, Address(*address)))
            }
        }
    }

    /// Evaluates an attribute as an integer.
    fn integer_inside(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        attribute: &Attribute,
    ) -> Result<Lanes<i128>, Stop> {
        let program = match attribute {
            Attribute::Constant(value) => return Ok(Lanes::Uniform(i128::from(*value))),
            Attribute::Expression(program) => program,
        };
        match self.inside(env, fiber, program, Want::Value, WHAT)?.pop() {
            Some(Entry::Number(number)) if number.ty().is_integral() => Ok(integers(&number, fiber.lanes)),
            _ => Err(Cause::Kind { need: "an integral value", found: "a value of another type" }.into()),
        }
    }

    /// Evaluates an attribute as a number of bytes or elements: above 0, in 64 bits.
    fn count_inside(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        attribute: &Attribute,
        what: &'static str,
    ) -> Result<Lanes<u128>, Stop> {
        let lanes = fiber.lanes;
        let counts = self.integer_inside(env, fiber, attribute)?;
        let counted = |count: i128| u64::try_from(count).is_ok_and(|count| count > 0);
        let wrong = counts.lanes_where(lanes, |count| !counted(count));
        part_by_cause(lanes, wrong, |lane| Cause::Count { what, value: counts.get(lane) })?;
        Ok(counts.map(|count| u64::try_from(count).map_or(0, u128::from)))
    }
}

/// Reads the entry on top as an index, "a zero-origin ordinal": neither negative nor beyond 64 bits.
fn index(fiber: &mut Fiber) -> Result<Lanes<u128>, Stop> {
    let lanes = fiber.lanes;
    let index = integers(fiber.make_integral(0)?, lanes);
    let outside = index.lanes_where(lanes, |index| u64::try_from(index).is_err());
    part_by_cause(lanes, outside, |lane| Cause::Index { index: index.get(lane) })?;
    Ok(index.map(|index| u64::try_from(index).map_or(0, u128::from)))
}

/// Returns a value of an integral type for some lanes. A generic value counts as unsigned: a negative one leaves the
/// storage and is rejected there.
fn integers(number: &Number, lanes: LaneSet) -> Lanes<i128> {
    let (kind, bits, _) = number.ty().shape();
    let signed = kind == ValueClass::Signed && number.ty() != Type::Generic;
    let of = |lane: LaneId| signed_limbs(&number.limbs(lane), bits, signed);
    match number.is_uniform() {
        true => Lanes::Uniform(of(lanes.first().unwrap_or_default())),
        false => Lanes::from_fn(|lane| if lanes.contains(LaneId(lane)) { of(LaneId(lane)) } else { 0 }),
    }
}
