//! Reading of locations: `DW_OP_deref*`, `DW_OP_xderef*` and typed registers.

use super::super::error::Cause;
use super::super::fetch::Reader;
use super::super::lanes::{LANES, Lanes};
use super::super::location::{ImplicitPointer, Location, Storage};
use super::super::value::{Limbs, Number, Type};
use super::stack::{Entry, Fiber, agreed, part_by_cause};
use super::{Env, Evaluator, Stop};
use crate::units::{DieOffset, LaneSet};

impl Evaluator<'_> {
    /// `DW_OP_deref*` for the top entry.
    pub(super) fn deref(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        bytes: u8,
        ty: Option<DieOffset>,
    ) -> Result<(), Stop> {
        let (bits, ty) = self.read_type(bytes, ty)?;
        let lanes = fiber.lanes;
        let location = self.make_location(env, fiber, 0)?;
        let entry = self.read_entry(env, lanes, location, bits, ty)?;
        fiber.stack.pop();
        fiber.stack.push(entry);
        Ok(())
    }

    /// `DW_OP_xderef*`: the address is on top, the address space below it.
    pub(super) fn xderef(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        bytes: u8,
        ty: Option<DieOffset>,
    ) -> Result<(), Stop> {
        let (bits, ty) = self.read_type(bytes, ty)?;
        let location = self.address(env, fiber, 1, 0)?;
        let entry = self.read_entry(env, fiber.lanes, &location, bits, ty)?;
        fiber.stack.truncate(fiber.stack.len().saturating_sub(2));
        fiber.stack.push(entry);
        Ok(())
    }

    fn read_type(&self, bytes: u8, ty: Option<DieOffset>) -> Result<(u32, Type), Stop> {
        let bits = u32::from(bytes) * 8;
        let Some(die) = ty else {
            if bytes > 8 {
                return Err(Cause::DerefTooWide { bytes: u64::from(bytes) }.into());
            }
            return Ok((bits, Type::Generic));
        };
        let ty = self.base_type(die)?;
        let (given, actual) = (u64::from(bits), ty.size().0);
        if given != actual {
            return Err(Cause::SizesDiffer { given, actual }.into());
        }
        Ok((actual as u32, ty))
    }

    fn read_entry(
        &mut self,
        env: Env,
        lanes: LaneSet,
        location: &Location,
        bits: u32,
        ty: Type,
    ) -> Result<Entry, Stop> {
        if let Some(pointer) = pointer_in(lanes, location, bits)? {
            return Ok(Entry::Pointer(pointer));
        }
        self.read(env, lanes, location, bits, ty).map(Entry::Number)
    }

    /// Reads bits of a location into a value; every bit must be known.
    pub(super) fn read(
        &mut self,
        env: Env,
        lanes: LaneSet,
        location: &Location,
        bits: u32,
        ty: Type,
    ) -> Result<Number, Stop> {
        if bits <= 64 {
            let limbs = Limbs::Narrow(self.read_word(env, lanes, location, 0, bits)?);
            return Ok(Number { ty, limbs });
        }
        let words = (0..bits)
            .step_by(64)
            .map(|from| self.read_word(env, lanes, location, u64::from(from), (bits - from).min(64)));
        let limbs = words.collect::<Result<Box<[_]>, Stop>>()?;
        Ok(Number { ty, limbs: Limbs::Wide(limbs) })
    }

    /// Reads up to 64 bits for every lane, once if nothing depends on the lane.
    fn read_word(
        &mut self,
        env: Env,
        lanes: LaneSet,
        location: &Location,
        extra: u64,
        bits: u32,
    ) -> Result<Lanes<u64>, Stop> {
        let focus = |lane| env.focused.then_some(lane);
        let mut reader = Reader::new(self.context);
        if location.is_uniform() {
            let first = lanes.first().unwrap_or_default();
            let word = reader.word(location, extra, bits, focus(first));
            self.work(reader.read)?;
            return Ok(Lanes::Uniform(word?));
        }
        let mut words = Box::new([0u64; LANES]);
        if read_register_lanes(&mut reader, lanes, location, extra, bits, &mut words) {
            self.work(1)?;
            return Ok(Lanes::Varying(words));
        }
        if let Some(words) = self.read_parts(env, lanes, location, extra, bits) {
            return Ok(words);
        }
        let mut failing = LaneSet::EMPTY;
        let mut causes = Vec::new();
        for lane in lanes.iter() {
            match reader.word(location, extra, bits, focus(lane)) {
                Ok(word) => {
                    if let Some(slot) = words.get_mut(usize::from(lane.0)) {
                        *slot = word;
                    }
                }
                Err(cause) => {
                    failing = LaneSet(failing.0 | LaneSet::one(lane).0);
                    causes.push(cause);
                }
            }
        }
        self.work(reader.read)?;
        let mut causes = causes.into_iter();
        part_by_cause(lanes, failing, |_| causes.next().unwrap_or(Cause::ReadsUndefined(None)))?;
        Ok(Lanes::Varying(words))
    }
}

impl Evaluator<'_> {
    /// Reads a word part by part from a composite, if the lanes read the same parts and all are known.
    fn read_parts(
        &mut self,
        env: Env,
        lanes: LaneSet,
        location: &Location,
        extra: u64,
        bits: u32,
    ) -> Option<Lanes<u64>> {
        let Storage::Composite(composite) = &location.storage else { return None };
        let from = location.offset.agreed(lanes)? + u128::from(extra);
        let until = from + u128::from(bits);
        if until > u128::from(composite.size().0) {
            return None;
        }
        let mut words = Lanes::Uniform(0u64);
        for (_, start, part) in composite.covering(from, until) {
            let (first, last) = (from.max(start), until.min(start + u128::from(part.size.0)));
            let (skip, shift) = ((first - start) as u64, (first - from) as u32);
            // The slow path reports the error with its lane.
            let word = self.read_word(env, lanes, &part.location, skip, (last - first) as u32).ok()?;
            words = words.zip(word, |words, word| words | word << shift);
        }
        Some(words)
    }
}

/// Reads one or two dwords of a vector register for each lane, if all are known: the usual read of a variable.
fn read_register_lanes(
    reader: &mut Reader<'_>,
    lanes: LaneSet,
    location: &Location,
    extra: u64,
    bits: u32,
    words: &mut [u64; LANES],
) -> bool {
    let (Storage::Register { register, frame, size }, Lanes::Varying(bytes), Lanes::Uniform(0)) =
        (&location.storage, &location.offset.bytes, &location.offset.bits)
    else {
        return false;
    };
    let Some(last) = u64::from(bits).checked_add(extra).and_then(|taken| size.0.checked_sub(taken)) else {
        return false;
    };
    let last = last / 8;
    if !location.offset.bytes.all(lanes, |byte| byte <= last) {
        return false;
    }
    let contents = reader.register(*register, *frame);
    let mut known = true;
    for lane in lanes.iter() {
        if let (Some(byte), Some(word)) = (bytes.get(usize::from(lane.0)), words.get_mut(usize::from(lane.0)))
        {
            let at = byte.wrapping_mul(8).wrapping_add(extra);
            known &= contents.knows(at, u64::from(bits));
            *word = contents.extract(at, bits);
        }
    }
    known
}

/// Returns the implicit pointer if these bits are exactly one.
///
/// "DW_OP_implicit_pointer" of the 2020 AMDGPU text: all of its bits, from a single part.
fn pointer_in(lanes: LaneSet, location: &Location, bits: u32) -> Result<Option<ImplicitPointer>, Stop> {
    let (pointer, inside) = match &location.storage {
        _ if bits == 0 => return Ok(None),
        Storage::ImplicitPointer(pointer) => {
            agreed(&location.offset.bytes, lanes)?;
            let bit = agreed(&location.offset.bits, lanes)?;
            let lane = lanes.first().unwrap_or_default();
            (*pointer, u128::from(location.offset.bytes.get(lane)) * 8 + u128::from(bit))
        }
        Storage::Composite(composite) if composite.has_pointers() => {
            agreed(&location.offset.bytes, lanes)?;
            agreed(&location.offset.bits, lanes)?;
            if lanes.count() > 1 && !location.is_uniform() {
                // Contiguity of the parts of a pointer depends on the lane; this case is too rare to optimise.
                return Err(Stop::Part(lanes.iter().map(LaneSet::one).collect()));
            }
            let lane = lanes.first().unwrap_or_default();
            let from = location.offset.get(lane);
            match composite.pointer(from, from + u128::from(bits), lane) {
                None => return Ok(None),
                Some(found) => found.ok_or(Cause::ImplicitPointerMisused)?,
            }
        }
        _ => return Ok(None),
    };
    if inside == 0 && u32::from(pointer.bits) == bits {
        Ok(Some(pointer))
    } else {
        Err(Cause::ImplicitPointerMisused.into())
    }
}
