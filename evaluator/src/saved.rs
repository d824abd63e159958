//! Locations in a caller's frame, with its registers replaced by their storage in inner frames.
//!
//! A location from an expression of a caller's frame refers to that frame's registers. Call frame information gives the
//! storage of each: a register of the callee's frame, memory, a composite of both, or none. Repeated down to the
//! innermost frame, this leaves storage that can be read and written.

use std::sync::Arc;

use super::composite::{Composite, Part};
use super::error::Error;
use super::limits::MAX_PARTS;
use super::location::{Frame, Location, Offset, Storage};
use super::{Cause, LANES};
use crate::units::{BitSize, DwarfReg, ExprOffset, LaneId};

const _: () = assert!(LANES <= MAX_PARTS);

impl Location {
    /// Returns the location of an object's bits for one lane, with every register replaced by `find`. The result is a
    /// single location if one storage contains the object, else a composite of exactly its bits.
    ///
    /// # Errors
    /// An error of `find`, or more than [`MAX_PARTS`] parts.
    pub fn with_registers_at(
        &self,
        lane: LaneId,
        size: BitSize,
        find: &mut dyn FnMut(DwarfReg, Frame) -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for part in self.pieces(lane, 0, size.0) {
            let Storage::Register { register, frame, .. } = part.location.storage else {
                push(&mut parts, part)?;
                continue;
            };
            let from = u64::try_from(part.location.offset.get(lane)).unwrap_or(u64::MAX);
            for piece in find(register, frame)?.pieces(lane, from, part.size.0) {
                push(&mut parts, piece)?;
            }
        }
        if let [only] = parts.as_slice()
            && only.size == size
        {
            return Ok(only.location.clone());
        }
        let storage = Storage::Composite(Arc::new(parts.into_iter().collect::<Composite>()));
        Ok(Self { storage, offset: Offset::ZERO })
    }

    /// Returns the parts with `size` bits from bit `from` on, for one lane, up to the end of a composite.
    fn pieces(&self, lane: LaneId, from: u64, size: u64) -> Vec<Part> {
        let at = self.offset.get(lane) + u128::from(from);
        let Storage::Composite(composite) = &self.storage else {
            let mut location = self.at(lane);
            if !location.is_undefined() {
                location.offset = Offset::from_bits(at);
            }
            return vec![Part { location, size: BitSize(size) }];
        };
        let end = at + u128::from(size);
        let piece = |(_, start, part): (usize, u128, &Part)| {
            let (first, last) = (at.max(start), end.min(start + u128::from(part.size.0)));
            let mut location = part.location.at(lane);
            if !location.is_undefined() {
                location.offset = Offset::from_bits(location.offset.get(lane) + (first - start));
            }
            Part { location, size: BitSize((last - first) as u64) }
        };
        composite.covering(at, end).map(piece).collect()
    }
}

fn push(parts: &mut Vec<Part>, part: Part) -> Result<(), Error> {
    if parts.len() >= MAX_PARTS {
        let cause = Cause::Limit { what: "parts", limit: MAX_PARTS as u64 };
        return Err(Error { at: ExprOffset(0), op: "saved register", cause });
    }
    parts.push(part);
    Ok(())
}
