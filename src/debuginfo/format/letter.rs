//! Formats of numbers by gdb's `print/x` letters: its manual, "Output Formats", and the behaviour of gdb 13 where the
//! manual has no rule. A bit-field is widened to its type; `c` takes the low byte.

use super::float;
use super::text::{CharKind, character};

/// A format of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Letter {
    /// `x`: the bits in hexadecimal.
    Hex,
    /// `z`: the same with leading zeros.
    Padded,
    /// `d`: the bits as a signed number.
    Signed,
    /// `u`: the bits as an unsigned number.
    Unsigned,
    /// `o`: the bits in octal.
    Octal,
    /// `t`: the bits in binary.
    Binary,
    /// `c`: the number's low byte as a character.
    Character,
    /// `f`: the bits of a 4- or 8-byte integer as a floating-point number.
    Float,
    /// `a`: an address, with the symbol that holds it.
    Address,
    /// `s`: the type's own format, with the strings behind pointers to characters.
    String,
}

/// A number to format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its bits, extended to the type's size.
    pub bits: u128,
    /// Bits of the type.
    pub size: u32,
    /// Whether the bits are two's complement.
    pub is_signed: bool,
    /// Whether the bits are a floating-point number.
    pub is_float: bool,
}

impl Letter {
    /// Every letter.
    pub const ALL: [Self; 10] = [
        Self::Hex,
        Self::Padded,
        Self::Signed,
        Self::Unsigned,
        Self::Octal,
        Self::Binary,
        Self::Character,
        Self::Float,
        Self::Address,
        Self::String,
    ];

    /// The letter.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Hex => 'x',
            Self::Padded => 'z',
            Self::Signed => 'd',
            Self::Unsigned => 'u',
            Self::Octal => 'o',
            Self::Binary => 't',
            Self::Character => 'c',
            Self::Float => 'f',
            Self::Address => 'a',
            Self::String => 's',
        }
    }

    /// The format of a letter.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        let (letter, None) = (letters.next()?, letters.next()) else { return None };
        Self::ALL.into_iter().find(|known| known.letter() == letter)
    }

    /// The formatted number; `None` if the letter changes nothing.
    #[must_use]
    pub fn write(self, number: Scalar, symbol: &dyn Fn(u64) -> Option<String>) -> Option<String> {
        let Scalar { size, is_float, .. } = number;
        let bits = number.unsigned();
        Some(match self {
            Self::Hex => format!("{bits:#x}"),
            Self::Padded => format!("0x{bits:0width$x}", width = size.div_ceil(4) as usize),
            Self::Octal if bits == 0 => "0".to_owned(),
            Self::Octal => format!("0{bits:o}"),
            Self::Binary => format!("{bits:b}"),
            Self::Signed => number.extended().to_string(),
            Self::Unsigned => bits.to_string(),
            Self::Character => {
                let low = number.integer()? as u8;
                let shown = if number.is_signed || is_float { i16::from(low as i8) } else { i16::from(low) };
                format!("{shown} {}", character(u32::from(low), CharKind::NARROW))
            }
            Self::Address => {
                let address = number.integer()? as u64;
                match symbol(address) {
                    Some(symbol) => format!("{address:#x} <{symbol}>"),
                    None => format!("{address:#x}"),
                }
            }
            Self::Float if !is_float && matches!(size, 32 | 64) => {
                float::float(u64::try_from(bits).ok()?, u64::from(size / 8), "")?
            }
            Self::Float if !is_float && number.is_signed => number.extended().to_string(),
            Self::Float if !is_float => bits.to_string(),
            Self::Float | Self::String => return None,
        })
    }
}

impl Scalar {
    /// The number in its type's own format.
    #[must_use]
    pub fn natural(self) -> String {
        let float = |bits: u128| float::float(u64::try_from(bits).ok()?, u64::from(self.size / 8), "");
        match (self.is_float, self.is_signed) {
            (true, _) => float(self.unsigned()).unwrap_or_else(|| format!("{:#x}", self.unsigned())),
            (false, true) => self.extended().to_string(),
            (false, false) => self.unsigned().to_string(),
        }
    }

    fn unsigned(self) -> u128 {
        let unused = 128 - self.size.clamp(1, 128);
        self.bits << unused >> unused
    }

    fn extended(self) -> i128 {
        let unused = 128 - self.size.clamp(1, 128);
        (self.bits << unused) as i128 >> unused
    }

    /// The number as an integer of 64 bits, without its fraction; `None` if it does not fit.
    fn integer(self) -> Option<i64> {
        match (self.is_float, self.size) {
            (true, 32) => Some(f32::from_bits(self.unsigned() as u32) as i64),
            (true, 64) => Some(f64::from_bits(self.unsigned() as u64) as i64),
            (true, _) => None,
            (false, 65..) => None,
            (false, _) if self.is_signed => Some(self.extended() as i64),
            (false, _) => Some(self.unsigned() as i64),
        }
    }
}
