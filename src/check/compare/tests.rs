//! Comparisons of values made by hand, and values as right sides. Python's `struct` module gives the numbers of 16 bits.

use std::cmp::Ordering;

use super::number::{bounds_fit, negative, order, ordering_fits, rounded};
use super::plan::{Plan, PlanElement};
use super::write::{self, Style};
use super::{NotComparable, Summary, between, compare, near, one_of};
use crate::check::compare::RightPlan;
use crate::check::file::{Comparator, Operand, Right, StateName};
use crate::session::ValueState;
use crate::session::print::{FloatFormat, PointerValue, TypedAddress, TypedField, TypedValue};
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

/// Beyond the largest number of a format, a finite number is not an infinity.
#[test]
fn a_finite_number_is_no_infinity() {
    for (format, beyond) in
        [(FloatFormat::Half, 65520.0), (FloatFormat::BFloat, 3.4e38), (FloatFormat::Single, 1e39)]
    {
        let (most, least) = (float(f64::INFINITY, format), float(f64::NEG_INFINITY, format));
        for (left, right, expected) in [
            (&most, beyond, Ordering::Greater),
            (&most, f64::INFINITY, Ordering::Equal),
            (&least, -beyond, Ordering::Less),
            (&least, f64::NEG_INFINITY, Ordering::Equal),
            (&float(1.0, format), beyond, Ordering::Less),
            (&float(1.0, format), -beyond, Ordering::Greater),
        ] {
            assert_eq!(order(left, &double(right)), Some(Some(expected)), "{left:?} and {right}");
        }
        let range =
            (&Plan::Path { query: 0, name: String::new() }, &Plan::Path { query: 1, name: String::new() });
        assert_eq!(between(&most, range, &[&double(0.0), &double(beyond)]), Ok(false));
    }
    assert_eq!(order(&float(f64::INFINITY, FloatFormat::Half), &int(70_000)), Some(Some(Ordering::Greater)));
}

/// Two's complement: the least number of 64 bits is -2^63; C's literals have no sign.
#[test]
fn a_sign_and_digits_are_a_negative_number() {
    for (path, expected) in [
        ("-9223372036854775808", Some(i128::from(i64::MIN))),
        (" - 18446744073709551615 ", Some(-i128::from(u64::MAX))),
        ("-0x10", Some(-16)),
        ("-0", Some(0)),
        ("-18446744073709551616", None),
        ("-9223372036854775807 - 1", None),
        ("--1", None),
        ("-+1", None),
        ("-0x", None),
        ("-1u", None),
        ("-x", None),
        ("1", None),
        ("-", None),
    ] {
        assert_eq!(negative(path), expected, "{path}");
    }
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

/// A number of which bounds are known fits or not if all numbers within them do; `high` 9 stands for no bound.
#[test]
fn bounds_decide_if_each_number_within_them_has_one_answer() {
    for comparator in Comparator::ALL {
        for (low, high, number) in
            (0..9 * 10 * 9).map(|n: u64| (n % 9, n / 9 % 10, n / 90)).filter(|(low, high, _)| low <= high)
        {
            let known = (low, Some(high).filter(|high| *high < 9));
            let answers: Vec<bool> =
                (low..=high).map(|value| ordering_fits(comparator, value.cmp(&number))).collect();
            let expected = answers.iter().all(|fits| *fits == answers[0]).then_some(answers[0]);
            assert_eq!(bounds_fit(comparator, known, number), expected, "{known:?} {comparator:?} {number}");
        }
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

/// Each member is compared once: a list that leaves one out, or has one twice, has no result.
#[test]
fn a_list_has_each_member_once() {
    // `struct : Base { int c; }` with `Base { int a, b; }`: 1, 2, 3.
    let base = TypedField { name: None, is_base: true, value: record(&[("a", int(1)), ("b", int(2))]) };
    let own = TypedField { name: Some("c".into()), is_base: false, value: int(3) };
    let left = TypedValue::Record { fields: vec![base, own] };
    let ask = |members: &[(&str, i128)], is_open| {
        let element = |(query, (name, _)): (usize, &(&str, i128))| PlanElement {
            member: Some((*name).to_owned()).filter(|name| !name.is_empty()),
            value: Plan::Path { query, name: String::new() },
        };
        let elements = members.iter().enumerate().map(element).collect();
        let values: Vec<TypedValue> = members.iter().map(|(_, value)| int(*value)).collect();
        let plan = Plan::List { elements, is_open };
        compare(&left, Comparator::Equal, &plan, &values.iter().collect::<Vec<_>>())
            .map_err(|why| why.problem)
    };
    assert_eq!(ask(&[("a", 1), ("b", 2), ("c", 3)], false), Ok(true));
    assert_eq!(ask(&[("c", 3), ("b", 2), ("a", 1)], false), Ok(true));
    assert_eq!(ask(&[("a", 1), ("b", 7), ("c", 3)], false), Ok(false));
    assert_eq!(ask(&[("a", 1), ("c", 3)], true), Ok(true));
    assert_eq!(ask(&[("a", 1), ("c", 3)], false), Err("1 of 2 members are named".to_owned()));
    for is_open in [false, true] {
        let twice = Err("a second value of the member `c`".to_owned());
        assert_eq!(ask(&[("c", 3), ("c", 3)], is_open), twice);
        // The second element without a name is for the second member.
        assert_eq!(ask(&[("c", 3), ("", 3)], is_open), Err("a second value of the member 2".to_owned()));
    }
}

/// The right side of values by lane, for a form of comparison. Paths are numbers.
fn right(values: &[TypedValue], of: &Right) -> Option<String> {
    let mut paths = Vec::new();
    let plan = RightPlan::of(of, &mut paths);
    let number = |path: &String| path.parse().map_or_else(|_| double(path.parse().unwrap()), int);
    let numbers: Vec<TypedValue> = paths.iter().map(number).collect();
    let mut summary = Summary::new(&plan);
    for (lane, value) in (0..).zip(values) {
        summary.add(LaneId(lane), value, &plan, &numbers.iter().collect::<Vec<_>>());
    }
    summary.right(of)
}

/// docs/check.md, "Blessing": the operator stays where it can hold the values.
#[test]
fn blessed_operators_stay() {
    let path = |text: &str| Operand::Path(text.to_owned());
    let ints = |values: &[i128]| values.iter().map(|value| int(*value)).collect::<Vec<_>>();
    let compared = |sign, values: &[TypedValue]| right(values, &Right::Compare(sign, path("3")));
    let order = |sign, values: &[i128]| compared(sign, &ints(values));
    assert_eq!(order(Comparator::Less, &[1, 7]).as_deref(), Some("< 8"));
    assert_eq!(order(Comparator::AtMost, &[1, 7]).as_deref(), Some("<= 7"));
    assert_eq!(order(Comparator::Greater, &[9, 1]).as_deref(), Some("> 0"));
    assert_eq!(order(Comparator::AtLeast, &[9, -1]).as_deref(), Some(">= -1"));
    assert_eq!(order(Comparator::NotEqual, &[3]), None);
    assert_eq!(compared(Comparator::AtMost, &[double(3.5)]).as_deref(), Some("<= 3.5"));
    // No number is the next one behind a floating-point number.
    assert_eq!(compared(Comparator::Less, &[double(3.5)]), None);
    assert_eq!(compared(Comparator::AtMost, &[double(f64::NAN)]), None);
    assert_eq!(compared(Comparator::AtMost, &[int(5), lost()]), None);

    let range = Right::Between("0".into(), "9".into());
    assert_eq!(right(&ints(&[5, 12]), &range).as_deref(), Some("in 0..12"));
    assert_eq!(right(&ints(&[-3, 2]), &range).as_deref(), Some("in -3..9"));
    assert_eq!(right(&ints(&[-3, 12]), &range).as_deref(), Some("in -3..12"));
    let set = Right::OneOf(vec![path("1"), path("2")]);
    assert_eq!(right(&ints(&[5, 1, 7, 5]), &set).as_deref(), Some("in {1, 2, 5, 7}"));

    let near = |tolerance, is_percent| Right::Near { value: "27".into(), tolerance, is_percent };
    assert_eq!(right(&[double(3.5)], &near(Some(0.5), false)).as_deref(), Some("~= 3.5 +- 0.5"));
    assert_eq!(
        right(&[double(3.5), double(3.75)], &near(Some(0.5), false)).as_deref(),
        Some("~= 3.5 +- 0.5")
    );
    assert_eq!(right(&[double(3.5), double(4.25)], &near(Some(0.5), false)), None);
    assert_eq!(
        right(&[double(100.0), double(101.0)], &near(Some(1.0), true)).as_deref(),
        Some("~= 100 +- 1%")
    );
    assert_eq!(right(&[double(3.5)], &near(None, false)).as_deref(), Some("~= 3.5"));
    assert_eq!(right(&[double(f64::NAN)], &near(None, false)).as_deref(), Some("is nan"));

    for (state, values, expected) in [
        (StateName::Available, vec![lost()], Some("is unavailable")),
        (StateName::Unavailable, ints(&[1, 5]), Some("is available")),
        (StateName::Nan, vec![double(1.0), double(2.0)], Some("is available")),
        (StateName::Nan, vec![double(f64::INFINITY)], Some("is inf")),
        (StateName::Infinite, vec![double(f64::NAN)], Some("is nan")),
        (StateName::Unavailable, vec![int(1), lost()], None),
        (StateName::Inactive, ints(&[1]), None),
    ] {
        assert_eq!(right(&values, &Right::Is(state.clone())).as_deref(), expected, "{state:?}");
    }
}

/// A wrong name makes the line wrong, wherever the others decide.
#[test]
fn a_wrong_part_decides_before_a_difference() {
    let wrong = TypedValue::Missing(ValueState::Error("no `nope`".into()));
    let plan = |query| Plan::Path { query, name: String::new() };
    let values = [&int(1), &wrong, &lost(), &int(9)];
    let set = |queries: &[usize]| {
        let plans: Vec<Plan> = queries.iter().map(|query| plan(*query)).collect();
        one_of(&int(1), &plans, &values)
    };
    assert_eq!(set(&[3, 0]), Ok(true));
    assert_eq!(set(&[2, 0]), Ok(true));
    assert!(set(&[2, 3]).is_err_and(|why| why.is_missing));
    assert!(set(&[0, 1]).is_err_and(|why| why.is_error));
    assert!(set(&[1, 0]).is_err_and(|why| why.is_error));
    assert_eq!(between(&int(1), (&plan(3), &plan(2)), &values), Ok(false));
    assert!(between(&int(1), (&plan(3), &plan(1)), &values).is_err_and(|why| why.is_error));
    let list = |queries: &[usize]| {
        let element = |query: &usize| PlanElement { member: None, value: plan(*query) };
        let plan = Plan::List { elements: queries.iter().map(element).collect(), is_open: false };
        compare(&array(vec![int(1), int(1)]), Comparator::Equal, &plan, &values)
    };
    assert_eq!(list(&[3, 2]), Ok(false));
    assert_eq!(list(&[3]), Ok(false));
    assert_eq!(list(&[0, 0, 3]), Ok(false));
    for wrong in [&[3, 1][..], &[1], &[3, 3, 1]] {
        assert!(list(wrong).is_err_and(|why| why.is_error), "{wrong:?}");
    }
}

#[test]
fn right_sides_of_several_lanes() {
    let equal = Right::Compare(Comparator::Equal, Operand::Path("-77".to_owned()));
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
    assert_eq!(shown(&[i64::MIN.into()]).as_deref(), Some("== -9223372036854775808"));
    assert_eq!(right(&[lost(), lost()], &equal).as_deref(), Some("is unavailable"));
    assert_eq!(right(&[lost(), int(1)], &equal), None);
    assert_eq!(right(&[double(f64::NAN), double(f64::NAN)], &equal).as_deref(), Some("is nan"));
    assert_eq!(right(&[double(f64::NAN), double(0.5)], &equal), None);
    assert_eq!(right(&[double(0.5), double(0.5)], &equal).as_deref(), Some("== 0.5"));
    let between = Right::Between("0".into(), "1".into());
    assert_eq!(right(&ints(&[5, -1, 3]), &between).as_deref(), Some("in -1..5"));
    assert_eq!(right(&[double(1.0), double(f64::NAN)], &between), None);
    let set = Right::OneOf(Vec::new());
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

/// An array ends at its first 0 like the text of a pointer: an expected text with more bytes differs in both.
#[test]
fn a_text_ends_at_its_first_zero() {
    let letters = |bytes: &[u8]| TypedValue::Array {
        elements: bytes.iter().map(|code| int((*code).into())).collect(),
        count: bytes.len() as u64,
        is_text: true,
        address: None,
    };
    let is = |left: &TypedValue, text: &[u8]| {
        compare(left, Comparator::Equal, &Plan::Text(text.to_vec()), &[]).unwrap()
    };
    let tag = letters(b"bod\0");
    assert!(is(&tag, b"bod"));
    for text in [&b"bod\0junk"[..], b"bod\0", b"bo", b"bodx", b""] {
        assert!(!is(&tag, text), "{text:?}");
    }
    // A full array has no 0, and bytes behind the first one do not count.
    assert!(is(&letters(b"bod"), b"bod") && !is(&letters(b"bod"), b"bod\0"));
    assert!(is(&letters(b"ab\0cd\0"), b"ab") && !is(&letters(b"ab\0cd\0"), b"ab\0cd"));
    assert!(is(&letters(b"\0\0"), b""));
}

/// The distances are those of whole numbers of any size; a double has 53 bits.
#[test]
fn integers_are_near_by_their_exact_distance() {
    let limit = i128::from(u64::MAX);
    for (left, right, tolerance, expected) in [
        (int(-9_007_199_254_740_993), int(-9_007_199_254_740_992), 0.0, false),
        (int(-9_007_199_254_740_993), int(-9_007_199_254_740_992), 1.0, true),
        (int(-9_007_199_254_740_993), double(-9_007_199_254_740_992.0), 0.5, false),
        (double(9_007_199_254_740_992.0), int(9_007_199_254_740_993), 0.0, false),
        (int(limit), int(18_446_744_073_709_551_000), 1.0, false),
        (int(limit), int(18_446_744_073_709_551_000), 615.0, true),
        (int(limit), int(18_446_744_073_709_551_000), 614.9, false),
        (int(i128::MIN), int(i128::MAX), 1e39, false),
        (int(3), double(3.5), 0.5, true),
        (int(3), double(f64::INFINITY), 1.0, false),
    ] {
        assert_eq!(
            near(&left, &right, Some(tolerance), false),
            Ok(expected),
            "{left:?} {right:?} {tolerance}"
        );
    }
    // Without a tolerance a millionth, and a part in a hundred.
    assert_eq!(near(&int(1_000_001), &int(1_000_000), None, false), Ok(true));
    assert_eq!(near(&int(1_000_002), &int(1_000_000), None, false), Ok(false));
    assert_eq!(near(&int(102), &int(100), Some(1.0), true), Ok(false));
}

#[test]
fn aggregates_have_no_order() {
    let text = TypedValue::Text(b"a".to_vec());
    for value in [array(vec![int(1)]), record(&[("a", int(1))]), text] {
        for comparator in [Comparator::Less, Comparator::AtMost, Comparator::Greater, Comparator::AtLeast] {
            assert_eq!(is(&value, comparator, &value), None, "{value:?}");
        }
        assert_eq!(is(&value, Comparator::Equal, &value), Some(true));
    }
}

fn pointer(address: u64, text: &[u8]) -> TypedValue {
    let space = crate::session::address::GLOBAL;
    let to = TypedAddress { space, space_name: None, address, place: (space, address) };
    TypedValue::Pointer(PointerValue { to, is_null: false, text: Some(Ok(text.to_vec())) })
}

/// A line that compares a text gets a text, which outlives the addresses of one dump.
#[test]
fn a_pointer_to_a_compared_text_is_its_text() {
    let (one, other) = (pointer(0x1000, b"hi \"x\"\n"), pointer(0x2000, b"hi \"x\"\n"));
    assert_eq!(write::shown(&one), r#"0x1000 "hi \"x\"\012""#);
    let text = |text: &[u8]| Operand::Text(text.to_vec());
    for (old, expected) in [
        (Right::Compare(Comparator::Equal, text(b"hello")), r#"== "hi \"x\"\012""#),
        (Right::OneOf(vec![text(b"a")]), r#"in {"a", "hi \"x\"\012"}"#),
    ] {
        let plan = RightPlan::of(&old, &mut Vec::new());
        let mut summary = Summary::new(&plan);
        summary.add(LaneId(0), &one, &plan, &[]);
        summary.add(LaneId(1), &other, &plan, &[]);
        assert_eq!(summary.right(&old).as_deref(), Some(expected));
    }
}

#[test]
fn values_without_a_right_side_are_shown() {
    let parts = array(vec![double(0.5), double(f64::NAN), int(1 << 100)]);
    assert_eq!(write::shown(&parts), "{0.5, nan, 1267650600228229401496703205376}");
    let fields = record(&[("a", double(f64::NAN)), ("b", int(-(1 << 64)))]);
    assert_eq!(write::shown(&fields), "{.a = nan, .b = -18446744073709551616}");
}
