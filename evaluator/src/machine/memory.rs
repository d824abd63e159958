//! Operations on locations: formation from addresses and registers, displacement, reads.

use super::super::context::{LaneNeed, SpaceInfo};
use super::super::error::Cause;
use super::super::fetch::Reader;
use super::super::limits::MAX_VALUE_BITS;
use super::super::location::{CapturedLane, Location, Offset, Storage};
use super::super::value::{BaseType, Type, low_mask};
use super::stack::{Entry, Fiber};
use super::{Env, Evaluator, GLOBAL, Stop};
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg};

impl Evaluator<'_> {
    pub(super) fn register_size(&self, register: DwarfReg) -> Result<BitSize, Stop> {
        let unknown = |reason| Cause::NoRegister { register, reason }.into();
        self.context.machine().register_size(register).map_err(unknown)
    }

    pub(super) fn base_type(&self, die: DieOffset) -> Result<Type, Stop> {
        let base: BaseType = self.context.unit().base_type(die)?;
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

    /// Returns the address space of that number.
    pub(super) fn space_info(&self, space: AddressSpace) -> Result<SpaceInfo, Stop> {
        let info = self.context.machine().space(space).ok_or(Cause::ReservedSpace(space))?;
        Ok(SpaceInfo { address_bits: info.address_bits.min(64), ..info })
    }

    /// Returns the storage of an address space with the current lane ("Part 15" of the DWARF proposals: the storage is
    /// that of the lane when the location was created).
    fn memory(&self, env: Env, space: AddressSpace) -> Result<(Storage, u8), Stop> {
        let SpaceInfo { address_bits, lane } = self.space_info(space)?;
        let lane = match lane {
            LaneNeed::None => CapturedLane::None,
            LaneNeed::Now if !env.focused => return Err(Cause::NoLane.into()),
            LaneNeed::WhenRead if !env.focused => CapturedLane::None,
            LaneNeed::Now | LaneNeed::WhenRead => CapturedLane::Own,
            LaneNeed::Fixed(lane) => {
                let wave = self.context.machine().wave_size();
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

    /// `DW_OP_LLVM_form_aspace_address` for the entries at two indexes from the top.
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

    /// `DW_OP_breg*` and related: contents zero-extended, displacement added modulo the address size.
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

    /// Converts an entry to a location; generic values and implicit pointers into the default address space convert.
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
}
