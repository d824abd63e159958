//! Places that hold values of a function's caller.

use super::state::{Halves, Mask, SCALARS, Slot, SlotBase, State, VCC, Value, Vector, is_needed};
use crate::isa::{FRAME_POINTER, STACK_POINTER};

/// Number of vector registers of a file.
const VECTORS: u16 = 256;

/// A place that holds a scalar value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A scalar register.
    Register(u8),
    /// A lane of a vector register.
    Lane(Vector, u8),
}

/// A register from which the stack pointer of the caller follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackPointer {
    /// The place of the contents.
    pub place: Scalar,
    /// The contents minus the stack pointer, in the stack pointer's units, modulo 2^32.
    pub by: u32,
}

/// The place of the caller's EXEC, the lanes that were active at the function's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// EXEC itself.
    Same,
    /// Scalar places of its halves; of waves of 32 lanes only the first counts.
    Saved([Scalar; 2]),
    /// Unknown, but the lanes of EXEC are among them.
    Within,
    /// Unknown.
    Unknown,
}

/// The place of a part of a caller's vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// A vector register.
    Register(Vector),
    /// A slot in private memory.
    Slot(Slot),
    /// No place is known.
    Unknown,
}

/// The values of a function's caller at an instruction of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerState(State);

impl CallerState {
    pub(super) fn new(state: State) -> Self {
        Self(state)
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> &State {
        &self.0
    }

    /// The place of a caller's scalar register, s0 to s105 and VCC as 106 and 107. The register itself takes precedence.
    #[must_use]
    pub fn scalar(&self, number: u8) -> Option<Scalar> {
        let is_it = |value: Value| value == Value::Entry(number);
        if is_it(self.0.scalar(number)) {
            return Some(Scalar::Register(number));
        }
        self.holder(number, is_needed(number), is_it)
    }

    /// The place from which the caller's stack pointer follows: s32 at the function's entry.
    #[must_use]
    pub fn stack_pointer(&self) -> Option<StackPointer> {
        let offset = |value: Value| match value {
            Value::Stack(by) => Some(by),
            _ => None,
        };
        let exact = self.holder(STACK_POINTER, false, |value| value == Value::Stack(0));
        let place = exact.or_else(|| self.holder(STACK_POINTER, true, |value| offset(value).is_some()))?;
        Some(StackPointer { place, by: offset(self.value(place))? })
    }

    /// The register that holds a rounded stack pointer, and its contents minus that.
    #[must_use]
    pub fn rounded(&self, base: SlotBase) -> Option<(Scalar, u32)> {
        let SlotBase::Rounded { add, mask } = base else { return None };
        let offset = |value: Value| match value {
            Value::Rounded { add: a, mask: m, plus } if (a, m) == (add, mask) => Some(plus),
            _ => None,
        };
        let place = self.holder(FRAME_POINTER, false, |value| offset(value).is_some())?;
        Some((place, offset(self.value(place))?))
    }

    /// The place of the caller's EXEC.
    #[must_use]
    pub fn exec(&self) -> Execution {
        if self.0.exec == Mask::Entry {
            return Execution::Same;
        }
        let is_it = |value: Value| value == Value::Mask(Mask::Entry);
        let pairs = (0..VCC).step_by(2).map(|low| [low, low + 1]);
        let is_known = |number: &u8| is_it(self.0.scalar(*number)) && !self.0.is_stale_scalar(*number);
        let found = pairs.into_iter().find(|pair| pair.iter().all(is_known));
        if let Some(pair) = found {
            return Execution::Saved(pair.map(Scalar::Register));
        }
        let lane =
            |register: Vector, lane: u8| self.0.lanes.get(&(register, lane)).copied().is_some_and(is_it);
        let known = self.0.lanes.keys().filter(|(of, _)| !self.0.is_stale_vector(*of));
        let mut pairs = known.filter_map(|(of, low)| Some((*of, *low, low.checked_add(1)?)));
        if let Some((of, low, high)) = pairs.find(|(of, low, high)| lane(*of, *low) && lane(*of, *high)) {
            return Execution::Saved([Scalar::Lane(of, low), Scalar::Lane(of, high)]);
        }
        match self.0.exec {
            Mask::Within => Execution::Within,
            _ => Execution::Unknown,
        }
    }

    /// The scalar register that holds the caller's EXEC of a wave of 32 lanes.
    #[must_use]
    pub fn exec_of_32(&self) -> Execution {
        if self.0.exec == Mask::Entry {
            return Execution::Same;
        }
        let place = self.holder(0, false, |value| value == Value::Mask(Mask::Entry));
        match (place, self.0.exec) {
            (Some(place), _) => Execution::Saved([place; 2]),
            (None, Mask::Within) => Execution::Within,
            (None, _) => Execution::Unknown,
        }
    }

    /// Registers whose values in the caller may not be their own values: vector registers.
    pub fn changed_vectors(&self) -> impl Iterator<Item = Vector> {
        self.0.vectors.keys().copied()
    }

    /// Scalar registers without another place, which a callee that returned may have changed.
    pub fn uncertain_scalars(&self) -> impl Iterator<Item = u8> {
        (0..VCC).filter(|number| self.0.is_uncertain_scalar(*number))
    }

    /// Vector registers whose lanes a callee that returned may have changed.
    pub fn uncertain_vectors(&self) -> impl Iterator<Item = Vector> {
        let all = |accumulator| (0..VECTORS).map(move |number| Vector { accumulator, number });
        all(false).chain(all(true)).filter(|register| self.0.is_uncertain_vector(*register))
    }

    /// The places of a caller's vector register: of the lanes that were active at entry, and of the others.
    #[must_use]
    pub fn vector(&self, register: Vector) -> [Half; 2] {
        let part = |of: fn(&Halves) -> Option<Vector>| {
            let holds = |halves: &Halves| of(halves) == Some(register);
            if holds(&self.0.vector(register)) {
                return Half::Register(register);
            }
            let slot = self.0.slots.iter().find(|(_, halves)| holds(halves)).map(|(slot, _)| *slot);
            // The function restores preserved registers, so it needs their copies.
            let counts = |of: Vector| !self.0.is_stale_vector(of) || self.0.is_preserved(register);
            let mut copies = self.0.vectors.iter().filter(|(of, halves)| holds(halves) && counts(**of));
            let mut copy = || copies.next().map(|(of, _)| *of);
            match (slot, copy()) {
                (Some(slot), _) => Half::Slot(slot),
                (None, Some(copy)) => Half::Register(copy),
                (None, None) => Half::Unknown,
            }
        };
        [part(|halves| halves.active), part(|halves| halves.inactive)]
    }

    /// A place whose value fits; the preferred register first. `is_needed`: the function needs the value later, so that
    /// its only place counts even if a callee may have changed it.
    fn holder(&self, preferred: u8, is_needed: bool, fits: impl Fn(Value) -> bool) -> Option<Scalar> {
        let known = |number: u8| fits(self.0.scalar(number)) && !self.0.is_stale_scalar(number);
        if known(preferred) {
            return Some(Scalar::Register(preferred));
        }
        if let Some(number) = (0..SCALARS as u8).find(|number| known(*number)) {
            return Some(Scalar::Register(number));
        }
        let lanes = || self.0.lanes.iter().filter(|(_, value)| fits(**value)).map(|(at, _)| *at);
        let is_stale = |(register, _): &(Vector, u8)| self.0.is_stale_vector(*register);
        if let Some((register, lane)) = lanes().find(|at| !is_stale(at)) {
            return Some(Scalar::Lane(register, lane));
        }
        if !is_needed {
            return None;
        }
        // A value moves from a register to a lane to free the register.
        if let Some((register, lane)) = lanes().next() {
            return Some(Scalar::Lane(register, lane));
        }
        let mut numbers = (0..SCALARS as u8).filter(|number| fits(self.0.scalar(*number)));
        match (numbers.next(), numbers.next()) {
            (Some(only), None) => Some(Scalar::Register(only)),
            _ => None,
        }
    }

    fn value(&self, place: Scalar) -> Value {
        match place {
            Scalar::Register(number) => self.0.scalar(number),
            Scalar::Lane(register, lane) => {
                self.0.lanes.get(&(register, lane)).copied().unwrap_or(Value::Unknown)
            }
        }
    }
}
