//! Floating-point numbers as gdb prints them: `%g` with the digits that distinguish all values of the format.

/// A format of IEEE 754 or like it.
#[derive(Clone, Copy, Debug)]
struct Layout {
    exponent_bits: u32,
    /// Without the implied first bit.
    mantissa_bits: u32,
    /// Significant digits that gdb prints: 1 + (mantissa bits + 1) * 0.30103, rounded up.
    digits: usize,
}

const HALF: Layout = Layout { exponent_bits: 5, mantissa_bits: 10, digits: 5 };
const BFLOAT: Layout = Layout { exponent_bits: 8, mantissa_bits: 7, digits: 4 };
const SINGLE: Layout = Layout { exponent_bits: 8, mantissa_bits: 23, digits: 9 };
const DOUBLE: Layout = Layout { exponent_bits: 11, mantissa_bits: 52, digits: 17 };

/// A number of 2, 4 or 8 bytes; `None` for sizes that AMDGPU has no format for. Two bytes are a half unless the
/// type's name contains bfloat.
pub(super) fn float(bits: u64, bytes: u64, type_name: &str) -> Option<String> {
    let layout = match bytes {
        2 if type_name.contains("bf16") || type_name.contains("bfloat") => BFLOAT,
        2 => HALF,
        4 => SINGLE,
        8 => DOUBLE,
        _ => return None,
    };
    let mantissa = bits & ((1 << layout.mantissa_bits) - 1);
    let exponent_mask = (1u64 << layout.exponent_bits) - 1;
    let exponent = bits >> layout.mantissa_bits & exponent_mask;
    let sign = if bits >> (layout.mantissa_bits + layout.exponent_bits) & 1 == 1 { "-" } else { "" };
    if exponent == exponent_mask {
        return Some(match mantissa {
            0 => format!("{sign}inf"),
            mantissa => format!("{sign}nan({mantissa:#x})"),
        });
    }
    // Every format above is a subset of double, so widening is exact.
    let bias = (1i32 << (layout.exponent_bits - 1)) - 1;
    let fraction_bits = layout.mantissa_bits as i32;
    let (significand, power) = match exponent {
        0 => (mantissa, 1 - bias - fraction_bits),
        exponent => (mantissa | 1 << layout.mantissa_bits, exponent as i32 - bias - fraction_bits),
    };
    let magnitude = match layout.mantissa_bits {
        52 => f64::from_bits(bits & !(1 << 63)),
        _ => significand as f64 * 2f64.powi(power),
    };
    Some(format!("{sign}{}", general(magnitude, layout.digits)))
}

/// C's `%.{digits}g` of a finite number that is not negative.
fn general(number: f64, digits: usize) -> String {
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    // The same digits with the point elsewhere.
    let mut figures = mantissa.bytes().filter(u8::is_ascii_digit).map(char::from);
    let mut fixed = String::with_capacity(digits + 6);
    let before = usize::try_from(exponent).map_or(0, |exponent| exponent + 1);
    fixed.extend(figures.by_ref().take(before));
    if before == 0 {
        fixed.push('0');
    }
    fixed.push('.');
    fixed.extend(std::iter::repeat_n('0', usize::try_from(-1 - exponent).unwrap_or(0)));
    fixed.extend(figures);
    let length = trimmed(&fixed).len();
    fixed.truncate(length);
    fixed
}

/// Without zeros at the end of a fraction, and without a point at the end.
fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Fraction bits of IEEE 754 binary128, and gdb's digits for it.
const QUAD_FRACTION: u32 = 112;
const QUAD_DIGITS: usize = 36;

/// A 128-bit number (`__float128`), printed as the shorter ones are.
pub(super) fn quad(bits: u128) -> String {
    let mantissa = bits & ((1 << QUAD_FRACTION) - 1);
    let exponent = (bits >> QUAD_FRACTION & 0x7fff) as i32;
    let sign = if bits >> 127 == 1 { "-" } else { "" };
    match (exponent, mantissa) {
        (0x7fff, 0) => return format!("{sign}inf"),
        (0x7fff, mantissa) => return format!("{sign}nan({mantissa:#x})"),
        (0, 0) => return format!("{sign}0"),
        _ => {}
    }
    let bias = 0x3fff + QUAD_FRACTION as i32;
    let (significand, power) = match exponent {
        0 => (mantissa, 1 - bias),
        exponent => (mantissa | 1 << QUAD_FRACTION, exponent - bias),
    };
    let (digits, point) = decimal(significand, power);
    let (digits, exponent) = rounded(&digits, point, QUAD_DIGITS);
    format!("{sign}{}", general_of(&digits, exponent))
}

/// The decimal digits of `significand * 2^power`, all of them, and how many stand before the point.
fn decimal(significand: u128, power: i32) -> (Vec<u8>, i32) {
    // Little-endian digits in base 10^9; at most 2^16384, or 2^-16494 as 5^16494 with a shifted point.
    let mut number: Vec<u32> = Vec::new();
    let mut rest = significand;
    while rest > 0 {
        number.push((rest % 1_000_000_000) as u32);
        rest /= 1_000_000_000;
    }
    let factor = if power < 0 { 5 } else { 2 };
    for _ in 0..power.unsigned_abs() {
        let mut carry = 0u64;
        for digit in &mut number {
            let product = u64::from(*digit) * factor + carry;
            *digit = (product % 1_000_000_000) as u32;
            carry = product / 1_000_000_000;
        }
        if carry > 0 {
            number.push(carry as u32);
        }
    }
    let text: String = number.iter().rev().map(|digit| format!("{digit:09}")).collect();
    let digits: Vec<u8> = text.trim_start_matches('0').bytes().map(|digit| digit - b'0').collect();
    // x * 2^-n is x * 5^n * 10^-n.
    let point = digits.len() as i32 + power.min(0);
    (digits, point)
}

/// Rounded half to even to so many digits; the second part is the exponent of the first digit.
fn rounded(digits: &[u8], point: i32, wanted: usize) -> (Vec<u8>, i32) {
    let mut kept: Vec<u8> = digits.iter().copied().take(wanted).collect();
    let rest = digits.get(wanted..).unwrap_or(&[]);
    let is_odd = kept.last().is_some_and(|last| last % 2 == 1);
    let up = match rest.split_first() {
        Some((5, after)) => is_odd || after.iter().any(|digit| *digit != 0),
        Some((first, _)) => *first > 5,
        None => false,
    };
    let mut exponent = point - 1;
    if up {
        let mut carried = true;
        for digit in kept.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                carried = false;
                break;
            }
            *digit = 0;
        }
        if carried {
            kept.insert(0, 1);
            kept.truncate(wanted);
            exponent += 1;
        }
    }
    while kept.len() > 1 && kept.last() == Some(&0) {
        kept.pop();
    }
    (kept, exponent)
}

/// C's `%.36g` of digits without zeros at the end.
fn general_of(digits: &[u8], exponent: i32) -> String {
    let text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    if !(-4..QUAD_DIGITS as i32).contains(&exponent) {
        let (first, fraction) = text.split_at(1);
        let dot = if fraction.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{first}{dot}{fraction}e{sign}{:02}", exponent.unsigned_abs());
    }
    match usize::try_from(exponent) {
        Err(_) => format!("0.{}{text}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        Ok(before) if before + 1 >= text.len() => format!("{text}{}", "0".repeat(before + 1 - text.len())),
        Ok(before) => {
            let (whole, fraction) = text.split_at(before + 1);
            format!("{whole}.{fraction}")
        }
    }
}

#[cfg(test)]
#[path = "float_tests.rs"]
mod tests;
