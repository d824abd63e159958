//! MessagePack subset of AMD's metadata: maps, arrays, strings, integers, booleans.
//!
//! The tree borrows from the note and has bounded depth. Every element takes at least one byte of input, so a tree
//! never has more nodes than the note has bytes. Specification: MessagePack "Formats".

use thiserror::Error;

use crate::bounds::MAX_DEPTH;
use crate::clean::clean;

/// Maximum values of one note; a value takes 32 bytes of memory and may take one byte of input. Thousands of kernels
/// have some hundred thousand.
const MAX_VALUES: usize = 1 << 22;

/// A decoded value that borrows its strings.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::codeobject) enum Value<'a> {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    String(&'a [u8]),
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
    /// Binary and extension types, which metadata does not use.
    Opaque,
}

impl<'a> Value<'a> {
    /// Returns the map's value for a string key.
    pub(in crate::codeobject) fn get(&self, key: &str) -> Option<&Value<'a>> {
        match self {
            Value::Map(pairs) => {
                pairs.iter().find(|(name, _)| *name == Value::String(key.as_bytes())).map(|(_, v)| v)
            }
            _ => None,
        }
    }

    /// Returns the elements of an array; none for other values.
    pub(in crate::codeobject) fn elements(&self) -> &[Value<'a>] {
        match self {
            Value::Array(elements) => elements,
            _ => &[],
        }
    }

    pub(in crate::codeobject) fn unsigned(&self) -> Option<u64> {
        match self {
            Value::Unsigned(number) => Some(*number),
            Value::Signed(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    pub(in crate::codeobject) fn text(&self) -> Option<String> {
        match self {
            Value::String(bytes) => Some(clean(String::from_utf8_lossy(bytes)).into_owned()),
            _ => None,
        }
    }

    /// Returns a boolean; some writers use a number instead.
    pub(in crate::codeobject) fn truth(&self) -> Option<bool> {
        match self {
            Value::Bool(truth) => Some(*truth),
            Value::Unsigned(number) => Some(*number != 0),
            _ => None,
        }
    }
}

/// A MessagePack error with its byte offset.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MsgpackError {
    /// The note ends within a value.
    #[error("MessagePack ends early at byte {0} of the note")]
    Truncated(usize),
    /// The nesting is too deep.
    #[error("MessagePack nests deeper than {MAX_DEPTH} at byte {0} of the note")]
    TooDeep(usize),
    /// Too many values.
    #[error("MessagePack has more than {MAX_VALUES} values at byte {0} of the note")]
    TooMany(usize),
    /// A type code that MessagePack reserves.
    #[error("MessagePack type 0xc1 at byte {0} of the note is never used")]
    Reserved(usize),
}

/// Decodes the first value of the bytes.
pub(in crate::codeobject) fn decode(bytes: &[u8]) -> Result<Value<'_>, MsgpackError> {
    Decoder { bytes, at: 0, left: MAX_VALUES }.value(0)
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of values that may follow.
    left: usize,
}

impl<'a> Decoder<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MsgpackError> {
        let end = self.at.checked_add(length);
        let taken =
            end.and_then(|end| self.bytes.get(self.at..end)).ok_or(MsgpackError::Truncated(self.at))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], MsgpackError> {
        let at = self.at;
        self.take(N)?.first_chunk().copied().ok_or(MsgpackError::Truncated(at))
    }

    /// Reads a big-endian unsigned number of 1, 2, 4 or 8 bytes.
    fn number(&mut self, size: usize) -> Result<u64, MsgpackError> {
        Ok(self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, size: usize) -> Result<usize, MsgpackError> {
        let at = self.at;
        usize::try_from(self.number(size)?).map_err(|_| MsgpackError::Truncated(at))
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, MsgpackError> {
        let at = self.at;
        if depth > MAX_DEPTH {
            return Err(MsgpackError::TooDeep(at));
        }
        self.left = self.left.checked_sub(1).ok_or(MsgpackError::TooMany(at))?;
        let [tag] = self.array()?;
        match tag {
            0x00..=0x7f => Ok(Value::Unsigned(tag.into())),
            0x80..=0x8f => self.map(usize::from(tag & 0xf), depth),
            0x90..=0x9f => self.elements(usize::from(tag & 0xf), depth),
            0xa0..=0xbf => self.take(usize::from(tag & 0x1f)).map(Value::String),
            0xc0 => Ok(Value::Nil),
            0xc1 => Err(MsgpackError::Reserved(at)),
            0xc2 | 0xc3 => Ok(Value::Bool(tag == 0xc3)),
            0xc4..=0xc6 => {
                let length = self.length(1 << (tag - 0xc4))?;
                self.take(length).map(|_| Value::Opaque)
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (tag - 0xc7))?;
                self.take(length.saturating_add(1)).map(|_| Value::Opaque)
            }
            0xca => Ok(Value::Float(f32::from_be_bytes(self.array()?).into())),
            0xcb => Ok(Value::Float(f64::from_be_bytes(self.array()?))),
            0xcc..=0xcf => self.number(1 << (tag - 0xcc)).map(Value::Unsigned),
            0xd0 => Ok(Value::Signed(i8::from_be_bytes(self.array()?).into())),
            0xd1 => Ok(Value::Signed(i16::from_be_bytes(self.array()?).into())),
            0xd2 => Ok(Value::Signed(i32::from_be_bytes(self.array()?).into())),
            0xd3 => Ok(Value::Signed(i64::from_be_bytes(self.array()?))),
            0xd4..=0xd8 => self.take((1 << (tag - 0xd4)) + 1).map(|_| Value::Opaque),
            0xd9..=0xdb => {
                let length = self.length(1 << (tag - 0xd9))?;
                self.take(length).map(Value::String)
            }
            0xdc | 0xdd => {
                let length = self.length(if tag == 0xdc { 2 } else { 4 })?;
                self.elements(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(if tag == 0xde { 2 } else { 4 })?;
                self.map(length, depth)
            }
            0xe0..=0xff => Ok(Value::Signed((tag as i8).into())),
        }
    }

    /// Reads element by element: a length beyond the bytes fails without a reservation of memory.
    fn elements(&mut self, length: usize, depth: usize) -> Result<Value<'a>, MsgpackError> {
        let mut elements = Vec::new();
        for _ in 0..length {
            elements.push(self.value(depth + 1)?);
        }
        Ok(Value::Array(elements))
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value<'a>, MsgpackError> {
        let mut pairs = Vec::new();
        for _ in 0..length {
            pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(Value::Map(pairs))
    }
}
