//! Arithmetic, logic, comparison and conversion of [`Number`]s for all lanes at once.
//!
//! Follows DWARF 5 sections 2.5.1.4 to 2.5.1.6. Generic values divide and compare as signed; `DW_OP_mod` and
//! `DW_OP_shr` treat them as unsigned. Vectors work element by element. A [check](check_binary) comes before each
//! operation, which then cannot fail for some lanes only, for example in a division by zero.

use super::error::Cause;
use super::half;
use super::lanes::Lanes;
use super::operation::{Binary, Unary};
use super::value::{Limbs, Number, Type, ValueClass, low_mask};
use super::wide;
use crate::units::LaneSet;

impl Binary {
    /// Whether the result is 0 or 1 of the generic type.
    pub(super) fn compares(self) -> bool {
        matches!(self, Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }

    /// Whether the right operand is a shift count, which may have another type.
    fn shifts(self) -> bool {
        matches!(self, Self::Shl | Self::Shr | Self::Shra)
    }

    /// Whether non-integral operands are allowed (DWARF 5 section 2.5.1.4).
    fn takes_any_kind(self) -> bool {
        self.compares() || matches!(self, Self::Plus | Self::Minus | Self::Mul | Self::Div)
    }
}

fn check_kind(ty: Type, any: bool) -> Result<(), Cause> {
    let (kind, bits, _) = ty.shape();
    match kind {
        ValueClass::Signed | ValueClass::Unsigned => Ok(()),
        ValueClass::Float if !any => Err(Cause::TypeUnsupported("floating point")),
        ValueClass::Float if !matches!(bits, 16 | 32 | 64) => {
            Err(Cause::TypeUnsupported("floating point of this size"))
        }
        ValueClass::Float => Ok(()),
        ValueClass::Opaque => Err(Cause::TypeUnsupported("this encoding")),
    }
}

/// Checks the operands of an operation.
///
/// # Errors
/// The lanes with invalid operands, and the reason.
pub(super) fn check_binary(
    op: Binary,
    lanes: LaneSet,
    left: &Number,
    right: &Number,
) -> Result<(), (LaneSet, Cause)> {
    if matches!((left.ty, right.ty), (Type::Generic, Type::Generic))
        && !matches!(op, Binary::Div | Binary::Mod)
    {
        return Ok(());
    }
    let every = |cause| (lanes, cause);
    if op.shifts() {
        if !right.ty.is_integral() {
            return Err(every(Cause::TypeUnsupported("a shift count that is not integral")));
        }
    } else if left.ty != right.ty {
        return Err(every(Cause::TypesDiffer));
    }
    check_kind(left.ty, op.takes_any_kind()).map_err(every)?;
    let (kind, bits, count) = left.ty.shape();
    if op.compares() && count > 1 {
        return Err(every(Cause::TypeUnsupported("vectors")));
    }
    if matches!(op, Binary::Div | Binary::Mod) && kind != ValueClass::Float {
        let not_zero = if count == 1 {
            right.lanes_not_zero(lanes)
        } else {
            let whole = |lane| {
                let limbs = right.limbs(lane);
                (0..count).all(|index| !wide::is_zero(&wide::extract(&limbs, index * bits, bits)))
            };
            lanes.iter().filter(|lane| whole(*lane)).collect()
        };
        if not_zero != lanes {
            return Err((lanes.without(not_zero), Cause::DivisionByZero));
        }
    }
    Ok(())
}

/// Computes the result for checked operands.
pub(super) fn binary(op: Binary, lanes: LaneSet, left: Number, right: Number) -> Number {
    let result = if op.compares() { Type::Generic } else { left.ty };
    let (kind, bits, count) = left.ty.shape();
    let generic = matches!(left.ty, Type::Generic);
    match (left.limbs, right.limbs) {
        (Limbs::Narrow(a), Limbs::Narrow(b)) if count == 1 => {
            let limbs = if bits == 64 && kind != ValueClass::Float {
                full(op, kind, generic, a, b)
            } else {
                a.zip(b, |a, b| narrow(op, kind, bits, a, b))
            };
            Number { ty: result, limbs: Limbs::Narrow(limbs) }
        }
        (left_limbs, right_limbs) => {
            let left = Number { ty: left.ty, limbs: left_limbs };
            let right = Number { ty: right.ty, limbs: right_limbs };
            each_lane(result, lanes, |lane| {
                let (a, b) = (left.limbs(lane), right.limbs(lane));
                if count == 1 {
                    return scalar(op, kind, bits, &a, &b);
                }
                let element = |index| {
                    let one = wide::extract(&a, index * bits, bits);
                    let other = if op.shifts() { b.clone() } else { wide::extract(&b, index * bits, bits) };
                    scalar(op, kind, bits, &one, &other)
                };
                joined(bits, count, element)
            })
        }
    }
}

/// 64-bit integers: the operation is selected outside the loop over the lanes, which then compiles to vector code.
fn full(op: Binary, kind: ValueClass, generic: bool, a: Lanes<u64>, b: Lanes<u64>) -> Lanes<u64> {
    let signed = kind == ValueClass::Signed;
    match op {
        Binary::Plus => a.zip(b, u64::wrapping_add),
        Binary::Minus => a.zip(b, u64::wrapping_sub),
        Binary::Mul => a.zip(b, u64::wrapping_mul),
        Binary::And => a.zip(b, |a, b| a & b),
        Binary::Or => a.zip(b, |a, b| a | b),
        Binary::Xor => a.zip(b, |a, b| a ^ b),
        Binary::Shl => a.zip(b, |a, b| if b < 64 { a << b } else { 0 }),
        Binary::Shr => a.zip(b, |a, b| if b < 64 { a >> b } else { 0 }),
        Binary::Shra => a.zip(b, |a, b| ((a as i64) >> b.min(63)) as u64),
        Binary::Eq => a.zip(b, |a, b| u64::from(a == b)),
        Binary::Ne => a.zip(b, |a, b| u64::from(a != b)),
        Binary::Mod if generic => a.zip(b, |a, b| a.checked_rem(b).unwrap_or(0)),
        _ if signed => a.zip(b, |a, b| narrow(op, ValueClass::Signed, 64, a, b)),
        _ => a.zip(b, |a, b| narrow(op, ValueClass::Unsigned, 64, a, b)),
    }
}

/// Computes one element of one lane of up to 64 bits. Integer divisors are not 0.
fn narrow(op: Binary, kind: ValueClass, bits: u32, a: u64, b: u64) -> u64 {
    if kind == ValueClass::Float {
        return match bits {
            16 => float(op, f64::from(half::to_f32(a as u16)), f64::from(half::to_f32(b as u16)), |value| {
                u64::from(half::from_f64(value))
            }),
            32 => {
                float(op, f64::from(f32::from_bits(a as u32)), f64::from(f32::from_bits(b as u32)), |value| {
                    u64::from((value as f32).to_bits())
                })
            }
            _ => float(op, f64::from_bits(a), f64::from_bits(b), f64::to_bits),
        };
    }
    let signed = kind == ValueClass::Signed;
    let extended = |value| sign_extended(value, bits);
    let order = if signed { extended(a).cmp(&extended(b)) } else { a.cmp(&b) };
    let result = match op {
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Div if signed => extended(a).checked_div(extended(b)).map_or(a.wrapping_neg(), |v| v as u64),
        Binary::Div => a.checked_div(b).unwrap_or(0),
        Binary::Mod if signed => extended(a).checked_rem(extended(b)).unwrap_or(0) as u64,
        Binary::Mod => a.checked_rem(b).unwrap_or(0),
        Binary::Shl if b >= u64::from(bits) => 0,
        Binary::Shl => a << b,
        Binary::Shr if b >= u64::from(bits) => 0,
        Binary::Shr => a >> b,
        Binary::Shra => (extended(a) >> b.min(63)) as u64,
        Binary::Eq => return u64::from(a == b),
        Binary::Ne => return u64::from(a != b),
        Binary::Lt => return u64::from(order.is_lt()),
        Binary::Le => return u64::from(order.is_le()),
        Binary::Gt => return u64::from(order.is_gt()),
        Binary::Ge => return u64::from(order.is_ge()),
    };
    result & low_mask(bits)
}

/// Computes in floating point. `f64` arithmetic with one rounding is exact for the four operations of `f16` and `f32`,
/// whose precision is less than half of that of `f64`.
fn float(op: Binary, a: f64, b: f64, pack: impl Fn(f64) -> u64) -> u64 {
    match op {
        Binary::Plus => pack(a + b),
        Binary::Minus => pack(a - b),
        Binary::Mul => pack(a * b),
        Binary::Div => pack(a / b),
        Binary::Eq => u64::from(a == b),
        Binary::Ne => u64::from(a != b),
        Binary::Lt => u64::from(a < b),
        Binary::Le => u64::from(a <= b),
        Binary::Gt => u64::from(a > b),
        Binary::Ge => u64::from(a >= b),
        // The check rejects all other operations.
        Binary::And | Binary::Or | Binary::Xor | Binary::Mod | Binary::Shl | Binary::Shr | Binary::Shra => 0,
    }
}

/// Computes one element of any width.
fn scalar(op: Binary, kind: ValueClass, bits: u32, a: &[u64], b: &[u64]) -> Vec<u64> {
    let low = |number: &[u64]| number.first().copied().unwrap_or(0);
    // A shift count may be wider than the shifted number; any count beyond the low limb is too large.
    let count = if b.iter().skip(1).all(|limb| *limb == 0) { low(b) } else { u64::MAX };
    if bits <= 64 {
        let right = if op.shifts() { count } else { low(b) };
        return vec![narrow(op, kind, bits, low(a), right)];
    }
    let signed = kind == ValueClass::Signed;
    let by = count.min(u64::from(bits)) as u32;
    let order = || match (signed, wide::is_negative(a, bits), wide::is_negative(b, bits)) {
        (true, true, false) => std::cmp::Ordering::Less,
        (true, false, true) => std::cmp::Ordering::Greater,
        _ => wide::cmp(a, b),
    };
    let magnitude = |number: &[u64]| {
        if signed && wide::is_negative(number, bits) { wide::neg(number, bits) } else { number.to_vec() }
    };
    let truth = |truth| vec![u64::from(truth)];
    match op {
        Binary::Plus => wide::add(a, b, bits),
        Binary::Minus => wide::sub(a, b, bits),
        Binary::Mul => wide::mul(a, b, bits),
        Binary::And => wide::bitwise(a, b, |a, b| a & b),
        Binary::Or => wide::bitwise(a, b, |a, b| a | b),
        Binary::Xor => wide::bitwise(a, b, |a, b| a ^ b),
        Binary::Div | Binary::Mod => {
            let (quotient, remainder) = wide::div_rem(&magnitude(a), &magnitude(b), bits);
            let (negative_a, negative_b) = (wide::is_negative(a, bits), wide::is_negative(b, bits));
            match op {
                Binary::Div if signed && negative_a != negative_b => wide::neg(&quotient, bits),
                Binary::Div => quotient,
                _ if signed && negative_a => wide::neg(&remainder, bits),
                _ => remainder,
            }
        }
        Binary::Shl => wide::shl(a, by, bits),
        Binary::Shr => wide::shr(a, by),
        Binary::Shra => wide::shra(a, by, bits),
        Binary::Eq => truth(order().is_eq()),
        Binary::Ne => truth(order().is_ne()),
        Binary::Lt => truth(order().is_lt()),
        Binary::Le => truth(order().is_le()),
        Binary::Gt => truth(order().is_gt()),
        Binary::Ge => truth(order().is_ge()),
    }
}

/// Checks the operand of an operation.
pub(super) fn check_unary(op: Unary, ty: Type) -> Result<(), Cause> {
    check_kind(ty, op != Unary::Not)
}

/// Computes the result for a checked operand.
pub(super) fn unary(op: Unary, lanes: LaneSet, mut number: Number) -> Number {
    let (kind, bits, count) = number.ty.shape();
    if let (Limbs::Narrow(limbs), 1) = (&mut number.limbs, count) {
        limbs.change(|value| narrow_unary(op, kind, bits, value));
        return number;
    }
    let element = |value: &[u64]| {
        if bits <= 64 {
            return vec![narrow_unary(op, kind, bits, value.first().copied().unwrap_or(0))];
        }
        match op {
            Unary::Not => wide::not(value, bits),
            Unary::Abs if !(kind == ValueClass::Signed && wide::is_negative(value, bits)) => value.to_vec(),
            Unary::Abs | Unary::Neg => wide::neg(value, bits),
        }
    };
    each_lane(number.ty, lanes, |lane| {
        let limbs = number.limbs(lane);
        joined(bits, count, |index| element(&wide::extract(&limbs, index * bits, bits)))
    })
}

fn narrow_unary(op: Unary, kind: ValueClass, bits: u32, value: u64) -> u64 {
    let sign = 1u64.checked_shl(bits.wrapping_sub(1)).unwrap_or(0);
    let result = match (op, kind) {
        (Unary::Not, _) => !value,
        (Unary::Neg, ValueClass::Float) => value ^ sign,
        (Unary::Abs, ValueClass::Float) => value & !sign,
        (Unary::Neg, _) => value.wrapping_neg(),
        (Unary::Abs, ValueClass::Signed) if value & sign != 0 => value.wrapping_neg(),
        (Unary::Abs, _) => value,
    };
    result & low_mask(bits)
}

/// Creates a constant of a type, for `DW_OP_plus_uconst`.
pub(super) fn constant(ty: Type, value: u64) -> Number {
    let (kind, bits, count) = ty.shape();
    let element = match (kind, bits) {
        (ValueClass::Float, 16) => vec![u64::from(half::from_f64(value as f64))],
        (ValueClass::Float, 32) => vec![u64::from((value as f32).to_bits())],
        (ValueClass::Float, _) => vec![(value as f64).to_bits()],
        _ => wide::resized(&[value], 64, bits, false),
    };
    Number::from_limbs(ty, &joined(bits, count, |_| element.clone()))
}

/// Checks a conversion (`DW_OP_convert`): both types are numeric, with the same number of elements.
pub(super) fn check_convert(from: Type, to: Type) -> Result<(), Cause> {
    check_kind(from, true)?;
    check_kind(to, true)?;
    let ((from_kind, from_bits, from_count), (to_kind, to_bits, to_count)) = (from.shape(), to.shape());
    if from_count != to_count {
        return Err(Cause::TypeUnsupported("vectors of different lengths"));
    }
    let crosses = (from_kind == ValueClass::Float) != (to_kind == ValueClass::Float);
    if crosses && from_bits.max(to_bits) > 128 {
        return Err(Cause::TypeUnsupported("integers of more than 128 bits and floating point"));
    }
    Ok(())
}

/// Converts a value to another type; the types are checked.
pub(super) fn convert(lanes: LaneSet, number: &Number, to: Type) -> Number {
    let ((from_kind, from_bits, count), (to_kind, to_bits, _)) = (number.ty.shape(), to.shape());
    if let (Limbs::Narrow(limbs), true, true) = (&number.limbs, count == 1, to_bits <= 64) {
        let convert = |value| first(convert_one(&[value], from_kind, from_bits, to_kind, to_bits));
        return Number { ty: to, limbs: Limbs::Narrow(limbs.map(convert)) };
    }
    each_lane(to, lanes, |lane| {
        let limbs = number.limbs(lane);
        joined(to_bits, count, |index| {
            let element = wide::extract(&limbs, index * from_bits, from_bits);
            convert_one(&element, from_kind, from_bits, to_kind, to_bits)
        })
    })
}

fn convert_one(value: &[u64], from: ValueClass, from_bits: u32, to: ValueClass, to_bits: u32) -> Vec<u64> {
    let low = value.first().copied().unwrap_or(0);
    let as_float = || match (from, from_bits) {
        (ValueClass::Float, 16) => f64::from(half::to_f32(low as u16)),
        (ValueClass::Float, 32) => f64::from(f32::from_bits(low as u32)),
        (ValueClass::Float, _) => f64::from_bits(low),
        _ => {
            let wide = wide::resized(value, from_bits, 128, from == ValueClass::Signed);
            let high = wide.get(1).copied().unwrap_or(0);
            let whole = u128::from(high) << 64 | u128::from(low_limb(&wide));
            if from == ValueClass::Signed { whole as i128 as f64 } else { whole as f64 }
        }
    };
    match (from, to, to_bits) {
        (ValueClass::Float, ValueClass::Float, _) if from_bits == to_bits => value.to_vec(),
        (_, ValueClass::Float, 16) => vec![u64::from(half::from_f64(as_float()))],
        (ValueClass::Float, ValueClass::Float, 32) => vec![u64::from((as_float() as f32).to_bits())],
        // An integer is rounded once, directly to the result's precision.
        (_, ValueClass::Float, 32) => vec![u64::from(integer_as_f32(value, from, from_bits).to_bits())],
        (_, ValueClass::Float, _) => vec![as_float().to_bits()],
        (ValueClass::Float, ValueClass::Signed, _) => {
            let whole = as_float() as i128;
            let limit = 1i128.checked_shl(to_bits.saturating_sub(1)).unwrap_or(i128::MIN);
            let whole = if to_bits < 128 { whole.clamp(-limit, limit - 1) } else { whole };
            wide::resized(&[whole as u64, (whole >> 64) as u64], 128, to_bits, true)
        }
        (ValueClass::Float, _, _) => {
            let whole = as_float() as u128;
            let whole = if to_bits < 128 { whole.min((1 << to_bits) - 1) } else { whole };
            wide::resized(&[whole as u64, (whole >> 64) as u64], 128, to_bits, false)
        }
        _ => wide::resized(value, from_bits, to_bits, from == ValueClass::Signed),
    }
}

fn integer_as_f32(value: &[u64], from: ValueClass, from_bits: u32) -> f32 {
    let wide = wide::resized(value, from_bits, 128, from == ValueClass::Signed);
    let whole = u128::from(wide.get(1).copied().unwrap_or(0)) << 64 | u128::from(low_limb(&wide));
    if from == ValueClass::Signed { whole as i128 as f32 } else { whole as f32 }
}

fn low_limb(limbs: &[u64]) -> u64 {
    limbs.first().copied().unwrap_or(0)
}

fn first(limbs: Vec<u64>) -> u64 {
    low_limb(&limbs)
}

fn sign_extended(value: u64, bits: u32) -> i64 {
    let unused = 64u32.saturating_sub(bits).min(63);
    (value << unused) as i64 >> unused
}

/// Joins elements into one number's limbs.
fn joined(bits: u32, count: u32, element: impl Fn(u32) -> Vec<u64>) -> Vec<u64> {
    if count == 1 {
        return element(0);
    }
    let total = bits.saturating_mul(count);
    let mut limbs = vec![0; super::value::limbs_for(u64::from(total))];
    for index in 0..count {
        wide::insert(&mut limbs, index * bits, &element(index), total);
    }
    limbs
}

fn each_lane(ty: Type, lanes: LaneSet, limbs: impl Fn(crate::units::LaneId) -> Vec<u64>) -> Number {
    let made = Number::from_lanes(ty, lanes, |lane| Ok::<_, std::convert::Infallible>(limbs(lane)));
    match made {
        Ok(number) => number,
        Err(never) => match never {},
    }
}
