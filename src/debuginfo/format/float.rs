//! Floating-point numbers in gdb's notation: `%g` with the digits that distinguish all values of the format.

use super::general::Digits;

/// A binary floating-point format, of IEEE 754 or similar.
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

/// A number of 2, 4 or 8 bytes; `None` for other sizes. Two bytes are a half unless the type's name contains bfloat.
pub(crate) fn float(bits: u64, bytes: u64, type_name: &str) -> Option<String> {
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
    let is_negative = bits >> (layout.mantissa_bits + layout.exponent_bits) & 1 == 1;
    if exponent == exponent_mask {
        return Some(not_finite(is_negative, mantissa.into()));
    }
    let bias = (1i32 << (layout.exponent_bits - 1)) - 1;
    let fraction_bits = layout.mantissa_bits as i32;
    let (significand, power) = match exponent {
        0 => (mantissa, 1 - bias - fraction_bits),
        exponent => (mantissa | 1 << layout.mantissa_bits, exponent as i32 - bias - fraction_bits),
    };
    let digits = exact(significand, power, layout.digits).unwrap_or_else(|| {
        // Every format above is a subset of double: widening is exact.
        let magnitude = match layout.mantissa_bits {
            52 => f64::from_bits(bits & !(1 << 63)),
            _ => significand as f64 * 2f64.powi(power),
        };
        converted(magnitude, layout.digits)
    });
    Some(digits.general(is_negative, layout.digits))
}

/// Infinity, or a NaN with its mantissa.
fn not_finite(is_negative: bool, mantissa: u128) -> String {
    let sign = if is_negative { "-" } else { "" };
    match mantissa {
        0 => format!("{sign}inf"),
        mantissa => format!("{sign}nan({mantissa:#x})"),
    }
}

/// The digits of `significand * 2^power`; `None` if the decimal digits exceed 128 bits. The library's conversion takes
/// several times as long for most numbers of programs.
fn exact(significand: u64, power: i32, digits: usize) -> Option<Digits> {
    let zeros = significand.checked_ilog2().map_or(0, |_| significand.trailing_zeros());
    let (significand, power) = (u128::from(significand >> zeros), power + zeros as i32);
    let (number, scale) = match u32::try_from(power) {
        _ if significand == 0 => (0, 0),
        Ok(power) if power < significand.leading_zeros() => (significand << power, 0),
        Ok(_) => return None,
        // x * 2^-n is x * 5^n * 10^-n.
        Err(_) => (significand.checked_mul(5u128.checked_pow(power.unsigned_abs())?)?, power.unsigned_abs()),
    };
    Some(Digits::rounded(number, scale, digits as u32))
}

/// The digits of a finite non-negative number.
fn converted(number: f64, digits: usize) -> Digits {
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let text = mantissa.trim_end_matches('0').replace('.', "");
    Digits { text, exponent: exponent.parse().unwrap_or(0) }
}

/// Fraction bits of IEEE 754 binary128, and gdb's digits for it.
const QUAD_FRACTION: u32 = 112;
const QUAD_DIGITS: usize = 36;

/// A 128-bit number (`__float128`) in the notation of the shorter formats.
pub(super) fn quad(bits: u128) -> String {
    let mantissa = bits & ((1 << QUAD_FRACTION) - 1);
    let exponent = (bits >> QUAD_FRACTION & 0x7fff) as i32;
    let is_negative = bits >> 127 == 1;
    match (exponent, mantissa) {
        (0x7fff, mantissa) => return not_finite(is_negative, mantissa),
        (0, 0) => return if is_negative { "-0".to_owned() } else { "0".to_owned() },
        _ => {}
    }
    let bias = 0x3fff + QUAD_FRACTION as i32;
    let (significand, power) = match exponent {
        0 => (mantissa, 1 - bias),
        exponent => (mantissa | 1 << QUAD_FRACTION, exponent - bias),
    };
    let (digits, point) = decimal(significand, power);
    let (digits, exponent) = rounded(&digits, point, QUAD_DIGITS);
    let text = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    Digits { text, exponent }.general(is_negative, QUAD_DIGITS)
}

/// All decimal digits of `significand * 2^power`, and the number of digits before the point.
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

/// Digits rounded half to even to `wanted` digits, and the exponent of the first digit.
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

#[cfg(test)]
#[path = "float_tests.rs"]
mod tests;
