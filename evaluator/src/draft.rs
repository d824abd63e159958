//! Numbers for operations, tags, attributes and instructions that DWARF drafts describe without numbers.
//!
//! A [`Dialect`](super::Dialect) is a plain value, so the numbers of the draft dialect belong to the process. They come
//! from the built-in file `draft.toml`, or from [`install`] before the first expression is decoded.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use gimli::{DwAt, DwTag};
use serde::Deserialize;
use toml::Spanned;

use super::constants::standard_name;
use super::decode::{Extension, draft_named};

static INSTALLED: OnceLock<Numbers> = OnceLock::new();

/// The numbers of one file, by names without `DW_OP_`, `DW_TAG_`, `DW_AT_` and `DW_CFA_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    operations: BTreeMap<String, u16>,
    tags: BTreeMap<String, u16>,
    attributes: BTreeMap<String, u16>,
    call_frame_instructions: BTreeMap<String, u16>,
}

/// The tables of a file, each number with its position.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    operations: BTreeMap<String, Spanned<u8>>,
    tags: BTreeMap<String, Spanned<u16>>,
    attributes: BTreeMap<String, Spanned<u16>>,
    call_frame_instructions: BTreeMap<String, Spanned<u8>>,
}

/// An error of a file of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumbersError {
    /// It violates the format; the text names and shows the line.
    #[error("{0}")]
    Syntax(String),
    /// No draft defines the name.
    #[error("line {line}: {table}.{name}: no draft has that name")]
    Unknown {
        /// The line, from 1.
        line: usize,
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
    },
    /// The number is already in use.
    #[error("line {line}: {table}.{name}: {number:#x} is taken by {by}")]
    Taken {
        /// The line, from 1.
        line: usize,
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
        /// The number.
        number: u16,
        /// The owner of the number.
        by: String,
    },
    /// Numbers of the draft dialect are already in use or installed.
    #[error("numbers for the draft dialect are in use already")]
    InUse,
}

/// Names in the other tables, in the drafts' spelling.
const TAGS: &[&str] = &["object_map"];
const ATTRIBUTES: &[&str] = &[
    "mem_location",
    "cntl_ordinal",
    "vec_location",
    "element_size",
    "element_count",
    "num_lanes",
    "lane_pc",
    "active_lane",
    "address_space",
    "memory_space",
    "vector_size",
];
const CALL_FRAME: &[&str] = &["def_aspace_cfa", "def_aspace_cfa_sf"];

impl Numbers {
    /// Parses a file.
    ///
    /// # Errors
    /// It violates the format, has an unknown name, or repeats a number or one of DWARF's.
    pub fn parse(text: &str) -> Result<Self, NumbersError> {
        let tables: Tables = toml::from_str(text)
            .map_err(|error| NumbersError::Syntax(error.to_string().trim_end().to_owned()))?;
        let operations = Check { text, table: "operations", taken: operation_taken };
        let tags = Check { text, table: "tags", taken: tag_taken };
        let attributes = Check { text, table: "attributes", taken: attribute_taken };
        let instructions = Check { text, table: "call_frame_instructions", taken: instruction_taken };
        Ok(Self {
            operations: operations.read(tables.operations, |name| draft_named(name).is_some())?,
            tags: tags.read(tables.tags, |name| TAGS.contains(&name))?,
            attributes: attributes.read(tables.attributes, |name| ATTRIBUTES.contains(&name))?,
            call_frame_instructions: instructions
                .read(tables.call_frame_instructions, |name| CALL_FRAME.contains(&name))?,
        })
    }

    /// Returns the operation of a code.
    pub(super) fn operation(&self, code: u8) -> Option<(&'static str, Extension)> {
        draft_named(named(&self.operations, u16::from(code))?)
    }

    /// Whether a call frame instruction forms a CFA in an address space, and whether it is the signed, factored form.
    pub(super) fn forms_cfa(&self, code: u8) -> Option<bool> {
        Some(named(&self.call_frame_instructions, u16::from(code))? == "def_aspace_cfa_sf")
    }

    /// Returns the number of a tag by its name without `DW_TAG_`.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<u16> {
        self.tags.get(name).copied()
    }

    /// Returns the name of a tag without `DW_TAG_`.
    #[must_use]
    pub fn tag_named(&self, number: u16) -> Option<&str> {
        named(&self.tags, number)
    }

    /// Returns the number of an attribute by its name without `DW_AT_`.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<u16> {
        self.attributes.get(name).copied()
    }

    /// Returns the name of an attribute without `DW_AT_`.
    #[must_use]
    pub fn attribute_named(&self, number: u16) -> Option<&str> {
        named(&self.attributes, number)
    }
}

fn named(table: &BTreeMap<String, u16>, number: u16) -> Option<&str> {
    table.iter().find(|(_, known)| **known == number).map(|(name, _)| name.as_str())
}

fn operation_taken(code: u16) -> Option<String> {
    u8::try_from(code).ok().and_then(standard_name).map(str::to_owned)
}

/// A vendor's tag may be reused: the dialect of a unit selects the numbers.
fn tag_taken(number: u16) -> Option<String> {
    DwTag(number).static_string().filter(|_| number < gimli::DW_TAG_lo_user.0).map(str::to_owned)
}

fn attribute_taken(number: u16) -> Option<String> {
    DwAt(number).static_string().filter(|_| number < gimli::DW_AT_lo_user.0).map(str::to_owned)
}

fn instruction_taken(code: u16) -> Option<String> {
    match u8::try_from(code).ok().filter(|code| code & 0xc0 == 0) {
        None => Some("an instruction with its operand in the low bits".to_owned()),
        Some(code) => super::cfi::standard_name(code).map(str::to_owned),
    }
}

/// The check of a table.
struct Check<'t> {
    text: &'t str,
    table: &'static str,
    /// DWARF's name of a number.
    taken: fn(u16) -> Option<String>,
}

impl Check<'_> {
    fn read<T: Copy + Into<u16>>(
        &self,
        numbers: BTreeMap<String, Spanned<T>>,
        known: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, u16>, NumbersError> {
        let table = self.table;
        let mut read: BTreeMap<String, u16> = BTreeMap::new();
        for (name, spanned) in numbers {
            let before = self.text.get(..spanned.span().start).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let number: u16 = (*spanned.get_ref()).into();
            if !known(&name) {
                return Err(NumbersError::Unknown { line, table, name });
            }
            let by = (self.taken)(number).or_else(|| named(&read, number).map(str::to_owned));
            if let Some(by) = by {
                return Err(NumbersError::Taken { line, table, name, number, by });
            }
            read.insert(name, number);
        }
        Ok(read)
    }
}

/// Returns the built-in numbers.
#[must_use]
pub fn builtin() -> Numbers {
    // A test checks the file.
    Numbers::parse(include_str!("draft.toml")).unwrap_or_default()
}

/// Returns the numbers in use.
pub fn numbers() -> &'static Numbers {
    INSTALLED.get_or_init(builtin)
}

/// Sets the numbers of the draft dialect for the process. Call it before the first expression is decoded.
///
/// # Errors
/// Numbers are in use already.
pub fn install(numbers: Numbers) -> Result<(), NumbersError> {
    INSTALLED.set(numbers).map_err(|_| NumbersError::InUse)
}
