//! Attributes: names with vendor codes, and typed reads that say what they found.
//!
//! LLVM's heterogeneous attributes have two sets of codes: those of LLVM's document (0x3e08 to 0x3e0c), which today's
//! compilers use for other things, and those that compilers have assigned since (0x3e10 to 0x3e13). Both are read; the
//! older code counts only with a form that its meaning allows.

use std::fmt;

use gimli::{DwAt, DwForm, DwTag};

use super::sections::{AttributeValue, Entry};

/// An attribute code that prints as its DWARF or LLVM name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeName(pub u16);

/// Not an attribute: the DIE itself.
pub(super) const WHOLE_DIE: AttributeName = AttributeName(0);

/// LLVM's attributes of the heterogeneous extensions, codes of `llvm/BinaryFormat/Dwarf.def` first.
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

impl fmt::Display for AttributeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == WHOLE_DIE {
            return f.write_str("the content");
        }
        match LLVM_NAMES.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{}", DwAt(self.0)),
        }
    }
}

impl fmt::Debug for AttributeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An attribute of the heterogeneous extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heterogeneous {
    ActiveLane,
    Augmentation,
    Lanes,
    LanePc,
    VectorSize,
    AddressSpace,
}

impl Heterogeneous {
    /// What an attribute means, by code, form and the tag it stands on.
    fn of(tag: DwTag, name: DwAt, form: DwForm) -> Option<Self> {
        let is_expression =
            matches!(form, gimli::DW_FORM_exprloc | gimli::DW_FORM_loclistx | gimli::DW_FORM_sec_offset);
        let is_subprogram = matches!(
            tag,
            gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_entry_point
        );
        match name.0 {
            0x3e10 => Some(Self::AddressSpace),
            0x3e11 => Some(Self::Lanes),
            0x3e12 => Some(Self::LanePc),
            0x3e13 => Some(Self::VectorSize),
            0x3e08 if is_expression => Some(Self::ActiveLane),
            0x3e09 if is_string(form) => Some(Self::Augmentation),
            0x3e0a if is_subprogram => Some(Self::Lanes),
            0x3e0b if is_expression => Some(Self::LanePc),
            0x3e0c if tag == gimli::DW_TAG_base_type => Some(Self::VectorSize),
            _ => None,
        }
    }

    /// The DIE's value of this attribute, by either code.
    pub(super) fn value<'a>(self, entry: &Entry<'a>) -> Option<(DwAt, AttributeValue<'a>)> {
        let mine = |attribute: &&gimli::Attribute<_>| {
            Self::of(entry.tag(), attribute.name(), attribute.form()) == Some(self)
        };
        entry.attrs().iter().find(mine).map(|attribute| (attribute.name(), located(attribute)))
    }
}

fn is_string(form: DwForm) -> bool {
    matches!(
        form,
        gimli::DW_FORM_string
            | gimli::DW_FORM_strp
            | gimli::DW_FORM_line_strp
            | gimli::DW_FORM_strx
            | gimli::DW_FORM_strx1
            | gimli::DW_FORM_strx2
            | gimli::DW_FORM_strx3
            | gimli::DW_FORM_strx4
    )
}

/// gimli tells location lists from other section offsets by attribute name, and does not know LLVM's names.
fn located<'a>(attribute: &gimli::Attribute<super::sections::Slice<'a>>) -> AttributeValue<'a> {
    match attribute.value() {
        AttributeValue::SecOffset(offset) => {
            AttributeValue::LocationListsRef(gimli::LocationListsOffset(offset))
        }
        value => value,
    }
}
