//! Fixed-point numbers, compared with C's `%.17g` of a double with the same value.

use std::process::Command;

use super::fixed::fixed;
use crate::debuginfo::types::Scale;

/// gdb's output.
fn printed(values: &[f64]) -> Vec<String> {
    let commands = values
        .iter()
        .flat_map(|value| ["-ex".to_owned(), format!("printf \"%.17g\\n\", (double) {value:e}")]);
    let done = Command::new("gdb").args(["-q", "-batch", "-nx"]).args(commands).output().expect("gdb");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn binary_scales_are_doubles() {
    let cases: Vec<(u64, i64)> = vec![
        (0, -8),
        (1, -1),
        (1, -8),
        (3, -2),
        (255, -8),
        (256, -8),
        (0x7fff, -15),
        (1, -15),
        (1, -20),
        (12345, -13),
        (1, 0),
        (17, 3),
        (1, 52),
        (1, 60),
        (123_456_789_012, -20),
        ((1 << 53) - 1, -53),
        ((1 << 53) - 1, -10),
        (1, -60),
    ];
    let doubles: Vec<f64> = cases.iter().map(|(number, by)| *number as f64 * (*by as f64).exp2()).collect();
    let expected = printed(&doubles);
    assert_eq!(expected.len(), cases.len());
    for ((number, by), expected) in cases.iter().zip(&expected) {
        let scale = Some(Scale::Binary(*by));
        assert_eq!(fixed(false, (*number).into(), scale), *expected, "{number} {by}");
        if *number > 0 {
            assert_eq!(fixed(true, (*number).into(), scale), format!("-{expected}"), "{number} {by}");
        }
    }
}

#[test]
fn decimal_scales_and_fractions_are_exact() {
    let decimal = |number, by| fixed(false, number, Some(Scale::Decimal(by)));
    assert_eq!(decimal(1234, -2), "12.34");
    assert_eq!(decimal(5, 3), "5000");
    assert_eq!(decimal(1, -5), "1e-05");
    assert_eq!(decimal(100, -2), "1");
    let fraction = |number, numerator, denominator| {
        fixed(false, number, Some(Scale::Fraction { numerator, denominator }))
    };
    assert_eq!(fraction(3, 1, 12), "0.25");
    // More digits follow: the last is rounded.
    assert_eq!(fraction(2, 1, 3), "0.66666666666666667");
    assert_eq!(fraction(1, 1, 3), "0.33333333333333333");
    assert_eq!(decimal(99_999_999_999_999_999_995, -1), "1e+19");
}

/// A number beyond 128 bits is printed as mantissa and scale.
#[test]
fn scales_are_bounded() {
    assert_eq!(fixed(false, 3, None), "3");
    assert_eq!(fixed(true, 3, Some(Scale::Binary(-61))), "-3 * 2^-61");
    assert_eq!(fixed(false, 3, Some(Scale::Decimal(19))), "3 * 10^19");
    assert_eq!(fixed(false, 3, Some(Scale::Binary(i64::MIN))), format!("3 * 2^{}", i64::MIN));
    let most = Some(Scale::Fraction { numerator: u64::MAX, denominator: 7 });
    assert_eq!(fixed(false, u128::MAX, most), format!("{} * {}/7", u128::MAX, u64::MAX));
}
