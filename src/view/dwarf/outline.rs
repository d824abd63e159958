//! Functions on no stack: their code and names, which lets a debugger name, list and print them; without their
//! contents.

use gimli::DwAt;
use gimli::constants;
use gimli::write::{AttributeValue, ConvertResult, ConvertUnitEntry};

use super::Slice;
use super::entry::{Conversion, as_it_is, is_mangled};
use super::filter::{Origins, Outline, is_same, type_of};
use super::ranges;

/// Attributes that an instance leaves to its origins.
const NAMES: [DwAt; 5] = [
    constants::DW_AT_name,
    constants::DW_AT_linkage_name,
    constants::DW_AT_decl_file,
    constants::DW_AT_decl_line,
    constants::DW_AT_external,
];
/// Attributes that locate its code.
const PLACES: [DwAt; 3] = [constants::DW_AT_low_pc, constants::DW_AT_high_pc, constants::DW_AT_ranges];

pub(super) fn convert<'r>(
    conversion: &mut Conversion<'_, '_, '_, 'r>,
    entry: &ConvertUnitEntry<'_, Slice<'r>>,
    outline: &Outline,
) -> ConvertResult<()> {
    conversion.code(entry);
    let root = conversion.to.unit.root();
    let id = conversion.to.unit.add(root, constants::DW_TAG_subprogram);
    let others = conversion.others;
    let origins: Vec<_> = Origins::of(others, entry.read_unit, &entry.read_entry).collect();
    let own = if ranges::passes_the_end(entry) { &[][..] } else { origins.get(..1).unwrap_or_default() };
    let names = NAMES.iter().map(|name| (*name, &*origins));
    for (name, dies) in names.chain(PLACES.iter().map(|name| (*name, own))) {
        let found = dies.iter().find_map(|die| Some((die.unit, die.entry.attr(name)?)));
        let Some((unit, attribute)) = found else { continue };
        let is_said = match name {
            constants::DW_AT_linkage_name => is_mangled(unit, attribute),
            // Another unit numbers its files differently.
            constants::DW_AT_decl_file | constants::DW_AT_decl_line => is_same(unit, entry.read_unit),
            _ => conversion.has_room_for_ranges(entry.read_unit, attribute),
        };
        if is_said && let Some(value) = as_it_is(conversion.to, &mut conversion.plans.texts, unit, attribute)
        {
            conversion.to.unit.get_mut(id).set(name, value);
        }
    }
    conversion.no_calls(id);
    conversion.to.unit.get_mut(id).set(constants::DW_AT_prototyped, AttributeValue::FlagPresent);
    let returns = type_of(others, entry.read_unit, &entry.read_entry);
    if let Some(returns) = returns.and_then(|of| conversion.type_value(of)) {
        conversion.to.unit.get_mut(id).set(constants::DW_AT_type, returns);
    }
    for parameter in &outline.parameters {
        let of = parameter.and_then(|of| conversion.type_value(of));
        let parameter = conversion.to.unit.add(id, constants::DW_TAG_formal_parameter);
        if let Some(of) = of {
            conversion.to.unit.get_mut(parameter).set(constants::DW_AT_type, of);
        }
    }
    Ok(())
}
