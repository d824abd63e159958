//! Structs, classes and unions: members, bases, virtual functions and variants. DWARF 5 sections 5.7 and 5.8.

use gimli::Reader as _;

use crate::bounds::MAX_VARIANT_DEPTH;
use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::children::{children, read_children, target};
use crate::debuginfo::types::dynamic::{DynamicAttribute, DynamicSource};
use crate::debuginfo::types::{Member, MemberFunction, Record, RecordKind, TypeKind, Variant, VariantPart};
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::location::LocationAttribute;
use crate::debuginfo::unit::sections::AttributeValue;
use crate::debuginfo::unit::sections::unsigned;

pub(in crate::debuginfo) fn record<'a>(
    reading: Reading<'a>,
    die: &Die<'a>,
    kind: RecordKind,
) -> Result<TypeKind> {
    let (members, functions, variants) = (Vec::new(), Vec::new(), Vec::new());
    let mut record = Record { kind, members, functions, variants, problems: Vec::new() };
    let (mut damage, mut inner) = (Diagnostics::default(), Vec::new());
    damage.or_none(read_children(die, |_| Some(true), &mut inner));
    for child in inner {
        match child.tag() {
            gimli::DW_TAG_subprogram => record.functions.extend(damage.or_none(function(reading, &child))),
            gimli::DW_TAG_variant_part => {
                record.variants.extend(damage.or_none(variant_part(reading, &child)));
            }
            _ => record.members.extend(damage.absent(stored(reading, &child))),
        }
    }
    record.problems = damage.into_problems();
    Ok(TypeKind::Record(record))
}

/// A base class or a member with storage in every object.
fn stored(reading: Reading<'_>, child: &Die<'_>) -> Result<Option<Member>> {
    let is_base = child.tag() == gimli::DW_TAG_inheritance;
    let is_static = child.flag(gimli::DW_AT_external) || child.flag(gimli::DW_AT_declaration);
    let is_stored = is_base || (child.tag() == gimli::DW_TAG_member && !is_static);
    is_stored.then(|| member(reading, child, is_base)).transpose()
}

fn is_virtual(die: &Die<'_>) -> bool {
    matches!(
        die.entry.attr_value(gimli::DW_AT_virtuality),
        Some(AttributeValue::Virtuality(virtuality)) if virtuality != gimli::DW_VIRTUALITY_none
    )
}

fn function(reading: Reading<'_>, die: &Die<'_>) -> Result<MemberFunction> {
    let name = gimli::DW_AT_vtable_elem_location;
    let element = match die.constant(name) {
        None => reading.dynamic(die, name)?,
        Some(_) => None,
    };
    let slot = match element.as_ref().map(|element| &element.source) {
        Some(DynamicSource::Location(LocationAttribute::Expression(bytes))) => plain_number(bytes),
        Some(_) => None,
        None => die.constant(name),
    };
    Ok(MemberFunction {
        die: die.offset(),
        name: die.string(gimli::DW_AT_name)?,
        linkage_name: die.string(gimli::DW_AT_linkage_name)?,
        is_virtual: is_virtual(die),
        slot,
        element: element.filter(|_| slot.is_none()).map(Box::new),
    })
}

/// The value of an expression that is a single constant.
fn plain_number(expression: &[u8]) -> Option<u64> {
    let mut rest = gimli::EndianSlice::new(expression, gimli::LittleEndian);
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };
    match gimli::Operation::parse(&mut rest, encoding).ok()? {
        gimli::Operation::UnsignedConstant { value } if rest.is_empty() => Some(value),
        gimli::Operation::SignedConstant { value } if rest.is_empty() => u64::try_from(value).ok(),
        _ => None,
    }
}

fn variant_part<'a>(reading: Reading<'a>, die: &Die<'a>) -> Result<VariantPart> {
    let discriminant = match die.reference(reading.units, gimli::DW_AT_discr)? {
        Some(offset) => {
            let told = reading.die_near(&die.view, offset)?;
            Some(Box::new(member(reading, &told, false)?))
        }
        None => None,
    };
    let mut variants = Vec::new();
    for child in children(die)?.iter().filter(|child| child.tag() == gimli::DW_TAG_variant) {
        let mut members = Vec::new();
        let mut inner = children(child)?;
        // Deeper variants are not resolved: their members are listed side by side.
        for _ in 0..MAX_VARIANT_DEPTH {
            let mut next = Vec::new();
            for inner in inner.drain(..) {
                match inner.tag() {
                    gimli::DW_TAG_variant_part | gimli::DW_TAG_variant => next.extend(children(&inner)?),
                    _ => members.extend(stored(reading, &inner)?),
                }
            }
            inner = next;
        }
        variants.push(Variant { values: discriminants(child), members });
    }
    Ok(VariantPart { discriminant, variants })
}

/// `DW_AT_discr_value`, or the labels (`DW_DSC_label`, 0) and ranges (`DW_DSC_range`, 1) of `DW_AT_discr_list`.
fn discriminants(die: &Die<'_>) -> Vec<std::ops::RangeInclusive<i64>> {
    let number =
        |value: AttributeValue<'_>| value.sdata_value().or(unsigned(&value).map(|value| value as i64));
    if let Some(value) = die.entry.attr_value(gimli::DW_AT_discr_value).and_then(number) {
        return vec![value..=value];
    }
    let Some(AttributeValue::Block(mut list)) = die.entry.attr_value(gimli::DW_AT_discr_list) else {
        return Vec::new();
    };
    let mut values = Vec::new();
    while let Ok(descriptor) = list.read_u8() {
        let Ok(low) = list.read_sleb128() else { break };
        match descriptor {
            0 => values.push(low..=low),
            _ => match list.read_sleb128() {
                Ok(high) => values.push(low..=high),
                Err(_) => break,
            },
        }
    }
    values
}

/// A member's position. DWARF 5 section 5.7.6: `DW_AT_data_bit_offset` counts from the object's start; before DWARF 4
/// `DW_AT_bit_offset` counted from the most significant bit of a storage unit.
///
/// A member with an unreadable type, place or width has that error as its place.
pub(in crate::debuginfo) fn member(reading: Reading<'_>, die: &Die<'_>, is_base: bool) -> Result<Member> {
    let mut damage = Diagnostics::default();
    let mut constant = |name| damage.absent(number_of(die, name));
    let bit_size = constant(gimli::DW_AT_bit_size);
    let data_bit_offset = constant(gimli::DW_AT_data_bit_offset);
    let storage_size = constant(gimli::DW_AT_byte_size);
    let type_id = damage.absent(target(reading, die));
    let place = die.entry.attr_value(gimli::DW_AT_data_member_location);
    let byte_offset = match &place {
        None => Some(0),
        Some(value) => unsigned(value).or_else(|| constant_expression(value)),
    };
    let location = gimli::DW_AT_data_member_location;
    let dynamic = match (byte_offset, place.as_ref().and_then(AttributeValue::sdata_value)) {
        (Some(_), _) => None,
        (None, Some(_)) => damage.absent(number_of(die, location).map(|_| None)),
        (None, None) => damage.absent(reading.dynamic(die, location)),
    };
    let is_virtual = matches!(
        die.entry.attr_value(gimli::DW_AT_virtuality),
        Some(AttributeValue::Virtuality(virtuality)) if virtuality != gimli::DW_VIRTUALITY_none
    );
    let bytes = i128::from(byte_offset.unwrap_or(0));
    let bits = match (data_bit_offset, die.entry.attr_value(gimli::DW_AT_bit_offset)) {
        (Some(bits), _) => i128::from(bits),
        (None, Some(old)) => {
            let from_top = old.sdata_value().unwrap_or(0);
            let own = || type_id.and_then(|id| damage.absent(reading.info.byte_size(id)));
            let storage = storage_size.or_else(own);
            let [storage, width] = [storage, bit_size].map(|number| i128::from(number.unwrap_or(0)));
            (bytes + storage) * 8 - i128::from(from_top) - width
        }
        (None, None) => bytes * 8,
    };
    // A position before the object, or beyond 64 bits, is an error.
    let bit_offset = u64::try_from(bits).unwrap_or_else(|_| {
        damage.add(DebugInfoError::Attribute {
            unit: die.view.slot.die_offset(),
            die: die.offset(),
            attribute: AttributeName::of(location, die.view.facts()),
            expected: "a place within an object, of 64 bits in bits",
            found: format!("bit {bits}"),
        });
        0
    });
    let name = damage.absent(die.string(gimli::DW_AT_name));
    let broken = damage.into_problems().into_iter().next().map(|why| DynamicAttribute {
        unit: die.view.facts().id,
        die: die.offset(),
        attribute: AttributeName::of(location, die.view.facts()),
        source: DynamicSource::Location(LocationAttribute::Broken(Box::new(why))),
        dimension: None,
        stored: None,
    });
    Ok(Member {
        name,
        type_id,
        bit_offset,
        bit_size,
        alignment: die.constant(gimli::DW_AT_alignment),
        is_base,
        place: broken.or(dynamic).map(Box::new),
        is_virtual: is_base && is_virtual,
        is_artificial: die.flag(gimli::DW_AT_artificial),
    })
}

/// A non-negative number; `None` if the attribute is absent or not a constant.
fn number_of(die: &Die<'_>, name: gimli::DwAt) -> Result<Option<u64>> {
    let Some(value) = die.entry.attr_value(name) else { return Ok(None) };
    match (unsigned(&value), value.sdata_value()) {
        (None, Some(number)) => Err(DebugInfoError::Attribute {
            unit: die.view.facts().offset,
            die: die.offset(),
            attribute: AttributeName::of(name, die.view.facts()),
            expected: "a number that is not negative",
            found: number.to_string(),
        }),
        (number, _) => Ok(number),
    }
}

/// DWARF 2 and 3 write an offset as `DW_OP_plus_uconst N`.
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
