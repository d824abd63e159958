//! The schema of a case file; `docs/evaluator.md` documents it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::text::{Hex, InitialText, Int, NumberOrBytes, PlaceText, RegisterText, TextError};
use crate::dwarf::Dialect;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) state: StateText,
    #[serde(default, rename = "case")]
    pub(super) cases: Vec<CaseText>,
}

/// The machine state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StateText {
    pub(super) target: String,
    pub(super) wave_size: Option<u64>,
    pub(super) lane: Option<u8>,
    pub(super) lanes: Option<NumberOrBytes>,
    pub(super) pc: Option<Int>,
    pub(super) frame_base: Option<Hex>,
    pub(super) object: Option<PlaceText>,
    pub(super) cfa: Option<PlaceText>,
    pub(super) scratch_bytes: Option<Int>,
    pub(super) lds_bytes: Option<Int>,
    #[serde(default)]
    pub(super) debug_addr: Vec<Int>,
    #[serde(default)]
    pub(super) apertures: BTreeMap<String, Int>,
    #[serde(default)]
    pub(super) registers: BTreeMap<String, RegisterText>,
    #[serde(default)]
    pub(super) entry_registers: BTreeMap<String, RegisterText>,
    #[serde(default)]
    pub(super) memory: Vec<MemoryText>,
    #[serde(default)]
    pub(super) procedure: Vec<ProcedureText>,
    #[serde(default)]
    pub(super) base_type: Vec<BaseTypeText>,
    #[serde(default)]
    pub(super) object_map: Vec<ObjectMapText>,
}

/// Captured memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryText {
    #[serde(default)]
    pub(super) space: Int,
    pub(super) address: Int,
    pub(super) bytes: Hex,
    pub(super) lane: Option<u8>,
}

/// A debugging information entry that operations refer to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcedureText {
    pub(super) offset: Int,
    #[serde(default)]
    pub(super) tag: Tag,
    pub(super) location: Option<Hex>,
    pub(super) const_value: Option<Hex>,
    pub(super) loclist: Option<Vec<LoclistEntry>>,
}

/// The tag of a debugging information entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tag {
    /// It shares its caller's stack.
    #[default]
    DwarfProcedure,
    Variable,
}

/// An entry of a location list: its expression holds from `low` to below `high`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoclistEntry {
    pub(super) low: Int,
    pub(super) high: Int,
    pub(super) location: Hex,
}

/// A base type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BaseTypeText {
    pub(super) offset: Int,
    pub(super) encoding: u8,
    pub(super) byte_size: u32,
    pub(super) vector_size: Option<u32>,
}

/// An object map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectMapText {
    pub(super) offset: Int,
    pub(super) mem_location: NumberOrBytes,
    pub(super) cntl_ordinal: NumberOrBytes,
    pub(super) vec_location: NumberOrBytes,
    pub(super) element_size: NumberOrBytes,
    pub(super) element_count: NumberOrBytes,
    pub(super) low_pc: Option<Int>,
    pub(super) high_pc: Option<Int>,
    #[serde(default)]
    pub(super) ranges: Vec<[Int; 2]>,
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseText {
    pub(super) name: String,
    pub(super) dialect: Option<DialectText>,
    #[serde(default)]
    pub(super) dwarf64: bool,
    pub(super) bytes: Option<Hex>,
    pub(super) want: Want,
    #[serde(default)]
    pub(super) initial_stack: Vec<InitialText>,
    #[serde(default)]
    pub(super) legacy: bool,
    #[serde(default)]
    pub(super) context: ContextText,
    pub(super) cie: Option<Hex>,
    pub(super) fde: Option<Hex>,
    #[serde(default = "one")]
    pub(super) code_alignment: Int,
    #[serde(default = "one_signed")]
    pub(super) data_alignment: i64,
    pub(super) return_address: Option<Int>,
    pub(super) register: Option<Int>,
    /// The result, or the parts of it that matter: a table, or JSON text where it has nulls.
    pub(super) expect: Option<toml::Value>,
    /// The source of the expectation; for readers.
    #[serde(default, rename = "source")]
    pub(super) _source: Option<String>,
}

fn one() -> Int {
    Int(1)
}

fn one_signed() -> i64 {
    1
}

/// A dialect by its name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct DialectText(pub(super) Dialect);

impl TryFrom<String> for DialectText {
    type Error = TextError;

    fn try_from(name: String) -> Result<Self, TextError> {
        Ok(Self(super::dialect(&name)?))
    }
}

/// The wanted result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Want {
    Location,
    Value,
    Stack,
    ActiveLane,
    LanePc,
    Cfa,
    Caller,
    CallerValue,
}

impl Want {
    /// Whether call frame instructions give it.
    pub(super) fn is_call_frame(self) -> bool {
        matches!(self, Self::Cfa | Self::Caller | Self::CallerValue)
    }
}

/// The position of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ContextText {
    /// An attribute.
    #[default]
    Attribute,
    /// An operand of a call frame instruction.
    Cfi,
}
