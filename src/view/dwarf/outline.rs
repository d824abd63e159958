//! Functions that no stack has: where they are and what they are called, so that a debugger can name, list and print
//! them; without what is in them.

use gimli::constants;
use gimli::write::{AttributeValue, ConvertResult, ConvertUnitEntry};
use gimli::{DwAt, UnitRef};

use super::Slice;
use super::entry::{Conversion, constant, is_mangled};
use super::filter::{Outline, type_of};

/// What an instance leaves to the DIEs it stands for.
const NAMES: [DwAt; 5] = [
    constants::DW_AT_name,
    constants::DW_AT_linkage_name,
    constants::DW_AT_decl_file,
    constants::DW_AT_decl_line,
    constants::DW_AT_external,
];
/// Where it is.
const PLACES: [DwAt; 3] = [constants::DW_AT_low_pc, constants::DW_AT_high_pc, constants::DW_AT_ranges];
/// An instance, its origin, and that one's declaration.
const MAX_ORIGINS: usize = 8;

pub(super) fn convert<'r>(
    conversion: &mut Conversion<'_, '_, '_, 'r>,
    entry: &ConvertUnitEntry<'_, Slice<'r>>,
    outline: &Outline,
) -> ConvertResult<()> {
    conversion.code(entry);
    let root = conversion.to.unit.root();
    let id = conversion.to.unit.add(root, constants::DW_TAG_subprogram);
    let chain = chain(entry.read_unit, &entry.read_entry);
    for name in NAMES {
        let attribute = chain.iter().find_map(|die| die.attr(name));
        let is_name = |attribute: &&gimli::Attribute<_>| {
            name != constants::DW_AT_linkage_name || is_mangled(entry.read_unit, attribute)
        };
        let attribute = attribute.filter(is_name);
        let value = attribute
            .map(|attribute| conversion.to.convert_attribute_value(entry.read_unit, attribute, &constant));
        if let Some(Ok(value)) = value {
            conversion.to.unit.get_mut(id).set(name, value);
        }
    }
    for name in PLACES {
        let attribute = entry.read_entry.attr(name);
        let value = attribute
            .map(|attribute| conversion.to.convert_attribute_value(entry.read_unit, attribute, &constant));
        if let Some(Ok(value)) = value {
            conversion.to.unit.get_mut(id).set(name, value);
        }
    }
    conversion.to.unit.get_mut(id).set(constants::DW_AT_prototyped, AttributeValue::FlagPresent);
    let returns = type_of(entry.read_unit, &entry.read_entry);
    if let Some(Ok(returns)) = returns.map(|at| conversion.to.convert_unit_ref(at)) {
        conversion.to.unit.get_mut(id).set(constants::DW_AT_type, AttributeValue::UnitRef(returns));
    }
    for parameter in &outline.parameters {
        let of = parameter.and_then(|at| conversion.to.convert_unit_ref(at).ok());
        let parameter = conversion.to.unit.add(id, constants::DW_TAG_formal_parameter);
        if let Some(of) = of {
            conversion.to.unit.get_mut(parameter).set(constants::DW_AT_type, AttributeValue::UnitRef(of));
        }
    }
    Ok(())
}

/// A DIE with the DIEs it stands for, in its unit.
fn chain<'r>(
    unit: UnitRef<'_, Slice<'r>>,
    entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
) -> Vec<gimli::DebuggingInformationEntry<Slice<'r>>> {
    let mut chain = vec![entry.clone()];
    while let Some(last) = chain.last()
        && chain.len() < MAX_ORIGINS
    {
        let origin = last
            .attr_value(constants::DW_AT_abstract_origin)
            .or_else(|| last.attr_value(constants::DW_AT_specification));
        let Some(gimli::AttributeValue::UnitRef(at)) = origin else { break };
        let Ok(next) = unit.entry(at) else { break };
        chain.push(next);
    }
    chain
}
