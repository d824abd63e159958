//! Comparisons of values made by hand, and values as right sides. Python's `struct` module gives the numbers of 16 bits.

use std::cmp::Ordering;

use super::number::{order, rounded};
use super::plan::{Plan, PlanElement};
use super::write::{self, Style};
use super::{NotComparable, Summary, compare, near};
use crate::check::compare::RightPlan;
use crate::check::file::{Comparator, Right, StateName};
use crate::session::ValueState;
use crate::session::print::{FloatFormat, TypedField, TypedValue};
use crate::units::LaneId;

fn int(value: i128) -> TypedValue {
    TypedValue::Integer { value, is_character: false }
}

fn float(value: f64, format: FloatFormat) -> TypedValue {
    TypedValue::Float { value, format }
}

fn double(value: f64) -> TypedValue {
    float(value, FloatFormat::Double)
}

fn lost() -> TypedValue {
    TypedValue::Missing(ValueState::Unavailable("gone".into()))
}

fn array(elements: Vec<TypedValue>) -> TypedValue {
    TypedValue::Array { count: elements.len() as u64, elements, is_text: false, address: None }
}

fn record(fields: &[(&str, TypedValue)]) -> TypedValue {
    let field = |(name, value): &(&str, TypedValue)| TypedField {
        name: Some((*name).into()),
        is_base: false,
        value: value.clone(),
    };
    TypedValue::Record { fields: fields.iter().map(field).collect() }
}

/// Whether two values compare so; `None`: they cannot.
fn is(left: &TypedValue, comparator: Comparator, right: &TypedValue) -> Option<bool> {
    compare(left, comparator, &Plan::Path { query: 0, name: String::new() }, &[right]).ok()
}

#[test]
#[allow(clippy::approx_constant, reason = "a decimal number with a known rounding")]
fn floats_are_rounded_to_the_left_side() {
    for (value, format, expected) in [
        (0.1, FloatFormat::Half, 0.099_975_585_937_5),
        (65519.0, FloatFormat::Half, 65504.0),
        (65520.0, FloatFormat::Half, f64::INFINITY),
        (-65520.0, FloatFormat::Half, f64::NEG_INFINITY),
        (2049.0, FloatFormat::Half, 2048.0),
        (2051.0, FloatFormat::Half, 2052.0),
        (1e-8, FloatFormat::Half, 0.0),
        (3e-8, FloatFormat::Half, 5.960_464_477_539_063e-8),
        (3.14159, FloatFormat::BFloat, 3.140_625),
        (257.0, FloatFormat::BFloat, 256.0),
        (259.0, FloatFormat::BFloat, 260.0),
        (3.4e38, FloatFormat::BFloat, f64::INFINITY),
        (16_777_217.0, FloatFormat::Single, 16_777_216.0),
        (0.1, FloatFormat::Double, 0.1),
    ] {
        assert_eq!(rounded(value, format), expected, "{value} as {format:?}");
    }
    assert_eq!(is(&float(0.1f32.into(), FloatFormat::Single), Comparator::Equal, &double(0.1)), Some(true));
    assert_eq!(is(&double(0.1), Comparator::Equal, &float(0.1f32.into(), FloatFormat::Single)), Some(false));
}

#[test]
fn integers_and_floats_compare_without_rounding() {
    let big = 1i128 << 53;
    for (left, right, expected) in [
        (big + 1, big as f64, Some(Ordering::Greater)),
        (big, big as f64, Some(Ordering::Equal)),
        (7, 7.5, Some(Ordering::Less)),
        (-7, -7.5, Some(Ordering::Greater)),
        (i128::MAX, f64::INFINITY, Some(Ordering::Less)),
        (i128::MAX, 2f64.powi(127), Some(Ordering::Less)),
        (i128::MIN, -(2f64.powi(127)), Some(Ordering::Equal)),
        (i128::MIN, f64::NEG_INFINITY, Some(Ordering::Greater)),
        (0, -0.0, Some(Ordering::Equal)),
        (0, f64::NAN, None),
    ] {
        assert_eq!(order(&int(left), &double(right)), Some(expected), "{left} and {right}");
    }
}

/// C's rules: a NaN is unequal to everything.
#[test]
fn nan_equals_nothing() {
    for other in [double(f64::NAN), double(0.0), int(0)] {
        for left in [&double(f64::NAN), &float(f64::NAN, FloatFormat::Half)] {
            assert_eq!(is(left, Comparator::Equal, &other), Some(false));
            assert_eq!(is(left, Comparator::NotEqual, &other), Some(true));
            for order in [Comparator::Less, Comparator::AtMost, Comparator::Greater, Comparator::AtLeast] {
                assert_eq!(is(left, order, &other), Some(false));
                assert_eq!(is(&other, order, left), Some(false));
            }
        }
    }
    assert_eq!(near(&double(f64::NAN), &double(f64::NAN), Some(1.0), false), Ok(false));
    assert_eq!(near(&double(f64::INFINITY), &double(f64::INFINITY), Some(0.0), false), Ok(true));
    for (tolerance, is_percent) in [(Some(1.0), false), (Some(1.0), true), (None, false)] {
        assert_eq!(near(&double(1.0), &double(f64::INFINITY), tolerance, is_percent), Ok(false));
        assert_eq!(
            near(&double(f64::NEG_INFINITY), &double(f64::INFINITY), tolerance, is_percent),
            Ok(false)
        );
        assert_eq!(near(&double(f64::INFINITY), &double(1.0), tolerance, is_percent), Ok(false));
    }
}

/// A known difference decides, whatever else is missing.
#[test]
fn results_have_three_values() {
    let plan = |values: &[i128]| {
        let element = |index: usize| PlanElement {
            member: None,
            value: Plan::Path { query: index, name: String::new() },
        };
        (
            Plan::List { elements: (0..values.len()).map(element).collect(), is_open: false },
            values.iter().map(|value| int(*value)).collect::<Vec<_>>(),
        )
    };
    let ask = |left: &TypedValue, comparator, values: &[i128]| {
        let (plan, values) = plan(values);
        compare(left, comparator, &plan, &values.iter().collect::<Vec<_>>())
    };
    let partly = array(vec![int(1), lost(), int(3)]);
    assert!(ask(&partly, Comparator::Equal, &[1, 2, 3]).is_err());
    assert_eq!(ask(&partly, Comparator::Equal, &[1, 2, 4]), Ok(false));
    assert_eq!(ask(&partly, Comparator::NotEqual, &[1, 2, 4]), Ok(true));
    assert!(ask(&partly, Comparator::NotEqual, &[1, 2, 3]).is_err());
    let whole = array(vec![int(1), int(2)]);
    assert_eq!(ask(&whole, Comparator::Equal, &[1, 2]), Ok(true));
    assert_eq!(ask(&whole, Comparator::Equal, &[1]), Ok(false));
    assert_eq!(ask(&whole, Comparator::Equal, &[1, 2, 3]), Ok(false));
    assert!(ask(&lost(), Comparator::Equal, &[1]).is_err());
    assert_eq!(is(&whole, Comparator::Equal, &array(vec![int(1), int(2)])), Some(true));
    assert_eq!(is(&partly, Comparator::Equal, &partly), None);
    assert_eq!(is(&int(1), Comparator::Equal, &lost()), None);
    assert_eq!(is(&record(&[("a", int(1))]), Comparator::Equal, &record(&[("b", int(1))])), None);
}

/// The right side of values by lane, for a form of comparison.
fn right(values: &[TypedValue], plan: &RightPlan) -> Option<String> {
    let mut summary = Summary::new(plan);
    for (lane, value) in (0..).zip(values) {
        summary.add(LaneId(lane), value);
    }
    summary.right(plan)
}

#[test]
fn right_sides_of_several_lanes() {
    let mut none = Vec::new();
    let equal = RightPlan::of(&Right::Is(StateName::Available), &mut none);
    let ints = |values: &[i128]| values.iter().map(|value| int(*value)).collect::<Vec<_>>();
    let shown = |values: &[i128]| right(&ints(values), &equal);
    assert_eq!(shown(&[7, 7, 7]).as_deref(), Some("== 7"));
    assert_eq!(shown(&[1000, 1001, 1002]).as_deref(), Some("== 1000 + $lane"));
    assert_eq!(shown(&[0, 4, 8]).as_deref(), Some("== 4 * $lane"));
    assert_eq!(shown(&[-3, -2]).as_deref(), Some("== $lane - 3"));
    assert_eq!(shown(&[3, 1, -1]).as_deref(), Some("== 3 - 2 * $lane"));
    assert_eq!(shown(&[0, -1, -2]).as_deref(), Some("== -$lane"));
    assert_eq!(shown(&[-5, -6]).as_deref(), Some("== -$lane - 5"));
    // Arithmetic of 32 bits overflows in a later lane of the wave.
    assert_eq!(
        shown(&[i128::from(i32::MAX) - 1, i32::MAX.into()]).as_deref(),
        Some("== 2147483646l + $lane")
    );
    assert_eq!(shown(&[1 << 40, 2 << 40]).as_deref(), Some("== 1099511627776l + 1099511627776l * $lane"));
    assert_eq!(shown(&[1, 2, 4]), None);
    assert_eq!(shown(&[i64::MIN.into()]).as_deref(), Some("== -9223372036854775807 - 1"));
    assert_eq!(right(&[lost(), lost()], &equal).as_deref(), Some("is unavailable"));
    assert_eq!(right(&[lost(), int(1)], &equal), None);
    assert_eq!(right(&[double(f64::NAN), double(f64::NAN)], &equal).as_deref(), Some("is nan"));
    assert_eq!(right(&[double(f64::NAN), double(0.5)], &equal), None);
    assert_eq!(right(&[double(0.5), double(0.5)], &equal).as_deref(), Some("== 0.5"));
    let between = RightPlan::of(&Right::Between("0".into(), "1".into()), &mut none);
    assert_eq!(right(&ints(&[5, -1, 3]), &between).as_deref(), Some("in -1..5"));
    assert_eq!(right(&[double(1.0), double(f64::NAN)], &between), None);
    let set = RightPlan::of(&Right::OneOf(Vec::new()), &mut none);
    assert_eq!(right(&ints(&[5, -1, 5]), &set).as_deref(), Some("in {5, -1}"));
    assert_eq!(right(&ints(&(0..40).map(|n| n * n).collect::<Vec<_>>()), &set), None);
}

#[test]
fn values_in_the_notation_of_the_file() {
    let style = |has_members| Style { has_texts: true, has_members };
    let pair = record(&[("x", int(1)), ("y", double(2.0))]);
    assert_eq!(write::written(&pair, style(false)).as_deref(), Some("{1, 2}"));
    assert_eq!(write::written(&pair, style(true)).as_deref(), Some("{.x = 1, .y = 2}"));
    let letters = |text: &[u8]| {
        let elements: Vec<_> = text
            .iter()
            .map(|byte| TypedValue::Integer { value: (*byte).into(), is_character: true })
            .collect();
        TypedValue::Array { count: elements.len() as u64, elements, is_text: true, address: None }
    };
    assert_eq!(write::written(&letters(b"a\"b\\\n\0"), style(false)).as_deref(), Some(r#""a\"b\\\012""#));
    assert_eq!(write::written(&letters(b"\0\0"), style(false)).as_deref(), Some("\"\""));
    assert_eq!(write::written(&letters(b"\0x"), style(false)).as_deref(), Some("{0, 'x'}"));
    assert_eq!(
        write::written(&array((0..70).map(int).collect()), style(false))
            .map(|text| text.ends_with("63, ...}")),
        Some(true)
    );
    assert_eq!(write::written(&array(vec![int(1), lost()]), style(false)), None);
    for (value, text) in [(f64::INFINITY, "inf"), (-1e300, "-1e300"), (-0.0, "-0")] {
        assert_eq!(write::written(&double(value), style(false)).as_deref(), Some(text));
    }
    assert_eq!(
        write::written(&float(0.1f32.into(), FloatFormat::Single), style(false)).as_deref(),
        Some("0.1")
    );
}

#[test]
fn reasons_name_both_sides() {
    let why = |left: &TypedValue, right: &TypedValue| {
        let plan = Plan::Path { query: 0, name: String::new() };
        let NotComparable { problem, .. } = compare(left, Comparator::Equal, &plan, &[right]).unwrap_err();
        problem
    };
    assert_eq!(why(&array(vec![]), &int(1)), "an array is not compared with a number");
    assert_eq!(why(&int(1), &record(&[])), "a number is not compared with a struct");
    assert_eq!(
        why(&TypedValue::Other { type_name: "_Complex float".into() }, &int(1)),
        "a value of type `_Complex float` is not compared with a number"
    );
    assert_eq!(why(&lost(), &int(1)), "unavailable: gone");
}
