//! The DIEs of a view: functions on stacks with their descendants, variables outside of functions, and all DIEs that
//! those refer to.

use std::collections::HashMap;

use gimli::write::{ConvertResult, FilterUnit, FilterUnitEntry, FilterUnitSection};
use gimli::{AttributeValue, UnitOffset, UnitRef};

use super::Slice;
use super::context::{Unit, Units};
use super::group::Others;
use super::signed::{Declarations, signature_of};
use crate::bounds::MAX_ORIGINS;
use crate::debuginfo::UnitId;
use crate::units::DieOffset;

/// The DIEs to convert.
pub(super) struct Filter<'a, 'r> {
    pub(super) section: FilterUnitSection<'a, Slice<'r>>,
    /// Functions with name, line and type only.
    pub(super) outlines: HashMap<DieOffset, Outline>,
    /// Types of the units by signature.
    pub(super) declarations: HashMap<UnitId, Declarations>,
    /// Units with an unreadable part, and the reasons.
    pub(super) failed: HashMap<UnitId, String>,
}

/// A reference to a type in a DIE of the unit.
#[derive(Clone, Copy, Debug)]
pub(super) enum TypeRef {
    /// A DIE of the same unit.
    Own(UnitOffset),
    /// A DIE of another unit: its offset in the section that gimli reads.
    Other(usize),
    /// By signature.
    Signed(u64),
}

/// A function without its variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// Its parameters' types.
    pub(super) parameters: Vec<Option<TypeRef>>,
}

/// The enclosing scope of a DIE.
#[derive(Clone, Copy, Debug)]
enum Inside {
    /// A function on a stack.
    Function,
    /// A function on no stack.
    Outline(DieOffset),
}

pub(super) fn filter<'a, 'r>(
    dwarf: &'a gimli::Dwarf<Slice<'r>>,
    units: &Units<'_>,
    others: &Others<'r>,
) -> ConvertResult<Filter<'a, 'r>> {
    let mut section = FilterUnitSection::new(dwarf)?;
    let (mut outlines, mut declarations, mut failed) = (HashMap::new(), HashMap::new(), HashMap::new());
    let elsewhere = others.types_elsewhere(&units.wanted_starts());
    loop {
        // An unreadable unit is detected later: it is missing from the result.
        let mut each = match section.read_unit() {
            Ok(Some(each)) => each,
            Ok(None) => break,
            Err(why) if units.is_one() => return Err(why),
            Err(_) => continue,
        };
        let Some(unit) = units.find(each.read_unit) else { continue };
        for at in elsewhere.get(&unit.start()).into_iter().flatten() {
            each.require_entry(UnitOffset(*at));
        }
        let declarations: &mut Declarations = declarations.entry(unit.id).or_default();
        let mut entry = each.null_entry();
        let mut around: Vec<(isize, Inside)> = Vec::new();
        loop {
            match each.read_entry(&mut entry) {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) if units.is_one() => return Err(why),
                Err(why) => {
                    failed.insert(unit.id, why.to_string());
                    break;
                }
            }
            if let Some(signature) = signature_of(&entry) {
                declarations.add(entry.offset(), signature);
            }
            if unit.is_only_referred_to {
                continue;
            }
            while around.pop_if(|(depth, _)| *depth >= entry.depth()).is_some() {}
            let inside = around.last().copied();
            if let Some(inside) = chosen(unit, others, &mut each, &entry, inside, &mut outlines) {
                around.push((entry.depth(), inside));
            }
        }
    }
    Ok(Filter { section, outlines, declarations, failed })
}

/// Requires a DIE that the view has by itself; returns the scope of its children.
fn chosen<'r>(
    unit: &Unit<'_>,
    others: &Others<'r>,
    filter: &mut FilterUnit<'_, Slice<'r>>,
    entry: &FilterUnitEntry<'_, Slice<'r>>,
    inside: Option<(isize, Inside)>,
    outlines: &mut HashMap<DieOffset, Outline>,
) -> Option<Inside> {
    let die = unit.die(filter.read_unit, entry.offset());
    match entry.tag() {
        gimli::DW_TAG_subprogram | gimli::DW_TAG_entry_point if has_code(entry) => {
            if unit.wants(die) {
                filter.require_entry(entry.offset());
                return Some(Inside::Function);
            }
            require_type(others, filter, entry);
            outlines.insert(die, Outline::default());
            Some(Inside::Outline(die))
        }
        gimli::DW_TAG_formal_parameter => {
            if let Some((depth, Inside::Outline(function))) = inside
                && entry.depth() == depth + 1
            {
                let of = require_type(others, filter, entry);
                outlines.entry(function).or_default().parameters.push(of);
            }
            None
        }
        // Variables outside of functions; abstract instances have none of their own.
        gimli::DW_TAG_variable if inside.is_none() && is_outside(entry) => {
            filter.require_entry(entry.offset());
            None
        }
        gimli::DW_TAG_imported_module if inside.is_none() && entry.depth() == 1 => {
            filter.require_entry(entry.offset());
            None
        }
        _ => None,
    }
}

/// Whether a variable's parent is the unit or a namespace.
fn is_outside(entry: &FilterUnitEntry<'_, Slice<'_>>) -> bool {
    matches!(entry.parent_tag, None | Some(gimli::DW_TAG_namespace | gimli::DW_TAG_module))
}

pub(super) fn has_code(entry: &gimli::DebuggingInformationEntry<Slice<'_>>) -> bool {
    entry.has_attr(gimli::DW_AT_low_pc) || entry.has_attr(gimli::DW_AT_ranges)
}

/// Requires the type of an outlined function or parameter, through its abstract instance if it has one.
fn require_type<'r>(
    others: &Others<'r>,
    filter: &mut FilterUnit<'_, Slice<'r>>,
    entry: &FilterUnitEntry<'_, Slice<'r>>,
) -> Option<TypeRef> {
    let found = type_of(others, filter.read_unit, &entry.read_entry)?;
    // A type in another unit is required when that unit is read.
    if let TypeRef::Own(at) = found {
        filter.require_entry(at);
    }
    Some(found)
}

/// The type of a DIE, through its origins.
pub(super) fn type_of<'r>(
    others: &Others<'r>,
    unit: UnitRef<'_, Slice<'r>>,
    entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
) -> Option<TypeRef> {
    Origins::of(others, unit, entry).find_map(|die| {
        let found = reference(die.unit, die.entry.attr_value(gimli::DW_AT_type))?;
        match found {
            TypeRef::Own(at) if !is_same(die.unit, unit) => {
                Some(TypeRef::Other(die.unit.header.debug_info_offset()?.0.checked_add(at.0)?))
            }
            TypeRef::Other(at) => Some(own(unit, at)),
            _ => Some(found),
        }
    })
}

/// Whether two units are the same.
pub(super) fn is_same<'r>(one: UnitRef<'_, Slice<'r>>, other: UnitRef<'_, Slice<'r>>) -> bool {
    one.header.offset() == other.header.offset()
}

/// The reference to a DIE at an offset in the section, from a unit.
pub(super) fn own(unit: UnitRef<'_, Slice<'_>>, at: usize) -> TypeRef {
    let start = unit.header.debug_info_offset().map(|start| start.0);
    let within = start.and_then(|start| at.checked_sub(start)).map(UnitOffset);
    match within.filter(|within| within.is_in_bounds(&unit)) {
        Some(within) => TypeRef::Own(within),
        None => TypeRef::Other(at),
    }
}

/// A DIE in its unit.
pub(super) struct Origin<'u, 'r> {
    pub(super) unit: UnitRef<'u, Slice<'r>>,
    pub(super) entry: gimli::DebuggingInformationEntry<Slice<'r>>,
}

/// A DIE with its origins: an instance, its origin, and that origin's declaration, each with its unit.
pub(super) struct Origins<'u, 'r> {
    others: &'u Others<'r>,
    next: Option<Origin<'u, 'r>>,
    left: usize,
}

impl<'u, 'r> Origins<'u, 'r> {
    pub(super) fn of(
        others: &'u Others<'r>,
        unit: UnitRef<'u, Slice<'r>>,
        entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
    ) -> Self {
        Self { others, next: Some(Origin { unit, entry: entry.clone() }), left: MAX_ORIGINS }
    }
}

impl<'u, 'r> Iterator for Origins<'u, 'r> {
    type Item = Origin<'u, 'r>;

    fn next(&mut self) -> Option<Self::Item> {
        let this = self.next.take()?;
        self.left = self.left.checked_sub(1)?;
        let of = |name| reference(this.unit, this.entry.attr_value(name));
        let origin = of(gimli::DW_AT_abstract_origin).or_else(|| of(gimli::DW_AT_specification));
        self.next = origin.and_then(|origin| {
            let (unit, at) = match origin {
                TypeRef::Own(at) => (this.unit, at),
                TypeRef::Other(at) => self.others.find(at)?,
                TypeRef::Signed(_) => return None,
            };
            Some(Origin { unit, entry: unit.entry(at).ok()? })
        });
        Some(this)
    }
}

/// The target of a reference attribute of a DIE in a unit.
fn reference<'r>(unit: UnitRef<'_, Slice<'r>>, value: Option<AttributeValue<Slice<'r>>>) -> Option<TypeRef> {
    match value? {
        AttributeValue::UnitRef(at) if at.is_in_bounds(&unit) => Some(TypeRef::Own(at)),
        AttributeValue::DebugInfoRef(at) => Some(own(unit, at.0)),
        AttributeValue::DebugTypesRef(signature) => Some(TypeRef::Signed(signature.0)),
        _ => None,
    }
}
