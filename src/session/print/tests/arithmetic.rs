//! C's integer arithmetic; the expected values are gdb 13's results for the same expressions.

use super::super::arith::{Integer, binary, float, half, unary};
use super::super::path::{Binary, Unary};
use super::super::typed::{Basic, Sort, canonical};

fn int(value: i64) -> Integer {
    Integer::new(value as u64, Basic::integer(4, false))
}

#[test]
fn the_usual_conversions() {
    let unsigned = |value: u64| Integer::new(value, Basic::integer(4, true));
    let byte = Integer::new(200, Basic { name: "unsigned char", bytes: 1, sort: Sort::Unsigned });
    let add = |a, b| binary(Binary::Add, a, b).unwrap().wide();
    assert_eq!(add(unsigned(4_000_000_000), int(1)), 4_000_000_001);
    assert_eq!(add(unsigned(0xffff_ffff), int(1)), 0);
    assert_eq!(add(byte, int(1)), 201);
    assert_eq!(add(int(i64::from(i32::MAX)), int(1)), i128::from(i32::MIN));
    assert_eq!(binary(Binary::Remainder, int(-7), int(3)).unwrap().wide(), -1);
    assert_eq!(binary(Binary::Divide, int(7), int(2)).unwrap().wide(), 3);
    assert_eq!(binary(Binary::ShiftLeft, int(1), int(3)).unwrap().wide(), 8);
    assert_eq!(binary(Binary::ShiftRight, int(-8), int(1)).unwrap().wide(), -4);
    assert_eq!(unary(Unary::Not, int(5)).wide(), -6);
    assert_eq!(unary(Unary::IsZero, int(5)).wide(), 0);
    assert_eq!(unary(Unary::Minus, byte).wide(), -200);
}

#[test]
fn operations_without_a_result_are_errors() {
    assert_eq!(binary(Binary::Divide, int(1), int(0)), Err("divides by 0"));
    assert_eq!(binary(Binary::Remainder, int(1), int(0)), Err("divides by 0"));
    let least = Integer::new(i64::MIN as u64, Basic::integer(8, false));
    let minus = Integer::new(u64::MAX, Basic::integer(8, false));
    assert_eq!(binary(Binary::Divide, least, minus).unwrap().wide(), i128::from(i64::MIN));
    for count in [-1, 32, 1000] {
        assert!(binary(Binary::ShiftLeft, int(1), int(count)).is_err(), "{count}");
    }
}

#[test]
fn base_types_have_one_name() {
    for (spelled, name) in [
        ("unsigned", "unsigned int"),
        ("long unsigned int", "unsigned long"),
        ("unsigned long int", "unsigned long"),
        ("long long int", "long long"),
        ("short int", "short"),
        ("signed", "int"),
        ("signed int", "int"),
        ("signed char", "signed char"),
        ("char", "char"),
        ("unsigned char", "unsigned char"),
        ("short unsigned int", "unsigned short"),
        ("_Bool", "bool"),
        ("double", "double"),
    ] {
        let words: Vec<&str> = spelled.split(' ').collect();
        assert_eq!(canonical(&words), name, "{spelled}");
        assert!(Basic::named(name).is_some(), "{name}");
    }
}

/// Python's struct module gives the same values: `struct.unpack('<e', ...)`; bfloat16 is the upper half of a float.
#[test]
fn numbers_of_16_bits() {
    for (bits, value) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65504.0),
        (0x0001, 5.960_464_477_539_063e-8),
        (0x03ff, 6.097_555_160_522_461e-5),
        (0x0400, 6.103_515_625e-5),
        (0x3555, 0.333_251_953_125),
        (0x7c00, f64::INFINITY),
        (0xfc00, f64::NEG_INFINITY),
    ] {
        assert_eq!(half(bits, false), value, "{bits:#x}");
    }
    assert!(half(0x7e00, false).is_nan() && half(0x7fc0, true).is_nan());
    assert!(half(0x8000, false).is_sign_negative());
    assert_eq!((half(0x3fc0, true), half(0xc000, true)), (1.5, -2.0));
}

#[test]
fn floats_round_to_their_type() {
    // 0.1f + 0.2f is 0x3e99999a, 0.1 + 0.2 is 0x3fd3333333333334 (gdb 13).
    let sum = |single, left, right| float(Binary::Add, left, right, single).unwrap();
    assert_eq!((sum(true, 0.1, 0.2) as f32).to_bits(), 0x3e99_999a);
    assert_eq!(sum(false, 0.1, 0.2).to_bits(), 0x3fd3_3333_3333_3334);
    assert_eq!(float(Binary::Divide, 1.0, 0.0, false), Some(f64::INFINITY));
    assert_eq!(float(Binary::Multiply, 2.5, 4.0, true), Some(10.0));
    assert_eq!(float(Binary::Subtract, 2.5, 4.0, true), Some(-1.5));
    for operator in [Binary::Remainder, Binary::ShiftLeft, Binary::And, Binary::Xor] {
        assert_eq!(float(operator, 1.0, 1.0, false), None);
    }
}
