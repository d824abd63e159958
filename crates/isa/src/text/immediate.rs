//! Numbers as operands: inline constants by the type of the operand, and literals.

use super::Text;
use crate::operand::Operand;
use std::fmt;

/// Names of inline floating-point numbers, with their bits in each format.
const FLOATS: [(&str, u16, u16, u32, u64); 9] = [
    ("0.5", 0x3800, 0x3f00, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    ("-0.5", 0xb800, 0xbf00, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    ("1.0", 0x3c00, 0x3f80, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    ("-1.0", 0xbc00, 0xbf80, 0xbf80_0000, 0xbff0_0000_0000_0000),
    ("2.0", 0x4000, 0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    ("-2.0", 0xc000, 0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    ("4.0", 0x4400, 0x4080, 0x4080_0000, 0x4010_0000_0000_0000),
    ("-4.0", 0xc400, 0xc080, 0xc080_0000, 0xc010_0000_0000_0000),
    ("0.15915494", 0x3118, 0x3e22, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// The type of an operand's numbers, as the script numbers it.
mod number {
    pub(super) const DECIMAL: u8 = 0;
    pub(super) const BITS_64: u8 = 2;
    pub(super) const INT_16: u8 = 3;
    pub(super) const FLOAT_64: u8 = 4;
    pub(super) const BFLOAT_16: u8 = 5;
    pub(super) const FLOAT_16: u8 = 6;
    pub(super) const PACKED_BFLOAT_16: u8 = 7;
    pub(super) const PACKED_FLOAT_16: u8 = 8;
    /// Packed halves without inline floating-point numbers.
    pub(super) const PACKED_PLAIN: u8 = 9;
    /// A register: LLVM does not mark a literal in its place.
    pub(super) const REGISTER: u8 = 11;
}

fn name<T: PartialEq>(bits: &T, of: impl Fn(&(&str, u16, u16, u32, u64)) -> T) -> Option<&'static str> {
    FLOATS.iter().find(|float| of(float) == *bits).map(|float| float.0)
}

/// Whether a number of a type prints as an inline constant.
fn is_inline(kind: u8, number: i64) -> bool {
    let (low, half) = (number as u32, number as u16);
    let is_half = u32::from(half) == low;
    match kind {
        number::DECIMAL | number::REGISTER => false,
        number::BITS_64 | number::FLOAT_64 => {
            (-16..=64).contains(&number) || name(&number.cast_unsigned(), |float| float.4).is_some()
        }
        number::FLOAT_16 | number::BFLOAT_16 => {
            let bits =
                |float: &(&str, u16, u16, u32, u64)| if kind == number::FLOAT_16 { float.1 } else { float.2 };
            (-16..=64).contains(&half.cast_signed()) || name(&half, bits).is_some()
        }
        _ if (-16..=64).contains(&low.cast_signed()) => true,
        number::PACKED_BFLOAT_16 => is_half && name(&half, |float| float.2).is_some(),
        number::PACKED_FLOAT_16 => is_half && name(&half, |float| float.1).is_some(),
        number::PACKED_PLAIN => false,
        _ => name(&low, |float| float.3).is_some(),
    }
}

impl Text<'_, '_> {
    /// The mark of a literal that would be another operand without it: an inline constant, or a shorter literal.
    pub(super) fn mark(&self, operand: &Operand, number: i64) -> Option<&'static str> {
        match operand.number_type {
            _ if self.i.literal_size() == 8 => u32::try_from(number).is_ok().then_some("lit64"),
            // An upper half, or packed halves: LLVM takes the number for the constant.
            number::FLOAT_64 | number::PACKED_PLAIN => None,
            kind => is_inline(kind, number).then_some("lit"),
        }
    }

    pub(super) fn literal(&mut self, operand: &Operand, number: i64) -> fmt::Result {
        let (is_wide, kind) = (self.i.literal_size() == 8, operand.number_type);
        let is_64 = matches!(kind, number::BITS_64 | number::FLOAT_64);
        match self.mark(operand, number) {
            Some("lit") => write!(self.out, "lit({:#x})", self.i.literal_bits()),
            Some(mark) => write!(self.out, "{mark}({number:#x})"),
            None if is_wide && is_64 && !is_inline(kind, number) => {
                let is_high = kind == number::FLOAT_64 && number as u32 == 0;
                write!(
                    self.out,
                    "{:#x}",
                    if is_high { number.cast_unsigned() >> 32 } else { number.cast_unsigned() }
                )
            }
            // Halves that are alike print as one number only as an inline constant.
            None if kind == number::PACKED_FLOAT_16 && number as u32 > 0xffff && !is_wide => {
                write!(self.out, "{:#x}", number as u32)
            }
            None => self.immediate(operand, number),
        }
    }

    pub(super) fn immediate(&mut self, operand: &Operand, number: i64) -> fmt::Result {
        let (low, half) = (number as u32, number as u16);
        let is_half = u32::from(half) == low;
        let kind = operand.number_type;
        let is_small = match kind {
            number::DECIMAL => return write!(self.out, "{number}"),
            number::BITS_64 | number::FLOAT_64 => (-16..=64).contains(&number),
            number::FLOAT_16 | number::BFLOAT_16 => return self.half(kind, half, low),
            _ => (-16..=64).contains(&low.cast_signed()),
        };
        if is_small {
            return write!(
                self.out,
                "{}",
                if matches!(kind, number::BITS_64 | number::FLOAT_64) {
                    number
                } else {
                    low.cast_signed().into()
                }
            );
        }
        let text = match kind {
            number::BITS_64 | number::FLOAT_64 => {
                let bits = number.cast_unsigned();
                return match name(&bits, |float| float.4) {
                    Some("0.15915494") => self.out.write_str("0.15915494309189532"),
                    Some(text) => self.out.write_str(text),
                    None => self.literal64(bits, kind == number::FLOAT_64),
                };
            }
            number::PACKED_BFLOAT_16 => name(&half, |float| float.2).filter(|_| is_half),
            number::PACKED_FLOAT_16 => {
                name(&half, |float| float.1).filter(|_| is_half || low >> 16 == u32::from(half))
            }
            number::PACKED_PLAIN => None,
            _ => name(&low, |float| float.3),
        };
        match text {
            Some(text) => self.out.write_str(text),
            None if kind == number::INT_16 => write!(self.out, "{half:#x}"),
            None => write!(self.out, "{low:#x}"),
        }
    }

    fn half(&mut self, kind: u8, half: u16, low: u32) -> fmt::Result {
        if (-16..=64).contains(&half.cast_signed()) {
            return write!(self.out, "{}", half.cast_signed());
        }
        match name(&half, |float| if kind == number::FLOAT_16 { float.1 } else { float.2 }) {
            Some(text) => self.out.write_str(text),
            None if kind == number::FLOAT_16 => write!(self.out, "{half:#x}"),
            None => write!(self.out, "{low:#x}"),
        }
    }

    /// A literal of a 64-bit operand.
    pub(super) fn literal64(&mut self, bits: u64, is_float: bool) -> fmt::Result {
        let has_64 = self.gpu.is_gfx1250
            && !matches!(self.effects.encoding, crate::Encoding::Vop3 | crate::Encoding::Vop3p);
        let high = bits >> 32;
        let needs_64 = if is_float { bits as u32 != 0 } else { high != 0 };
        match (has_64 && needs_64, is_float) {
            (true, _) => write!(self.out, "lit64({bits:#x})"),
            (false, true) => write!(self.out, "{high:#x}"),
            (false, false) => write!(self.out, "{bits:#x}"),
        }
    }
}
