//! C's integer arithmetic; the expected values are gdb 13's results for the same expressions.

use super::super::arith::{Integer, binary, unary};
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
