//! Numbers from an object's bytes, and the reasons of missing bits.

use super::value::{Absence, Value};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::types::asked::Asked;
use crate::debuginfo::types::dynamic::Object;

/// Maximum bits of a scalar: `__int128`, complex doubles.
pub(super) const MAX_SCALAR_BITS: u64 = 128;

/// A part of an object: contents from a bit offset on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) contents: Contents<'a>,
    /// Bits from the start of the contents to the part.
    pub(super) bit: u64,
    /// The object for dynamic attributes of types.
    pub(super) object: Option<&'a dyn Object>,
    /// Bits from the start of the object to the contents.
    pub(super) origin: i64,
    /// Whether it is the base class part of a derived object.
    pub(super) is_base: bool,
}

impl<'a> Part<'a> {
    /// The part `bits` further on.
    pub(super) fn skip(self, bits: u64) -> Self {
        Self { bit: self.bit.saturating_add(bits), is_base: false, ..self }
    }

    /// The part `bits` further on or, if negative, before; empty before the contents.
    pub(super) fn offset(self, bits: i64) -> Self {
        Self { bit: self.bit.checked_add_signed(bits).unwrap_or(u64::MAX), is_base: false, ..self }
    }

    /// The part for questions about dynamic attributes.
    pub(super) fn asked(self) -> Asked<'a> {
        Asked { object: self.object, at: self.origin.saturating_add_unsigned(self.bit) }
    }

    /// An unsigned number of up to 128 bits, or the reason of its absence.
    pub(super) fn unsigned(self, bits: u64) -> Result<u128, Value> {
        if let Some(absence) = self.absence(bits) {
            return Err(Value::Absent { absent: absence });
        }
        Ok(self.read(self.contents.bytes, bits.min(MAX_SCALAR_BITS)))
    }

    /// A number of up to 128 bits in two's complement.
    pub(super) fn signed(self, bits: u64) -> Result<i128, Value> {
        let number = self.unsigned(bits)?;
        let unused = MAX_SCALAR_BITS.saturating_sub(bits.max(1)) as u32;
        Ok(((number << unused) as i128) >> unused)
    }

    /// The reason that a scalar of that many bits is absent: optimised-out bits first, as in gdb.
    pub(super) fn absence(self, bits: u64) -> Option<Absence> {
        if self.any(self.contents.undefined, bits) {
            return Some(Absence::OptimizedOut);
        }
        let end = self.bit.saturating_add(bits);
        let past_end = end > (self.contents.bytes.len() as u64).saturating_mul(8);
        (past_end || self.any(self.contents.unavailable, bits)).then_some(Absence::Unavailable)
    }

    /// The reason that an aggregate is absent as a whole: all of its bits are missing.
    pub(super) fn whole_absence(self, bits: u64) -> Option<Absence> {
        if bits == 0 {
            return None;
        }
        if self.all(self.contents.undefined, bits) {
            return Some(Absence::OptimizedOut);
        }
        let size = (self.contents.bytes.len() as u64).saturating_mul(8);
        let inside = size.saturating_sub(self.bit).min(bits);
        (inside == 0 || self.all(self.contents.unavailable, inside)).then_some(Absence::Unavailable)
    }

    /// Whether its first bit exists and no bit of the contents is missing.
    pub(super) fn is_present(self) -> bool {
        let Contents { bytes, undefined, unavailable } = self.contents;
        undefined.is_empty() && unavailable.is_empty() && self.bit < (bytes.len() as u64).saturating_mul(8)
    }

    /// Whole bytes of the part, if it is aligned to bytes and complete.
    pub(super) fn bytes(self, length: u64) -> Option<&'a [u8]> {
        if !self.bit.is_multiple_of(8) {
            return None;
        }
        let start = usize::try_from(self.bit / 8).ok()?;
        self.contents.bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// Whether two parts of that many bytes have the same gaps, and the same bits elsewhere.
    pub(super) fn same_as(self, other: Self, length: u64) -> bool {
        if self.bytes(length).is_none() || other.bytes(length).is_none() {
            return false;
        }
        let byte = |part: Self, bytes: &[u8], index: u64| {
            let at = usize::try_from(part.bit / 8 + index).ok();
            at.and_then(|at| bytes.get(at)).copied().unwrap_or(0)
        };
        let state = |part: Self, index| {
            let Contents { bytes, undefined, unavailable } = part.contents;
            let gaps = (byte(part, undefined, index), byte(part, unavailable, index));
            (byte(part, bytes, index) & !(gaps.0 | gaps.1), gaps)
        };
        (0..length).all(|index| state(self, index) == state(other, index))
    }

    fn any(self, mask: &[u8], bits: u64) -> bool {
        !mask.is_empty() && self.bytes_of(mask, bits).any(|(byte, wanted)| byte & wanted != 0)
    }

    fn all(self, mask: &[u8], bits: u64) -> bool {
        let covered = (mask.len() as u64).saturating_mul(8) >= self.bit.saturating_add(bits);
        covered && self.bytes_of(mask, bits).all(|(byte, wanted)| byte & wanted == wanted)
    }

    /// The mask's bytes for the part, each with a mask of the part's own bits.
    fn bytes_of(self, mask: &[u8], bits: u64) -> impl Iterator<Item = (u8, u8)> {
        let end = self.bit.saturating_add(bits);
        let size = mask.len() as u64;
        let (first, last) = ((self.bit / 8).min(size), end.div_ceil(8).min(size));
        (first..last).map(move |index| {
            let from = self.bit.saturating_sub(index * 8).min(8) as u32;
            let to = end.saturating_sub(index * 8).min(8) as u32;
            let below = |bit: u32| (1u32 << bit) - 1;
            let wanted = below(to) & !below(from);
            let byte = usize::try_from(index).ok().and_then(|index| mask.get(index)).copied().unwrap_or(0);
            (byte, wanted as u8)
        })
    }

    fn read(self, bytes: &[u8], bits: u64) -> u128 {
        let start = usize::try_from(self.bit / 8).unwrap_or(usize::MAX);
        // Most numbers are whole bytes.
        if let (0, 0, 1..=64, Some(rest)) = (self.bit % 8, bits % 8, bits, bytes.get(start..)) {
            let mut number = [0; 8];
            number.iter_mut().zip(rest.iter().take((bits / 8) as usize)).for_each(|(to, from)| *to = *from);
            return u64::from_le_bytes(number).into();
        }
        let (shift, mut number) = ((self.bit % 8) as u32, 0u128);
        let touched = (u64::from(shift) + bits).div_ceil(8) as usize;
        for (index, byte) in bytes.iter().skip(start).take(touched).enumerate() {
            let position = index as i64 * 8 - i64::from(shift);
            let byte = u128::from(*byte);
            number |= match u32::try_from(position) {
                Ok(left) => byte.checked_shl(left).unwrap_or(0),
                Err(_) => byte >> position.unsigned_abs(),
            };
        }
        let unused = MAX_SCALAR_BITS.saturating_sub(bits) as u32;
        number.checked_shl(unused).unwrap_or(0).checked_shr(unused).unwrap_or(0)
    }
}
