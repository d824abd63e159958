//! Integers, bytes and registers in case files.

use serde::Deserialize;

use crate::cli::value::ValueError;
use crate::dwarf::RegisterBytes;
use crate::questions::{HexError, hex_bytes};

/// The forms of an integer; TOML's own are signed and have 64 bits.
const INTEGER: &str = "an integer, or { bits = 64, bytes = \"..\" } from 2^63 on";

/// The reason that a value of a case file has no meaning.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TextError {
    #[error("expected {INTEGER}, found {0}")]
    Integer(&'static str),
    #[error("bits = {0}: expected {INTEGER}")]
    IntegerBits(u64),
    #[error(transparent)]
    Hex(#[from] HexError),
    #[error("{0}; or the bytes of an expression as a string")]
    NumberOrBytes(Box<Self>),
    #[error("{0}; or a place: {{ space = 6, address = 0x1000 }}")]
    NumberOrPlace(Box<Self>),
    #[error("{}", .0.message())]
    Table(Box<toml::de::Error>),
    #[error("lane {0} is {1}: expected a number of 32 bits, unsigned")]
    Lane(usize, toml::Value),
    #[error(
        "expected a number, a list of one number for each lane, or {{ bits, value }} or {{ bits, bytes }}, found {0}"
    )]
    Register(&'static str),
    #[error("bits = {bits}: expected 1 to {most}")]
    Bits { bits: u64, most: u64 },
    #[error("bytes = {text:?}: expected at most {bits} bits")]
    Bytes { text: String, bits: u64 },
    #[error("expected bits with either value or bytes")]
    ValueOrBytes,
    #[error("{number:#x} has more than {bits} bits")]
    Number { number: i64, bits: u64 },
    #[error(transparent)]
    Dialect(#[from] ValueError),
}

impl From<toml::de::Error> for TextError {
    fn from(error: toml::de::Error) -> Self {
        Self::Table(error.into())
    }
}

/// An integer of up to 64 bits; a negative one is in two's complement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) struct Int(pub(super) u64);

impl TryFrom<toml::Value> for Int {
    type Error = TextError;

    fn try_from(value: toml::Value) -> Result<Self, TextError> {
        let wide = match value {
            toml::Value::Integer(number) => return Ok(Self(number as u64)),
            toml::Value::Table(table) => Wide::try_from(table)?,
            other => return Err(TextError::Integer(other.type_str())),
        };
        if wide.bits > 64 {
            return Err(TextError::IntegerBits(wide.bits));
        }
        let bytes = wide.bytes.iter().rev();
        Ok(Self(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte))))
    }
}

/// Bytes in hexadecimal.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Hex(pub(super) Vec<u8>);

impl TryFrom<String> for Hex {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        Ok(Self(hex_bytes(&text)?))
    }
}

/// A constant, or the bytes of an expression.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum NumberOrBytes {
    Number(u64),
    Bytes(Vec<u8>),
}

impl TryFrom<toml::Value> for NumberOrBytes {
    type Error = TextError;

    fn try_from(value: toml::Value) -> Result<Self, TextError> {
        match value {
            toml::Value::String(text) => Ok(Self::Bytes(hex_bytes(&text)?)),
            number => match Int::try_from(number) {
                Ok(Int(number)) => Ok(Self::Number(number)),
                Err(error) => Err(TextError::NumberOrBytes(error.into())),
            },
        }
    }
}

/// A place in memory.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceText {
    #[serde(default)]
    pub(super) space: Int,
    pub(super) address: Int,
    pub(super) lane: Option<u8>,
}

/// An entry of the initial stack.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum InitialText {
    Value(u64),
    Place(PlaceText),
}

impl TryFrom<toml::Value> for InitialText {
    type Error = TextError;

    fn try_from(value: toml::Value) -> Result<Self, TextError> {
        match value {
            toml::Value::Table(ref table) if table.contains_key("address") => {
                Ok(Self::Place(PlaceText::deserialize(value)?))
            }
            number => match Int::try_from(number) {
                Ok(Int(number)) => Ok(Self::Value(number)),
                Err(error) => Err(TextError::NumberOrPlace(error.into())),
            },
        }
    }
}

/// Contents of a register.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "toml::Value")]
pub(super) enum RegisterText {
    /// A scalar in its architectural size.
    Scalar(i64),
    /// A dword for each lane, lane 0 first; lanes beyond the list are missing.
    Lanes(Vec<u32>),
    /// A register of a given width.
    Abstract(Wide),
}

impl TryFrom<toml::Value> for RegisterText {
    type Error = TextError;

    fn try_from(value: toml::Value) -> Result<Self, TextError> {
        match value {
            toml::Value::Integer(number) => Ok(Self::Scalar(number)),
            toml::Value::Table(table) => Wide::try_from(table).map(Self::Abstract),
            toml::Value::Array(lanes) => {
                let dword = |(lane, value): (usize, toml::Value)| {
                    let dword = value.as_integer().and_then(|number| u32::try_from(number).ok());
                    dword.ok_or(TextError::Lane(lane, value))
                };
                lanes.into_iter().enumerate().map(dword).collect::<Result<_, _>>().map(Self::Lanes)
            }
            other => Err(TextError::Register(other.type_str())),
        }
    }
}

/// A number of a given width.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    /// Its width, from 1 to that of a vector register.
    pub(super) bits: u64,
    /// Its bytes, least significant first; missing bytes are 0.
    pub(super) bytes: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WideText {
    bits: u64,
    value: Option<i64>,
    bytes: Option<String>,
}

impl TryFrom<toml::Table> for Wide {
    type Error = TextError;

    fn try_from(table: toml::Table) -> Result<Self, TextError> {
        let WideText { bits, value, bytes } = table.try_into()?;
        let most = RegisterBytes::MAX as u64 * 8;
        if !(1..=most).contains(&bits) {
            return Err(TextError::Bits { bits, most });
        }
        let bytes = match (value, bytes) {
            (Some(value), None) => number_in(value, bits)?,
            (None, Some(text)) => {
                let bytes = hex_bytes(&text)?;
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| {
                    let byte = bytes.get(last).copied().unwrap_or(0);
                    last as u64 * 8 + u64::from(8 - byte.leading_zeros())
                });
                if bytes.len() as u64 > bits.div_ceil(8) || used > bits {
                    return Err(TextError::Bytes { text, bits });
                }
                bytes
            }
            _ => return Err(TextError::ValueOrBytes),
        };
        Ok(Self { bits, bytes })
    }
}

/// The bytes of a number of a given width in bits, signed or not.
pub(super) fn number_in(number: i64, bits: u64) -> Result<Vec<u8>, TextError> {
    let wide = i128::from(number);
    let limit = 1i128 << bits.min(64);
    if wide >= limit || wide < -(limit / 2) {
        return Err(TextError::Number { number, bits });
    }
    let bytes = usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX);
    let mut all = wide.to_le_bytes().to_vec();
    all.truncate(bytes);
    if let (Some(last), rest) = (all.last_mut().filter(|_| bits < 64), bits % 8)
        && rest != 0
    {
        *last &= (1 << rest) - 1;
    }
    Ok(all)
}
