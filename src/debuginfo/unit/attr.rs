//! Attributes of the heterogeneous extensions, with all their codes.
//!
//! LLVM's heterogeneous attributes have two sets of codes. Those of LLVM's document (0x3e08 to 0x3e0c) have other uses
//! in today's compilers; compilers have since assigned 0x3e10 to 0x3e13. The reader accepts both, the older code only
//! with a form that its meaning allows. In units of the draft dialect the codes of [`crate::dwarf::draft`] precede
//! both; in other units they mean nothing.

use gimli::{DwAt, DwForm, DwTag};

use crate::debuginfo::unit::sections::{AttributeValue, Entry, Slice};
use crate::dwarf::draft;

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
    /// An attribute of `DW_TAG_object_map`, which only the drafts have, like the next four.
    MemLocation,
    CntlOrdinal,
    VecLocation,
    ElementSize,
    ElementCount,
}

impl Heterogeneous {
    /// The draft attribute with a name.
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

    /// The attribute of a DIE with this meaning; `draft`: the unit has the draft dialect.
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
fn located<'a>(attribute: &gimli::Attribute<Slice<'a>>) -> AttributeValue<'a> {
    match attribute.value() {
        AttributeValue::SecOffset(offset) => {
            AttributeValue::LocationListsRef(gimli::LocationListsOffset(offset))
        }
        value => value,
    }
}
