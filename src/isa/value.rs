//! Values that computations give.

use super::Instruction;
use super::computation::{Computation, EXEC, Number, Operation, Relation, Source};
use super::registers::{ReadRegister, RegisterFile, RegisterRange};
use crate::units::{LaneId, WaveSize};

/// Values of operands before an instruction.
pub trait ReadOperand: ReadRegister {
    /// A bit of a mask of lanes.
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool>;

    /// SCC.
    fn scc(&self) -> Option<bool>;

    /// The base of an aperture by its operand's name: `src_private_base`.
    fn aperture(&self, name: &str) -> Option<u64>;

    /// The wave size; `None`: unknown.
    fn wave_size(&self) -> Option<WaveSize>;

    /// The address of the next instruction.
    fn next(&self) -> Option<u64>;
}

impl Instruction {
    /// The dword that it writes to a register, of vector files in that lane. `None`: unknown.
    #[must_use]
    pub fn value(
        &self,
        wanted: (RegisterFile, u16),
        lane: LaneId,
        operands: &impl ReadOperand,
    ) -> Option<u32> {
        self.computations().find_map(|of| Evaluation { of, lane, operands }.value(wanted))
    }

    /// The carry, borrow or comparison that it writes: of a vector instruction the bit of the lane, otherwise SCC.
    /// `None`: unknown.
    #[must_use]
    pub fn condition(&self, lane: LaneId, operands: &impl ReadOperand) -> Option<bool> {
        self.computations().find_map(|of| Evaluation { of, lane, operands }.condition())
    }
}

/// A computation in a lane, with the values before it.
struct Evaluation<'a, R> {
    of: Computation,
    lane: LaneId,
    operands: &'a R,
}

impl<R: ReadOperand> Evaluation<'_, R> {
    fn value(&self, (file, index): (RegisterFile, u16)) -> Option<u32> {
        let part = |range: RegisterRange, value: &dyn Fn() -> Option<u64>| {
            let dword =
                index.checked_sub(range.first).filter(|dword| range.file == file && *dword < range.count)?;
            Some((value()? >> (32 * u32::from(dword).min(1))) as u32)
        };
        let saved = self.of.saved.and_then(|saved| part(saved, &|| self.exec()));
        saved.or_else(|| part(self.of.to?, &|| self.result()))
    }

    /// A source of up to two dwords.
    fn quad(&self, index: usize) -> Option<u64> {
        match *self.of.sources.get(index)? {
            Source::Register(range) if range == EXEC || range == (RegisterRange { count: 1, ..EXEC }) => {
                let exec = self.exec()?;
                Some(if range.count == 1 { u64::from(exec as u32) } else { exec })
            }
            Source::Register(range) => self.register(range, self.lane),
            Source::Half(range, is_high) => {
                let dword = self.register(range, self.lane)?;
                Some(if is_high { dword >> 16 } else { dword & 0xffff })
            }
            Source::Constant(number) => Some(number.cast_unsigned()),
            Source::Aperture(name) => self.operands.aperture(name),
            Source::Other => None,
        }
    }

    fn register(&self, range: RegisterRange, lane: LaneId) -> Option<u64> {
        let dword = |index: u16| {
            self.operands.dword(range.file, range.first.checked_add(index)?, lane).map(u64::from)
        };
        let high = if range.count > 1 { dword(1)? } else { 0 };
        Some(dword(0)? | high << 32)
    }

    fn dword(&self, index: usize) -> Option<u32> {
        self.quad(index).map(|value| value as u32)
    }

    /// EXEC before the instruction.
    fn exec(&self) -> Option<u64> {
        // The EXEC of 32 lanes has no high half.
        let count = if self.operands.wave_size() == Some(WaveSize::W32) { 1 } else { 2 };
        self.register(RegisterRange { count, ..EXEC }, self.lane)
    }

    /// Whether the result has 64 bits.
    fn is_wide(&self) -> bool {
        self.of.to.is_some_and(|to| to.count == 2)
    }

    fn carry(&self) -> Option<u64> {
        let mask = self.of.condition?;
        let carry = if self.of.is_vector { self.operands.bit(mask, self.lane) } else { self.operands.scc() };
        carry.map(u64::from)
    }

    /// A number with its sign extended, or without one.
    fn number(&self, index: usize, number: Number) -> Option<i128> {
        Some(match number {
            Number::U32 => self.dword(index)?.into(),
            Number::I32 => self.dword(index)?.cast_signed().into(),
            Number::U64 => self.quad(index)?.into(),
            Number::I64 => self.quad(index)?.cast_signed().into(),
            Number::Other => return None,
        })
    }

    /// The low 24 bits of a number.
    fn short(&self, index: usize, number: Number) -> Option<i64> {
        let bits = self.dword(index)?.wrapping_shl(8);
        Some(if number == Number::I32 { (bits.cast_signed() >> 8).into() } else { (bits >> 8).into() })
    }

    /// The value of the result; of 32 bits the low ones count.
    fn result(&self) -> Option<u64> {
        let (a, b, c) = (|| self.quad(0), || self.quad(1), || self.quad(2));
        let is_wide = self.is_wide();
        // The number of bits to shift by.
        let by = |index: usize| Some(self.dword(index)? & if is_wide { 63 } else { 31 });
        Some(match self.of.operation {
            Operation::Move => a()?,
            Operation::ReadLane => {
                let lane = match self.of.sources.get(1) {
                    Some(Source::Other) | None => self.first_lane()?,
                    _ => self.selected_lane()?,
                };
                self.register(self.of.sources.first()?.register()?, lane)?
            }
            Operation::WriteLane if self.selected_lane()? == self.lane => a()?,
            Operation::WriteLane => return None,
            Operation::Pack(low, high) => self.half(0, low)? | self.half(1, high)? << 32,
            Operation::ProgramCounter => self.operands.next()?,
            Operation::Add => a()?.wrapping_add(b()?),
            Operation::AddCarry => a()?.wrapping_add(b()?).wrapping_add(self.carry()?),
            Operation::Subtract => a()?.wrapping_sub(b()?),
            Operation::SubtractBorrow => a()?.wrapping_sub(b()?).wrapping_sub(self.carry()?),
            Operation::ShiftLeft => a()? << by(1)?,
            Operation::ShiftRight if is_wide => a()? >> by(1)?,
            Operation::ShiftRight => u64::from(self.dword(0)? >> by(1)?),
            Operation::ShiftRightSigned if is_wide => (a()?.cast_signed() >> by(1)?).cast_unsigned(),
            Operation::ShiftRightSigned => {
                u64::from((self.dword(0)?.cast_signed() >> by(1)?).cast_unsigned())
            }
            // The form of 64 bits has three bits of the shift.
            Operation::ShiftAdd => (a()? << (by(1)? & if is_wide { 7 } else { 31 })).wrapping_add(c()?),
            Operation::ShiftOr => a()? << by(1)? | c()?,
            Operation::AddShift => a()?.wrapping_add(b()?) << by(2)?,
            Operation::Add3 => a()?.wrapping_add(b()?).wrapping_add(c()?),
            Operation::AndOr => a()? & b()? | c()?,
            Operation::Or3 => a()? | b()? | c()?,
            Operation::And => a()? & b()?,
            Operation::Or => a()? | b()?,
            Operation::Xor => a()? ^ b()?,
            Operation::Not => !a()?,
            Operation::AndNot => a()? & !b()?,
            Operation::OrNot => a()? | !b()?,
            Operation::Min(number) => self.number(0, number)?.min(self.number(1, number)?) as u64,
            Operation::Max(number) => self.number(0, number)?.max(self.number(1, number)?) as u64,
            Operation::Multiply => a()?.wrapping_mul(b()?),
            Operation::MultiplyHigh(number) => {
                ((self.number(0, number)? * self.number(1, number)?) >> 32) as u64
            }
            Operation::Multiply24(number) => {
                (self.short(0, number)? * self.short(1, number)?).cast_unsigned()
            }
            Operation::MultiplyAdd24(number) => {
                (self.short(0, number)? * self.short(1, number)?).cast_unsigned().wrapping_add(c()?)
            }
            Operation::MultiplyAddWide(number) => {
                ((self.number(0, number)? * self.number(1, number)?) as u64).wrapping_add(c()?)
            }
            Operation::Select => match self.carry()? {
                0 => b()?,
                _ => a()?,
            },
            Operation::Extend(bits) => {
                let unused = 32u32.saturating_sub(bits);
                let value = self.dword(0)?.wrapping_shl(unused).cast_signed() >> unused;
                u64::from(value.cast_unsigned())
            }
            Operation::Field(number) => self.field(number)?,
            Operation::Compare(..) => return None,
        })
    }

    /// Bits of the first source. The scalar form has offset and width in one operand.
    fn field(&self, number: Number) -> Option<u64> {
        let (offset, width) = match self.of.is_vector {
            true => (self.dword(1)? & 31, self.dword(2)? & 31),
            false => (self.dword(1)? & 31, self.dword(1)? >> 16 & 127),
        };
        let unused = 32u32.saturating_sub(width).min(31);
        let bits = self.dword(0)?;
        Some(match (width, number) {
            (0, _) => 0,
            (_, Number::I32) => {
                u64::from((((bits.cast_signed() >> offset) << unused) >> unused).cast_unsigned())
            }
            _ => u64::from(((bits >> offset) << unused) >> unused),
        })
    }

    fn half(&self, index: usize, dword: u8) -> Option<u64> {
        match *self.of.sources.get(index)? {
            Source::Register(range) if range.count == 2 => self.register(
                RegisterRange::new(range.file, range.first.checked_add(dword.into())?, 1),
                self.lane,
            ),
            _ => None,
        }
    }

    /// The lane with the number of the second source.
    fn selected_lane(&self) -> Option<LaneId> {
        let lanes = self.operands.wave_size().map_or(64, WaveSize::lanes);
        Some(LaneId(self.dword(1)? as u8 & (lanes - 1)))
    }

    /// The first active lane; without one lane 0.
    fn first_lane(&self) -> Option<LaneId> {
        let exec = self.exec()?;
        u8::try_from(if exec == 0 { 0 } else { exec.trailing_zeros() }).ok().map(LaneId)
    }

    /// The carry, borrow or comparison.
    fn condition(&self) -> Option<bool> {
        let pair = || Some((u64::from(self.dword(0)?), u64::from(self.dword(1)?)));
        let is_wide = self.is_wide();
        match self.of.operation {
            Operation::Compare(relation, number) => self.compare(relation, number),
            _ if self.of.flag.is_none() || is_wide && !self.is_bitwise() => None,
            // Without a sign: only such sums have a carry.
            Operation::Add if self.of.has_carry => pair().map(|(one, other)| (one + other) >> 32 != 0),
            Operation::Subtract if self.of.has_carry => pair().map(|(one, other)| one < other),
            Operation::AddCarry => {
                pair().zip(self.carry()).map(|((one, other), carry)| (one + other + carry) >> 32 != 0)
            }
            Operation::SubtractBorrow => {
                pair().zip(self.carry()).map(|((one, other), carry)| one < other + carry)
            }
            // SCC: whether a bit is set.
            _ if self.is_bitwise() && !self.of.is_vector => {
                let result = self.result()?;
                Some(if is_wide { result != 0 } else { result as u32 != 0 })
            }
            _ => None,
        }
    }

    fn is_bitwise(&self) -> bool {
        use Operation::{And, AndNot, Field, Not, Or, OrNot, ShiftLeft, ShiftRight, ShiftRightSigned, Xor};
        matches!(
            self.of.operation,
            And | Or | Xor | Not | AndNot | OrNot | ShiftLeft | ShiftRight | ShiftRightSigned | Field(_)
        )
    }

    fn compare(&self, relation: Relation, number: Number) -> Option<bool> {
        let order = self.number(0, number)?.cmp(&self.number(1, number)?);
        Some(match relation {
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::Greater => order.is_gt(),
            Relation::GreaterOrEqual => order.is_ge(),
            Relation::Less => order.is_lt(),
            Relation::LessOrEqual => order.is_le(),
            Relation::Other => return None,
        })
    }
}
