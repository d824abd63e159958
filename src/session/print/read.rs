//! Bytes and numbers of objects, and the reasons for their absence.

use super::arith::{Integer, half};
use super::eval::PathEvaluator;
use super::names::words;
use super::object::{Answer, Object, error, moved, narrowed};
use super::typed::{Basic, Shape, Sort, Ty};
use crate::dwarf::{Bits, Location, fetch, print};
use crate::session::ValueState;
use crate::session::answers::NO_PRIVATE_MEMORY;
use crate::session::values::{failed, undefined};
use crate::units::BitSize;

impl PathEvaluator<'_, '_, '_> {
    /// The bits of an object; some may be missing.
    pub(super) fn bits(&self, location: &Location, size: BitSize) -> Answer<Bits> {
        let context = &self.scene.found.frame.context;
        self.note(context.lanes_of(location, self.lane, size));
        fetch(context, location, Some(self.lane), size)
            .map_err(|why| Box::new(failed(&why, &**context.kind())))
    }

    /// An object without missing bits, as a number.
    pub(super) fn read(&self, object: &Object) -> Answer<u64> {
        let size = match object.bits {
            Some(bits) => bits,
            None => self.size(&object.ty)?.saturating_mul(8),
        };
        if size > 64 {
            return error(format!("`{}` is wider than 64 bits", self.type_name(&object.ty)));
        }
        let bits = self.bits(&object.location, BitSize(size))?;
        match bits.number() {
            Some(number) => Ok(number),
            None => Err(Box::new(self.absence(&object.location, &bits))),
        }
    }

    /// The reason that bits of an object are missing.
    pub(super) fn absence(&self, location: &Location, bits: &Bits) -> ValueState {
        match self.first_missing(location, bits) {
            Some(missing) => ValueState::Unavailable(missing.into()),
            None => self.optimized_out(location, bits),
        }
    }

    /// The reason that bits of an object are undefined.
    pub(super) fn optimized_out(&self, location: &Location, bits: &Bits) -> ValueState {
        // The call frame information of a caller's callees explains its registers.
        let size = BitSize(bits.bytes().len() as u64 * 8);
        let context = &self.scene.found.frame.context;
        match context.level.settled(location, self.lane, size) {
            Err(why) if why.cause.lost().is_some() => failed(&why, &**context.kind()),
            settled => {
                let location = settled.as_ref().unwrap_or(location);
                ValueState::OptimizedOut(undefined(location, self.lane, &**context.kind()).into())
            }
        }
    }

    /// The location of the first missing byte.
    pub(super) fn first_missing(&self, location: &Location, bits: &Bits) -> Option<String> {
        let at = bits.not_captured().iter().position(|mask| *mask != 0)?;
        let place = moved(location, at as i128 * 8, self.lane).unwrap_or_else(|| location.clone());
        let place = narrowed(place, BitSize(8), self.lane);
        let context = &self.scene.found.frame.context;
        if let Err(why) = context.level.settled(&place, self.lane, BitSize(8)) {
            return Some(why.cause.root().named(&**context.kind()));
        }
        let words = self.place_words(&place, BitSize(8));
        Some(match context.lacks_private(&place, self.lane) {
            true => format!("{words}: {NO_PRIVATE_MEMORY}"),
            false => format!("{words} was not captured"),
        })
    }

    pub(super) fn whole_place(&self, object: &Object) -> String {
        if object.is_value {
            return "a computed value".to_owned();
        }
        let size = object.ty.size(self.scene.debug()).ok().flatten().unwrap_or(0);
        self.place_words(&object.location, BitSize(size.saturating_mul(8)))
    }

    /// A location as text; a caller's registers at their current place.
    pub(super) fn place_words(&self, location: &Location, size: BitSize) -> String {
        let context = &self.scene.found.frame.context;
        let settled = context.level.settled(location, self.lane, size);
        print::location(settled.as_ref().unwrap_or(location), self.lane, &**context.kind())
    }

    pub(super) fn address(&self, object: &Object) -> Answer<u64> {
        self.read(object)
    }

    /// An integer, character, truth value or enumerator.
    pub(super) fn integer(&self, object: &Object) -> Answer<Integer> {
        let sort = match self.shape(object)? {
            Shape::Number(sort) if sort != Sort::Float => sort,
            other => {
                let ty = self.type_name(&object.ty);
                return error(format!("needs an integer; `{ty}` is {}", other.words()));
            }
        };
        let size = self.size(&object.ty)?;
        let Some(bytes) = u8::try_from(size).ok().filter(|bytes| (1..=8).contains(bytes)) else {
            return error(format!("`{}` is wider than 64 bits", self.type_name(&object.ty)));
        };
        let mut number = self.read(object)?;
        if let (Some(bits @ 1..=63), Sort::Signed | Sort::Character) = (object.bits, sort) {
            let unused = 64 - bits as u32;
            number = ((number << unused) as i64 >> unused) as u64;
        }
        // A bit-field whose values fit in `int` is promoted to it, whatever its declared type (C++ [conv.prom]/5).
        let most = if sort == Sort::Unsigned { 31 } else { 32 };
        if bytes >= 4 && object.bits.is_some_and(|bits| bits <= most) {
            return Ok(Integer::new(number, Basic::integer(4, false)));
        }
        Ok(Integer::new(number, Basic { name: "", bytes, sort }))
    }

    /// Whether a floating-point type of 2 bytes is not IEEE 754's; only its name tells.
    pub(super) fn is_bfloat(&self, ty: &Ty) -> Answer<bool> {
        let Ty::Die(id) = ty else { return Ok(false) };
        let found = self.scene.debug().stripped(*id).map_err(words)?;
        let name = found.and_then(|found| found.name.clone());
        Ok(name.is_some_and(|name| name.contains("bf16") || name.contains("bfloat")))
    }

    /// A floating-point number of 2, 4 or 8 bytes.
    pub(super) fn float(&self, object: &Object) -> Answer<f64> {
        let bits = self.read(object)?;
        match self.size(&object.ty)? {
            2 => Ok(half(bits as u16, self.is_bfloat(&object.ty)?)),
            4 => Ok(f64::from(f32::from_bits(bits as u32))),
            8 => Ok(f64::from_bits(bits)),
            size => error(format!("a floating-point number of {size} bytes cannot be computed with")),
        }
    }
}
