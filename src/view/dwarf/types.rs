//! Types that x86 lacks: pointers of 4 bytes, and base types with elements.

use std::collections::HashMap;

use gimli::DwTag;
use gimli::constants;
use gimli::write::{AttributeValue, ConvertResult, ConvertUnitEntry, UnitEntryId};

use super::Slice;
use super::context::Unit;
use super::entry::{Conversion, as_it_is};
use super::filter::{TypeRef, own};
use crate::debuginfo::{TypeId, TypeKind};
use crate::units::DieOffset;
use crate::view::layout::Sort;

/// Replacements of pointers of 4 bytes within other types: structures with the offset and the name of the pointer. gdb
/// assumes one pointer size for all pointers to a type. It would cut an address assigned to a number to its low 4
/// bytes, which lack space and lane; it also compares such a number with addresses. Debuggers refuse both for a
/// structure.
#[derive(Default)]
pub(super) struct SmallPointers(HashMap<DieOffset, UnitEntryId>);

/// The member of a replacement, and its type.
const OFFSET: &[u8] = b"offset";

pub(super) fn is_pointer(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_pointer_type
            | constants::DW_TAG_reference_type
            | constants::DW_TAG_rvalue_reference_type
    )
}

impl<'r> Conversion<'_, '_, '_, 'r> {
    /// The replacement for an attribute's type, if that is a pointer of 4 bytes.
    pub(super) fn pointed(
        &mut self,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        attribute: &gimli::Attribute<Slice<'r>>,
    ) -> Option<AttributeValue> {
        let of = match attribute.value() {
            gimli::AttributeValue::UnitRef(at) => TypeRef::Own(at),
            gimli::AttributeValue::DebugInfoRef(at) if !self.signed.is_copying() => {
                own(entry.read_unit, at.0)
            }
            gimli::AttributeValue::DebugTypesRef(signature) => TypeRef::Signed(signature.0),
            _ => return None,
        };
        // Variables refer to such a pointer by names and qualifiers, and have the size of other pointers.
        let is_name = matches!(
            entry.tag(),
            constants::DW_TAG_typedef
                | constants::DW_TAG_const_type
                | constants::DW_TAG_volatile_type
                | constants::DW_TAG_restrict_type
                | constants::DW_TAG_atomic_type
        );
        let of = self.die_of(entry.read_unit, of)?;
        if is_name || self.unit.sort(of) != Sort::SmallPointer {
            return None;
        }
        if let Some(known) = self.small.0.get(&of) {
            return Some(AttributeValue::UnitRef(*known));
        }
        let size = self.unit.debug.byte_size(TypeId(of)).ok().flatten().unwrap_or(4);
        let name = self.unit.type_name(of);
        let unit = &mut self.to.unit;
        let root = unit.root();
        let id = unit.add(root, constants::DW_TAG_structure_type);
        let new = unit.get_mut(id);
        new.set(constants::DW_AT_name, AttributeValue::String(name.into_bytes()));
        new.set(constants::DW_AT_byte_size, AttributeValue::Udata(size));
        let number = unit.add(root, constants::DW_TAG_base_type);
        let new = unit.get_mut(number);
        new.set(constants::DW_AT_name, AttributeValue::String(OFFSET.to_vec()));
        new.set(constants::DW_AT_encoding, AttributeValue::Encoding(constants::DW_ATE_unsigned));
        new.set(constants::DW_AT_byte_size, AttributeValue::Udata(size));
        let member = unit.add(id, constants::DW_TAG_member);
        let new = unit.get_mut(member);
        new.set(constants::DW_AT_name, AttributeValue::String(OFFSET.to_vec()));
        new.set(constants::DW_AT_type, AttributeValue::UnitRef(number));
        new.set(constants::DW_AT_data_member_location, AttributeValue::Udata(0));
        self.small.0.insert(of, id);
        Some(AttributeValue::UnitRef(id))
    }
}

/// The elements of a base type that is a vector (`DW_AT_LLVM_vector_size`), with the size of each.
pub(super) fn vector_elements(unit: &Unit<'_>, die: DieOffset) -> Option<Elements> {
    let found = unit.debug.type_of(TypeId(die)).ok()?;
    let TypeKind::Base(base) = &found.kind else { return None };
    let elements = base.vector_size.filter(|elements| *elements > 0)?;
    Some(Elements {
        count: elements,
        size: found.byte_size? / elements,
        encoding: constants::DwAte(base.encoding.code()),
    })
}

/// The elements of a base type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    count: u64,
    size: u64,
    encoding: constants::DwAte,
}

/// A base type with elements, converted to an array of them.
pub(super) fn vector<'r>(
    conversion: &mut Conversion<'_, '_, '_, 'r>,
    id: UnitEntryId,
    entry: &ConvertUnitEntry<'_, Slice<'r>>,
    elements: Elements,
) -> ConvertResult<()> {
    let to = &mut *conversion.to;
    let root = to.unit.root();
    let element = to.unit.add(root, constants::DW_TAG_base_type);
    let parent = entry.parent.unwrap_or(root);
    to.unit.add_reserved(id, parent, constants::DW_TAG_array_type);
    for attribute in &entry.attrs {
        let name = attribute.name();
        if name == constants::DW_AT_name {
            let Some(value) = as_it_is(to, &mut conversion.plans.texts, entry.read_unit, attribute) else {
                continue;
            };
            to.unit.get_mut(element).set(name, value.clone());
            to.unit.get_mut(id).set(name, value);
        }
    }
    to.unit.get_mut(element).set(constants::DW_AT_encoding, AttributeValue::Encoding(elements.encoding));
    to.unit.get_mut(element).set(constants::DW_AT_byte_size, AttributeValue::Udata(elements.size));
    let array = to.unit.get_mut(id);
    array.set(constants::DW_AT_GNU_vector, AttributeValue::FlagPresent);
    array.set(constants::DW_AT_type, AttributeValue::UnitRef(element));
    let range = to.unit.add(id, constants::DW_TAG_subrange_type);
    to.unit.get_mut(range).set(constants::DW_AT_count, AttributeValue::Udata(elements.count));
    Ok(())
}
