//! Operations on locations: making them of addresses and registers, moving within them, reading them.

use super::super::context::{LaneNeed, SpaceInfo};
use super::super::error::Cause;
use super::super::fetch::Reader;
use super::super::lanes::{LANES, Lanes};
use super::super::limits::MAX_VALUE_BITS;
use super::super::location::{CapturedLane, Implicit, ImplicitPointer, Location, Offset, Storage};
use super::super::value::{BaseType, Kind, Limbs, Number, Type, low_mask};
use super::stack::{Entry, Fiber, agreed, part_by_cause};
use super::{Env, Evaluator, GLOBAL, Stop};
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, LaneSet};

impl Evaluator<'_> {
    pub(super) fn register_size(&self, register: DwarfReg) -> Result<BitSize, Stop> {
        self.context
            .register_size(register)
            .map_err(|reason| Cause::NoRegister { register, reason: reason.into() }.into())
    }

    pub(super) fn base_type(&self, die: DieOffset) -> Result<Type, Stop> {
        let base: BaseType = self.context.base_type(die)?;
        if base.size().0 > MAX_VALUE_BITS {
            return Err(Cause::Limit { what: "bits of a value", limit: MAX_VALUE_BITS }.into());
        }
        if !base.is_supported() {
            return Err(Cause::Zero("the size of the base type").into());
        }
        Ok(Type::Base(base))
    }

    pub(super) fn type_or_generic(&self, die: Option<DieOffset>) -> Result<Type, Stop> {
        die.map_or(Ok(Type::Generic), |die| self.base_type(die))
    }

    /// The address space of that number.
    pub(super) fn space_info(&self, space: AddressSpace) -> Result<SpaceInfo, Stop> {
        let info = self.context.space(space).ok_or(Cause::ReservedSpace(space))?;
        Ok(SpaceInfo { address_bits: info.address_bits.min(64), ..info })
    }

    /// The storage of an address space, with the lane captured now ("Part 15" of the DWARF proposals: the storage is
    /// that of the lane when the location was created).
    fn memory(&self, env: Env, space: AddressSpace) -> Result<(Storage, u8), Stop> {
        let SpaceInfo { address_bits, lane } = self.space_info(space)?;
        let lane = match lane {
            LaneNeed::None => CapturedLane::None,
            LaneNeed::Now if !env.focused => return Err(Cause::NoLane.into()),
            LaneNeed::WhenRead if !env.focused => CapturedLane::None,
            LaneNeed::Now | LaneNeed::WhenRead => CapturedLane::Own,
            LaneNeed::Fixed(lane) => {
                let wave = self.context.wave_size();
                if !wave.has(lane) {
                    return Err(Cause::LaneOutOfRange { lane, lanes: u64::from(wave.lanes()) }.into());
                }
                CapturedLane::None
            }
        };
        Ok((Storage::Memory { space, address_bits, lane }, address_bits))
    }

    pub(super) fn push_global(&mut self, fiber: &mut Fiber, address: u64) -> Result<(), Stop> {
        let info = self.space_info(GLOBAL)?;
        fiber.push_location(Location::memory(GLOBAL, info.address_bits, Address(address)));
        Ok(())
    }

    /// `DW_OP_LLVM_form_aspace_address` of the entries at two indexes from the top.
    pub(super) fn address(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        space_at: usize,
        address_at: usize,
    ) -> Result<Location, Stop> {
        let space = fiber.space(space_at)?;
        if let Entry::Pointer(pointer) = fiber.entry(address_at)? {
            let pointer = *pointer;
            self.space_info(space)?;
            if pointer.space != space {
                return Err(Cause::ImplicitPointerSpace { expected: pointer.space }.into());
            }
            return self.pointed_at(env, fiber, pointer);
        }
        let address = fiber.make_integral(address_at)?.low().clone();
        let (storage, bits) = self.memory(env, space)?;
        let mut offset = Offset::bytes(address);
        if bits < 64 {
            let mask = low_mask(u32::from(bits));
            offset.bytes.change(|address| address & mask);
        }
        Ok(Location { storage, offset })
    }

    /// `DW_OP_breg*` and kin: contents zero-extended, displacement added modulo the address size.
    pub(super) fn base_register(
        &mut self,
        env: Env,
        register: DwarfReg,
        displacement: i64,
        space: AddressSpace,
    ) -> Result<Location, Stop> {
        let (storage, address_bits) = self.memory(env, space)?;
        let size = self.register_size(register)?;
        let narrowed = size.0 == 64 && address_bits == 32;
        if size.0 > u64::from(address_bits) && !narrowed {
            let address = u64::from(address_bits);
            return Err(Cause::RegisterTooWide { register, size: size.0, address }.into());
        }
        let whole = Location::register_of(register, env.frame, size);
        let contents = Reader::new(self.context).word(&whole, 0, size.0 as u32, None)?;
        let address = contents.wrapping_add_signed(displacement) & low_mask(u32::from(address_bits));
        Ok(Location { storage, offset: Offset::bytes(address) })
    }

    /// The entry as a location; generic values and implicit pointers into the default address space convert.
    pub(super) fn make_location<'f>(
        &mut self,
        env: Env,
        fiber: &'f mut Fiber,
        index: usize,
    ) -> Result<&'f mut Location, Stop> {
        let converted = match fiber.entry(index)? {
            Entry::Location(_) => None,
            Entry::Number(number) if number.ty() == Type::Generic => {
                let address = number.low().clone();
                let storage = self.memory(env, GLOBAL)?.0;
                Some(Location { storage, offset: Offset::bytes(address) })
            }
            Entry::Number(_) => return Err(Cause::Kind { need: "a location", found: "a typed value" }.into()),
            Entry::Pointer(pointer) if pointer.space == GLOBAL => {
                let pointer = *pointer;
                Some(self.pointed_at(env, fiber, pointer)?)
            }
            Entry::Pointer(_) => return Err(Cause::ImplicitPointerMisused.into()),
            Entry::Incomplete(_) => return Err(Cause::Incomplete.into()),
        };
        let entry = fiber.entry(index)?;
        if let Some(location) = converted {
            *entry = Entry::Location(location);
        }
        match entry {
            Entry::Location(location) => Ok(location),
            _ => Err(Cause::Kind { need: "a location", found: "a value" }.into()),
        }
    }

    /// `DW_OP_LLVM_offset` and `DW_OP_LLVM_bit_offset`; `unit` is the bits of a step.
    pub(super) fn offset(&mut self, env: Env, fiber: &mut Fiber, unit: u8) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        fiber.make_integral(0)?;
        self.make_location(env, fiber, 1)?;
        let [.., Entry::Location(location), Entry::Number(displacement)] = fiber.stack.as_mut_slice() else {
            return Ok(());
        };
        // Generic and signed displacements are signed, unsigned ones are not.
        let (kind, bits, _) = displacement.ty.shape();
        let signed = kind == Kind::Signed;
        match &displacement.limbs {
            Limbs::Narrow(by) if unit == 8 && bits == 64 && signed => {
                location.offset = location.moved_by_bytes(lanes, by)?;
            }
            _ => {
                let number = &*displacement;
                let by = |lane| signed_limbs(&number.limbs(lane), bits, signed) * i128::from(unit);
                location.offset = location.moved(lanes, number.low().is_uniform(), by)?;
            }
        }
        fiber.stack.pop();
        Ok(())
    }

    /// `DW_OP_deref*` of the top.
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

    /// `DW_OP_xderef*`: the address is on top and the address space below it.
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
        let (said, actual) = (u64::from(bits), ty.size().0);
        if said != actual {
            return Err(Cause::SizesDiffer { said, actual }.into());
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

    /// Reads bits of a location into a value; every bit must be there.
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
            return Ok(Lanes::Uniform(reader.word(location, extra, bits, focus(first))?));
        }
        let mut words = Box::new([0u64; LANES]);
        if read_register_lanes(&mut reader, lanes, location, extra, bits, &mut words) {
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
        let mut causes = causes.into_iter();
        part_by_cause(lanes, failing, |_| causes.next().unwrap_or(Cause::ReadsUndefined(None)))?;
        Ok(Lanes::Varying(words))
    }
}

impl Evaluator<'_> {
    /// Reads a word part by part from a composite, if the lanes read the same parts and find all of them.
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
        if until > u128::from(composite.size.0) {
            return None;
        }
        let mut words = Lanes::Uniform(0u64);
        let mut start = 0u128;
        for part in &composite.parts {
            let end = start + u128::from(part.size.0);
            let (first, last) = (from.max(start), until.min(end));
            if first < last {
                let (skip, shift) = ((first - start) as u64, (first - from) as u32);
                // A failure is told by the slow way, which knows the lane that it belongs to.
                let word = self.read_word(env, lanes, &part.location, skip, (last - first) as u32).ok()?;
                words = words.zip(word, |words, word| words | word << shift);
            }
            start = end;
        }
        Some(words)
    }
}

/// A dword or two of a vector register for each lane, if all are known: what variables in registers come to.
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

/// The implicit pointer that reading these bits gives, if they are exactly one.
///
/// "DW_OP_implicit_pointer" of the 2020 AMDGPU text: all of its bits, from a single part.
fn pointer_in(lanes: LaneSet, location: &Location, bits: u32) -> Result<Option<ImplicitPointer>, Stop> {
    let whole = |pointer: &ImplicitPointer, offset: u128| {
        if offset == 0 && u32::from(pointer.bits) == bits {
            Ok(Some(*pointer))
        } else {
            Err(Stop::from(Cause::ImplicitPointerMisused))
        }
    };
    let pointers = match &location.storage {
        Storage::ImplicitPointer(_) => true,
        Storage::Composite(composite) => {
            composite.parts.iter().any(|part| matches!(part.location.storage, Storage::ImplicitPointer(_)))
        }
        _ => false,
    };
    if !pointers || bits == 0 {
        return Ok(None);
    }
    agreed(&location.offset.bytes, lanes)?;
    agreed(&location.offset.bits, lanes)?;
    if lanes.count() > 1 && !location.is_uniform() {
        // Whether parts join into a whole pointer depends on the lane; this is too rare to be clever about.
        return Err(Stop::Part(lanes.iter().map(LaneSet::one).collect()));
    }
    let lane = lanes.first().unwrap_or_default();
    let offset = location.offset.get(lane);
    match &location.storage {
        Storage::ImplicitPointer(pointer) => whole(pointer, offset),
        Storage::Composite(_) => {
            let mut start = 0u128;
            for part in location.canonical(lane) {
                let (at, end) = (start, start + u128::from(part.size.0));
                start = end;
                let touched = at < offset + u128::from(bits) && offset < end;
                if let (true, Storage::ImplicitPointer(pointer)) = (touched, &part.location.storage) {
                    let inside = part.location.offset.get(lane);
                    if at != offset || part.size.0 != u64::from(bits) {
                        return Err(Cause::ImplicitPointerMisused.into());
                    }
                    return whole(pointer, inside);
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

pub(super) fn signed_limbs(limbs: &[u64], bits: u32, signed: bool) -> i128 {
    let low = limbs.first().copied().unwrap_or(0);
    if bits <= 64 {
        let unused = 64 - bits.clamp(1, 64);
        return if signed { i128::from((low << unused) as i64 >> unused) } else { i128::from(low) };
    }
    // Beyond 64 bits every displacement that matters has its high limbs all 0 or all 1.
    let wide = super::super::wide::resized(limbs, bits, 128, signed);
    let high = wide.get(1).copied().unwrap_or(0);
    let fits = (high == 0 || signed && high == u64::MAX)
        && super::super::wide::cmp(&super::super::wide::resized(&wide, 128, bits, signed), limbs).is_eq();
    if fits { (u128::from(high) << 64 | u128::from(low)) as i128 } else { i128::from(i64::MAX) << 32 }
}

impl<T: Copy> Lanes<T> {
    pub(super) fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform(_))
    }
}

impl Location {
    /// Whether nothing of it depends on the lane.
    pub(in crate::dwarf) fn is_uniform(&self) -> bool {
        let storage = match &self.storage {
            Storage::Memory { lane: CapturedLane::Own, .. } => false,
            Storage::Implicit(Implicit::Number(number)) => match &number.limbs {
                Limbs::Narrow(bits) => bits.is_uniform(),
                Limbs::Wide(limbs) => limbs.iter().all(Lanes::is_uniform),
            },
            Storage::Composite(composite) => composite.parts.iter().all(|part| part.location.is_uniform()),
            _ => true,
        };
        storage && self.offset.bytes.is_uniform() && self.offset.bits.is_uniform()
    }

    /// The offset after a displacement in bits that is the same for all lanes.
    pub(super) fn displaced(&self, lanes: LaneSet, by: i128) -> Result<Offset, Stop> {
        self.moved(lanes, true, |_| by)
    }

    /// The offset after a displacement in bits: at least 0 and less than the storage's size, without wrapping. The
    /// undefined location stays as it is.
    pub(super) fn moved(
        &self,
        lanes: LaneSet,
        uniform: bool,
        by: impl Fn(crate::units::LaneId) -> i128,
    ) -> Result<Offset, Stop> {
        let Some(size) = self.storage.size() else { return Ok(self.offset.clone()) };
        let target = |lane| (self.offset.get(lane) as i128).saturating_add(by(lane));
        let inside = |offset: i128| u128::try_from(offset).is_ok_and(|offset| offset < size);
        if uniform && self.offset.bytes.is_uniform() && self.offset.bits.is_uniform() {
            let offset = target(lanes.first().unwrap_or_default());
            if !inside(offset) {
                return Err(Cause::OutsideStorage { offset, size }.into());
            }
            return Ok(Offset::from_bits(offset as u128));
        }
        let failing: LaneSet = lanes.iter().filter(|lane| !inside(target(*lane))).collect();
        part_by_cause(lanes, failing, |lane| Cause::OutsideStorage { offset: target(lane), size })?;
        let get = |lane| if lanes.contains(lane) { target(lane) as u128 } else { 0 };
        Ok(Offset {
            bytes: Lanes::from_fn(|lane| (get(crate::units::LaneId(lane)) / 8) as u64),
            bits: Lanes::from_fn(|lane| (get(crate::units::LaneId(lane)) % 8) as u8),
        })
    }

    /// The same for signed displacements in bytes, in loops that compile to vector code.
    fn moved_by_bytes(&self, lanes: LaneSet, by: &Lanes<u64>) -> Result<Offset, Stop> {
        let Some(size) = self.storage.size() else { return Ok(self.offset.clone()) };
        let (Lanes::Uniform(0), true) = (&self.offset.bits, size % 8 == 0) else {
            return self.moved(lanes, by.is_uniform(), |lane| i128::from(by.get(lane) as i64) * 8);
        };
        // The last byte of the storage; the offset may not be past it.
        let last = (size / 8).saturating_sub(1) as u64;
        let target = |from: u64, by: u64| {
            let (to, wrapped) = from.overflowing_add_signed(by as i64);
            (to, size != 0 && !wrapped && to <= last)
        };
        let bytes = match (&self.offset.bytes, by) {
            (Lanes::Uniform(from), Lanes::Uniform(by)) => match target(*from, *by) {
                (to, true) => Some(Lanes::Uniform(to)),
                _ => None,
            },
            (from, by) => {
                let mut to = Box::new([0u64; LANES]);
                let mut good = 0u64;
                for (index, to) in to.iter_mut().enumerate() {
                    let lane = crate::units::LaneId(index as u8);
                    let (at, ok) = target(from.get(lane), by.get(lane));
                    *to = at;
                    good |= u64::from(ok) << index;
                }
                (lanes.without(LaneSet(good)).is_empty()).then_some(Lanes::Varying(to))
            }
        };
        match bytes {
            Some(bytes) => Ok(Offset { bytes, bits: Lanes::Uniform(0) }),
            None => self.moved(lanes, by.is_uniform(), |lane| i128::from(by.get(lane) as i64) * 8),
        }
    }

    /// Fails for lanes where the storage does not hold that many bits from the offset on.
    pub(super) fn check_holds(&self, lanes: LaneSet, bits: u64) -> Result<(), Stop> {
        let Some(size) = self.storage.size() else { return Ok(()) };
        let wanted = bits;
        let beyond = |lane| {
            let offset = self.offset.get(lane);
            (offset + u128::from(bits) > size).then_some(Cause::BeyondStorage { offset, wanted, size })
        };
        if self.offset.bytes.is_uniform() && self.offset.bits.is_uniform() {
            return beyond(lanes.first().unwrap_or_default()).map_or(Ok(()), |cause| Err(cause.into()));
        }
        let failing: LaneSet = lanes.iter().filter(|lane| beyond(*lane).is_some()).collect();
        part_by_cause(lanes, failing, |lane| beyond(lane).unwrap_or(Cause::ReadsUndefined(None)))
    }
}

/// Fails for lanes that are not below a bound.
pub(super) fn check_bound(lanes: LaneSet, bound: u64) -> Result<(), Stop> {
    let below = LaneSet(low_mask(u32::try_from(bound).unwrap_or(64)));
    let failing = lanes.without(below);
    part_by_cause(lanes, failing, |lane| Cause::LaneOutOfRange { lane, lanes: bound })
}
