//! Types out of DIEs.

use std::sync::Arc;

use gimli::DwTag;

use super::DebugInfo;
use super::attr::Heterogeneous;
use super::die::{Die, Reading};
use super::error::{DebugInfoError, Result};
use super::sections::{AttributeValue, Entry};
use super::types::{
    Base, Dimension, Encoding, Enumerator, Member, MemorySpace, Qualifier, Record, RecordKind, Type, TypeId,
    TypeKind,
};
use super::view::unsigned;
use crate::units::AddressSpace;

/// Longest chain of typedefs, qualifiers and array elements that is followed; a longer one is a cycle.
pub(super) const MAX_TYPE_DEPTH: usize = 64;
/// Types kept in memory; past this the cache starts anew.
const MAX_CACHED_TYPES: usize = 65536;

impl DebugInfo {
    /// A type, read once and kept.
    ///
    /// # Errors
    /// There is no DIE at the offset, it is not a type's, or its attributes cannot be read.
    pub fn type_of(&self, id: TypeId) -> Result<Arc<Type>> {
        if let Some(found) = self.types.lock().get(&id) {
            return Ok(Arc::clone(found));
        }
        let dwarf = self.sections.dwarf();
        let found = Arc::new(read(self.reading(&dwarf), id)?);
        let mut cached = self.types.lock();
        if cached.len() >= MAX_CACHED_TYPES {
            cached.clear();
        }
        Ok(Arc::clone(cached.entry(id).or_insert(found)))
    }

    /// The type behind typedefs and qualifiers; `None` is `void`.
    ///
    /// # Errors
    /// A type cannot be read, or typedefs go in a circle.
    pub fn stripped(&self, id: TypeId) -> Result<Option<Arc<Type>>> {
        let mut found = self.type_of(id)?;
        for _ in 0..MAX_TYPE_DEPTH {
            let next = match found.kind {
                TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => of,
                _ => return Ok(Some(found)),
            };
            let Some(next) = next else { return Ok(None) };
            found = self.type_of(next)?;
        }
        Err(DebugInfoError::TooDeep { die: id.0, what: "typedefs", limit: MAX_TYPE_DEPTH })
    }

    /// The size of a type in bytes; `None` when it has none (`void`, a function) or it is not known (`int []`, a class
    /// that is only declared).
    ///
    /// # Errors
    /// A type cannot be read, or types contain each other.
    pub fn byte_size(&self, id: TypeId) -> Result<Option<u64>> {
        let (mut next, mut factor) = (id, 1u64);
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(found) = self.stripped(next)? else { return Ok(None) };
            if let Some(size) = found.byte_size {
                return Ok(size.checked_mul(factor));
            }
            match &found.kind {
                TypeKind::Array { element: Some(element), dimensions, .. } => {
                    let mut counts = dimensions.iter().map(|dimension| dimension.count);
                    let count = counts.try_fold(factor, |all, count| all.checked_mul(count?));
                    let Some(count) = count else { return Ok(None) };
                    (factor, next) = (count, *element);
                }
                TypeKind::Enum { underlying: Some(underlying), .. } => next = *underlying,
                TypeKind::Pointer { address_space, .. } | TypeKind::Reference { address_space, .. } => {
                    return Ok(Some(factor.saturating_mul(pointer_size(*address_space))));
                }
                // Itanium C++ ABI 2.3: an offset, or a function and an adjustment.
                TypeKind::PointerToMember { to, .. } => {
                    let to = to.map(|to| self.stripped(to)).transpose()?.flatten();
                    let is_function = to.is_some_and(|to| matches!(to.kind, TypeKind::Subroutine { .. }));
                    return Ok(Some(factor.saturating_mul(if is_function { 16 } else { 8 })));
                }
                _ => return Ok(None),
            }
        }
        Err(DebugInfoError::TooDeep { die: id.0, what: "array elements", limit: MAX_TYPE_DEPTH })
    }
}

fn read(reading: Reading<'_>, id: TypeId) -> Result<Type> {
    let die = reading.die(id.0)?;
    let target = die.reference(reading.units, gimli::DW_AT_type)?.map(TypeId);
    let tag = die.tag();
    let kind = match tag {
        gimli::DW_TAG_base_type => base(&die),
        gimli::DW_TAG_pointer_type => TypeKind::Pointer { to: target, address_space: address_space(&die) },
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            let is_rvalue = tag == gimli::DW_TAG_rvalue_reference_type;
            TypeKind::Reference { to: target, is_rvalue, address_space: address_space(&die) }
        }
        gimli::DW_TAG_ptr_to_member_type => {
            let class = die.reference(reading.units, gimli::DW_AT_containing_type)?.map(TypeId);
            TypeKind::PointerToMember { to: target, class }
        }
        gimli::DW_TAG_array_type => array(&die, target)?,
        gimli::DW_TAG_structure_type => record(reading, &die, RecordKind::Struct)?,
        gimli::DW_TAG_class_type => record(reading, &die, RecordKind::Class)?,
        gimli::DW_TAG_union_type => record(reading, &die, RecordKind::Union)?,
        gimli::DW_TAG_enumeration_type => enumeration(reading, &die, target)?,
        gimli::DW_TAG_typedef | gimli::DW_TAG_template_alias => TypeKind::Typedef { of: target },
        gimli::DW_TAG_subroutine_type => subroutine(reading, &die, target)?,
        gimli::DW_TAG_unspecified_type => TypeKind::Unspecified,
        _ => match qualifier(tag) {
            Some(qualifier) => TypeKind::Qualified { qualifier, of: target },
            None => {
                return Err(DebugInfoError::Tag { die: id.0, expected: "a type", found: die.tag_name() });
            }
        },
    };
    let name = match die.string(gimli::DW_AT_name)? {
        Some(name) if !matches!(kind, TypeKind::Base(_) | TypeKind::Unspecified) => {
            Some(reading.qualified(&die, &name)?)
        }
        name => name,
    };
    let is_declaration = die.flag(gimli::DW_AT_declaration);
    let unit = die.view.facts().id;
    let memory_space = die.extension(Heterogeneous::MemorySpace).and_then(|(_, value)| unsigned(&value));
    let (byte_size, memory_space) = (die.constant(gimli::DW_AT_byte_size), memory_space.map(MemorySpace));
    Ok(Type { id, unit, name, byte_size, is_declaration, memory_space, kind })
}

fn qualifier(tag: DwTag) -> Option<Qualifier> {
    match tag {
        gimli::DW_TAG_const_type => Some(Qualifier::Const),
        gimli::DW_TAG_volatile_type => Some(Qualifier::Volatile),
        gimli::DW_TAG_restrict_type => Some(Qualifier::Restrict),
        gimli::DW_TAG_atomic_type => Some(Qualifier::Atomic),
        gimli::DW_TAG_packed_type | gimli::DW_TAG_shared_type | gimli::DW_TAG_immutable_type => {
            Some(Qualifier::Silent)
        }
        _ => None,
    }
}

fn base(die: &Die<'_>) -> TypeKind {
    let encoding = match die.entry.attr_value(gimli::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => Encoding(encoding.0),
        _ => Encoding(0),
    };
    let vector_size = die.extension(Heterogeneous::VectorSize).and_then(|(_, value)| unsigned(&value));
    TypeKind::Base(Base { encoding, bit_size: die.constant(gimli::DW_AT_bit_size), vector_size })
}

/// The address space that a pointer's DIE means; see [`TypeKind::Pointer`].
fn address_space(die: &Die<'_>) -> AddressSpace {
    /// `DW_ADDR` of the 2020 proposal, by number: none (generic), global, region, local, constant, private.
    const CLASSES_2020: [u64; 6] = [1, 0, 2, 3, 0, 5];
    let space = die.extension(Heterogeneous::AddressSpace).and_then(|(_, value)| unsigned(&value));
    if let Some(space) = space {
        return AddressSpace(space);
    }
    let class = match die.entry.attr_value(gimli::DW_AT_address_class) {
        Some(AttributeValue::AddressClass(class)) => class.0,
        Some(value) => unsigned(&value).unwrap_or(0),
        None => 0,
    };
    let of_2020 = usize::try_from(class).ok().and_then(|class| CLASSES_2020.get(class));
    match of_2020.filter(|_| die.view.facts().is_amd_augmented()) {
        Some(space) => AddressSpace(*space),
        None => AddressSpace(class),
    }
}

/// Bytes of a pointer whose DIE does not say: AMDGPUUsage, "DWARF Address Space Mapping": 8 for the default and the
/// generic space, 4 for region, local and the private ones.
fn pointer_size(space: AddressSpace) -> u64 {
    if space.0 <= 1 { 8 } else { 4 }
}

/// The direct children of a DIE, in order.
fn children<'a>(die: &Die<'a>) -> Result<Vec<Die<'a>>> {
    let view = &die.view;
    let mut found = Vec::new();
    if !die.entry.has_children() {
        return Ok(found);
    }
    let mut raw = view.entries_from(die.offset())?;
    let mut entry = Entry::null();
    raw.read_entry(&mut entry).map_err(|why| view.broken(die.offset(), why))?;
    while !raw.is_empty() && raw.next_depth() > 0 {
        let (offset, depth) = (view.die_offset(raw.next_offset()), raw.next_depth());
        let fail = |why| view.broken(offset, why);
        if depth == 1 {
            if raw.read_entry(&mut entry).map_err(fail)? {
                found.push(Die { view: std::rc::Rc::clone(view), entry: entry.clone() });
            }
        } else if let Some(abbreviation) = raw.read_abbreviation().map_err(fail)? {
            raw.skip_attributes(abbreviation.attributes()).map_err(fail)?;
        }
    }
    Ok(found)
}

fn target(reading: Reading<'_>, die: &Die<'_>) -> Result<Option<TypeId>> {
    Ok(die.reference(reading.units, gimli::DW_AT_type)?.map(TypeId))
}

/// DWARF 5 section 5.5: each child is a dimension, by count or by an inclusive upper bound (the lower one is 0 in C).
fn array(die: &Die<'_>, element: Option<TypeId>) -> Result<TypeKind> {
    let mut dimensions = Vec::new();
    for child in children(die)? {
        let count = match child.tag() {
            gimli::DW_TAG_subrange_type => {
                let lower = child.constant(gimli::DW_AT_lower_bound).unwrap_or(0);
                let upper = child.entry.attr_value(gimli::DW_AT_upper_bound).and_then(|value| match value {
                    // An upper bound of -1 is an array without elements.
                    AttributeValue::Sdata(bound) if bound < 0 => Some(None),
                    value => unsigned(&value).map(Some),
                });
                let by_bound = upper.map(|upper| match upper {
                    Some(upper) => upper.wrapping_sub(lower).wrapping_add(1),
                    None => 0,
                });
                child.constant(gimli::DW_AT_count).or(by_bound)
            }
            gimli::DW_TAG_enumeration_type => {
                let enumerators = children(&child)?;
                Some(enumerators.iter().filter(|child| child.tag() == gimli::DW_TAG_enumerator).count() as u64)
            }
            _ => continue,
        };
        dimensions.push(Dimension { count });
    }
    if dimensions.is_empty() {
        dimensions.push(Dimension { count: None });
    }
    Ok(TypeKind::Array { element, dimensions, is_vector: die.flag(gimli::DW_AT_GNU_vector) })
}

fn record(reading: Reading<'_>, die: &Die<'_>, kind: RecordKind) -> Result<TypeKind> {
    let mut members = Vec::new();
    for child in children(die)? {
        let is_base = child.tag() == gimli::DW_TAG_inheritance;
        let is_static = child.flag(gimli::DW_AT_external) || child.flag(gimli::DW_AT_declaration);
        if is_base || (child.tag() == gimli::DW_TAG_member && !is_static) {
            members.push(member(reading, &child, is_base)?);
        }
    }
    Ok(TypeKind::Record(Record { kind, members }))
}

/// Where a member is. DWARF 5 section 5.7.6: `DW_AT_data_bit_offset` counts from the object's start; before DWARF 4
/// `DW_AT_bit_offset` counted from the most significant bit of a storage unit.
fn member(reading: Reading<'_>, die: &Die<'_>, is_base: bool) -> Result<Member> {
    let constant = |name| die.constant(name);
    let type_id = target(reading, die)?;
    let bit_size = constant(gimli::DW_AT_bit_size);
    let place = die.entry.attr_value(gimli::DW_AT_data_member_location);
    let byte_offset = match &place {
        None => Some(0),
        Some(value) => unsigned(value).or_else(|| constant_expression(value)),
    };
    let is_virtual = matches!(
        die.entry.attr_value(gimli::DW_AT_virtuality),
        Some(AttributeValue::Virtuality(virtuality)) if virtuality != gimli::DW_VIRTUALITY_none
    );
    let is_dynamic = byte_offset.is_none() || is_virtual;
    let bytes = byte_offset.unwrap_or(0);
    let bits = match (constant(gimli::DW_AT_data_bit_offset), die.entry.attr_value(gimli::DW_AT_bit_offset)) {
        (Some(bits), _) => bits,
        (None, Some(old)) => {
            let from_top = old.sdata_value().unwrap_or(0);
            let storage = match constant(gimli::DW_AT_byte_size) {
                Some(size) => Some(size),
                None => type_id.map(|id| reading.info.byte_size(id)).transpose()?.flatten(),
            };
            let storage = i64::try_from(storage.unwrap_or(0)).unwrap_or(0).saturating_mul(8);
            let width = i64::try_from(bit_size.unwrap_or(0)).unwrap_or(0);
            let within = storage.saturating_sub(from_top).saturating_sub(width);
            bytes.saturating_mul(8).saturating_add_signed(within)
        }
        (None, None) => bytes.saturating_mul(8),
    };
    Ok(Member {
        name: die.string(gimli::DW_AT_name)?,
        type_id,
        bit_offset: bits,
        bit_size,
        is_base,
        is_dynamic,
        is_artificial: die.flag(gimli::DW_AT_artificial),
    })
}

/// DWARF 2 and 3 say an offset as `DW_OP_plus_uconst N`.
fn constant_expression(value: &AttributeValue<'_>) -> Option<u64> {
    let bytes = match value {
        AttributeValue::Exprloc(expression) => expression.0,
        AttributeValue::Block(bytes) => *bytes,
        _ => return None,
    };
    let mut bytes = bytes;
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
    match gimli::Operation::parse(&mut bytes, encoding).ok()? {
        gimli::Operation::PlusConstant { value } if bytes.slice().is_empty() => Some(value),
        _ => None,
    }
}

fn enumeration<'a>(reading: Reading<'a>, die: &Die<'a>, underlying: Option<TypeId>) -> Result<TypeKind> {
    let mut enumerators = Vec::new();
    let is_unsigned = underlying.is_some_and(|id| is_unsigned(reading, id));
    for child in children(die)? {
        if child.tag() != gimli::DW_TAG_enumerator {
            continue;
        }
        let name = child.string(gimli::DW_AT_name)?.unwrap_or_else(|| Arc::from(""));
        let value = child.entry.attr_value(gimli::DW_AT_const_value);
        let value = match value {
            Some(AttributeValue::Sdata(value)) => i128::from(value),
            Some(ref value) if is_unsigned => unsigned(value).map_or(0, i128::from),
            Some(ref value) => match value.sdata_value() {
                Some(value) => i128::from(value),
                None => unsigned(value).map_or(0, i128::from),
            },
            None => 0,
        };
        enumerators.push(Enumerator { name, value });
    }
    let is_class = die.flag(gimli::DW_AT_enum_class);
    let scope = match (is_class, die.string(gimli::DW_AT_name)?) {
        (true, Some(name)) => Some(reading.qualified(die, &name)?),
        _ => reading.scope(die)?,
    };
    Ok(TypeKind::Enum { is_class, scope, enumerators, underlying })
}

fn is_unsigned(reading: Reading<'_>, id: TypeId) -> bool {
    let found = reading.info.stripped(id).ok().flatten();
    matches!(found.as_deref(), Some(Type { kind: TypeKind::Base(base), .. }) if !base.encoding.is_signed())
}

fn subroutine(reading: Reading<'_>, die: &Die<'_>, returns: Option<TypeId>) -> Result<TypeKind> {
    let (mut parameters, mut is_variadic) = (Vec::new(), false);
    for child in children(die)? {
        match child.tag() {
            gimli::DW_TAG_formal_parameter => parameters.push(target(reading, &child)?),
            gimli::DW_TAG_unspecified_parameters => is_variadic = true,
            _ => {}
        }
    }
    let is_prototyped = die.flag(gimli::DW_AT_prototyped) || !die.view.facts().language.is_c();
    Ok(TypeKind::Subroutine { returns, parameters, is_variadic, is_prototyped })
}
