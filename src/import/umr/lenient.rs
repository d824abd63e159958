//! Lenient JSON: a value of an unexpected type is absent, and lists end at the maximum of a wave. Only malformed JSON
//! is an error, so that one odd value costs only itself.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A target of a value; kinds of values that it does not override are skipped.
pub(super) trait Shape: Default {
    fn number(&mut self, _number: f64) {}

    fn list<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(&mut self, object: &mut A) -> Result<(), A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// A value of any type.
#[derive(Debug, Default)]
pub(super) struct Any<T>(pub(super) T);

impl<'de, T: Shape> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Taker(T::default())).map(Self)
    }
}

struct Taker<T>(T);

impl<'de, T: Shape> Visitor<'de> for Taker<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(self.0)
    }

    fn visit_i64<E>(mut self, number: i64) -> Result<T, E> {
        self.0.number(number as f64);
        Ok(self.0)
    }

    fn visit_u64<E>(mut self, number: u64) -> Result<T, E> {
        self.0.number(number as f64);
        Ok(self.0)
    }

    fn visit_f64<E>(mut self, number: f64) -> Result<T, E> {
        self.0.number(number);
        Ok(self.0)
    }

    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok(self.0)
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<T, A::Error> {
        self.0.list(&mut list)?;
        Ok(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<T, A::Error> {
        self.0.object(&mut object)?;
        Ok(self.0)
    }
}

/// A number; `None`: another value.
pub(super) type Number = Option<f64>;

impl Shape for Number {
    fn number(&mut self, number: f64) {
        *self = Some(number);
    }
}

/// The first `MOST` elements of a list.
#[derive(Debug)]
pub(super) struct List<T, const MOST: usize>(pub(super) Vec<T>);

impl<T, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Shape, const MOST: usize> Shape for List<T, MOST> {
    fn list<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<(), A::Error> {
        while self.0.len() < MOST {
            let Some(Any(element)) = list.next_element()? else { return Ok(()) };
            self.0.push(element);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

/// Number of elements of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Length(pub(super) usize);

impl Shape for Length {
    fn list<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {
            self.0 += 1;
        }
        Ok(())
    }
}
