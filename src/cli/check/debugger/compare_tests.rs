//! Values of a debugger against those of a dump.

use super::*;
use crate::session::print::TypedField;

fn float(value: f64) -> TypedValue {
    TypedValue::Float { value, format: FloatFormat::Single }
}

fn integer(value: i128) -> TypedValue {
    TypedValue::Integer { value, is_character: false }
}

/// From Python: `float(x).hex()` of 14.25, -0.1, 2**-1074, 2**1023 * 1.5, 0.0.
#[test]
fn numbers_of_python_are_read_exactly() {
    for (text, number) in [
        ("0x1.c800000000000p+3", 14.25),
        ("-0x1.999999999999ap-4", -0.1),
        ("0x0.0000000000001p-1022", f64::from_bits(1)),
        ("0x1.8000000000000p+1023", 1.5 * 2f64.powi(1023)),
        ("0x0.0p+0", 0.0),
        ("-inf", f64::NEG_INFINITY),
    ] {
        assert_eq!(super::hexadecimal(text), Some(number), "{text}");
    }
    assert!(super::hexadecimal("nan").is_some_and(f64::is_nan));
    assert_eq!(super::hexadecimal("0x1.zp+3"), None);
}

#[test]
fn equal_values_agree_and_others_differ() {
    let same = |tree, own| assert_eq!(compare(&tree, &own), Agreement::Same, "{own:?}");
    let differs = |tree, own| assert!(matches!(compare(&tree, &own), Agreement::Differs(..)), "{own:?}");
    same(Tree::Integer("-5".to_owned()), integer(-5));
    differs(Tree::Integer("5".to_owned()), integer(-5));
    same(Tree::Integer("1".to_owned()), TypedValue::Truth(1));
    same(Tree::Float("0x1.c800000000000p+3".to_owned()), float(14.25));
    differs(Tree::Float("0x1.c800000000000p+3".to_owned()), float(14.5));
    same(Tree::Float("nan".to_owned()), float(f64::NAN));
    differs(Tree::Integer("14".to_owned()), float(14.0));
    // No value is never 0.
    differs(Tree::Missing("unavailable".to_owned()), integer(0));
    differs(Tree::Error("No symbol \"i\" in current context.".to_owned()), integer(0));
}

#[test]
fn each_part_of_an_aggregate_counts() {
    let own = |last| TypedValue::Array {
        elements: vec![integer(1), integer(last)],
        count: 2,
        is_text: false,
        address: None,
    };
    let seen = || Tree::Elements(vec![Tree::Integer("1".to_owned()), Tree::Integer("2".to_owned())]);
    assert_eq!(compare(&seen(), &own(2)), Agreement::Same);
    assert_eq!(compare(&seen(), &own(3)), Agreement::Differs("2".to_owned(), "3".to_owned()));
    let record = |name: &str| TypedValue::Record {
        fields: vec![TypedField { name: Some(name.into()), is_base: false, value: integer(7) }],
    };
    let tree = || Tree::Fields(vec![("x".to_owned(), Tree::Integer("7".to_owned()))]);
    assert_eq!(compare(&tree(), &record("x")), Agreement::Same);
    assert!(matches!(compare(&tree(), &record("y")), Agreement::Unknown(_)));
}
