//! Names of attributes, including vendors' and drafts'.

use std::fmt;

use gimli::DwAt;

use crate::debuginfo::facts::UnitFacts;
use crate::dwarf::draft;

/// An attribute code that prints as its DWARF, LLVM or draft name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeName {
    code: u16,
    /// The name in units of the draft dialect, without `DW_AT_`.
    draft: Option<&'static str>,
}

/// The DIE itself, in place of an attribute.
pub(in crate::debuginfo) const WHOLE_DIE: AttributeName = AttributeName { code: 0, draft: None };

/// LLVM's attributes of the heterogeneous extensions, `llvm/BinaryFormat/Dwarf.def` codes first.
const LLVM_NAMES: [(u16, &str); 10] = [
    (0x3e08, "DW_AT_LLVM_active_lane"),
    (0x3e09, "DW_AT_LLVM_augmentation"),
    (0x3e0a, "DW_AT_LLVM_lanes"),
    (0x3e0b, "DW_AT_LLVM_lane_pc"),
    (0x3e0c, "DW_AT_LLVM_vector_size"),
    (0x3e0f, "DW_AT_LLVM_memory_space"),
    (0x3e10, "DW_AT_LLVM_address_space"),
    (0x3e11, "DW_AT_LLVM_lanes"),
    (0x3e12, "DW_AT_LLVM_lane_pc"),
    (0x3e13, "DW_AT_LLVM_vector_size"),
];

impl AttributeName {
    /// The name of an attribute in a unit.
    pub(in crate::debuginfo) fn of(name: DwAt, unit: &UnitFacts) -> Self {
        let named = || draft::numbers().attribute_named(name.0);
        Self { code: name.0, draft: unit.is_draft().then(named).flatten() }
    }

    /// The standard attribute with a code.
    pub(in crate::debuginfo) fn standard(name: DwAt) -> Self {
        Self { code: name.0, draft: None }
    }

    /// Whether it is the standard attribute with a code.
    pub(in crate::debuginfo) fn is(self, name: DwAt) -> bool {
        self.code == name.0 && self.draft.is_none()
    }

    /// An attribute of the drafts by name, without a code.
    pub(in crate::debuginfo) fn of_draft(key: &'static str) -> Self {
        Self { code: 0, draft: Some(key) }
    }
}

impl fmt::Display for AttributeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.draft {
            return write!(f, "DW_AT_{name}");
        }
        if *self == WHOLE_DIE {
            return f.write_str("the content");
        }
        match LLVM_NAMES.iter().find(|(code, _)| *code == self.code) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{}", DwAt(self.code)),
        }
    }
}

impl fmt::Debug for AttributeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
