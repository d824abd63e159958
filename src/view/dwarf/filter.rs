//! Which DIEs a view has: functions on stacks with everything below, variables outside of functions, and whatever those
//! refer to.

use std::collections::HashMap;

use gimli::write::{ConvertResult, FilterUnit, FilterUnitEntry, FilterUnitSection};
use gimli::{AttributeValue, UnitOffset};

use super::Slice;
use super::context::Unit;
use super::signed::{Declarations, signature_of};
use crate::units::DieOffset;

/// DIEs from an instance to the last that it stands for: debug information has three at the most.
const MAX_ORIGINS: usize = 8;

/// What to convert.
pub(super) struct Filter<'a, 'r> {
    pub(super) section: FilterUnitSection<'a, Slice<'r>>,
    /// Functions that are there by name, line and type only.
    pub(super) outlines: HashMap<DieOffset, Outline>,
    /// Types that the unit has by signature.
    pub(super) declarations: Declarations,
}

/// A type as a DIE of the unit names it.
#[derive(Clone, Copy, Debug)]
pub(super) enum TypeRef {
    /// A DIE of the same unit.
    Own(UnitOffset),
    /// By signature.
    Signed(u64),
}

/// A function without its variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// Its parameters' types.
    pub(super) parameters: Vec<Option<TypeRef>>,
}

/// What a DIE stands in.
#[derive(Clone, Copy, Debug)]
enum Inside {
    /// A function on a stack.
    Function,
    /// A function that is not.
    Outline(DieOffset),
}

pub(super) fn filter<'a, 'r>(
    dwarf: &'a gimli::Dwarf<Slice<'r>>,
    unit: &Unit<'_>,
) -> ConvertResult<Filter<'a, 'r>> {
    let mut section = FilterUnitSection::new(dwarf)?;
    let (mut outlines, mut declarations) = (HashMap::new(), Declarations::default());
    while let Some(mut each) = section.read_unit()? {
        let is_it = unit.is_it(each.read_unit);
        let mut entry = each.null_entry();
        let mut around: Vec<(isize, Inside)> = Vec::new();
        while each.read_entry(&mut entry)? {
            if !is_it {
                continue;
            }
            if let Some(signature) = signature_of(&entry) {
                declarations.add(entry.offset(), signature);
            }
            around.retain(|(depth, _)| *depth < entry.depth());
            let inside = around.last().copied();
            if let Some(inside) = chosen(unit, &mut each, &entry, inside, &mut outlines) {
                around.push((entry.depth(), inside));
            }
        }
    }
    Ok(Filter { section, outlines, declarations })
}

/// Requires a DIE of the unit where the view has it by itself; what its children stand in.
fn chosen<'r>(
    unit: &Unit<'_>,
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
            require_type(filter, entry);
            outlines.insert(die, Outline::default());
            Some(Inside::Outline(die))
        }
        gimli::DW_TAG_formal_parameter => {
            if let Some((depth, Inside::Outline(function))) = inside
                && entry.depth() == depth + 1
            {
                let of = require_type(filter, entry);
                outlines.entry(function).or_default().parameters.push(of);
            }
            None
        }
        // Variables outside of functions; abstract instances have none that stand alone.
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

/// Requires the type of an outlined function or parameter, through its abstract instance where it has one.
fn require_type<'r>(
    filter: &mut FilterUnit<'_, Slice<'r>>,
    entry: &FilterUnitEntry<'_, Slice<'r>>,
) -> Option<TypeRef> {
    let found = type_of(filter.read_unit, &entry.read_entry)?;
    if let TypeRef::Own(at) = found {
        filter.require_entry(at);
    }
    Some(found)
}

/// The type that a DIE has, through the DIEs it stands for.
pub(super) fn type_of<'r>(
    unit: gimli::UnitRef<'_, Slice<'r>>,
    entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
) -> Option<TypeRef> {
    Origins::of(unit, entry).find_map(|die| match die.attr_value(gimli::DW_AT_type) {
        Some(AttributeValue::DebugTypesRef(signature)) => Some(TypeRef::Signed(signature.0)),
        value => in_unit(unit, value).map(TypeRef::Own),
    })
}

/// A DIE with those it stands for, in its unit: an instance, its origin, and that one's declaration.
pub(super) struct Origins<'u, 'r> {
    unit: gimli::UnitRef<'u, Slice<'r>>,
    next: Option<gimli::DebuggingInformationEntry<Slice<'r>>>,
    left: usize,
}

impl<'u, 'r> Origins<'u, 'r> {
    pub(super) fn of(
        unit: gimli::UnitRef<'u, Slice<'r>>,
        entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
    ) -> Self {
        Self { unit, next: Some(entry.clone()), left: MAX_ORIGINS }
    }
}

impl<'r> Iterator for Origins<'_, 'r> {
    type Item = gimli::DebuggingInformationEntry<Slice<'r>>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.next.take()?;
        self.left = self.left.checked_sub(1)?;
        let of = |name| in_unit(self.unit, entry.attr_value(name));
        let origin = of(gimli::DW_AT_abstract_origin).or_else(|| of(gimli::DW_AT_specification));
        self.next = origin.and_then(|origin| self.unit.entry(origin).ok());
        Some(entry)
    }
}

fn in_unit<'r>(
    unit: gimli::UnitRef<'_, Slice<'r>>,
    value: Option<AttributeValue<Slice<'r>>>,
) -> Option<UnitOffset> {
    match value {
        Some(AttributeValue::UnitRef(at)) if at.is_in_bounds(&unit) => Some(at),
        _ => None,
    }
}
