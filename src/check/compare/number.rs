//! Numbers: compared by their values, floating-point numbers after rounding to the format of the left side.

use std::cmp::Ordering;

use crate::check::file::Comparator;
use crate::session::print::{FloatFormat, TypedValue};

/// Whether an order satisfies a comparator.
pub(in crate::check) fn ordering_fits(comparator: Comparator, order: Ordering) -> bool {
    match comparator {
        Comparator::Equal => order.is_eq(),
        Comparator::NotEqual => order.is_ne(),
        Comparator::Less => order.is_lt(),
        Comparator::AtMost => order.is_le(),
        Comparator::Greater => order.is_gt(),
        Comparator::AtLeast => order.is_ge(),
    }
}

/// Whether a number fits of which only bounds are known; `high`: `None` without an upper one. `None`: it is undecided.
pub(in crate::check) fn bounds_fit(
    comparator: Comparator,
    (low, high): (u64, Option<u64>),
    number: u64,
) -> Option<bool> {
    let is_above = |bound: Option<u64>| bound.is_none_or(|high| high > number);
    let all_below = |or_equal: bool| high.is_some_and(|high| high < number || or_equal && high == number);
    let (always, never) = match comparator {
        Comparator::Equal => (low == number && high == Some(number), low > number || all_below(false)),
        Comparator::NotEqual => (low > number || all_below(false), low == number && high == Some(number)),
        Comparator::Less => (all_below(false), low >= number),
        Comparator::AtMost => (all_below(true), low > number),
        Comparator::Greater => (low > number, !is_above(high)),
        Comparator::AtLeast => (low >= number, all_below(false)),
    };
    (always || never).then_some(always)
}

/// The sign of a comparator.
pub(in crate::check) fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equal => "==",
        Comparator::NotEqual => "!=",
        Comparator::Less => "<",
        Comparator::AtMost => "<=",
        Comparator::Greater => ">",
        Comparator::AtLeast => ">=",
    }
}

/// The integer of a value, if it is one.
pub(super) fn integer(value: &TypedValue) -> Option<i128> {
    match value {
        TypedValue::Integer { value, .. } => Some(*value),
        TypedValue::Truth(truth) => Some((*truth).into()),
        TypedValue::Enumerator(of) => Some(of.value),
        _ => None,
    }
}

/// The number of a value, as near as a `double` has it.
pub(super) fn float(value: &TypedValue) -> Option<f64> {
    match value {
        TypedValue::Float { value, .. } => Some(*value),
        other => integer(other).map(|number| number as f64),
    }
}

/// The order of two numbers, `Some(None)` with a NaN; `None`: one of them is no number.
pub(super) fn order(left: &TypedValue, right: &TypedValue) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (TypedValue::Float { value, format }, right) => value.partial_cmp(&rounded(float(right)?, *format)),
        (left, TypedValue::Float { value, .. }) => with_float(integer(left)?, *value),
        (left, right) => Some(integer(left)?.cmp(&integer(right)?)),
    })
}

/// The order of an integer and a floating-point number, without rounding.
fn with_float(left: i128, right: f64) -> Option<Ordering> {
    if right.is_nan() {
        return None;
    }
    // All integers of 127 bits are between these bounds, and the conversion below is exact.
    const BOUND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if right >= BOUND {
        return Some(Ordering::Less);
    }
    if right < -BOUND {
        return Some(Ordering::Greater);
    }
    let whole = right.floor();
    let has_fraction = right > whole;
    Some(left.cmp(&(whole as i128)).then(if has_fraction { Ordering::Less } else { Ordering::Equal }))
}

/// A number rounded to a format, half to even.
pub(super) fn rounded(value: f64, format: FloatFormat) -> f64 {
    match format {
        FloatFormat::Double => value,
        FloatFormat::Single => f64::from(value as f32),
        FloatFormat::Half => narrowed(value, 10, -14, 65504.0),
        // The largest number: (2 - 2^-7) * 2^127.
        FloatFormat::BFloat => narrowed(value, 7, -126, 3.389_531_389_251_535_5e38),
    }
}

/// `fraction`: bits of the fraction; `least`: the exponent of the smallest normal number.
fn narrowed(value: f64, fraction: i32, least: i32, largest: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    // The exponent of a double; those of subnormal ones are below every `least`.
    let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(least);
    let quantum = 2f64.powi(exponent - fraction);
    let rounded = (value / quantum).round_ties_even() * quantum;
    if rounded.abs() > largest { f64::INFINITY.copysign(value) } else { rounded }
}
