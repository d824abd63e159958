//! Lenient, typed deserialization: a value of the wrong shape is a value of the schema and does not end parsing.
//!
//! serde's derived structs stop at the first wrong type, and a tree of generic values costs many times the manifest's
//! size. Here every key is a [`Field`]: absent, given in its [`Shape`], or wrong with a description. It needs one pass
//! and borrows text from the manifest; one wrong wave costs only that wave.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::memory_limit::{MemoryLimit, index};

/// The value of an optional key.
#[derive(Debug, Default)]
pub(super) enum Field<T> {
    /// Not given, or `null`.
    #[default]
    Absent,
    /// Given in its shape.
    Given(T),
    /// Given in another shape.
    Wrong(Box<Found>),
}

/// Memory of a wrong value in bytes, beside its field.
const WRONG: usize = 96;

/// Description of a wrong value. Boxed, because of many fields few are wrong.
#[derive(Debug)]
pub(super) struct Found(String);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T> Field<T> {
    /// Whether the key is present.
    pub(super) fn is_given(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    fn wrong(found: String) -> Self {
        Self::Wrong(Box::new(Found(found)))
    }
}

/// Allowed shapes of a key's value; a shape accepts its values and returns others for a message.
pub(super) trait Shape<'de>: Sized {
    /// The expected shape, for a message.
    const EXPECTED: &'static str;

    /// An integer.
    fn number(_: u64) -> Option<Self> {
        None
    }

    /// An integer below zero.
    fn negative(_: i64) -> Option<Self> {
        None
    }

    /// A number with a fraction.
    fn float(_: f64) -> Option<Self> {
        None
    }

    /// `true` or `false`.
    fn truth(_: bool) -> Option<Self> {
        None
    }

    /// A string, returned if it does not fit.
    fn text(text: Cow<'de, str>) -> Result<Self, Cow<'de, str>> {
        Err(text)
    }

    /// An array, which must be read to its end.
    fn list<A: SeqAccess<'de>>(mut list: A, _: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// A table, which must be read to its end.
    fn table<A: MapAccess<'de>>(mut table: A, _: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Reads a [`Field`] within a memory limit.
pub(super) struct AnyShape<'r, T>(pub(super) &'r MemoryLimit, pub(super) PhantomData<T>);

impl<'r, T> AnyShape<'r, T> {
    pub(super) fn new(capacity: &'r MemoryLimit) -> Self {
        Self(capacity, PhantomData)
    }
}

impl<'de, T: Shape<'de>> DeserializeSeed<'de> for AnyShape<'_, T> {
    type Value = Field<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Shape<'de>> AnyShape<'_, T> {
    fn text(text: Cow<'de, str>) -> Field<T> {
        T::text(text).map_or_else(|text| Field::wrong(quoted(&text)), Field::Given)
    }
}

fn either<T>(value: Option<T>, found: impl FnOnce() -> String) -> Field<T> {
    value.map_or_else(|| Field::wrong(found()), Field::Given)
}

impl<'de, T: Shape<'de>> Visitor<'de> for AnyShape<'_, T> {
    type Value = Field<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(either(T::truth(value), || value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(either(T::number(value), || value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        let taken = u64::try_from(value).map_or_else(|_| T::negative(value), T::number);
        Ok(either(taken, || value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(either(T::float(value), || format!("{value:?}")))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Self::text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Self::text(Cow::Owned(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(Self::text(Cow::Owned(value)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Absent)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Ok(either(T::list(list, self.0)?, || "an array".to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        Ok(either(T::table(table, self.0)?, || "a table".to_owned()))
    }
}

/// A string for a message: quoted, and truncated if it is long.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

impl<'de> Shape<'de> for u64 {
    const EXPECTED: &'static str = "a non-negative integer below 2^64 or a string \"0x...\"";

    fn number(value: u64) -> Option<Self> {
        Some(value)
    }

    fn text(text: Cow<'de, str>) -> Result<Self, Cow<'de, str>> {
        hex_number(&text).ok_or(text)
    }
}

impl<'de> Shape<'de> for bool {
    const EXPECTED: &'static str = "true or false";

    fn truth(value: bool) -> Option<Self> {
        Some(value)
    }
}

/// The number in `0x…`, digits only: no sign, no spaces.
fn hex_number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    // from_str_radix takes a sign, which "0x+1" must not have.
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// A string, borrowed from the manifest if it has no escapes.
#[derive(Debug)]
pub(super) struct Text<'de>(pub(super) Cow<'de, str>);

impl<'de> Shape<'de> for Text<'de> {
    const EXPECTED: &'static str = "a string";

    fn text(text: Cow<'de, str>) -> Result<Self, Cow<'de, str>> {
        Ok(Self(text))
    }

    fn table<A: MapAccess<'de>>(mut table: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        // An unquoted TOML date arrives as a table of one key with this name.
        let Some(Name(first)) = table.next_key()? else { return Ok(None) };
        if first == "$__toml_private_datetime" {
            let date = table.next_value_seed(AnyShape::<Text<'de>>::new(capacity))?;
            return Ok(if let Field::Given(date) = date { Some(date) } else { None });
        }
        table.next_value::<IgnoredAny>()?;
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A key, borrowed from the manifest if it has no escapes.
pub(super) struct Name<'de>(pub(super) Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(key.to_owned())))
            }

            fn visit_string<E>(self, key: String) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(key)))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

impl<'de, T: Shape<'de>> Shape<'de> for Vec<Field<T>> {
    const EXPECTED: &'static str = "an array";

    fn list<A: SeqAccess<'de>>(mut list: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        let mut items: Self = Vec::new();
        loop {
            let at = items.len();
            let Some(item) =
                capacity.within(index(at), || list.next_element_seed(AnyShape::new(capacity)))?
            else {
                break;
            };
            let wrong = if matches!(item, Field::Wrong(_)) { WRONG } else { 0 };
            if !capacity.take(size_of::<Field<T>>() + wrong, index(at)) {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            if items.len() == items.capacity() {
                // Vec starts at a capacity of four; most of these lists have one element of hundreds of bytes.
                items.reserve_exact(items.len().max(1));
            }
            items.push(item);
        }
        Ok(Some(items))
    }
}

impl<'de, T: Shape<'de>> Shape<'de> for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn list<A: SeqAccess<'de>>(list: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        Ok(T::list(list, capacity)?.map(Self::new))
    }

    fn table<A: MapAccess<'de>>(table: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        Ok(T::table(table, capacity)?.map(Self::new))
    }
}

/// Keys outside of the schema, and duplicates of known keys. Boxed, because they are rare.
#[derive(Debug, Default)]
pub(super) struct Extra<'de>(Option<Box<ExtraKeys<'de>>>);

type ExtraKeys<'de> = (Vec<(Cow<'de, str>, bool)>,);

impl<'de> Extra<'de> {
    /// Records an ignored key; a writer's own (`x-`) is skipped.
    pub(super) fn note(&mut self, key: Cow<'de, str>, twice: bool, capacity: &MemoryLimit) {
        if !key.starts_with("x-") && capacity.take(size_of::<(Cow<'de, str>, bool)>(), &key) {
            self.0.get_or_insert_default().0.push((key, twice));
        }
    }

    /// The keys, in the file's order.
    pub(super) fn keys(&self) -> &[(Cow<'de, str>, bool)] {
        self.0.as_ref().map_or(&[], |keys| &keys.0)
    }
}

/// A field's key in the manifest: its name, or another one that is no identifier in Rust.
macro_rules! key_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Declares tables of the schema: a struct of [`Field`]s with its [`Shape`].
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident { $($field:ident $(($key:literal))?: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $name<'de> {
            $(pub(super) $field: Field<$type>,)*
            /// Keys that are none of these.
            pub(super) extra: Extra<'de>,
        }

        impl<'de> Shape<'de> for $name<'de> {
            const EXPECTED: &'static str = "a table";

            fn table<A: MapAccess<'de>>(mut map: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
                let mut table = Self::default();
                while let Some(Name(key)) = map.next_key()? {
                    match &*key {
                        $(key_name!($field $($key)?) if !table.$field.is_given() => {
                            let read = || map.next_value_seed(AnyShape::new(capacity));
                            table.$field = capacity.within(&*key, read)?;
                        })*
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            let twice = false $(|| *key == *key_name!($field $($key)?))*;
                            table.extra.note(key, twice, capacity);
                        }
                    }
                }
                Ok(Some(table))
            }
        }
    )*};
}
pub(super) use {key_name, tables};
