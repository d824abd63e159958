//! Arithmetic of C's integers, at their sizes.

use super::path::{Binary, Unary};
use super::typed::{Basic, Sort};

/// An integer with its type; `bits` are extended to 64 by the type's sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Integer {
    pub(super) bits: u64,
    pub(super) ty: Basic,
}

impl Integer {
    /// Creates a number of a type; drops higher bits.
    pub(super) fn new(bits: u64, ty: Basic) -> Self {
        let unused = 64 - u32::from(ty.bytes.clamp(1, 8)) * 8;
        let bits = match ty.sort {
            Sort::Signed | Sort::Character => ((bits << unused) as i64 >> unused) as u64,
            _ => bits << unused >> unused,
        };
        Self { bits, ty }
    }

    fn is_unsigned(self) -> bool {
        matches!(self.ty.sort, Sort::Unsigned | Sort::Boolean)
    }

    /// C's integer promotion: types smaller than `int` become `int`. The result's type has a name.
    fn promoted(self) -> Self {
        let is_unsigned = self.ty.bytes >= 4 && self.is_unsigned();
        Self { ty: Basic::integer(self.ty.bytes, is_unsigned), ..self }
    }

    /// The number as an index or count; it fits because unsigned 64-bit ones are less than 2^64.
    pub(super) fn wide(self) -> i128 {
        if self.is_unsigned() { i128::from(self.bits) } else { i128::from(self.bits as i64) }
    }
}

/// The result of a unary operator.
pub(super) fn unary(operator: Unary, operand: Integer) -> Integer {
    let operand = operand.promoted();
    match operator {
        Unary::Minus => Integer::new(operand.bits.wrapping_neg(), operand.ty),
        Unary::Not => Integer::new(!operand.bits, operand.ty),
        Unary::IsZero => Integer::new(u64::from(operand.bits == 0), Basic::integer(4, false)),
        Unary::Plus | Unary::Deref | Unary::Address => operand,
    }
}

/// The result of an operator on floating-point numbers, rounded to `float` or `double`; `None`: it has none.
pub(super) fn float(operator: Binary, left: f64, right: f64, single: bool) -> Option<f64> {
    let (a, b) = (left as f32, right as f32);
    Some(match (operator, single) {
        (Binary::Add, true) => (a + b).into(),
        (Binary::Add, false) => left + right,
        (Binary::Subtract, true) => (a - b).into(),
        (Binary::Subtract, false) => left - right,
        (Binary::Multiply, true) => (a * b).into(),
        (Binary::Multiply, false) => left * right,
        (Binary::Divide, true) => (a / b).into(),
        (Binary::Divide, false) => left / right,
        _ => return None,
    })
}

/// The value of a number of 16 bits in the format of IEEE 754, or of `bfloat16`; exact.
pub(crate) fn half(bits: u16, is_bfloat: bool) -> f64 {
    if is_bfloat {
        return f32::from_bits(u32::from(bits) << 16).into();
    }
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The result of a binary operator, by the usual arithmetic conversions.
pub(super) fn binary(operator: Binary, left: Integer, right: Integer) -> Result<Integer, &'static str> {
    let (left, right) = (left.promoted(), right.promoted());
    if matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) {
        let width = u64::from(left.ty.bytes) * 8;
        let count = u32::try_from(right.wide()).ok().filter(|count| u64::from(*count) < width);
        let count = count.ok_or("shifts by less than 0 or by its width or more")?;
        let bits = match (operator, left.is_unsigned()) {
            (Binary::ShiftLeft, _) => left.bits << count,
            (_, true) => left.bits >> count,
            (_, false) => ((left.bits as i64) >> count) as u64,
        };
        return Ok(Integer::new(bits, left.ty));
    }
    let bytes = left.ty.bytes.max(right.ty.bytes);
    let unsigned = [left, right].iter().any(|side| side.is_unsigned() && side.ty.bytes == bytes);
    let ty = Basic::integer(bytes, unsigned);
    let (a, b) = (Integer::new(left.bits, ty).bits, Integer::new(right.bits, ty).bits);
    let bits = match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide | Binary::Remainder if b == 0 => return Err("divides by 0"),
        Binary::Divide if unsigned => a / b,
        Binary::Divide => (a as i64).wrapping_div(b as i64) as u64,
        Binary::Remainder if unsigned => a % b,
        Binary::Remainder => (a as i64).wrapping_rem(b as i64) as u64,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft | Binary::ShiftRight => a,
    };
    Ok(Integer::new(bits, ty))
}

/// The nearest number of IEEE 754 binary16, ties to even.
pub(super) fn to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // Halfway from the greatest number to the one after it.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The exponent of the last bit; that of subnormal numbers for the smallest.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let units = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as i32;
    // A carry into the exponent is right, too.
    sign | (((exponent + 14) << 10) + units) as u16
}
