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

/// The bound that a number satisfies with the same comparator, as near as possible; `None`: there is none.
pub(in crate::check) fn kept(comparator: Comparator, number: u64) -> Option<(Comparator, u64)> {
    let bound = match comparator {
        Comparator::Equal | Comparator::AtMost | Comparator::AtLeast => Some(number),
        Comparator::Less => number.checked_add(1),
        Comparator::Greater => number.checked_sub(1),
        Comparator::NotEqual => None,
    };
    bound.map(|bound| (comparator, bound))
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

/// The number of a path that is a sign and digits alone: in C, the sign of `-9223372036854775808` changes nothing.
/// `None`: another path.
pub(in crate::check) fn negative(path: &str) -> Option<i128> {
    let digits = path.trim().strip_prefix('-')?.trim_start();
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    // The parser of integers accepts a sign, too.
    let is_sign = |c: char| matches!(c, '+' | '-');
    number.ok().filter(|_| !digits.contains(is_sign)).map(|number| -i128::from(number))
}

/// The number of a value, as near as a `double` has it.
pub(super) fn float(value: &TypedValue) -> Option<f64> {
    match value {
        TypedValue::Float { value, .. } => Some(*value),
        other => integer(other).map(|number| number as f64),
    }
}

/// Whether an integer and a whole number are at most a tolerance apart, without rounding; `None`: other numbers.
/// `tolerance`: not negative.
pub(super) fn within(left: &TypedValue, right: &TypedValue, tolerance: f64) -> Option<bool> {
    integer(left).or(integer(right))?;
    let distance = whole(left)?.abs_diff(whole(right)?);
    // Distances beyond 127 bits are those of no two integers of 64 bits.
    let order =
        i128::try_from(distance).map_or(Some(Ordering::Greater), |distance| with_float(distance, tolerance));
    Some(order.is_some_and(Ordering::is_le))
}

/// The integer of a value that is a whole number of less than 2^126.
fn whole(value: &TypedValue) -> Option<i128> {
    const BOUND: f64 = 85_070_591_730_234_615_865_843_651_857_942_052_864.0;
    let TypedValue::Float { value, .. } = value else { return integer(value) };
    (value.fract() == 0.0 && value.abs() < BOUND).then_some(*value as i128)
}

/// The order of two numbers, `Some(None)` with a NaN; `None`: one of them is no number.
pub(super) fn order(left: &TypedValue, right: &TypedValue) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (TypedValue::Float { value, format }, right) => {
            let exact = float(right)?;
            // No finite number is equal to an infinity.
            let right = Some(rounded(exact, *format)).filter(|rounded| rounded.is_finite());
            value.partial_cmp(&right.unwrap_or(exact))
        }
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
