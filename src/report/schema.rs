//! The frame of JSON answers: documents with the name of their schema, and the forms of numbers. docs/json.md has the
//! rules, docs/schemas the schemas that tests make from the types.

use serde::{Serialize, Serializer};

use crate::units::LaneSet;

/// The members of a document with a schema of its own.
pub trait Schema: Serialize {
    /// The name of the schema; its file is docs/schemas/NAME.json.
    const NAME: &'static str;
    /// The version; a change other than an added member increments it.
    const VERSION: u32 = 1;
}

impl<T: Schema> Schema for &T {
    const NAME: &'static str = T::NAME;
    const VERSION: u32 = T::VERSION;
}

/// A document: the name of its schema, then the members.
#[derive(Debug, Serialize)]
pub struct Document<T> {
    schema: String,
    #[serde(flatten)]
    members: T,
}

impl<T: Schema> Document<T> {
    /// A document with these members.
    pub fn new(members: T) -> Self {
        Self { schema: format!("lanescope.{}/{}", T::NAME, T::VERSION), members }
    }
}

/// An answer about a wave.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct About<T> {
    /// The wave's id in the dump.
    pub wave: u32,
    /// The thread's number for a client; on the command line, the number of a client whose threads are waves.
    pub thread: u64,
    /// The answer.
    #[serde(flatten)]
    pub answer: T,
    /// The wave's marks.
    #[serde(flatten)]
    pub marks: Marks,
}

impl<T: Schema> Schema for About<T> {
    const NAME: &'static str = T::NAME;
    const VERSION: u32 = T::VERSION;
}

/// Marks of a wave.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Marks {
    /// The reason why values of the wave may be wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<String>,
    /// Values that nothing else in the capture confirms, with the reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
}

impl Marks {
    /// The marks of a wave.
    #[must_use]
    pub fn of(info: &crate::session::WaveInfo) -> Self {
        Self { unconfirmed: info.unconfirmed.clone(), unchecked: info.unchecked.clone() }
    }
}

/// A question without an answer.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Error {
    /// The reason.
    pub error: String,
    /// The wave's id in the dump, in an answer about several waves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<u32>,
    /// The thread's number, in an answer about several waves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// The line of a malformed expression, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in a malformed path or expression, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl Schema for Error {
    const NAME: &'static str = "error";
}

/// A 64-bit number in hexadecimal text: `0x7f0000201000`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex(pub u64);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Numbers of lanes, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(pub LaneSet);

impl Serialize for Lanes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|lane| lane.0))
    }
}

/// The first and the last of consecutive numbers.
pub type Run = (u64, u64);

/// A list whose items are built while they are written.
pub struct Streamed<F>(pub F);

impl<F> std::fmt::Debug for Streamed<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Streamed")
    }
}

impl<T: Serialize, I: Iterator<Item = T>, F: Fn() -> I> Serialize for Streamed<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[cfg(test)]
mod forms {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{Hex, Lanes};

    impl JsonSchema for Hex {
        fn schema_name() -> Cow<'static, str> {
            "Hex".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "string", "pattern": "^0x[0-9a-f]+$" })
        }

        fn inline_schema() -> bool {
            true
        }
    }

    impl JsonSchema for Lanes {
        fn schema_name() -> Cow<'static, str> {
            "Lanes".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 63 } })
        }

        fn inline_schema() -> bool {
            true
        }
    }
}
