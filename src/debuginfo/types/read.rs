//! Conversion of DIEs to types.

use std::cell::Cell;
use std::sync::Arc;

use gimli::DwTag;

use crate::bounds::{MAX_TYPE_CHAIN, MAX_TYPE_READS};
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::array::{array, size_of_array};
use crate::debuginfo::types::asked::Asked;
use crate::debuginfo::types::base::{address_space, base, given_space};
use crate::debuginfo::types::children::{children, target};
use crate::debuginfo::types::dynamic::Object;
use crate::debuginfo::types::record::record;
use crate::debuginfo::types::{
    Base, Encoding, Enumerator, Indirect, MemorySpace, Number, Qualifier, RecordKind, Type, TypeId, TypeKind,
};
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::AttributeValue;
use crate::debuginfo::unit::sections::unsigned;
use crate::units::AddressSpace;

/// LLVM's qualifier of signed pointers.
const DW_TAG_LLVM_PTRAUTH_TYPE: DwTag = DwTag(0x4300);
/// Maximum cached types; a full cache drops all.
const MAX_CACHED_TYPES: usize = 65536;

thread_local! {
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// One type under read by this thread, until drop.
struct Nested;

impl Nested {
    fn enter() -> Option<Self> {
        let depth = NESTED.get();
        (depth < MAX_TYPE_READS).then(|| {
            NESTED.set(depth + 1);
            Self
        })
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        NESTED.set(NESTED.get().saturating_sub(1));
    }
}

impl DebugInfo {
    /// A type, cached.
    ///
    /// # Errors
    /// The offset has no DIE, the DIE is not a type's, or its attributes are unreadable.
    pub fn type_of(&self, id: TypeId) -> Result<Arc<Type>> {
        let (cache, key) = (&self.functions.types, (self.owner, id));
        if let Some(found) = cache.get(&key) {
            return Ok(found);
        }
        let dwarf = self.sections.dwarf();
        // The read of a type needs sizes or names of others; a hostile type may need itself.
        let Some(_nested) = Nested::enter() else {
            return Err(DebugInfoError::TooDeep {
                die: id.0,
                what: "types read for types",
                limit: MAX_TYPE_READS,
            });
        };
        let found = Arc::new(read(self.reading(&dwarf), id)?);
        let text = found.name.as_ref().map_or(0, |name| name.len());
        Ok(cache.keep(key, found, text, MAX_CACHED_TYPES))
    }

    /// The type behind typedefs and qualifiers; `None` is `void`.
    ///
    /// # Errors
    /// A type is unreadable, or typedefs form a cycle.
    pub fn stripped(&self, id: TypeId) -> Result<Option<Arc<Type>>> {
        let mut found = self.type_of(id)?;
        for _ in 0..MAX_TYPE_CHAIN {
            let next = match found.kind {
                // An indirection between an object and its data must not be skipped.
                TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } if found.indirect.is_none() => of,
                _ => return Ok(Some(found)),
            };
            let Some(next) = next else { return Ok(None) };
            found = self.type_of(next)?;
        }
        Err(DebugInfoError::TooDeep { die: id.0, what: "typedefs", limit: MAX_TYPE_CHAIN })
    }

    /// The size of a type in bytes; `None` if it has none (`void`, a function) or it is unknown (`int []`, a class that
    /// is only declared).
    ///
    /// # Errors
    /// A type is unreadable, or types contain each other.
    pub fn byte_size(&self, id: TypeId) -> Result<Option<u64>> {
        self.size_for(id, Asked::NOBODY)
    }

    /// [`Self::byte_size`] for one object, which determines dynamic lengths. For a type with `DW_AT_data_location`, it
    /// is the size of the descriptor at the object's address, not of the data.
    ///
    /// # Errors
    /// Those of [`Self::byte_size`]; without a length from the object the size is unknown, which is not an error.
    pub fn byte_size_of(&self, id: TypeId, object: &dyn Object) -> Result<Option<u64>> {
        self.size_for(id, Asked { object: Some(object), at: 0 })
    }

    /// Whether an object of the type is only a descriptor of its data (`DW_AT_data_location`).
    #[must_use]
    pub fn has_data_elsewhere(&self, id: TypeId) -> bool {
        let found = self.stripped(id).ok().flatten();
        found.and_then(|found| found.indirect.as_ref().map(|by| by.data_location.is_some())).unwrap_or(false)
    }

    pub(in crate::debuginfo) fn size_for(&self, id: TypeId, asked: Asked<'_>) -> Result<Option<u64>> {
        self.size_within(id, asked, 0)
    }

    /// [`Self::size_for`] within that many arrays.
    pub(in crate::debuginfo) fn size_within(
        &self,
        id: TypeId,
        asked: Asked<'_>,
        depth: usize,
    ) -> Result<Option<u64>> {
        if depth >= MAX_TYPE_CHAIN {
            return Err(DebugInfoError::TooDeep { die: id.0, what: "array elements", limit: MAX_TYPE_CHAIN });
        }
        let too_large = || DebugInfoError::TooLarge { die: id.0 };
        // `None`: an overflow, although the type may have no size at all.
        let (mut next, mut factor) = (id, Some(1u64));
        let whole = |factor: Option<u64>, bytes: u64| {
            factor.and_then(|factor| factor.checked_mul(bytes)).map(Some).ok_or_else(too_large)
        };
        for _ in 0..MAX_TYPE_CHAIN {
            let Some(found) = self.stripped(next)? else { return Ok(None) };
            if let Some(size) = found.byte_size {
                return whole(factor, size);
            }
            match &found.kind {
                TypeKind::Array { .. } => match size_of_array(self, &found, asked, depth)? {
                    Some((bytes, None)) => return whole(factor, bytes),
                    Some((count, Some(element))) => {
                        (factor, next) = (factor.and_then(|factor| factor.checked_mul(count)), element);
                    }
                    None => return Ok(None),
                },
                TypeKind::String { length, width } => {
                    let length = length.as_ref().and_then(|length| asked.number(length).ok());
                    let bytes =
                        length.and_then(|length| u64::try_from(length).ok()?.checked_mul((*width).into()));
                    return bytes.map_or(Ok(None), |bytes| whole(factor, bytes));
                }
                TypeKind::Enum { underlying: Some(of), .. } | TypeKind::Typedef { of: Some(of) } => {
                    next = *of
                }
                TypeKind::Pointer { address_space, .. } | TypeKind::Reference { address_space, .. } => {
                    return whole(factor, pointer_size(*address_space));
                }
                // Itanium C++ ABI 2.3: an offset, or a function and an adjustment.
                TypeKind::PointerToMember { to, .. } => {
                    let to = to.map(|to| self.stripped(to)).transpose()?.flatten();
                    let is_function = to.is_some_and(|to| matches!(to.kind, TypeKind::Subroutine { .. }));
                    return whole(factor, if is_function { 16 } else { 8 });
                }
                _ => return Ok(None),
            }
        }
        Err(DebugInfoError::TooDeep { die: id.0, what: "array elements", limit: MAX_TYPE_CHAIN })
    }
}

fn read(reading: Reading<'_>, id: TypeId) -> Result<Type> {
    let die = reading.defined(reading.die(id.0)?)?;
    let id = TypeId(die.offset());
    let target = die.reference(reading.units, gimli::DW_AT_type)?.map(TypeId);
    let tag = die.tag();
    let kind = match tag {
        gimli::DW_TAG_base_type => base(reading, &die)?,
        gimli::DW_TAG_pointer_type => TypeKind::Pointer { to: target, address_space: address_space(&die)? },
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            let is_rvalue = tag == gimli::DW_TAG_rvalue_reference_type;
            TypeKind::Reference { to: target, is_rvalue, address_space: address_space(&die)? }
        }
        gimli::DW_TAG_ptr_to_member_type => {
            let class = die.reference(reading.units, gimli::DW_AT_containing_type)?.map(TypeId);
            let use_location = reading.dynamic(&die, gimli::DW_AT_use_location)?.map(Box::new);
            TypeKind::PointerToMember { to: target, class, use_location }
        }
        gimli::DW_TAG_array_type => array(reading, &die, target)?,
        gimli::DW_TAG_string_type => string(reading, &die, target)?,
        gimli::DW_TAG_structure_type => record(reading, &die, RecordKind::Struct)?,
        gimli::DW_TAG_class_type | gimli::DW_TAG_interface_type => record(reading, &die, RecordKind::Class)?,
        gimli::DW_TAG_union_type => record(reading, &die, RecordKind::Union)?,
        gimli::DW_TAG_enumeration_type => enumeration(reading, &die, target)?,
        gimli::DW_TAG_typedef | gimli::DW_TAG_template_alias => TypeKind::Typedef { of: target },
        // The declaration of a member function has its type.
        gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => subroutine(reading, &die, target)?,
        gimli::DW_TAG_unspecified_type => TypeKind::Unspecified,
        // A subrange is its base type with fewer values; without a base type it is an integer of its size.
        gimli::DW_TAG_subrange_type | gimli::DW_TAG_generic_subrange if target.is_none() => integer(),
        gimli::DW_TAG_subrange_type
        | gimli::DW_TAG_generic_subrange
        | gimli::DW_TAG_thrown_type
        | gimli::DW_TAG_dynamic_type => TypeKind::Typedef { of: target },
        _ => match qualifier(tag) {
            Some(qualifier) => TypeKind::Qualified { qualifier, of: target },
            // An object of known size is printed as bytes.
            None if is_other_type(tag) => TypeKind::Opaque { tag: tag.0 },
            None => {
                return Err(DebugInfoError::Tag { die: id.0, expected: "a type", found: die.tag_name() });
            }
        },
    };
    let name = match reading.template_name(&die)? {
        Some(name) if !matches!(kind, TypeKind::Base(_) | TypeKind::Unspecified) => {
            Some(reading.qualified(&die, &name)?)
        }
        name => name,
    };
    let is_declaration = die.flag(gimli::DW_AT_declaration);
    let unit = die.view.facts().id;
    let memory_space = die.extension(Heterogeneous::MemorySpace).and_then(|(_, value)| unsigned(&value));
    let (byte_size, memory_space) = (byte_size(&die, &kind), memory_space.map(MemorySpace));
    let indirect = indirect(reading, &die)?;
    let alignment = die.constant(gimli::DW_AT_alignment);
    Ok(Type { id, unit, name, byte_size, alignment, is_declaration, memory_space, indirect, kind })
}

/// `DW_AT_byte_size`, or whole bytes of `DW_AT_bit_size`, the alternative for the same types. The size of a string with
/// dynamic length is that of the length (DWARF 3, section 5.9).
fn byte_size(die: &Die<'_>, kind: &TypeKind) -> Option<u64> {
    if matches!(kind, TypeKind::String { length: Some(Number::Dynamic(_)), .. }) {
        return None;
    }
    let bits = || die.constant(gimli::DW_AT_bit_size).map(|bits| bits.div_ceil(8));
    die.constant(gimli::DW_AT_byte_size).or_else(bits)
}

fn indirect(reading: Reading<'_>, die: &Die<'_>) -> Result<Option<Box<Indirect>>> {
    const NAMES: [gimli::DwAt; 3] =
        [gimli::DW_AT_data_location, gimli::DW_AT_allocated, gimli::DW_AT_associated];
    if !NAMES.iter().any(|name| die.entry.has_attr(*name)) {
        return Ok(None);
    }
    Ok(Some(Box::new(Indirect {
        data_location: reading.dynamic(die, gimli::DW_AT_data_location)?,
        allocated: reading.number(die, gimli::DW_AT_allocated)?,
        associated: reading.number(die, gimli::DW_AT_associated)?,
    })))
}

/// Types without a notation: DWARF types that no GPU compiler writes, and vendors' types.
fn is_other_type(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_set_type | gimli::DW_TAG_file_type | gimli::DW_TAG_coarray_type)
        || tag.0 >= gimli::DW_TAG_lo_user.0
}

fn integer() -> TypeKind {
    TypeKind::Base(Base {
        encoding: Encoding(gimli::DW_ATE_signed),
        bit_size: None,
        vector_size: None,
        scale: None,
    })
}

/// DWARF 5 section 5.11: `DW_AT_string_length` gives the address of the length, or names its variable. The length has
/// `DW_AT_string_length_byte_size` bytes (default 8, an address).
fn string(reading: Reading<'_>, die: &Die<'_>, character: Option<TypeId>) -> Result<TypeKind> {
    let width = character.and_then(|id| reading.info.byte_size(id).ok().flatten());
    let width = width.and_then(|width| u8::try_from(width).ok()).filter(|width| matches!(width, 1 | 2 | 4));
    let bits = die.constant(gimli::DW_AT_string_length_bit_size).map(|bits| bits.div_ceil(8));
    let stored = die.constant(gimli::DW_AT_string_length_byte_size).or(bits);
    let stored = stored.or_else(|| die.constant(gimli::DW_AT_byte_size));
    let length = reading.number(die, gimli::DW_AT_string_length)?.map(|length| match length {
        Number::Dynamic(mut length) => {
            let is_place = matches!(length.source, crate::debuginfo::DynamicSource::Location(_));
            length.stored = is_place.then(|| stored.unwrap_or(8));
            Number::Dynamic(length)
        }
        constant => constant,
    });
    Ok(TypeKind::String { length, width: width.unwrap_or(1) })
}

fn qualifier(tag: DwTag) -> Option<Qualifier> {
    match tag {
        gimli::DW_TAG_const_type => Some(Qualifier::Const),
        gimli::DW_TAG_volatile_type => Some(Qualifier::Volatile),
        gimli::DW_TAG_restrict_type => Some(Qualifier::Restrict),
        gimli::DW_TAG_atomic_type => Some(Qualifier::Atomic),
        // A signed pointer is a pointer: the signature's bits are part of it.
        gimli::DW_TAG_packed_type
        | gimli::DW_TAG_shared_type
        | gimli::DW_TAG_immutable_type
        | DW_TAG_LLVM_PTRAUTH_TYPE => Some(Qualifier::Silent),
        _ => None,
    }
}

/// Bytes of a pointer without a size in the DIE. AMDGPUUsage, "DWARF Address Space Mapping": 8 for the default and the
/// generic space, 4 for region, local and the private ones.
fn pointer_size(space: AddressSpace) -> u64 {
    if space.0 <= 1 { 8 } else { 4 }
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
    let mut this = None;
    let object_pointer = die.reference(reading.units, gimli::DW_AT_object_pointer)?;
    for child in children(die)? {
        match child.tag() {
            gimli::DW_TAG_formal_parameter => {
                let is_this = match object_pointer {
                    Some(pointer) => pointer == child.offset(),
                    None => parameters.is_empty(),
                };
                if is_this && child.flag(gimli::DW_AT_artificial) {
                    this = Some(parameters.len());
                }
                parameters.push(target(reading, &child)?);
            }
            gimli::DW_TAG_unspecified_parameters => is_variadic = true,
            _ => {}
        }
    }
    let is_prototyped = die.flag(gimli::DW_AT_prototyped) || !die.view.facts().language.is_c();
    let address_space = given_space(die)?;
    Ok(TypeKind::Subroutine { returns, parameters, this, is_variadic, is_prototyped, address_space })
}
