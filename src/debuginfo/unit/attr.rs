//! Attribute names with vendor codes, and typed reads with errors.
//!
//! LLVM's heterogeneous attributes have two sets of codes: those of LLVM's document (0x3e08 to 0x3e0c), which today's
//! compilers use for other things, and those that compilers have assigned since (0x3e10 to 0x3e13). Both are read; the
//! older code counts only with a form that its meaning allows. In units of the draft dialect the numbers of
//! [`crate::dwarf::draft`] come before both; in all others they mean nothing.

use std::fmt;

use gimli::{DwAt, DwForm, DwTag};

use crate::debuginfo::unit::UnitFacts;
use crate::debuginfo::unit::die::Die;
use crate::debuginfo::unit::sections::{AttributeValue, Entry};
use crate::dwarf::draft;

/// An attribute code that prints as its DWARF, LLVM or draft name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeName {
    code: u16,
    /// The name in units of the draft dialect, without `DW_AT_`.
    draft: Option<&'static str>,
}

/// Not an attribute: the DIE itself.
pub(in crate::debuginfo) const WHOLE_DIE: AttributeName = AttributeName { code: 0, draft: None };

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

impl AttributeName {
    /// The name of an attribute in a unit.
    pub(in crate::debuginfo) fn of(name: DwAt, unit: &UnitFacts) -> Self {
        let named = || draft::numbers().attribute_named(name.0);
        Self { code: name.0, draft: unit.is_draft().then(named).flatten() }
    }

    /// The standard's attribute of that code.
    pub(in crate::debuginfo) fn standard(name: DwAt) -> Self {
        Self { code: name.0, draft: None }
    }

    /// Whether it is the standard's attribute of that code.
    pub(in crate::debuginfo) fn is(self, name: DwAt) -> bool {
        self.code == name.0 && self.draft.is_none()
    }

    /// An attribute of the drafts that stands nowhere.
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

/// An attribute of the heterogeneous extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::debuginfo) enum Heterogeneous {
    ActiveLane,
    Augmentation,
    Lanes,
    LanePc,
    VectorSize,
    AddressSpace,
    MemorySpace,
    /// Of a `DW_TAG_object_map`, which the drafts alone have, like the four that follow.
    MemLocation,
    CntlOrdinal,
    VecLocation,
    ElementSize,
    ElementCount,
}

impl Heterogeneous {
    /// The meaning of an attribute name of the drafts.
    fn of_draft(name: &str) -> Option<Self> {
        Some(match name {
            "active_lane" => Self::ActiveLane,
            "num_lanes" => Self::Lanes,
            "lane_pc" => Self::LanePc,
            "vector_size" => Self::VectorSize,
            "address_space" => Self::AddressSpace,
            "memory_space" => Self::MemorySpace,
            "mem_location" => Self::MemLocation,
            "cntl_ordinal" => Self::CntlOrdinal,
            "vec_location" => Self::VecLocation,
            "element_size" => Self::ElementSize,
            "element_count" => Self::ElementCount,
            _ => return None,
        })
    }

    /// LLVM's meaning of an attribute, by its code, its form and the tag of its DIE.
    fn of_llvm(tag: DwTag, name: DwAt, form: DwForm) -> Option<Self> {
        let is_expression =
            matches!(form, gimli::DW_FORM_exprloc | gimli::DW_FORM_loclistx | gimli::DW_FORM_sec_offset);
        let is_subprogram = matches!(
            tag,
            gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_entry_point
        );
        match name.0 {
            0x3e0f => Some(Self::MemorySpace),
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

    /// The attribute of a DIE that means this; `draft`: in a unit of the draft dialect.
    pub(in crate::debuginfo) fn value<'a>(
        self,
        entry: &Entry<'a>,
        draft: bool,
    ) -> Option<(DwAt, AttributeValue<'a>)> {
        let mine = |attribute: &&gimli::Attribute<_>| {
            let of_draft = draft.then(|| draft::numbers().attribute_named(attribute.name().0)).flatten();
            let meaning = match of_draft {
                Some(name) => Self::of_draft(name),
                None => Self::of_llvm(entry.tag(), attribute.name(), attribute.form()),
            };
            meaning == Some(self)
        };
        entry.attrs().iter().find(mine).map(|attribute| (attribute.name(), located(attribute)))
    }
}

impl<'a> Die<'a> {
    /// An attribute of the heterogeneous extensions, by whichever code it has in the DIE's unit.
    pub(in crate::debuginfo) fn extension(
        &self,
        wanted: Heterogeneous,
    ) -> Option<(DwAt, AttributeValue<'a>)> {
        wanted.value(&self.entry, self.view.facts().is_draft())
    }

    /// The name of the tag, with those of the drafts in their units.
    pub(in crate::debuginfo) fn tag_name(&self) -> String {
        let number = self.tag();
        let draft = self.view.facts().is_draft().then(|| draft::numbers().tag_named(number.0)).flatten();
        draft.map_or_else(|| number.to_string(), |name| format!("DW_TAG_{name}"))
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

/// gimli distinguishes location lists from other section offsets by attribute name, and lacks LLVM's names.
fn located<'a>(
    attribute: &gimli::Attribute<crate::debuginfo::unit::sections::Slice<'a>>,
) -> AttributeValue<'a> {
    match attribute.value() {
        AttributeValue::SecOffset(offset) => {
            AttributeValue::LocationListsRef(gimli::LocationListsOffset(offset))
        }
        value => value,
    }
}
