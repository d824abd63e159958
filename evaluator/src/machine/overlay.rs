//! Overlays (DWARF issue 251120.1): a location placed over a part of another.
//!
//! `DW_OP_overlay` pops a size, an offset, the overlay and the base. The result is the base, with that many bytes (or
//! bits) from the offset on taken from the overlay. It begins at the base's offset and keeps the base's storage on both
//! sides, so later operations may move in both directions. An overlay may begin before the base's offset and end beyond
//! its storage; a gap is undefined. In LLVM's later document both are ill-formed, and the bits to the left are dropped.
//!
//! Memory with 64-bit addresses has more than 2^64 bits: each side keeps at most [`MAX_OVERLAY_REACH`] bits of it.

use super::super::composite::{Composite, Part};
use super::super::error::Cause;
use super::super::limits::MAX_OVERLAY_REACH;
use super::super::location::{Location, Offset};
use super::super::origin::WhyUndefined;
use super::composite::{countable, parts_of};
use super::stack::{Fiber, agreed, whole};
use super::{Env, Evaluator, Stop};
use crate::units::BitSize;

impl Evaluator<'_> {
    /// `DW_OP_overlay` and `DW_OP_bit_overlay`; `unit` is the unit of offset and size in bits.
    pub(super) fn overlay(&mut self, env: Env, fiber: &mut Fiber, unit: u8) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        let width = number(fiber, 0)? * i128::from(unit);
        let displacement = number(fiber, 1)? * i128::from(unit);
        let overlay = self.make_location(env, fiber, 2)?.clone();
        let base = self.make_location(env, fiber, 3)?.clone();
        let width = u128::try_from(width).map_err(|_| Cause::OverlayWidth { bits: width })?;
        let over = parts_of(lanes, &overlay, width)?;
        let at = u128::from(agreed(&base.offset.bytes, lanes)?) * 8
            + u128::from(agreed(&base.offset.bits, lanes)?);
        // The undefined storage has no end; it is cut to the reach of the others.
        let size = base.storage.size();
        let offset = (at as i128).saturating_add(displacement);
        let Ok(start) = u128::try_from(offset) else {
            return Err(Cause::OutsideStorage { offset, size: size.unwrap_or(0) }.into());
        };
        if width == 0 {
            fiber.replace(4, base);
            return Ok(());
        }
        let end = start.saturating_add(width);
        let reach = u128::from(MAX_OVERLAY_REACH);
        let first = at.min(start).saturating_sub(reach);
        let last = size.unwrap_or(u128::MAX).min(at.max(end).saturating_add(reach));
        let mut result = Composite::default();
        let slice = |from: u128, until: u128| -> Result<Vec<Part>, Stop> {
            let size = until.saturating_sub(from);
            let offset = if base.is_undefined() { Offset::ZERO } else { Offset::from_bits(from) };
            parts_of(lanes, &Location { storage: base.storage.clone(), offset }, size)
        };
        self.append(&mut result, slice(first, start.min(last).max(first))?)?;
        if let Some(gap) = start.checked_sub(last).filter(|gap| *gap > 0) {
            let size = BitSize(countable(gap)?);
            let location = Location::undefined_by(env.origin(WhyUndefined::Gap));
            self.append(&mut result, vec![Part { location, size }])?;
        }
        self.append(&mut result, over)?;
        if end < last {
            self.append(&mut result, slice(end, last)?)?;
        }
        fiber.charge(result.parts().len() / 16)?;
        fiber.replace(4, Location { offset: Offset::from_bits(at - first), ..whole(result) });
        Ok(())
    }
}

/// Returns the integral entry at an index from the top, signed, which must be equal in all lanes.
fn number(fiber: &mut Fiber, index: usize) -> Result<i128, Stop> {
    let lanes = fiber.lanes;
    let number = fiber.make_integral(index)?;
    let (kind, bits, _) = number.ty().shape();
    let sets = number.parted(lanes);
    if sets.len() > 1 {
        return Err(Stop::Part(sets));
    }
    let limbs = number.limbs(lanes.first().unwrap_or_default());
    Ok(super::offset::signed_limbs(&limbs, bits, kind == super::super::value::ValueClass::Signed))
}
