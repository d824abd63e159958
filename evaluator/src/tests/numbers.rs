//! Arithmetic against Rust's own integers and floats, and wide integers against 128-bit ones.

use proptest::prelude::*;

use super::super::arith;
use super::super::half;
use super::super::*;
use crate::units::{LaneId, LaneSet};

const OPS: [Binary; 17] = [
    Binary::And,
    Binary::Div,
    Binary::Minus,
    Binary::Mod,
    Binary::Mul,
    Binary::Or,
    Binary::Plus,
    Binary::Shl,
    Binary::Shr,
    Binary::Shra,
    Binary::Xor,
    Binary::Eq,
    Binary::Ge,
    Binary::Gt,
    Binary::Le,
    Binary::Lt,
    Binary::Ne,
];

fn run(op: Binary, ty: Type, a: u128, b: u128) -> Option<Number> {
    let lanes = LaneSet(1);
    let (a, b) = (Number::from_bytes(ty, &a.to_le_bytes()), Number::from_bytes(ty, &b.to_le_bytes()));
    arith::check_binary(op, lanes, &a, &b).ok()?;
    Some(arith::binary(op, lanes, a, b))
}

fn low(number: &Number) -> u128 {
    number.limbs(LaneId(0)).iter().rev().fold(0, |sum, limb| sum << 64 | u128::from(*limb))
}

/// The result for an integer of some bits, computed in 128 bits; `None` for a division by zero.
fn expected(op: Binary, signed: bool, bits: u32, a: u128, b: u128) -> Option<u128> {
    let unused = 128 - bits;
    let mask = u128::MAX >> unused;
    let (a, b) = (a & mask, b & mask);
    let extend = |value: u128| (value << unused) as i128 >> unused;
    let (sa, sb) = (extend(a), extend(b));
    let order = if signed { sa.cmp(&sb) } else { a.cmp(&b) };
    let result = match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Plus => a.wrapping_add(b),
        Binary::Minus => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Mod if b == 0 => return None,
        Binary::Div if signed => sa.wrapping_div(sb) as u128,
        Binary::Div => a / b,
        Binary::Mod if signed => sa.wrapping_rem(sb) as u128,
        Binary::Mod => a % b,
        Binary::Shl => {
            if b < u128::from(bits) {
                a << b
            } else {
                0
            }
        }
        Binary::Shr => {
            if b < u128::from(bits) {
                a >> b
            } else {
                0
            }
        }
        Binary::Shra => (sa >> b.min(127)) as u128,
        Binary::Eq => return Some(u128::from(a == b)),
        Binary::Ne => return Some(u128::from(a != b)),
        Binary::Lt => return Some(u128::from(order.is_lt())),
        Binary::Le => return Some(u128::from(order.is_le())),
        Binary::Gt => return Some(u128::from(order.is_gt())),
        Binary::Ge => return Some(u128::from(order.is_ge())),
    };
    Some(result & mask)
}

/// Numbers, with a preference for edge cases.
fn number() -> impl Strategy<Value = u128> {
    prop_oneof![
        any::<u128>(),
        (0u128..140),
        (0u32..128).prop_map(|bit| 1 << bit),
        (0u32..128).prop_map(|bit| (1u128 << bit).wrapping_neg()),
        (0u32..128, any::<u128>()).prop_map(|(bits, any)| any >> bits),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn integers(
        op in prop::sample::select(&OPS[..]),
        signed in any::<bool>(),
        bits in prop::sample::select(&[8u32, 16, 24, 32, 64, 72, 96, 120, 128][..]),
        a in number(),
        b in number(),
    ) {
        let encoding = if signed { TypeEncoding::SIGNED } else { TypeEncoding::UNSIGNED };
        let ty = Type::Base(BaseType::scalar(encoding, bits));
        prop_assert_eq!(run(op, ty, a, b).map(|result| low(&result)), expected(op, signed, bits, a, b));
    }

    #[test]
    fn doubles(a in any::<f64>(), b in any::<f64>()) {
        let ty = Type::Base(BaseType::scalar(TypeEncoding::FLOAT, 64));
        let run = |op| low(&run(op, ty, u128::from(a.to_bits()), u128::from(b.to_bits())).unwrap()) as u64;
        for (op, result) in [(Binary::Plus, a + b), (Binary::Minus, a - b), (Binary::Mul, a * b), (Binary::Div, a / b)] {
            prop_assert!(f64::from_bits(run(op)) == result || result.is_nan());
        }
        prop_assert_eq!(run(Binary::Lt), u64::from(a < b));
    }

    #[test]
    fn floats(a in any::<f32>(), b in any::<f32>()) {
        let ty = Type::Base(BaseType::scalar(TypeEncoding::FLOAT, 32));
        let run = |op| low(&run(op, ty, u128::from(a.to_bits()), u128::from(b.to_bits())).unwrap()) as u32;
        for (op, result) in [(Binary::Plus, a + b), (Binary::Minus, a - b), (Binary::Mul, a * b), (Binary::Div, a / b)] {
            prop_assert!(f32::from_bits(run(op)) == result || result.is_nan());
        }
    }

    #[test]
    fn conversions(value in any::<i64>(), from in prop::sample::select(&[8u32, 32, 64][..])) {
        let lanes = LaneSet(1);
        let ty = |encoding, bits| Type::Base(BaseType::scalar(encoding, bits));
        let number = Number::from_bytes(ty(TypeEncoding::SIGNED, from), &value.to_le_bytes());
        let cut = value << (64 - from) >> (64 - from);
        let to = |to| low(&arith::convert(lanes, &number, to));
        prop_assert_eq!(to(ty(TypeEncoding::SIGNED, 128)), i128::from(cut) as u128);
        prop_assert_eq!(to(ty(TypeEncoding::UNSIGNED, 16)), u128::from(cut as u16));
        prop_assert_eq!(to(ty(TypeEncoding::FLOAT, 64)) as u64, (cut as f64).to_bits());
        prop_assert_eq!(to(ty(TypeEncoding::FLOAT, 32)) as u32, (cut as f32).to_bits());
    }
}

proptest! {
    // All of them in `scripts/test --long`.
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("LANESCOPE_LONG").is_some_and(|value| value == "1") { 4000 } else { 500 }
    ))]

    #[test]
    fn wide_division_undoes_multiplication(a in number(), b in number(), c in number()) {
        prop_assume!(b != 0);
        let ty = Type::Base(BaseType::scalar(TypeEncoding::UNSIGNED, 2048));
        let remainder = c % b;
        let product = run(Binary::Mul, ty, a, b).unwrap();
        let sum = arith::binary(Binary::Plus, LaneSet(1), product, Number::from_bytes(ty, &remainder.to_le_bytes()));
        let divisor = || Number::from_bytes(ty, &b.to_le_bytes());
        prop_assert_eq!(low(&arith::binary(Binary::Div, LaneSet(1), sum.clone(), divisor())), a);
        prop_assert_eq!(low(&arith::binary(Binary::Mod, LaneSet(1), sum, divisor())), remainder);
    }
}

#[test]
fn every_half_survives_the_round_trip() {
    for bits in 0..=u16::MAX {
        let value = half::to_f32(bits);
        let back = half::from_f64(f64::from(value));
        assert!(
            back == bits || value.is_nan() && half::to_f32(back).is_nan(),
            "{bits:#06x} {value} {back:#06x}"
        );
    }
}

#[test]
fn halves_round_to_even() {
    // Between 1 and the next half, 1 + 2^-10, lies 1 + 2^-11; the even one is 1.
    assert_eq!(half::from_f64(1.0 + 2f64.powi(-11)), 0x3c00);
    assert_eq!(half::from_f64(1.0 + 2f64.powi(-11) + 2f64.powi(-40)), 0x3c01);
    assert_eq!(half::from_f64(1.0 + 3.0 * 2f64.powi(-11)), 0x3c02);
    // The largest half is 65504; from 65520 on it is infinity.
    assert_eq!(half::from_f64(65519.99), 0x7bff);
    assert_eq!(half::from_f64(65520.0), 0x7c00);
    // Subnormals are multiples of 2^-24.
    assert_eq!(half::from_f64(2f64.powi(-24)), 1);
    assert_eq!(half::from_f64(2f64.powi(-25)), 0);
    assert_eq!(half::from_f64(1.5 * 2f64.powi(-25)), 1);
    assert_eq!(half::from_f64(-2f64.powi(-14) + 2f64.powi(-24)), 0x83ff);
}

#[test]
fn generic_values_divide_signed_and_take_remainders_unsigned() {
    let run = |op, a: i64, b: i64| {
        low(&super::numbers::run(op, Type::Generic, u128::from(a as u64), u128::from(b as u64)).unwrap())
            as u64
    };
    assert_eq!(run(Binary::Div, -7, 2), -3i64 as u64);
    assert_eq!(run(Binary::Mod, -7, 10), (-7i64 as u64) % 10);
    assert_eq!(run(Binary::Shr, -1, 60), 15);
    assert_eq!(run(Binary::Lt, -1, 0), 1);
    assert_eq!(run(Binary::Div, i64::MIN, -1), i64::MIN as u64);
}
