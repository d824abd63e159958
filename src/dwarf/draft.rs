//! Numbers of what DWARF drafts describe without any: one data file, which the user may replace.
//!
//! A [`Dialect`](super::Dialect) is a plain value, so the numbers of the draft dialect belong to the process: the
//! built-in file's, or those that [`install`] put in their place before anything was decoded.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::constants::standard;
use super::decode::{Extension, draft_named};

static INSTALLED: OnceLock<Numbers> = OnceLock::new();

/// The numbers of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Numbers {
    operations: BTreeMap<String, u8>,
    tags: BTreeMap<String, u16>,
    attributes: BTreeMap<String, u16>,
    call_frame_instructions: BTreeMap<String, u8>,
}

/// What is wrong with a file of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumbersError {
    /// It is not of the format.
    #[error("{0}")]
    Syntax(String),
    /// A name that no draft has.
    #[error("{table}: no draft has {name:?}")]
    Unknown {
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
    },
    /// A number that already means something.
    #[error("{table}: {name} = {number:#x} is taken by {by}")]
    Taken {
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
        /// The number.
        number: u64,
        /// What has it.
        by: String,
    },
    /// Numbers of the draft dialect have been used already, or installed.
    #[error("numbers for the draft dialect are in use already")]
    InUse,
}

/// Names of the other tables, as the drafts have them.
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
    /// Reads a file.
    ///
    /// # Errors
    /// It is not of the format, names what no draft has, or gives a number twice or one that DWARF has given.
    pub fn parse(text: &str) -> Result<Self, NumbersError> {
        let numbers: Self = toml::from_str(text).map_err(|error| NumbersError::Syntax(error.to_string()))?;
        let wide = |table: &BTreeMap<String, u8>| -> BTreeMap<String, u16> {
            table.iter().map(|(name, number)| (name.clone(), u16::from(*number))).collect()
        };
        let operations = wide(&numbers.operations);
        check(
            "operations",
            &operations,
            |name| draft_named(name).is_some(),
            |code| u8::try_from(code).ok().and_then(standard::name).map(str::to_owned),
        )?;
        check("tags", &numbers.tags, |name| TAGS.contains(&name), |_| None)?;
        check("attributes", &numbers.attributes, |name| ATTRIBUTES.contains(&name), |_| None)?;
        let taken = |code: u16| {
            let code = u8::try_from(code).ok().filter(|code| code & 0xc0 == 0);
            match code {
                None => Some("an instruction with its operand in the low bits".to_owned()),
                Some(code) => super::cfi::standard_name(code).map(str::to_owned),
            }
        };
        let instructions = wide(&numbers.call_frame_instructions);
        check("call_frame_instructions", &instructions, |name| CALL_FRAME.contains(&name), taken)?;
        Ok(numbers)
    }

    /// The operation of a code.
    pub(super) fn operation(&self, code: u8) -> Option<(&'static str, Extension)> {
        let (name, _) = self.operations.iter().find(|(_, number)| **number == code)?;
        draft_named(name)
    }

    /// Whether a call frame instruction forms a CFA in an address space, and if so whether it is the signed, factored one.
    pub(super) fn forms_cfa(&self, code: u8) -> Option<bool> {
        let (name, _) = self.call_frame_instructions.iter().find(|(_, number)| **number == code)?;
        Some(name == "def_aspace_cfa_sf")
    }

    /// The number of a tag by its name without `DW_TAG_`.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<u16> {
        self.tags.get(name).copied()
    }

    /// The number of an attribute by its name without `DW_AT_`.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<u16> {
        self.attributes.get(name).copied()
    }
}

fn check(
    table: &'static str,
    numbers: &BTreeMap<String, u16>,
    known: impl Fn(&str) -> bool,
    taken: impl Fn(u16) -> Option<String>,
) -> Result<(), NumbersError> {
    let mut seen: BTreeMap<u16, &str> = BTreeMap::new();
    for (name, number) in numbers {
        if !known(name) {
            return Err(NumbersError::Unknown { table, name: name.clone() });
        }
        let by = taken(*number).or_else(|| seen.insert(*number, name).map(str::to_owned));
        if let Some(by) = by {
            return Err(NumbersError::Taken { table, name: name.clone(), number: u64::from(*number), by });
        }
    }
    Ok(())
}

/// The built-in numbers.
#[must_use]
pub fn builtin() -> Numbers {
    // A test holds that the file is sound.
    Numbers::parse(include_str!("draft.toml")).unwrap_or_default()
}

/// The numbers in use.
pub fn numbers() -> &'static Numbers {
    INSTALLED.get_or_init(builtin)
}

/// Takes these numbers for the draft dialect from now on; to be called before anything is decoded.
///
/// # Errors
/// Numbers are in use already.
pub fn install(numbers: Numbers) -> Result<(), NumbersError> {
    INSTALLED.set(numbers).map_err(|_| NumbersError::InUse)
}
