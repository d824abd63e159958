//! Numbers of base types and pointers: encodings, scales (DWARF 5 section 5.1), address spaces.

use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::{Base, Encoding, Scale, TypeKind};
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::AttributeValue;
use crate::debuginfo::unit::sections::unsigned;
use crate::dwarf::AMD_AUGMENTATION;
use crate::units::AddressSpace;

pub(in crate::debuginfo) fn base(reading: Reading<'_>, die: &Die<'_>) -> Result<TypeKind> {
    let encoding = match die.entry.attr_value(gimli::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => Encoding(encoding),
        _ => Encoding(gimli::DwAte(0)),
    };
    let vector_size = die.extension(Heterogeneous::VectorSize).and_then(|(_, value)| unsigned(&value));
    let (encoding, vector_size) = match dwords_of_triton(die)? {
        Some(dwords) => (Encoding(gimli::DW_ATE_unsigned), Some(dwords)),
        None => (encoding, vector_size),
    };
    let (bit_size, scale) = (die.constant(gimli::DW_AT_bit_size), scale(reading, die)?);
    Ok(TypeKind::Base(Base { encoding, bit_size, vector_size, scale }))
}

/// The dwords of Triton's base type `vector`; `None` for any other type.
///
/// The type states the size of several elements of a tensor as that of one float, and not their type.
fn dwords_of_triton(die: &Die<'_>) -> Result<Option<u64>> {
    let is_vector =
        die.view.facts().producer_is_triton() && die.string(gimli::DW_AT_name)?.as_deref() == Some("vector");
    let size = die.constant(gimli::DW_AT_byte_size).filter(|size| is_vector && size % 4 == 0);
    Ok(size.map(|size| size / 4).filter(|dwords| *dwords > 0))
}

fn scale(reading: Reading<'_>, die: &Die<'_>) -> Result<Option<Scale>> {
    let power = |name| {
        let value = die.entry.attr_value(name)?;
        value.sdata_value().or_else(|| i64::try_from(unsigned(&value)?).ok())
    };
    if let Some(power) = power(gimli::DW_AT_binary_scale) {
        return Ok(Some(Scale::Binary(power)));
    }
    if let Some(power) = power(gimli::DW_AT_decimal_scale) {
        return Ok(Some(Scale::Decimal(power)));
    }
    let Some(small) = die.reference(reading.units, gimli::DW_AT_small)? else { return Ok(None) };
    let small = reading.die(small)?;
    let numerator = small.constant(gimli::DW_AT_GNU_numerator);
    let denominator = small.constant(gimli::DW_AT_GNU_denominator).filter(|number| *number > 0);
    Ok(numerator.zip(denominator).map(|(numerator, denominator)| Scale::Fraction { numerator, denominator }))
}

/// The address space of a pointer's DIE; see [`TypeKind::Pointer`].
pub(in crate::debuginfo) fn address_space(die: &Die<'_>) -> Result<AddressSpace> {
    match (given_space(die)?, die.view.facts().is_amd_augmented()) {
        (Some(space), _) => Ok(space),
        (None, true) => of_amd_class(die, None),
        (None, false) => Ok(AddressSpace(0)),
    }
}

/// The address space in a DIE; `None` without one. The 2020 text has `DW_AT_address_class` on "pointer type, reference
/// type, subroutine, and subroutine type debugger information entries".
pub(in crate::debuginfo) fn given_space(die: &Die<'_>) -> Result<Option<AddressSpace>> {
    let space = die.extension(Heterogeneous::AddressSpace).and_then(|(_, value)| unsigned(&value));
    if let Some(space) = space {
        return Ok(Some(AddressSpace(space)));
    }
    let class = match die.entry.attr_value(gimli::DW_AT_address_class) {
        Some(AttributeValue::AddressClass(class)) => Some(class.0),
        Some(value) => unsigned(&value),
        None => None,
    };
    let Some(class) = class else { return Ok(None) };
    if !die.view.facts().is_amd_augmented() {
        return Ok(Some(AddressSpace(class)));
    }
    // DW_ADDR_none is no class.
    of_amd_class(die, Some(class).filter(|class| *class != 0)).map(Some)
}

/// The address space of a class of the 2020 text.
fn of_amd_class(die: &Die<'_>, class: Option<u64>) -> Result<AddressSpace> {
    crate::arch::Targets::address_class(AMD_AUGMENTATION, class).ok_or_else(|| DebugInfoError::Attribute {
        unit: die.view.slot.die_offset(),
        die: die.offset(),
        attribute: AttributeName::of(gimli::DW_AT_address_class, die.view.facts()),
        expected: "a class that the 2020 text has (1 to 5)",
        found: class.unwrap_or(0).to_string(),
    })
}
