//! Composites: pieces, vectors of one location, and masked selection between two ("Composite Location Descriptions" of
//! the 2020 AMDGPU text, and "Part 12" of the DWARF proposals).
//!
//! Parts are flattened and empty ones dropped on insertion. Neighbours are merged only in a result, because contiguity
//! may depend on the lane.

use std::sync::Arc;

use super::super::composite::{Composite, Part};
use super::super::error::Cause;
use super::super::limits::{LARGEST_STORAGE, MAX_PARTS, MAX_PARTS_MADE};
use super::super::location::{Location, Storage};
use super::super::origin::WhyUndefined;
use super::stack::{Entry, Fiber, agreed, whole};
use super::{Env, Evaluator, Stop};
use crate::units::{BitSize, LaneId, LaneSet};

/// The bound on the bits of a composite.
const TOO_MANY_BITS: Cause = Cause::Limit { what: "bits of a composite", limit: u64::MAX };

/// Checks the size of a composite or a part. The largest address space bounds a composite ("larger than the size of the
/// memory location storage corresponding to the target architecture's largest address space", 2020 AMDGPU text). This
/// evaluator also requires that the size fits 64 bits.
pub(super) fn countable(bits: u128) -> Result<u64, Cause> {
    within_largest(bits)?;
    u64::try_from(bits).map_err(|_| TOO_MANY_BITS)
}

fn within_largest(bits: u128) -> Result<(), Cause> {
    if bits > LARGEST_STORAGE { Err(Cause::CompositeTooLarge { bits }) } else { Ok(()) }
}

/// Returns the parts for a piece of a location: the location itself, or the covered parts of a composite.
pub(super) fn parts_of(lanes: LaneSet, location: &Location, size: u128) -> Result<Vec<Part>, Stop> {
    location.check_holds(lanes, size)?;
    let size = countable(size)?;
    if size == 0 {
        return Ok(Vec::new());
    }
    let Storage::Composite(composite) = &location.storage else {
        return Ok(vec![Part { location: location.clone(), size: BitSize(size) }]);
    };
    let from = u128::from(agreed(&location.offset.bytes, lanes)?) * 8
        + u128::from(agreed(&location.offset.bits, lanes)?);
    let until = from + u128::from(size);
    let cut = |(_, start, part): (usize, u128, &Part)| {
        let (first, last) = (from.max(start), until.min(start + u128::from(part.size.0)));
        let mut location = part.location.clone();
        if !location.is_undefined() {
            location.offset = location.offset.advanced((first - start) as u64);
        }
        Part { location, size: BitSize((last - first) as u64) }
    };
    Ok(composite.covering(from, until).map(cut).collect())
}

fn undefined_part(env: Env, size: u128) -> Result<Vec<Part>, Stop> {
    let location = Location::undefined_by(env.origin(WhyUndefined::NoLocationBefore));
    let size = BitSize(countable(size)?);
    Ok(if size.0 == 0 { Vec::new() } else { vec![Part { location, size }] })
}

impl Evaluator<'_> {
    pub(super) fn append(&mut self, composite: &mut Composite, parts: Vec<Part>) -> Result<(), Stop> {
        let added: u128 = parts.iter().map(|part| u128::from(part.size.0)).sum();
        countable(u128::from(composite.size().0) + added)?;
        if composite.parts().len() + parts.len() > MAX_PARTS {
            return Err(Cause::Limit { what: "parts of a composite", limit: MAX_PARTS as u64 }.into());
        }
        self.make_parts(parts.len())?;
        parts.into_iter().try_for_each(|part| composite.push(part)).ok_or(TOO_MANY_BITS.into())
    }

    /// Counts new parts, each with an offset for every lane.
    pub(super) fn make_parts(&mut self, count: usize) -> Result<(), Stop> {
        self.parts_made = self.parts_made.saturating_add(count);
        if self.parts_made > MAX_PARTS_MADE {
            return Err(Cause::Limit { what: "parts in one evaluation", limit: MAX_PARTS_MADE as u64 }.into());
        }
        Ok(())
    }

    /// `DW_OP_piece` and `DW_OP_bit_piece`.
    ///
    /// A piece without a location before it is undefined. Entries below the location stay on the stack: the texts allow
    /// them, and they are dropped at the end of the expression.
    pub(super) fn piece(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        size: u128,
        offset: Option<u64>,
    ) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        let before = fiber.stack.iter().rev().take(2).find_map(added_to).unwrap_or(0);
        within_largest(u128::from(before) + size)?;
        let new = match fiber.stack.last() {
            None | Some(Entry::Incomplete(_)) => Some(undefined_part(env, size)?),
            // DWARF 6 drafts: if the piece's own location is a composite, another one below receives it.
            Some(top) if is_open(lanes, top)? && !below_is_open(lanes, &fiber.stack)? => {
                Some(undefined_part(env, size)?)
            }
            Some(_) => None,
        };
        let taken = usize::from(new.is_none());
        let into_open = match new {
            Some(_) => fiber.stack.last().map_or(Ok(false), |top| is_open(lanes, top))?,
            None => below_is_open(lanes, &fiber.stack)?,
        };
        let parts = match new {
            Some(parts) => parts,
            None => {
                let location = self.make_location(env, fiber, 0)?;
                if let Some(offset) = offset {
                    // Checked even for a part of no bits, which has no other effect.
                    let moved = location.displaced(lanes, i128::from(offset))?;
                    parts_of(lanes, &Location { storage: location.storage.clone(), offset: moved }, size)?
                } else {
                    parts_of(lanes, location, size)?
                }
            }
        };
        fiber.charge(parts.len() / 16)?;
        fiber.stack.truncate(fiber.stack.len().saturating_sub(taken));
        match fiber.stack.last_mut() {
            Some(Entry::Incomplete(composite)) => return self.append(composite, parts),
            Some(Entry::Location(Location { storage: Storage::Composite(composite), .. })) if into_open => {
                if Arc::get_mut(composite).is_none() {
                    // Another entry shares the composite, so it is copied.
                    self.make_parts(composite.parts().len())?;
                }
                return self.append(Arc::make_mut(composite), parts);
            }
            _ => {}
        }
        let mut composite = Composite::default();
        self.append(&mut composite, parts)?;
        fiber.stack.push(Entry::Incomplete(composite));
        Ok(())
    }

    /// `DW_OP_LLVM_extend`: repeats the same part.
    pub(super) fn extend(&mut self, env: Env, fiber: &mut Fiber, size: u64, count: u64) -> Result<(), Stop> {
        check_vector(size, count)?;
        let lanes = fiber.lanes;
        let location = self.make_location(env, fiber, 0)?;
        let parts = parts_of(lanes, location, u128::from(size))?;
        countable(u128::from(size) * u128::from(count))?;
        let mut composite = Composite::default();
        for _ in 0..count {
            self.append(&mut composite, parts.clone())?;
        }
        fiber.charge(composite.parts().len() / 16)?;
        fiber.replace(1, whole(composite));
        Ok(())
    }

    /// `DW_OP_LLVM_select_bit_piece`: part N comes from either location, N parts into it.
    pub(super) fn select_bit_piece(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        size: u64,
        count: u64,
    ) -> Result<(), Stop> {
        check_vector(size, count)?;
        let lanes = fiber.lanes;
        let mask = fiber.make_integral(0)?;
        let bits = mask.size().0;
        if bits < count {
            return Err(Cause::MaskTooShort { bits, count }.into());
        }
        let sets = mask.parted(lanes);
        if sets.len() > 1 {
            return Err(Stop::Part(sets));
        }
        let mask = mask.limbs(lanes.first().unwrap_or(LaneId(0)));
        let one = self.make_location(env, fiber, 1)?.clone();
        let zero = self.make_location(env, fiber, 2)?.clone();
        // The mask has a bit for each element, so the size of a value bounds their number.
        countable(u128::from(size) * u128::from(count))?;
        let mut composite = Composite::default();
        for index in 0..count {
            let set = mask.get((index / 64) as usize).is_some_and(|limb| limb >> (index % 64) & 1 == 1);
            let from = if set { &one } else { &zero };
            let skip = i128::from(index) * i128::from(size);
            // The undefined location stays unchanged at any displacement.
            let offset = from.displaced(lanes, skip)?;
            let parts = parts_of(lanes, &Location { storage: from.storage.clone(), offset }, size.into())?;
            self.append(&mut composite, parts)?;
        }
        fiber.charge(composite.parts().len() / 16)?;
        fiber.replace(3, whole(composite));
        Ok(())
    }
}

/// Returns the size of an entry that accepts pieces.
fn added_to(entry: &Entry) -> Option<u64> {
    match entry {
        Entry::Incomplete(composite) => Some(composite.size().0),
        Entry::Location(Location { storage: Storage::Composite(composite), .. }) if composite.open => {
            Some(composite.size().0)
        }
        _ => None,
    }
}

/// Whether an entry accepts pieces because `DW_OP_composite` made it; after a displacement it is a location like any
/// other. The lanes split if only some were displaced.
fn is_open(lanes: LaneSet, entry: &Entry) -> Result<bool, Stop> {
    let Entry::Location(Location { storage: Storage::Composite(composite), offset }) = entry else {
        return Ok(false);
    };
    if !composite.open {
        return Ok(false);
    }
    let at_start: LaneSet = lanes.iter().filter(|lane| offset.get(*lane) == 0).collect();
    if !at_start.is_empty() && at_start != lanes {
        return Err(Stop::Part(vec![at_start, lanes.without(at_start)]));
    }
    Ok(at_start == lanes)
}

fn below_is_open(lanes: LaneSet, stack: &[Entry]) -> Result<bool, Stop> {
    stack.iter().rev().nth(1).map_or(Ok(false), |below| is_open(lanes, below))
}

/// Checks that neither size nor count is 0.
fn check_vector(size: u64, count: u64) -> Result<(), Stop> {
    if size == 0 {
        return Err(Cause::Zero("the element size").into());
    }
    if count == 0 {
        return Err(Cause::Zero("the element count").into());
    }
    Ok(())
}
