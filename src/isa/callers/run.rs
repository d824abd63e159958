//! The effect of one instruction on a state.

use super::CodeTarget;
use super::state::{Halves, Mask, SCALARS, Slot, SlotBase, State, VCC, Value, Vector};
use super::step::{Effect, scalar};
use crate::arch::Generation;
use crate::isa::computation::{Computation, Operation, Source};
use crate::isa::effects::Write;
use crate::isa::registers::{RegisterFile, RegisterRange};

/// Facts about the code's target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Number by which the stack pointer's bytes are divided for bytes of a lane: the lanes of a wave, or 1.
    pub(super) divisor: u32,
    /// Lanes of a wave.
    pub(super) lanes: u8,
    /// The first accumulation register that callees preserve.
    pub(super) first_saved_accumulator: u16,
}

impl Units {
    pub(super) fn of(target: CodeTarget) -> Self {
        let has_accumulators = matches!(target.generation, Generation::Gfx90a | Generation::Gfx940);
        Self {
            lanes: target.lanes,
            divisor: if target.buffer_scratch { u32::from(target.lanes) } else { 1 },
            first_saved_accumulator: if has_accumulators { 32 } else { u16::MAX },
        }
    }
}

impl State {
    pub(super) fn run(&mut self, effect: &Effect, units: Units) {
        match effect {
            Effect::Compute(one, writes) => {
                if self.compute(one, units).is_none() {
                    writes.iter().for_each(|write| self.write(write));
                }
            }
            Effect::Store { base, offset, from } => {
                for (offset, register) in (*offset..).step_by(4).zip(from) {
                    let Some(slot) = self.slot_at(*base, offset, units) else { continue };
                    let data = register.map_or_else(Halves::default, |register| self.vector(register));
                    self.forget_beside(slot);
                    self.set_slot(slot, self.slot(slot).written(self.exec, data));
                }
            }
            Effect::Load { base, offset, to } => {
                for (offset, register) in (*offset..).step_by(4).zip(to) {
                    let slot = self.slot_at(*base, offset, units);
                    let data = slot.map_or_else(Halves::default, |slot| self.slot(slot));
                    let Some(register) = *register else { continue };
                    self.overwrite(register, data);
                }
            }
            Effect::Writes(writes) => writes.iter().for_each(|write| self.write(write)),
            Effect::Call { link } => {
                self.call();
                self.link(*link);
            }
            Effect::Unknown => self.forget(),
        }
    }

    /// Removes the registers of a return address.
    pub(super) fn link(&mut self, link: u8) {
        self.set(link, Value::Unknown);
        self.set(link.saturating_add(1), Value::Unknown);
    }

    /// Runs a computation. `None`: it is not followed.
    fn compute(&mut self, one: &Computation, units: Units) -> Option<()> {
        let [left, right, _] = one.sources;
        let lane = || u8::try_from(right.constant()?).ok();
        let vector = |range: RegisterRange| Vector::of(range.file, range.first).filter(|_| range.count == 1);
        match (one.operation, one.to) {
            (Operation::Compare(..), exec) => {
                // Bits of inactive lanes are 0.
                let result = self.exec.and(Mask::Unknown);
                let to = one.flag.filter(|_| one.is_vector);
                if let Some((first, count)) = to.and_then(|to| Some((scalar(to)?, to.count as u8))) {
                    let last = first.saturating_add(count);
                    (first..last).for_each(|number| self.set(number, Value::of_mask(result)));
                }
                if exec.is_some() {
                    self.exec = result;
                }
            }
            (Operation::ReadLane, Some(to)) => {
                let from = vector(left.register()?)?;
                let value = self.lanes.get(&(from, lane()?)).copied().unwrap_or(Value::Unknown);
                self.set(scalar(to)?, value);
            }
            (Operation::WriteLane, Some(to)) => {
                let (to, lane) = (vector(to)?, lane()?);
                let value = self.half(left, 0, 1);
                self.set_vector(to, Halves::default());
                match value {
                    Value::Unknown => self.lanes.remove(&(to, lane)),
                    known => self.lanes.insert((to, lane), known),
                };
            }
            (Operation::Move, Some(to)) if one.is_vector => self.copy(vector(to)?, vector(left.register()?)?),
            (operation, Some(to)) if !one.is_vector => {
                let dwords = u8::try_from(to.count).ok().filter(|dwords| *dwords <= 2)?;
                let is_exec = to.file == RegisterFile::Exec;
                if is_exec && (to.first != 0 || units.lanes != 32 * dwords)
                    || !is_exec && scalar(to).is_none()
                {
                    return None;
                }
                let result = |half: u8| {
                    let (left, right) = (self.half(left, half, dwords), self.half(right, half, dwords));
                    scalar_result(operation, left, right)
                };
                if matches!(operation, Operation::Add | Operation::Subtract) && dwords != 1 {
                    return None;
                }
                // Both halves before either is written: a destination may be a source.
                let values = [result(0)?, result(1)?];
                let old = Value::of_mask(self.exec);
                for (half, value) in (0..dwords).zip(values) {
                    self.put(to, half, value, dwords);
                }
                if let Some(to) = one.saved.and_then(scalar) {
                    (0..dwords).for_each(|half| self.set(to.saturating_add(half), old));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A dword of a source with that many dwords.
    fn half(&self, source: Source, half: u8, dwords: u8) -> Value {
        match source {
            Source::Register(range) if range.count != u16::from(dwords) => Value::Unknown,
            Source::Register(range) if range.file == RegisterFile::Exec && range.first == 0 => {
                Value::of_mask(self.exec)
            }
            Source::Register(range) => {
                scalar(range).map_or(Value::Unknown, |number| self.scalar(number.saturating_add(half)))
            }
            Source::Constant(number) => Value::Constant((number >> (32 * u32::from(half))) as u32),
            Source::Half(..) | Source::Aperture(_) | Source::Other => Value::Unknown,
        }
    }

    fn put(&mut self, to: RegisterRange, half: u8, value: Value, dwords: u8) {
        match scalar(to) {
            Some(number) => self.set(number.saturating_add(half), value),
            None if half == 0 => self.exec = value.mask(),
            // The halves of a mask have one meaning each only if both have the same.
            None if dwords > 1 && value.mask() != self.exec => self.exec = Mask::Unknown,
            None => {}
        }
    }

    fn slot_at(&self, base: Option<u8>, offset: i32, units: Units) -> Option<Slot> {
        let (base, by) = match self.scalar(base?) {
            Value::Stack(by) => (SlotBase::Stack, by),
            Value::Rounded { add, mask, plus } => (SlotBase::Rounded { add, mask }, plus),
            _ => return None,
        };
        let by = by.cast_signed();
        let divisor = i32::try_from(units.divisor).ok()?;
        let is_whole = by.checked_rem(divisor)? == 0;
        Some(Slot { base, offset: (by / divisor).checked_add(offset).filter(|_| is_whole)? })
    }

    /// Slots that overlap a dword at another offset.
    fn forget_beside(&mut self, slot: Slot) {
        let near = |offset: i32| (1..4).contains(&(offset - slot.offset).unsigned_abs());
        self.slots.retain(|other, _| other.base != slot.base || !near(other.offset));
    }

    fn copy(&mut self, to: Vector, from: Vector) {
        let held: Vec<(u8, Value)> = match self.exec {
            Mask::All => self
                .lanes
                .range((from, 0)..=(from, u8::MAX))
                .map(|((_, lane), value)| (*lane, *value))
                .collect(),
            _ => Vec::new(),
        };
        self.overwrite(to, self.vector(from));
        self.lanes.extend(held.into_iter().map(|(lane, value)| ((to, lane), value)));
    }

    /// Writes a vector register in the lanes of EXEC.
    fn overwrite(&mut self, register: Vector, data: Halves) {
        self.set_vector(register, self.vector(register).written(self.exec, data));
        self.forget_lanes(register);
    }

    /// The register is written: its lanes hold no scalar values.
    fn forget_lanes(&mut self, register: Vector) {
        if self.lanes.range((register, 0)..=(register, u8::MAX)).next().is_some() {
            self.lanes.retain(|(of, _), _| *of != register);
        }
        self.stale_vectors.remove(&register);
    }

    fn write(&mut self, write: &Write) {
        let range = write.range;
        let numbers = range.first..range.first.saturating_add(range.count);
        match range.file {
            RegisterFile::Scalar => {
                for number in numbers.take(SCALARS).filter_map(|number| u8::try_from(number).ok()) {
                    if number < VCC {
                        self.set(number, Value::Unknown);
                    }
                }
            }
            RegisterFile::Vcc => {
                numbers.take(2).for_each(|half| self.set(VCC.saturating_add(half as u8), Value::Unknown));
            }
            RegisterFile::Exec => self.exec = Mask::Unknown,
            RegisterFile::Vector | RegisterFile::Accumulator => {
                for register in numbers.take(512).filter_map(|number| Vector::of(range.file, number)) {
                    match write.ignores_exec {
                        true => {
                            self.set_vector(register, Halves::default());
                            self.forget_lanes(register);
                        }
                        false => self.overwrite(register, Halves::default()),
                    }
                }
            }
            _ => {}
        }
    }

    /// Any register may have any value.
    fn forget(&mut self) {
        self.scalars = [Value::Unknown; SCALARS];
        self.exec = Mask::Unknown;
        for accumulator in [false, true] {
            for number in 0..256 {
                self.set_vector(Vector { accumulator, number }, Halves::default());
            }
        }
        self.lanes.clear();
        self.slots.clear();
    }
}

/// The result of a scalar operation; `None`: it is not followed.
fn scalar_result(operation: Operation, left: Value, right: Value) -> Option<Value> {
    use Value::{Constant, Rounded, Stack};
    let by_mask = |mask: fn(Mask, Mask) -> Mask| Value::of_mask(mask(left.mask(), right.mask()));
    Some(match (operation, left, right) {
        (Operation::Move, value, _) => value,
        (Operation::Subtract, value, Constant(by)) => value.moved(by.wrapping_neg()),
        (Operation::Add, value, Constant(by)) | (Operation::Add, Constant(by), value) => value.moved(by),
        (Operation::Add | Operation::Subtract, ..) => Value::Unknown,
        (Operation::And, Stack(add), Constant(mask)) | (Operation::And, Constant(mask), Stack(add)) => {
            Rounded { add, mask, plus: 0 }
        }
        (Operation::And, Constant(left), Constant(right)) => Constant(left & right),
        (Operation::AndNot, Constant(left), Constant(right)) => Constant(left & !right),
        (Operation::AndNot, Stack(add), Constant(mask)) => Rounded { add, mask: !mask, plus: 0 },
        (Operation::And, ..) => by_mask(Mask::and),
        (Operation::Or, ..) => by_mask(Mask::or),
        (Operation::Xor, ..) => by_mask(Mask::xor),
        (Operation::AndNot, ..) => by_mask(Mask::and_not),
        _ => return None,
    })
}
