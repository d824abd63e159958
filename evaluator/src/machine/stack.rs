//! The stack of a fiber: entries, their conversions, and pure stack operations.
//!
//! Conversions ("Memory Location Descriptions" of the 2020 AMDGPU text) are in place, before an operation pops
//! anything. A converted entry converts back, so an operation that then splits its lanes finds an equivalent stack.

use std::sync::Arc;

use super::super::arith;
use super::super::composite::Composite;
use super::super::error::Cause;
use super::super::lanes::Lanes;
use super::super::limits::{MAX_STACK, MAX_STEPS};
use super::super::location::{Implicit, ImplicitPointer, Location, Offset, Storage};
use super::super::operation::{Binary, Unary};
use super::super::value::{Limbs, Number, Type};
use super::{GLOBAL, Stop};
use crate::units::{AddressSpace, LaneId, LaneSet};

/// An entry of the stack.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A value.
    Number(Number),
    /// The value of an implicit pointer, read whole.
    Pointer(ImplicitPointer),
    /// A location.
    Location(Location),
    /// A composite that accepts further `DW_OP_piece`.
    Incomplete(Composite),
}

impl Entry {
    fn kind(&self) -> &'static str {
        match self {
            Self::Number(number) if number.ty() == Type::Generic => "a generic value",
            Self::Number(_) => "a typed value",
            Self::Pointer(_) => "the value of an implicit pointer",
            Self::Location(location) => location.storage.kind(),
            Self::Incomplete(_) => "an incomplete composite",
        }
    }

    /// Memory words of a copy for each lane.
    pub(super) fn words(&self) -> usize {
        match self {
            Self::Number(number) => number.words(),
            Self::Pointer(_) | Self::Location(_) => 1,
            Self::Incomplete(composite) => composite.parts().len().max(1),
        }
    }

    /// Returns the entry for one lane.
    #[must_use]
    pub fn at(&self, lane: LaneId) -> Self {
        match self {
            Self::Number(number) => Self::Number(number.at(lane)),
            Self::Pointer(pointer) => Self::Pointer(*pointer),
            Self::Location(location) => Self::Location(location.at(lane)),
            Self::Incomplete(composite) => {
                Self::Incomplete(composite.parts().iter().map(|part| part.at(lane)).collect())
            }
        }
    }
}

/// Lanes that run together.
pub(super) struct Fiber {
    pub(super) lanes: LaneSet,
    pub(super) at: usize,
    pub(super) steps: u32,
    pub(super) stack: Vec<Entry>,
}

/// Splits lanes of which some fail; `Err` if all of them do.
pub(super) fn part_failing(
    lanes: LaneSet,
    failing: LaneSet,
    cause: impl FnOnce() -> Cause,
) -> Result<(), Stop> {
    if failing.is_empty() {
        Ok(())
    } else if failing == lanes {
        Err(cause().into())
    } else {
        Err(Stop::Part(vec![failing, lanes.without(failing)]))
    }
}

/// Splits lanes of which some fail for different causes.
pub(super) fn part_by_cause(
    lanes: LaneSet,
    failing: LaneSet,
    mut cause: impl FnMut(LaneId) -> Cause,
) -> Result<(), Stop> {
    if failing.is_empty() {
        return Ok(());
    }
    let mut parts: Vec<(LaneSet, Cause)> = Vec::new();
    for lane in failing.iter() {
        let cause = cause(lane);
        match parts.iter_mut().find(|(_, other)| *other == cause) {
            Some((set, _)) => *set = LaneSet(set.0 | LaneSet::one(lane).0),
            None => parts.push((LaneSet::one(lane), cause)),
        }
    }
    let well = lanes.without(failing);
    match (parts.len(), parts.pop()) {
        (1, Some((_, cause))) if well.is_empty() => Err(cause.into()),
        (_, last) => {
            let sets = parts.into_iter().chain(last).map(|(set, _)| set);
            Err(Stop::Part(sets.chain((!well.is_empty()).then_some(well)).collect()))
        }
    }
}

/// Returns the common element of the lanes, or their split.
pub(super) fn agreed<T: Copy + PartialEq>(values: &Lanes<T>, lanes: LaneSet) -> Result<T, Stop> {
    values.agreed(lanes).ok_or_else(|| Stop::Part(values.parted(lanes)))
}

impl Fiber {
    /// Returns the same fiber for each subset of its lanes.
    pub(super) fn parted(self, parts: &[LaneSet]) -> impl Iterator<Item = Self> {
        let Self { at, steps, stack, .. } = self;
        // The last subset runs first, so reversed subsets keep groups in lane order.
        parts.iter().rev().map(move |lanes| Self { lanes: *lanes, at, steps, stack: stack.clone() })
    }

    pub(super) fn charge(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > MAX_STEPS {
            return Err(Cause::Limit { what: "steps", limit: u64::from(MAX_STEPS) }.into());
        }
        Ok(())
    }

    pub(super) fn push(&mut self, number: Number) {
        self.stack.push(Entry::Number(number));
    }

    pub(super) fn push_location(&mut self, location: Location) {
        self.stack.push(Entry::Location(location));
    }

    pub(super) fn push_implicit(&mut self, bytes: Arc<[u8]>) {
        let storage = Storage::Implicit(Implicit::Bytes(bytes));
        self.push_location(Location { storage, offset: Offset::ZERO });
    }

    /// Pops entries and pushes a location.
    pub(super) fn replace(&mut self, taken: usize, location: Location) {
        self.stack.truncate(self.stack.len().saturating_sub(taken));
        self.push_location(location);
    }

    /// Pops entries and pushes a value.
    pub(super) fn replace_number(&mut self, taken: usize, number: Number) {
        self.stack.truncate(self.stack.len().saturating_sub(taken));
        self.push(number);
    }

    /// Returns the entry at an index from the top.
    pub(super) fn entry(&mut self, index: usize) -> Result<&mut Entry, Stop> {
        let have = self.stack.len();
        let at = have.checked_sub(index + 1).and_then(|at| self.stack.get_mut(at));
        at.ok_or_else(|| Cause::StackUnderflow { need: index + 1, have }.into())
    }

    /// Completes an incomplete composite on top.
    pub(super) fn complete(&mut self) {
        if let Some(top) = self.stack.last_mut()
            && let Entry::Incomplete(composite) = top
        {
            *top = Entry::Location(whole(std::mem::take(composite)));
        }
    }

    pub(super) fn piece_end(&mut self) -> Result<(), Stop> {
        match self.entry(0)? {
            Entry::Incomplete(_) => {
                self.complete();
                Ok(())
            }
            _ => Err(Cause::NothingToEnd.into()),
        }
    }

    /// Converts an entry to a value; a byte-aligned location of the default address space converts.
    pub(super) fn make_number(&mut self, index: usize) -> Result<&Number, Stop> {
        let lanes = self.lanes;
        let entry = self.entry(index)?;
        let found = entry.kind();
        if let Entry::Location(location) = entry {
            let wrong = || Cause::Kind { need: "a value", found };
            match location.storage {
                Storage::Memory { space: GLOBAL, .. } => {}
                _ => return Err(wrong().into()),
            }
            let unaligned = location.offset.bits.lanes_where(lanes, |bits| bits != 0);
            part_failing(lanes, unaligned, wrong)?;
            let address = std::mem::replace(&mut location.offset.bytes, Lanes::Uniform(0));
            *entry = Entry::Number(Number::generic(address));
        }
        match entry {
            Entry::Number(number) => Ok(number),
            Entry::Pointer(_) => Err(Cause::ImplicitPointerMisused.into()),
            Entry::Incomplete(_) => Err(Cause::Incomplete.into()),
            Entry::Location(_) => Err(Cause::Kind { need: "a value", found }.into()),
        }
    }

    /// Converts an entry to a value of an integral type.
    pub(super) fn make_integral(&mut self, index: usize) -> Result<&Number, Stop> {
        let number = self.make_number(index)?;
        if number.ty().is_integral() {
            Ok(number)
        } else {
            Err(Cause::Kind { need: "an integral value", found: "a value of another type" }.into())
        }
    }

    /// Reads an entry as an address space number, equal in all lanes. The caller checks that the target has it.
    pub(super) fn space(&mut self, index: usize) -> Result<AddressSpace, Stop> {
        let lanes = self.lanes;
        let number = self.make_integral(index)?;
        let low = agreed(number.low(), lanes)?;
        if let Limbs::Wide(limbs) = &number.limbs {
            for limb in limbs.iter().skip(1) {
                if agreed(limb, lanes)? != 0 {
                    return Ok(AddressSpace(u64::MAX));
                }
            }
        }
        Ok(AddressSpace(low))
    }

    /// Pops the top and returns whether it is not 0.
    pub(super) fn taken(&mut self) -> Result<bool, Stop> {
        let lanes = self.lanes;
        let taken = self.make_integral(0)?.lanes_not_zero(lanes);
        if taken != lanes && !taken.is_empty() {
            return Err(Stop::Part(vec![taken, lanes.without(taken)]));
        }
        self.stack.pop();
        Ok(!taken.is_empty())
    }

    /// Pushes a copy of an entry; returns the number of 64-bit words copied, at least 1.
    pub(super) fn pick(&mut self, index: usize) -> Result<usize, Stop> {
        let entry = match self.entry(index)? {
            Entry::Incomplete(_) => return Err(Cause::Incomplete.into()),
            entry => entry.clone(),
        };
        if self.stack.len() >= MAX_STACK {
            return Err(Cause::Limit { what: "stack entries", limit: MAX_STACK as u64 }.into());
        }
        let words = entry.words().max(1);
        self.stack.push(entry);
        Ok(words)
    }

    pub(super) fn drop_top(&mut self) -> Result<(), Stop> {
        self.complete_entries(1)?;
        self.stack.pop();
        Ok(())
    }

    /// Makes the top the `count`th entry; the entries between move up.
    pub(super) fn turn(&mut self, count: usize) -> Result<(), Stop> {
        self.complete_entries(count)?;
        let from = self.stack.len().saturating_sub(count);
        if let Some(entries) = self.stack.get_mut(from..) {
            entries.rotate_right(1);
        }
        Ok(())
    }

    /// Checks that there are that many entries and none of them is incomplete.
    fn complete_entries(&mut self, count: usize) -> Result<(), Stop> {
        let have = self.stack.len();
        if have < count {
            return Err(Cause::StackUnderflow { need: count, have }.into());
        }
        if self.stack.iter().rev().take(count).any(|entry| matches!(entry, Entry::Incomplete(_))) {
            return Err(Cause::Incomplete.into());
        }
        Ok(())
    }

    pub(super) fn unary(&mut self, op: Unary) -> Result<(), Stop> {
        let lanes = self.lanes;
        let ty = self.make_number(0)?.ty();
        arith::check_unary(op, ty)?;
        self.charge_for(ty)?;
        if let Some(Entry::Number(number)) = self.stack.pop() {
            self.push(arith::unary(op, lanes, number));
        }
        Ok(())
    }

    pub(super) fn binary(&mut self, op: Binary) -> Result<(), Stop> {
        let lanes = self.lanes;
        let have = self.stack.len();
        if have < 2 {
            return Err(Cause::StackUnderflow { need: 2, have }.into());
        }
        self.make_number(0)?;
        let ty = self.make_number(1)?.ty();
        if let [.., Entry::Number(left), Entry::Number(right)] = self.stack.as_slice()
            && let Err((failing, cause)) = arith::check_binary(op, lanes, left, right)
        {
            part_failing(lanes, failing, || cause)?;
        }
        self.charge_for(ty)?;
        if let (Some(Entry::Number(right)), Some(Entry::Number(left))) = (self.stack.pop(), self.stack.pop())
        {
            self.push(arith::binary(op, lanes, left, right));
        }
        Ok(())
    }

    pub(super) fn plus_uconst(&mut self, value: u64) -> Result<(), Stop> {
        let lanes = self.lanes;
        let ty = self.make_number(0)?.ty();
        let constant = arith::constant(ty, value);
        if let Some(Entry::Number(number)) = self.stack.last() {
            arith::check_binary(Binary::Plus, lanes, number, &constant)
                .map_err(|(_, cause)| Stop::from(cause))?;
        }
        self.charge_for(ty)?;
        if let Some(Entry::Number(number)) = self.stack.pop() {
            self.push(arith::binary(Binary::Plus, lanes, number, constant));
        }
        Ok(())
    }

    pub(super) fn convert(&mut self, to: Type) -> Result<(), Stop> {
        let lanes = self.lanes;
        let number = self.make_number(0)?;
        arith::check_convert(number.ty(), to)?;
        let converted = arith::convert(lanes, number, to);
        self.charge_for(to)?;
        self.replace_number(1, converted);
        Ok(())
    }

    pub(super) fn reinterpret(&mut self, to: Type) -> Result<(), Stop> {
        let number = self.make_number(0)?;
        let (given, actual) = (to.size().0, number.size().0);
        if given != actual {
            return Err(Cause::SizesDiffer { given, actual }.into());
        }
        if let Some(Entry::Number(number)) = self.stack.last_mut() {
            number.ty = to;
        }
        Ok(())
    }

    pub(super) fn stack_value(&mut self) -> Result<(), Stop> {
        let storage = if let Entry::Pointer(pointer) = self.entry(0)? {
            Storage::ImplicitPointer(*pointer)
        } else {
            Storage::Implicit(Implicit::Number(Arc::new(self.make_number(0)?.clone())))
        };
        self.replace(1, Location { storage, offset: Offset::ZERO });
        Ok(())
    }

    /// Charges steps for wide values: those of their multiplication.
    fn charge_for(&mut self, ty: Type) -> Result<(), Stop> {
        let limbs = ty.size().0 / 64;
        if limbs > 1 { self.charge((limbs * limbs) as usize) } else { Ok(()) }
    }
}

/// Converts a composite to a location at its start.
pub(super) fn whole(composite: Composite) -> Location {
    Location { storage: Storage::Composite(Arc::new(composite)), offset: Offset::ZERO }
}
