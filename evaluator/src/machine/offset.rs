//! Displacement of a location: `DW_OP_LLVM_offset` and related.

use super::super::error::Cause;
use super::super::lanes::{LANES, Lanes};
use super::super::location::{CapturedLane, Implicit, Location, Offset, Storage};
use super::super::value::{Limbs, ValueClass, low_mask};
use super::stack::{Entry, Fiber, part_by_cause};
use super::{Env, Evaluator, Stop};
use crate::units::LaneSet;

impl Evaluator<'_> {
    /// `DW_OP_LLVM_offset` and `DW_OP_LLVM_bit_offset`; `unit` is the bits per step.
    pub(super) fn offset(&mut self, env: Env, fiber: &mut Fiber, unit: u8) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        fiber.make_integral(0)?;
        self.make_location(env, fiber, 1)?;
        let [.., Entry::Location(location), Entry::Number(displacement)] = fiber.stack.as_mut_slice() else {
            return Ok(());
        };
        // Generic and signed displacements are signed; unsigned ones are not.
        let (kind, bits, _) = displacement.ty.shape();
        let signed = kind == ValueClass::Signed;
        match &displacement.limbs {
            Limbs::Narrow(by) if unit == 8 && bits == 64 && signed => {
                location.offset = location.moved_by_bytes(lanes, by)?;
            }
            _ => {
                let number = &*displacement;
                let by = |lane| signed_limbs(&number.limbs(lane), bits, signed) * i128::from(unit);
                location.offset = location.moved(lanes, number.is_uniform(), by)?;
            }
        }
        fiber.stack.pop();
        Ok(())
    }
}

pub(super) fn signed_limbs(limbs: &[u64], bits: u32, signed: bool) -> i128 {
    let low = limbs.first().copied().unwrap_or(0);
    if bits <= 64 {
        let unused = 64 - bits.clamp(1, 64);
        return if signed { i128::from((low << unused) as i64 >> unused) } else { i128::from(low) };
    }
    // In a relevant displacement beyond 64 bits the high limbs are all 0 or all 1.
    let wide = super::super::wide::resized(limbs, bits, 128, signed);
    let high = wide.get(1).copied().unwrap_or(0);
    let fits = (high == 0 || signed && high == u64::MAX)
        && super::super::wide::cmp(&super::super::wide::resized(&wide, 128, bits, signed), limbs).is_eq();
    if fits { (u128::from(high) << 64 | u128::from(low)) as i128 } else { i128::from(i64::MAX) << 32 }
}

impl<T: Copy> Lanes<T> {
    pub(crate) fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform(_))
    }
}

impl Location {
    /// Whether it is independent of the lane.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        let storage = match &self.storage {
            Storage::Memory { lane: CapturedLane::Own, .. } => false,
            Storage::Implicit(Implicit::Number(number)) => number.is_uniform(),
            Storage::Composite(composite) => !composite.is_varying(),
            _ => true,
        };
        storage && self.offset.bytes.is_uniform() && self.offset.bits.is_uniform()
    }

    /// Adds a displacement in bits that is the same for all lanes.
    pub(super) fn displaced(&self, lanes: LaneSet, by: i128) -> Result<Offset, Stop> {
        self.moved(lanes, true, |_| by)
    }

    /// Adds a displacement in bits: the result is at least 0 and below the storage's size, without wrapping. The
    /// undefined location stays unchanged.
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
        // The last byte of the storage, the maximum of the offset.
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

    /// Fails for lanes whose storage has fewer bits from the offset on.
    pub(super) fn check_holds(&self, lanes: LaneSet, bits: u128) -> Result<(), Stop> {
        let Some(size) = self.storage.size() else { return Ok(()) };
        let wanted = bits;
        let beyond = |lane| {
            let offset = self.offset.get(lane);
            (offset + bits > size).then_some(Cause::BeyondStorage { offset, wanted, size })
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
