//! Inline values of registers: the allowed forms after a register's name, for a yet unknown register.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::memory_limit::{MemoryLimit, index};
use super::shape::{Name, Shape, quoted};

/// A value in the manifest. It is small, because a range of vectors has thousands.
#[derive(Debug)]
pub(super) enum Inline {
    /// An integer.
    Number(u64),
    /// An integer below zero: two's complement of the register's width.
    Negative(i64),
    /// A number with a fraction; only within [`Inline::Floats`].
    Float(f64),
    /// `"xx"` (or `null`): not captured.
    Missing,
    /// Lanes of a vector, or registers of a range.
    List(Vec<Inline>),
    /// `{ f32 = … }`: the contents are floats.
    Floats(Box<Inline>),
    /// Another form, with its description.
    Wrong(Box<str>),
}

/// The expected form in a message without further facts.
pub(super) const EXPECTED: &str = "an integer, \"0x...\", \"xx\", an array of them, or { f32 = [...] }";

/// Reads an [`Inline`] within a memory limit.
#[derive(Clone, Copy)]
pub(super) struct InlineShape<'r>(pub(super) &'r MemoryLimit);

impl<'de> DeserializeSeed<'de> for InlineShape<'_> {
    type Value = Inline;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Inline, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for InlineShape<'_> {
    type Value = Inline;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Inline, E> {
        Ok(Inline::Wrong(value.to_string().into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Inline, E> {
        Ok(Inline::Number(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Inline, E> {
        Ok(u64::try_from(value).map_or(Inline::Negative(value), Inline::Number))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Inline, E> {
        Ok(Inline::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Inline, E> {
        if value == "xx" {
            return Ok(Inline::Missing);
        }
        let number = <u64 as Shape<'_>>::text(Cow::Borrowed(value));
        Ok(number.map_or_else(|text| Inline::Wrong(quoted(&text).into()), Inline::Number))
    }

    fn visit_unit<E>(self) -> Result<Inline, E> {
        Ok(Inline::Missing)
    }

    fn visit_none<E>(self) -> Result<Inline, E> {
        Ok(Inline::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Inline, A::Error> {
        let mut items = Vec::new();
        loop {
            let at = items.len();
            let Some(item) = self.0.within(index(at), || list.next_element_seed(self))? else { break };
            if !self.0.take(size_of::<Inline>(), index(at)) {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            items.push(item);
        }
        Ok(Inline::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Inline, A::Error> {
        let mut floats = None;
        let mut other = None;
        while let Some(Name(key)) = table.next_key()? {
            if key == "f32" && floats.is_none() {
                floats = Some(self.0.within("f32", || table.next_value_seed(self))?);
            } else {
                table.next_value::<IgnoredAny>()?;
                other = Some(key.into_owned());
            }
        }
        Ok(match (floats, other) {
            (Some(floats), None) => Inline::Floats(Box::new(floats)),
            (_, Some(key)) => Inline::Wrong(format!("a table with the key {}", quoted(&key)).into()),
            (None, None) => Inline::Wrong("an empty table".into()),
        })
    }
}

/// The form of a value, for a message.
pub(super) fn found(value: &Inline) -> String {
    match value {
        Inline::Number(value) => format!("{value:#x}"),
        Inline::Negative(value) => value.to_string(),
        Inline::Float(value) => format!("{value:?}"),
        Inline::Missing => "\"xx\"".to_owned(),
        Inline::List(items) => format!("an array of {}", items.len()),
        Inline::Floats(_) => "{ f32 = ... } within an array".to_owned(),
        Inline::Wrong(found) => found.to_string(),
    }
}

/// The value of a scalar of one or two dwords, or of a lane; `None`: not captured.
///
/// The error has the actual and the expected form.
pub(super) fn scalar(
    value: &Inline,
    dwords: u16,
    floats: bool,
) -> Result<Option<u64>, (String, &'static str)> {
    if floats {
        let value = match value {
            Inline::Missing => return Ok(None),
            Inline::Float(value) => *value,
            Inline::Number(value) => *value as f64,
            Inline::Negative(value) => *value as f64,
            other => return Err((found(other), "a number")),
        };
        if dwords != 1 {
            return Err((format!("f32 for a register of {dwords} dwords"), "f32 for registers of one dword"));
        }
        return Ok(Some(u64::from((value as f32).to_bits())));
    }
    let fits = match value {
        Inline::Missing => return Ok(None),
        Inline::Number(value) if dwords == 1 => u32::try_from(*value).ok().map(u64::from),
        Inline::Number(value) => Some(*value),
        Inline::Negative(value) if dwords == 1 => {
            i32::try_from(*value).ok().map(|value| u64::from(value.cast_unsigned()))
        }
        Inline::Negative(value) => Some(value.cast_unsigned()),
        Inline::Float(_) => return Err((found(value), "an integer, or the array within { f32 = ... }")),
        Inline::List(_) | Inline::Floats(_) | Inline::Wrong(_) => {
            return Err((found(value), "an integer, \"0x...\" or \"xx\""));
        }
    };
    fits.map(Some).ok_or_else(|| (found(value), "a 32-bit value"))
}
