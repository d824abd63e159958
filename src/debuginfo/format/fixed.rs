//! Fixed-point numbers as gdb prints them: 17 significant digits, as C's `%.17g` of the exact value.

use super::general::Digits;
use crate::debuginfo::types::Scale;

/// Significant digits.
const DIGITS: usize = 17;
/// Maximum scale that is multiplied out: 128 bits hold a 64-bit number with it, and ten times the remainder.
const MAX_BINARY: u64 = 60;
const MAX_DECIMAL: u64 = 18;

/// A number of that magnitude, scaled.
pub(super) fn fixed(is_negative: bool, magnitude: u128, scale: Option<Scale>) -> String {
    let sign = if is_negative { "-" } else { "" };
    let unscaled = || match scale {
        None => format!("{sign}{magnitude}"),
        Some(Scale::Binary(power)) => format!("{sign}{magnitude} * 2^{power}"),
        Some(Scale::Decimal(power)) => format!("{sign}{magnitude} * 10^{power}"),
        Some(Scale::Fraction { numerator, denominator }) => {
            format!("{sign}{magnitude} * {numerator}/{denominator}")
        }
    };
    match fraction(magnitude, scale) {
        Some((numerator, denominator)) => decimal(numerator, denominator).general(is_negative, DIGITS),
        None => unscaled(),
    }
}

/// The number as a fraction; `None` beyond 128 bits.
fn fraction(magnitude: u128, scale: Option<Scale>) -> Option<(u128, u128)> {
    let power = |base: u128, power: i64, most: u64| {
        let size = power.unsigned_abs();
        let factor = base.checked_pow(u32::try_from(size).ok().filter(|_| size <= most)?)?;
        if power < 0 { Some((magnitude, factor)) } else { Some((magnitude.checked_mul(factor)?, 1)) }
    };
    let (numerator, denominator) = match scale? {
        Scale::Binary(by) => power(2, by, MAX_BINARY)?,
        Scale::Decimal(by) => power(10, by, MAX_DECIMAL)?,
        Scale::Fraction { numerator, denominator } => {
            (magnitude.checked_mul(numerator.into())?, denominator.into())
        }
    };
    // Requires capacity for one digit more than the remainder.
    (denominator > 0 && denominator <= u128::MAX / 10).then_some((numerator, denominator))
}

/// The digits of a fraction, rounded half away from zero: binary fractions have no other halves.
fn decimal(numerator: u128, denominator: u128) -> Digits {
    let whole = numerator / denominator;
    let mut rest = numerator % denominator;
    // Digits from the first nonzero digit, and that digit's power of ten.
    let mut digits: Vec<u8> = if whole > 0 { whole.to_string().into_bytes() } else { Vec::new() };
    let mut exponent = digits.len() as i64 - 1;
    while digits.len() <= DIGITS && rest > 0 {
        rest *= 10;
        let digit = (rest / denominator) as u8;
        rest %= denominator;
        if digits.is_empty() && digit == 0 {
            exponent -= 1;
        } else {
            digits.push(b'0' + digit);
        }
    }
    if digits.is_empty() {
        return Digits { text: "0".to_owned(), exponent: 0 };
    }
    exponent = if whole > 0 { exponent } else { exponent.min(-1) };
    let rounds_up = digits.get(DIGITS).is_some_and(|digit| *digit >= b'5');
    digits.truncate(DIGITS);
    if rounds_up {
        let kept = digits.iter().rposition(|digit| *digit != b'9');
        digits.truncate(kept.map_or(0, |last| last + 1));
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => {
                digits.push(b'1');
                exponent += 1;
            }
        }
    }
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    Digits { text: String::from_utf8_lossy(&digits).into_owned(), exponent: exponent as i32 }
}
