//! The effect of one instruction on a state.

use super::state::{Halves, Mask, SCALARS, Slot, SlotBase, State, VCC, Value, Vector};
use super::step::{Effect, MaskOperation, Source, Target};
use crate::isa::effects::Write;
use crate::isa::registers::RegisterFile;

/// Facts about the code's target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// Number by which the stack pointer's bytes are divided for bytes of a lane: the lanes of a wave, or 1.
    pub(super) divisor: u32,
    /// The first accumulation register that callees preserve.
    pub(super) first_saved_accumulator: u16,
}

impl State {
    pub(super) fn run(&mut self, effect: &Effect, units: Units) {
        match effect {
            Effect::Move { to, from, dwords } => {
                for half in 0..*dwords {
                    let value = self.half(*from, half);
                    self.put(*to, half, value, *dwords);
                }
            }
            Effect::Add { to, left, right, subtract } => {
                let sum = match (self.half(*left, 0), self.half(*right, 0)) {
                    (value, Value::Constant(by)) if *subtract => value.moved(by.wrapping_neg()),
                    (value, Value::Constant(by)) | (Value::Constant(by), value) if !subtract => {
                        value.moved(by)
                    }
                    _ => Value::Unknown,
                };
                self.set(*to, sum);
            }
            Effect::Logic { to, operation, left, right, dwords } => {
                // Both halves before either is written: a destination may be a source.
                let values = [0, 1].map(|half| self.logic(*operation, *left, *right, half));
                for (half, value) in (0..*dwords).zip(values) {
                    self.put(*to, half, value, *dwords);
                }
            }
            Effect::SaveExec { to, operation, left, right, dwords } => {
                let new = self.logic(*operation, *left, *right, 0);
                let old = Value::of_mask(self.exec);
                self.exec = new.mask();
                for half in 0..*dwords {
                    self.put(*to, half, old, *dwords);
                }
            }
            Effect::Compare { to, narrows } => {
                // Bits of inactive lanes are 0.
                let result = self.exec.and(Mask::Unknown);
                if let Some((first, count)) = to {
                    let last = first.saturating_add(*count);
                    (*first..last).for_each(|number| self.set(number, Value::of_mask(result)));
                }
                if *narrows {
                    self.exec = result;
                }
            }
            Effect::ReadLane { to, from, lane } => {
                let value = self.lanes.get(&(*from, *lane)).copied().unwrap_or(Value::Unknown);
                self.set(*to, value);
            }
            Effect::WriteLane { to, from, lane } => {
                let value = self.half(*from, 0);
                self.set_vector(*to, Halves::default());
                match value {
                    Value::Unknown => self.lanes.remove(&(*to, *lane)),
                    known => self.lanes.insert((*to, *lane), known),
                };
            }
            Effect::Copy { to, from } => self.copy(*to, *from),
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

    fn half(&self, source: Source, half: u8) -> Value {
        match source {
            Source::Scalar(number) => self.scalar(number.saturating_add(half)),
            Source::Exec => Value::of_mask(self.exec),
            // The high half of a 64-bit constant.
            Source::Constant(number) if half > 0 => {
                Value::Constant(if number.cast_signed() < 0 { u32::MAX } else { 0 })
            }
            Source::Constant(number) => Value::Constant(number),
            Source::Other => Value::Unknown,
        }
    }

    fn put(&mut self, to: Target, half: u8, value: Value, dwords: u8) {
        match to {
            Target::Scalar(number) => self.set(number.saturating_add(half), value),
            Target::Exec if half == 0 => self.exec = value.mask(),
            // The halves of a mask have one meaning each only if both have the same.
            Target::Exec if dwords > 1 && value.mask() != self.exec => self.exec = Mask::Unknown,
            Target::Exec => {}
        }
    }

    fn logic(&self, operation: MaskOperation, left: Source, right: Source, half: u8) -> Value {
        let (left, right) = (self.half(left, half), self.half(right, half));
        if operation == MaskOperation::And {
            match (left, right) {
                (Value::Stack(add), Value::Constant(mask)) | (Value::Constant(mask), Value::Stack(add)) => {
                    return Value::Rounded { add, mask, plus: 0 };
                }
                (Value::Constant(left), Value::Constant(right)) => return Value::Constant(left & right),
                _ => {}
            }
        }
        if operation == MaskOperation::AndNot
            && let (Value::Stack(add), Value::Constant(mask)) = (left, right)
        {
            return Value::Rounded { add, mask: !mask, plus: 0 };
        }
        let (left, right) = (left.mask(), right.mask());
        Value::of_mask(match operation {
            MaskOperation::And => left.and(right),
            MaskOperation::Or => left.or(right),
            MaskOperation::Xor => left.xor(right),
            MaskOperation::AndNot => left.and_not(right),
        })
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
        self.lanes.retain(|(of, _), _| *of != register);
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
