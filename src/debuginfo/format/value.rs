//! The tree of a printed value, and gdb's notation for it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::debuginfo::{DebugInfoError, DynamicError, NoDataError};
use crate::notation::is_zero;
use crate::units::DieOffset;

/// A printed value with marks for missing parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Value {
    /// A number, pointer, enumerator or string, in gdb's notation.
    Text {
        /// The notation: `65 'A'`, `0x7f00`, `"abc"`.
        text: String,
    },
    /// A struct, class or union.
    Members {
        /// Base classes and members.
        members: Vec<Field>,
        /// The notation of its text.
        #[serde(skip)]
        notation: Notation,
    },
    /// An array or vector.
    Elements {
        /// Its first elements.
        elements: Vec<Element>,
        /// The number of further elements.
        #[serde(skip_serializing_if = "is_zero")]
        omitted: u64,
        /// The notation of its text.
        #[serde(skip)]
        notation: Notation,
    },
    /// A missing value.
    Absent {
        /// The reason.
        absent: Absence,
    },
    /// A value that cannot be formed.
    Unknown {
        /// The reason.
        #[serde(rename = "text", serialize_with = "bracketed")]
        #[cfg_attr(test, schemars(with = "String"))]
        why: Box<ValueError>,
    },
}

/// The language whose notation gdb writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// `{1, 2}`, `{x = 1}`, `true`, `"text"`
    #[default]
    C,
    /// `(1, 2)`, `( x = 1 )`, `.TRUE.`, `'text'`
    Fortran,
}

/// The reason that a value cannot be formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A type is unreadable.
    #[error(transparent)]
    Type(#[from] DebugInfoError),
    /// A dynamic number or place of the type is unknown.
    #[error(transparent)]
    Dynamic(#[from] DynamicError),
    /// The record is declared and not defined.
    #[error("incomplete type")]
    Incomplete,
    /// The base type has no size.
    #[error("the base type at DIE {0} has no size")]
    NoSize(DieOffset),
    /// The string has no length.
    #[error("string of unknown length")]
    NoLength,
    /// The object has no data.
    #[error(transparent)]
    NoData(#[from] NoDataError),
    /// The member's place depends on the object, which is missing.
    #[error("place known at run time only")]
    NoPlace,
}

fn bracketed<S: serde::Serializer>(why: &ValueError, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("<{why}>"))
}

/// The reason that a value is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Absence {
    /// The capture lacks it.
    #[serde(rename = "unavailable")]
    Unavailable,
    /// The program lacks it.
    #[serde(rename = "optimized_out")]
    OptimizedOut,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "<unavailable>",
            Self::OptimizedOut => "<optimized out>",
        })
    }
}

/// A base class or member with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Field {
    /// The member's or the base class's name; `None` for an unnamed struct or union.
    pub name: Option<Arc<str>>,
    /// Whether it is a base class.
    #[serde(rename = "base", skip_serializing_if = "std::ops::Not::not")]
    pub is_base: bool,
    /// Its value.
    pub value: Value,
}

/// An element, or a run of equal ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Element {
    /// Its value.
    #[serde(flatten)]
    pub value: Value,
    /// The number of consecutive equal elements; 1 unless repeats are elided.
    #[serde(skip_serializing_if = "is_one")]
    pub repeats: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
fn is_one(number: &u64) -> bool {
    *number == 1
}

impl Value {
    /// A value by its notation.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A value that cannot be formed.
    pub(super) fn unknown(why: impl Into<ValueError>) -> Self {
        Self::Unknown { why: Box::new(why.into()) }
    }

    /// The notation, and whether it is complete: beyond `bytes` it is cut and ends with `...`.
    #[must_use]
    pub fn limited(&self, bytes: usize) -> (Cow<'_, str>, bool) {
        match self {
            Self::Text { text } if text.len() <= bytes => return (Cow::Borrowed(text), true),
            _ => {}
        }
        let mut limited = Limited { text: String::with_capacity(bytes.min(128)), bytes };
        let is_whole = self.write(&mut limited).is_ok();
        if !is_whole {
            limited.text.push_str("...");
        }
        (Cow::Owned(limited.text), is_whole)
    }

    /// A value that the capture lacks.
    pub const UNAVAILABLE: Self = Self::Absent { absent: Absence::Unavailable };
    /// A value that the program lacks.
    pub const OPTIMIZED_OUT: Self = Self::Absent { absent: Absence::OptimizedOut };
}

/// Text with a maximum of bytes.
struct Limited {
    text: String,
    bytes: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let left = self.bytes.saturating_sub(self.text.len());
        self.text.push_str(part.get(..part.floor_char_boundary(left)).unwrap_or_default());
        if part.len() > left { Err(fmt::Error) } else { Ok(()) }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl Value {
    /// Writes the notation without the cost of a formatter for each part.
    fn write(&self, to: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Self::Text { text } => to.write_str(text),
            Self::Absent { absent } => write!(to, "{absent}"),
            Self::Unknown { why } => write!(to, "<{why}>"),
            Self::Members { members, notation: Notation::C } => write_members(to, members),
            Self::Members { members, notation: Notation::Fortran } => {
                to.write_str("( ")?;
                write_fields(to, members)?;
                to.write_str(" )")
            }
            Self::Elements { elements, omitted, notation: Notation::Fortran } => {
                to.write_str("(")?;
                // Rows of rows have no commas.
                let gap = match elements.first().map(|first| &first.value) {
                    Some(Self::Elements { .. }) => " ",
                    _ => ", ",
                };
                for (index, element) in elements.iter().enumerate() {
                    to.write_str(if index == 0 { "" } else { gap })?;
                    element.value.write(to)?;
                    if element.repeats > 1 {
                        write!(to, "{gap}<repeats {} times>", element.repeats)?;
                    }
                }
                if *omitted > 0 {
                    write!(to, "{gap}...")?;
                }
                to.write_str(")")
            }
            Self::Elements { elements, omitted, notation: Notation::C } => {
                to.write_str("{")?;
                for (index, element) in elements.iter().enumerate() {
                    to.write_str(if index == 0 { "" } else { ", " })?;
                    element.value.write(to)?;
                    if element.repeats > 1 {
                        write!(to, " <repeats {} times>", element.repeats)?;
                    }
                }
                to.write_str(if *omitted == 0 { "}" } else { "...}" })
            }
        }
    }
}

/// Writes `{<Base> = {x = 1}, y = 2}`; a record without members of its own has a mark for that after its bases.
fn write_members(to: &mut impl fmt::Write, members: &[Field]) -> fmt::Result {
    to.write_str("{")?;
    for base in members.iter().filter(|field| field.is_base) {
        write!(to, "<{}> = ", base.name.as_deref().unwrap_or("?"))?;
        base.value.write(to)?;
        to.write_str(", ")?;
    }
    if members.iter().all(|field| field.is_base) {
        to.write_str("<No data fields>")?;
    }
    write_fields(to, members)?;
    to.write_str("}")
}

/// Writes the members, without base classes.
fn write_fields(to: &mut impl fmt::Write, members: &[Field]) -> fmt::Result {
    for (index, field) in members.iter().filter(|field| !field.is_base).enumerate() {
        to.write_str(if index == 0 { "" } else { ", " })?;
        if let Some(name) = &field.name {
            to.write_str(name)?;
            to.write_str(" = ")?;
        }
        field.value.write(to)?;
    }
    Ok(())
}
