//! Floating-point numbers as gdb prints them: `%g` with as many digits as the format can tell apart.

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

/// A number of 2, 4 or 8 bytes; `None` for sizes that AMDGPU has no format for. Two bytes are a half unless the type's
/// name says bfloat.
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
    let decimals = (digits as i32 - 1 - exponent).unsigned_abs() as usize;
    trimmed(&format!("{number:.decimals$}")).to_owned()
}

/// Without zeros at the end of a fraction, and without a point at the end.
fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}
