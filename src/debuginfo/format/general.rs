//! C's `%g` notation of decimal digits.

/// A number's significant decimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    /// The digits without trailing zeros; `0` for zero.
    pub(super) text: String,
    /// The power of ten of the first digit.
    pub(super) exponent: i32,
}

impl Digits {
    /// The digits of `number / 10^scale`, rounded half to even to `precision` digits, at most 19.
    pub(super) fn rounded(number: u128, scale: u32, precision: u32) -> Self {
        let count = number.checked_ilog10().map_or(1, |log| log + 1);
        let mut exponent = i64::from(count) - 1 - i64::from(scale);
        let dropped = 10u128.pow(count.saturating_sub(precision).min(38));
        let mut kept = (number / dropped) as u64;
        let (rest, half) = (number % dropped, dropped / 2);
        if rest > half || rest == half && dropped > 1 && !kept.is_multiple_of(2) {
            kept += 1;
            exponent += i64::from(kept.checked_ilog10() == Some(precision));
        }
        while kept > 0 && kept.is_multiple_of(10) {
            kept /= 10;
        }
        Self { text: kept.to_string(), exponent: exponent as i32 }
    }

    /// `%.{precision}g`.
    pub(super) fn general(&self, is_negative: bool, precision: usize) -> String {
        let Self { text, exponent } = self;
        let mut shown = String::with_capacity(precision + 8);
        shown.push_str(if is_negative { "-" } else { "" });
        let zeros = |shown: &mut String, count: usize| shown.extend(std::iter::repeat_n('0', count));
        let fraction = |shown: &mut String, digits: &str| {
            shown.push_str(if digits.is_empty() { "" } else { "." });
            shown.push_str(digits);
        };
        let power = exponent.unsigned_abs() as usize;
        if *exponent < -4 || power >= precision && *exponent > 0 {
            let (first, rest) = text.split_at_checked(1).unwrap_or((text, ""));
            shown.push_str(first);
            fraction(&mut shown, rest);
            shown.push_str(&format!("e{}{power:02}", if *exponent < 0 { '-' } else { '+' }));
        } else if *exponent < 0 {
            shown.push_str("0.");
            zeros(&mut shown, power - 1);
            shown.push_str(text);
        } else {
            let (whole, rest) = text.split_at_checked(power + 1).unwrap_or((text, ""));
            shown.push_str(whole);
            zeros(&mut shown, (power + 1).saturating_sub(whole.len()));
            fraction(&mut shown, rest);
        }
        shown
    }
}
