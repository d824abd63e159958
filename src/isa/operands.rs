//! The operands of an instruction, taken one after another.

use super::DecodeError;
use super::access::ScalarOperand;
use super::facts::Facts;
use super::registers::RegisterRange;
use super::text::{Line, number};

/// An instruction whose operands are taken one after another.
pub(super) struct Parts<'a> {
    pub(super) line: &'a Line<'a>,
    pub(super) facts: &'static Facts,
    pub(super) next: usize,
}

impl Parts<'_> {
    pub(super) fn operand(&mut self) -> Result<&str, DecodeError> {
        let index = self.next;
        self.next += 1;
        self.line.operand(index).ok_or(DecodeError::Operands)
    }

    pub(super) fn register(&mut self) -> Result<RegisterRange, DecodeError> {
        RegisterRange::parse(self.operand()?).ok_or(DecodeError::Operands)
    }

    pub(super) fn registers(&mut self, count: u16) -> Result<RegisterRange, DecodeError> {
        self.register().and_then(|range| sized(range, count))
    }

    /// A register or `off` (of scalars: `null`).
    pub(super) fn optional(&mut self) -> Result<Option<RegisterRange>, DecodeError> {
        let operand = self.operand()?;
        match operand {
            "off" | "null" => Ok(None),
            _ => RegisterRange::parse(operand).map(Some).ok_or(DecodeError::Operands),
        }
    }

    /// A scalar register or a constant.
    pub(super) fn scalar_operand(&mut self) -> Result<ScalarOperand, DecodeError> {
        let operand = self.operand()?;
        if operand == "null" {
            return Ok(ScalarOperand::Constant(0));
        }
        if let Some(range) = RegisterRange::parse(operand) {
            return sized(range, 1).map(ScalarOperand::Register);
        }
        if operand.starts_with("src_") {
            return Ok(ScalarOperand::Internal);
        }
        let integer =
            number(operand).filter(|value| (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(value));
        let integer = integer.map(|value| value as u32);
        let float = || operand.parse::<f32>().ok().filter(|_| operand.contains('.')).map(f32::to_bits);
        integer.or_else(float).map(ScalarOperand::Constant).ok_or(DecodeError::Operands)
    }

    /// The number of a modifier, 0 without it.
    pub(super) fn offset<T: TryFrom<i64>>(&self, modifier: &str) -> Result<T, DecodeError> {
        let value = self.line.value(modifier).map_or(Some(0), number);
        value.and_then(|value| T::try_from(value).ok()).ok_or(DecodeError::Operands)
    }
}

/// A range of a certain size.
pub(super) fn sized(range: RegisterRange, count: u16) -> Result<RegisterRange, DecodeError> {
    if range.count == count { Ok(range) } else { Err(DecodeError::Operands) }
}
