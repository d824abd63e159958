//! The schema of a case file, as `docs/evaluator.md` documents it.

use std::collections::BTreeMap;

use serde::Deserialize;

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
    pub(super) pc: Option<i64>,
    pub(super) frame_base: Option<String>,
    pub(super) object: Option<PlaceText>,
    pub(super) cfa: Option<PlaceText>,
    pub(super) scratch_bytes: Option<u64>,
    pub(super) lds_bytes: Option<u64>,
    #[serde(default)]
    pub(super) debug_addr: Vec<i64>,
    #[serde(default)]
    pub(super) apertures: BTreeMap<String, i64>,
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

/// A constant, or the bytes of an expression.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum NumberOrBytes {
    Number(i64),
    Bytes(String),
}

/// A place in memory.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceText {
    #[serde(default)]
    pub(super) space: u64,
    pub(super) address: i64,
    pub(super) lane: Option<u8>,
}

/// Contents of a register.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum RegisterText {
    /// A scalar in its architectural size.
    Scalar(i64),
    /// A dword for each lane, lane 0 first; lanes beyond the list were not captured.
    Lanes(Vec<u32>),
    /// A register of a given width.
    Abstract(AbstractText),
}

/// Contents of a register of a given width.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AbstractText {
    pub(super) bits: u64,
    pub(super) value: Option<i64>,
    pub(super) bytes: Option<String>,
}

/// Captured memory.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryText {
    #[serde(default)]
    pub(super) space: u64,
    pub(super) address: i64,
    pub(super) bytes: String,
    pub(super) lane: Option<u8>,
}

/// A debugging information entry that operations name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcedureText {
    pub(super) offset: u64,
    #[serde(default = "dwarf_procedure")]
    pub(super) tag: String,
    pub(super) location: Option<String>,
    pub(super) const_value: Option<String>,
    pub(super) loclist: Option<Vec<LoclistEntry>>,
}

/// The tag that shares its caller's stack.
pub(super) const DWARF_PROCEDURE: &str = "dwarf_procedure";

fn dwarf_procedure() -> String {
    DWARF_PROCEDURE.to_owned()
}

/// An entry of a location list: its expression holds from `low` to below `high`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoclistEntry {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) location: String,
}

/// A base type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BaseTypeText {
    pub(super) offset: u64,
    pub(super) encoding: u8,
    pub(super) byte_size: u32,
    pub(super) vector_size: Option<u32>,
}

/// An object map.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectMapText {
    pub(super) offset: u64,
    pub(super) mem_location: NumberOrBytes,
    pub(super) cntl_ordinal: NumberOrBytes,
    pub(super) vec_location: NumberOrBytes,
    pub(super) element_size: NumberOrBytes,
    pub(super) element_count: NumberOrBytes,
    pub(super) low_pc: Option<i64>,
    pub(super) high_pc: Option<i64>,
    #[serde(default)]
    pub(super) ranges: Vec<[i64; 2]>,
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseText {
    pub(super) name: String,
    pub(super) dialect: Option<DialectText>,
    #[serde(default)]
    pub(super) dwarf64: bool,
    #[serde(default)]
    pub(super) bytes: String,
    pub(super) want: Want,
    #[serde(default)]
    pub(super) initial_stack: Vec<InitialText>,
    #[serde(default)]
    pub(super) legacy: bool,
    #[serde(default)]
    pub(super) context: ContextText,
    #[serde(default)]
    pub(super) cie: String,
    #[serde(default)]
    pub(super) fde: String,
    #[serde(default = "one")]
    pub(super) code_alignment: u64,
    #[serde(default = "one_signed")]
    pub(super) data_alignment: i64,
    pub(super) return_address: Option<u64>,
    pub(super) register: Option<u64>,
    /// The result, or the parts of it that matter: a table, or JSON text where it has nulls.
    pub(super) expect: Option<toml::Value>,
    /// Where the expectation comes from; for people.
    #[serde(default, rename = "source")]
    pub(super) _source: Option<String>,
}

fn one() -> u64 {
    1
}

fn one_signed() -> i64 {
    1
}

/// An entry of the initial stack.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum InitialText {
    Value(i64),
    Place(PlaceText),
}

/// A dialect by its name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct DialectText(pub(super) Dialect);

impl TryFrom<String> for DialectText {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        super::dialect(&name).map(Self)
    }
}

/// What is wanted of a case.
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

/// Where an expression stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ContextText {
    /// An attribute.
    #[default]
    Attribute,
    /// An operand of a call frame instruction.
    Cfi,
}
