//! IEEE 754 binary16, a GPU type that stable Rust lacks.

/// Converts a half to `f32`, exactly.
pub(super) fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        // Zero and subnormals: the fraction counts units of 2^-24.
        0 => {
            let magnitude = fraction as f32 * f32::from_bits((127 - 24) << 23);
            f32::from_bits(magnitude.to_bits() | sign)
        }
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}

/// Returns the nearest half, ties to even.
pub(super) fn from_f64(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 63 << 15) as u16;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 1024 {
        let quiet = if fraction == 0 { 0 } else { 0x200 | (fraction >> 42) as u16 };
        return sign | 0x7c00 | quiet;
    }
    if exponent > 15 {
        return sign | 0x7c00;
    }
    // The significand with its leading one, and the number of its bits beyond a half's precision.
    let significand = fraction | 1 << 52;
    let dropped = if exponent >= -14 { 42 } else { 42 + (-14 - exponent) as u32 };
    if dropped > 54 {
        return sign;
    }
    let kept = significand.checked_shr(dropped).unwrap_or(0);
    let rest = significand & ((1 << dropped) - 1);
    let half = 1u64 << (dropped - 1);
    let up = rest > half || rest == half && kept & 1 == 1;
    let rounded = kept + u64::from(up);
    // A carry from the fraction increments the exponent, which rounds up correctly.
    let base = if exponent >= -14 { ((exponent + 14) as u64) << 10 } else { 0 };
    sign | (base + rounded) as u16
}
