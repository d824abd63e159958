//! Floating-point operands, and the exceptions that operations raise for them by IEEE 754.

use crate::session::print::half;

/// The format of the values that an instruction computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    F16,
    F32,
    F64,
    Integer,
    /// Several formats, or one that is not decoded.
    Other,
}

impl Format {
    /// The format of the sources, by the mnemonic without `v_` or `s_`. `None`: no floating-point operation.
    pub(super) fn of_sources(operation: &str) -> Option<Self> {
        if !["_f16", "_f32", "_f64"].iter().any(|name| operation.contains(name)) {
            return None;
        }
        let several = ["dot", "mfma", "smfmac", "wmma", "swmmac", "fma_mix", "mad_mix", "cvt_scale"];
        if several.iter().any(|name| operation.starts_with(name)) {
            return Some(Self::Other);
        }
        // A conversion has the format of the result before that of its source.
        let encodings = ["e32", "e64", "dpp", "dpp8", "dpp16", "sdwa"];
        let last = operation.rsplit('_').find(|part| !encodings.contains(part));
        Some(match last.unwrap_or_default() {
            "f16" => Self::F16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "bf16" | "bf8" | "fp8" | "legacy" => Self::Other,
            _ => Self::Integer,
        })
    }

    /// Dwords of a register operand.
    pub(super) fn dwords(self) -> u16 {
        if self == Self::F64 { 2 } else { 1 }
    }

    /// The value of a register operand.
    pub(super) fn value(self, dwords: &[u32]) -> Option<Float> {
        match (self, dwords) {
            (Self::F16, [dword]) => Some(Float::of_f16(*dword as u16)),
            (Self::F32, [dword]) => Some(Float::of_f32(f32::from_bits(*dword))),
            (Self::F64, [low, high]) => {
                Some(Float::of(f64::from_bits(u64::from(*low) | u64::from(*high) << 32)))
            }
            _ => None,
        }
    }

    /// The value of a constant with those bits.
    pub(super) fn constant(self, bits: i64) -> Option<Float> {
        match self {
            Self::F64 => self.value(&[bits as u32, (bits >> 32) as u32]),
            _ => self.value(&[bits as u32]),
        }
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Float {
    pub(super) text: String,
    value: f64,
    is_denormal: bool,
    is_signaling: bool,
}

impl Float {
    fn of(value: f64) -> Self {
        let is_signaling = value.is_nan() && value.to_bits() & 1 << 51 == 0;
        Self { text: value.to_string(), value, is_denormal: value.is_subnormal(), is_signaling }
    }

    fn of_f16(bits: u16) -> Self {
        let is_special = bits & 0x7c00 == 0x7c00;
        Self {
            is_denormal: bits & 0x7c00 == 0 && bits & 0x3ff != 0,
            is_signaling: is_special && bits & 0x3ff != 0 && bits & 0x200 == 0,
            ..Self::of(half(bits, false))
        }
    }

    fn of_f32(value: f32) -> Self {
        Self {
            text: value.to_string(),
            value: value.into(),
            is_denormal: value.is_subnormal(),
            is_signaling: value.is_nan() && value.to_bits() & 1 << 22 == 0,
        }
    }

    /// An integer that an instruction converted.
    pub(super) fn of_integer(value: i64) -> Self {
        Self { text: value.to_string(), ..Self::of(value as f64) }
    }

    /// The value with the modifiers of its operand.
    pub(super) fn modified(self, is_absolute: bool, is_negated: bool) -> Self {
        let value = if is_absolute { self.value.abs() } else { self.value };
        Self { value: if is_negated { -value } else { value }, ..self }
    }
}

/// Whether an instruction raises an exception for operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Raise {
    /// It does; indexes of the operands that explain it.
    Yes(Vec<usize>),
    No,
    /// An operand is unknown, or the rule is.
    Unknown,
}

/// Whether an instruction can raise an exception, by its mnemonic. IEEE 754: a division by zero is an exact infinite
/// result of finite operands. LLVM divides integers by `v_rcp_iflag_f32`, which raises INT_DIV0 alone.
pub(super) fn can_raise(text: &str, exception: &str) -> bool {
    let Some(operation) = operation(text) else { return false };
    let is_iflag = operation.starts_with("rcp_iflag");
    let format = Format::of_sources(operation);
    let is_float = format.is_some();
    // A conversion of an integer rounds or overflows alone.
    let is_exact = format == Some(Format::Integer) && !["fp_inexact", "fp_overflow"].contains(&exception);
    let divides = ["rcp_", "rsq_", "log_", "div_fixup_", "s_rcp_", "s_rsq_", "s_log_"];
    let moves = ["mov", "cndmask", "cmp_class", "cmpx_class"].iter().any(|name| operation.starts_with(name));
    match exception {
        "int_divide_by_0" => is_iflag,
        "fp_divide_by_0" => divides.iter().any(|name| operation.starts_with(name)) && is_float && !is_iflag,
        _ => is_float && !is_iflag && !moves && !is_exact,
    }
}

/// The mnemonic without `v_`, `v_dual_` or `s_`.
pub(super) fn operation(text: &str) -> Option<&str> {
    let mnemonic = text.split_whitespace().next()?;
    let vector = mnemonic.strip_prefix("v_dual_").or_else(|| mnemonic.strip_prefix("v_"));
    vector.or_else(|| mnemonic.strip_prefix("s_"))
}

/// Whether an operation raises an exception. `sources`: in the order of the text; `None`: unknown.
pub(super) fn raises(operation: &str, sources: &[Option<Float>], exception: &str) -> Raise {
    let operation = operation.strip_prefix("s_").unwrap_or(operation);
    match exception {
        "fp_divide_by_0" | "int_divide_by_0" => divides_by_zero(operation, sources),
        "fp_invalid_operation" => is_invalid(operation, sources),
        "fp_input_denormal" => any(sources, |of| of.is_denormal),
        "fp_overflow" => overflows(operation, sources),
        // Whether results are rounded or denormal is not computed.
        _ => Raise::Unknown,
    }
}

/// The operands with a property; without one whether all are known.
fn any(sources: &[Option<Float>], has: impl Fn(&Float) -> bool) -> Raise {
    let with = sources.iter().enumerate().filter(|(_, of)| of.as_ref().is_some_and(&has));
    let found: Vec<usize> = with.map(|(index, _)| index).collect();
    match found.is_empty() {
        false => Raise::Yes(found),
        true if sources.iter().all(Option::is_some) && !sources.is_empty() => Raise::No,
        true => Raise::Unknown,
    }
}

fn when(is_it: bool, of: &[usize]) -> Raise {
    if is_it { Raise::Yes(of.to_vec()) } else { Raise::No }
}

fn divides_by_zero(operation: &str, sources: &[Option<Float>]) -> Raise {
    if operation.starts_with("div_fixup") {
        // Quotient, denominator, numerator.
        return match sources {
            [_, Some(denominator), _] if denominator.value != 0.0 && !denominator.is_denormal => Raise::No,
            [_, Some(denominator), Some(numerator)] if !denominator.is_denormal => {
                when(numerator.value.is_finite() && numerator.value != 0.0, &[1])
            }
            _ => Raise::Unknown,
        };
    }
    match sources {
        // The mode may turn it into a zero.
        [Some(divisor)] if divisor.is_denormal => Raise::Unknown,
        [Some(divisor)] => when(divisor.value == 0.0, &[0]),
        _ => Raise::Unknown,
    }
}

/// IEEE 754, 7.4: the result of finite operands is beyond the largest number of its format.
fn overflows(operation: &str, sources: &[Option<Float>]) -> Raise {
    if sources.iter().flatten().any(|of| !of.value.is_finite()) {
        return Raise::No;
    }
    let all: Option<Vec<f64>> = sources.iter().map(|of| of.as_ref().map(|of| of.value)).collect();
    let Some(all) = all else { return Raise::Unknown };
    let is = |names: &[&str]| names.iter().any(|name| operation.starts_with(name));
    let (result, format) = match (all.as_slice(), Format::of_sources(operation)) {
        ([a, b], Some(format)) if is(&["add_f"]) => (a + b, format),
        ([a, b], Some(format)) if is(&["sub_f"]) => (a - b, format),
        ([a, b], Some(format)) if is(&["subrev_f"]) => (b - a, format),
        ([a, b], Some(format)) if is(&["mul_f"]) => (a * b, format),
        ([a, b, c], Some(format)) if is(&PRODUCT_SUMS) => (a.mul_add(*b, *c), format),
        ([a], Some(_)) if is(&["cvt_f16_f"]) => (*a, Format::F16),
        ([a], Some(_)) if is(&["cvt_f32_f64"]) => (*a, Format::F32),
        _ => return Raise::Unknown,
    };
    // The least power of two beyond the format. Numbers that round to it do so in some modes alone.
    let (bound, largest) = match format {
        Format::F16 => (65536.0, 65504.0),
        Format::F32 => (2f64.powi(128), f64::from(f32::MAX)),
        Format::F64 => (f64::INFINITY, f64::MAX),
        _ => return Raise::Unknown,
    };
    match result.abs() {
        of if of >= bound => Raise::Yes((0..all.len()).collect()),
        of if of > largest || format == Format::F64 && of == largest => Raise::Unknown,
        _ => Raise::No,
    }
}

/// Operations that add a number to a product.
const PRODUCT_SUMS: [&str; 8] = ["fma_f", "fmac_f", "mac_f", "mad_f", "fmaak", "fmamk", "madak", "madmk"];

/// IEEE 754, 7.2: a signaling NaN, and operations without a defined result. A quiet NaN is a valid operand.
fn is_invalid(operation: &str, sources: &[Option<Float>]) -> Raise {
    if let Raise::Yes(of) = any(sources, |of| of.is_signaling) {
        return Raise::Yes(of);
    }
    let Some(all) = sources.iter().map(Option::as_ref).collect::<Option<Vec<&Float>>>() else {
        return Raise::Unknown;
    };
    let is = |names: &[&str]| names.iter().any(|name| operation.starts_with(name));
    let infinite = |value: f64| value.is_infinite();
    let is_zero_times_infinity = |a: f64, b: f64| a == 0.0 && infinite(b) || infinite(a) && b == 0.0;
    // A mode turns denormal operands into zeros.
    let has_denormal = all.iter().any(|of| of.is_denormal);
    match all.as_slice() {
        [a, b] if is(&["add_", "sub_", "subrev_"]) => {
            let is_sum = is(&["add_"]);
            let differs = a.value.is_sign_negative() != b.value.is_sign_negative();
            when(infinite(a.value) && infinite(b.value) && differs == is_sum, &[0, 1])
        }
        [a, b] if is(&["mul_f"]) => match has_denormal && (infinite(a.value) || infinite(b.value)) {
            true => Raise::Unknown,
            false => when(is_zero_times_infinity(a.value, b.value), &[0, 1]),
        },
        [a, b, c] if is(&PRODUCT_SUMS) => {
            if has_denormal && (infinite(a.value) || infinite(b.value)) {
                return Raise::Unknown;
            }
            if is_zero_times_infinity(a.value, b.value) {
                return Raise::Yes(vec![0, 1]);
            }
            let product = a.value * b.value;
            let is_infinite = infinite(a.value) || infinite(b.value);
            let differs = product.is_sign_negative() != c.value.is_sign_negative();
            when(is_infinite && !product.is_nan() && infinite(c.value) && differs, &[0, 1, 2])
        }
        [a] if is(&["sqrt_", "rsq_", "log_"]) => match a.is_denormal {
            true => Raise::Unknown,
            false => when(a.value < 0.0, &[0]),
        },
        [_] if is(&["rcp_", "exp_"]) => Raise::No,
        [a] if is(&["sin_", "cos_"]) => when(infinite(a.value), &[0]),
        [_, denominator, numerator] if is(&["div_fixup"]) => {
            let (a, b) = (numerator.value, denominator.value);
            match has_denormal {
                true => Raise::Unknown,
                false => when(a == 0.0 && b == 0.0 || infinite(a) && infinite(b), &[1, 2]),
            }
        }
        [a] if is(&["cvt_i32_f", "cvt_u32_f"]) => {
            let (least, most) = match is(&["cvt_i32_f"]) {
                true => (f64::from(i32::MIN), f64::from(i32::MAX)),
                false => (0.0, f64::from(u32::MAX)),
            };
            when(a.value.is_nan() || a.value <= least - 1.0 || a.value >= most + 1.0, &[0])
        }
        _ if is(&["min_", "max_", "minimum_", "maximum_", "med3_", "cmp", "frexp_", "ldexp_"]) => Raise::No,
        [a] if is(&["cvt_f"]) && a.value.is_finite() => Raise::No,
        [a] if is(&["cvt_f"]) => when(a.is_signaling, &[0]),
        all if all.iter().all(|of| of.value.is_finite()) && !is(&["cvt_", "div_", "pk_"]) => Raise::No,
        _ => Raise::Unknown,
    }
}
