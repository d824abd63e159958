//! Variables and parameters: the attributes of their DIEs and origins.

use std::sync::Arc;

use gimli::{DebugAddrIndex, EndianSlice, LittleEndian, Reader as _};

use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::types::TypeId;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Die, Origins, Reading};
use crate::debuginfo::unit::line_table::SourceLocation;
use crate::debuginfo::unit::location::{Location, LocationAttribute};
use crate::debuginfo::unit::sections::AttributeValue;
use crate::units::DieOffset;

/// Kinds of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// A formal parameter.
    Argument,
    /// A variable of a function, in registers or private memory.
    Local,
    /// A variable of a function with a fixed address: `static`, or LDS.
    Static,
    /// A variable outside of functions.
    Global,
}

impl VariableKind {
    /// Whether each lane in the function has its own instance.
    #[must_use]
    pub fn is_of_lane(self) -> bool {
        matches!(self, Self::Argument | Self::Local)
    }
}

/// A variable, for any PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The unit for the evaluation of its location.
    pub unit: UnitId,
    /// Its most concrete DIE.
    pub die: DieOffset,
    /// `DW_AT_name`; `None` for an unnamed parameter.
    pub name: Option<Arc<str>>,
    /// The name with namespaces and classes, for globals.
    pub qualified_name: Option<Arc<str>>,
    /// `DW_AT_linkage_name`.
    pub linkage_name: Option<Arc<str>>,
    /// Argument, local, static or global.
    pub kind: VariableKind,
    /// The position of its declaration.
    pub declared: Option<SourceLocation>,
    /// Its type; `None` if the DIE has none.
    pub type_id: Option<TypeId>,
    /// Whether the compiler generated it: `this`, OpenCL's hidden parameters.
    pub is_artificial: bool,
    /// Whether other units can name it.
    pub is_external: bool,
    /// Whether it only declares a variable that is defined elsewhere.
    pub is_declaration: bool,
    /// The variable's own `DW_AT_LLVM_address_space`, `DW_AT_address_space` of the drafts.
    pub address_space: Option<u64>,
    /// `DW_AT_alignment` in bytes: the source's `alignas`.
    pub alignment: Option<u64>,
    /// Its location, for any PC.
    pub location: LocationAttribute,
    /// The unreadable parts; their objects are absent above.
    pub problems: Vec<DebugInfoError>,
}

/// A variable at one PC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableAt {
    /// The variable.
    pub variable: Arc<Variable>,
    /// Its location at the PC.
    pub location: Location,
    /// The number of scopes around its own within the frame: 0 for the function's own variables and parameters.
    pub depth: usize,
}

impl Variable {
    /// Reads the readable attributes of a DIE's variable.
    pub(in crate::debuginfo) fn read<'a>(reading: Reading<'a>, die: Die<'a>, in_function: bool) -> Self {
        let mut damage = Diagnostics::default();
        let (unit, offset, tag) = (die.view.facts().id, die.offset(), die.tag());
        let is_of_clang = die.view.facts().producer_is_clang();
        let origins = reading.with_sound_origins(die, &mut damage);
        let chain_ends = damage.first().is_some();
        let type_id = damage.absent(origins.reference(reading.units, gimli::DW_AT_type)).map(TypeId);
        let location = location(reading, &origins, type_id);
        // An unreadable origin may have the location.
        let location = match (location, damage.first()) {
            (LocationAttribute::Missing, Some(why)) if chain_ends => {
                LocationAttribute::Broken(Box::new(why.clone()))
            }
            (location, _) => location,
        };
        if let LocationAttribute::Broken(why) = &location {
            damage.add((**why).clone());
        }
        let name = damage.absent(origins.string(gimli::DW_AT_name));
        let space = origins.chain.iter().find_map(|die| die.extension(Heterogeneous::AddressSpace));
        let location = match location {
            LocationAttribute::Expression(bytes)
                if is_of_clang && is_unresolved(reading, unit, &bytes, name.as_deref(), space.is_some()) =>
            {
                LocationAttribute::Missing
            }
            location => location,
        };
        let kind = match (tag, in_function) {
            (gimli::DW_TAG_formal_parameter, _) => VariableKind::Argument,
            (_, false) => VariableKind::Global,
            (_, true) if has_fixed_address(&location) => VariableKind::Static,
            (_, true) if matches!(location, LocationAttribute::Missing) && is_clangs_static(&origins) => {
                VariableKind::Static
            }
            (_, true) => VariableKind::Local,
        };
        let qualified_name = match (&name, origins.last()) {
            (Some(name), Some(declaration)) if kind == VariableKind::Global => {
                damage.or_none(reading.qualified(declaration, name))
            }
            _ => None,
        };
        Self {
            unit,
            die: offset,
            name,
            qualified_name,
            linkage_name: damage.absent(origins.string(gimli::DW_AT_linkage_name)),
            kind,
            declared: origins.declared(),
            type_id,
            is_artificial: origins.flag(gimli::DW_AT_artificial),
            is_external: origins.flag(gimli::DW_AT_external),
            is_declaration: origins.chain.first().is_some_and(|die| die.flag(gimli::DW_AT_declaration)),
            address_space: space.and_then(|(_, value)| crate::debuginfo::unit::sections::unsigned(&value)),
            alignment: origins.chain.iter().find_map(|die| die.constant(gimli::DW_AT_alignment)),
            location,
            problems: damage.into_problems(),
        }
    }
}

/// Whether the address at the start of an expression is one of nothing: the linker wrote 0 for a symbol that it lacks.
///
/// Situation: LLVM moves the variables of LDS into structures and removes their symbols, which clang's debug information
/// of OpenCL still names (`kernel.tile`). The linker discards sections of unused variables. Consequence: the variable
/// has no location; at address 0 is another one, or the header of the file. The only one of a kernel is at 0.
fn is_unresolved(
    reading: Reading<'_>,
    unit: UnitId,
    expression: &[u8],
    name: Option<&str>,
    has_space: bool,
) -> bool {
    let mut bytes = EndianSlice::new(expression, LittleEndian);
    let address = match bytes.read_u8().map(gimli::DwOp) {
        Ok(gimli::DW_OP_addr) => bytes.read_u64().ok(),
        Ok(gimli::DW_OP_addrx | gimli::DW_OP_GNU_addr_index) => {
            let index = bytes.read_uleb128().ok().and_then(|index| usize::try_from(index).ok());
            let view = reading.view(unit).ok();
            view.zip(index)
                .and_then(|(view, index)| reading.dwarf.address(&view.unit, DebugAddrIndex(index)).ok())
        }
        _ => None,
    };
    if address != Some(0) {
        return false;
    }
    // clang's translation of address spaces: 1 is global memory.
    let is_global = matches!(bytes.slice().first(), Some(space) if *space == gimli::DW_OP_lit1.0);
    if is_global || bytes.is_empty() && !has_space {
        return true;
    }
    let object = reading.info.code_object();
    object.zip(name).is_some_and(|(object, name)| object.removed_variables().contains(name))
}

/// Whether a variable of a function without a location is static, by clang's order of attributes.
///
/// Situation: static variables and those in LDS may have no location, as removed locals. Consequence: only the order of
/// the attributes distinguishes them. Source: LLVM adds the type of a global variable before the line of its
/// declaration (`getOrCreateGlobalVariableDIE`), and that of a local one after it (`applyCommonDbgVariableAttributes`).
fn is_clangs_static(origins: &Origins<'_>) -> bool {
    let Some(die) = origins.last().filter(|die| die.view.facts().producer_is_clang()) else { return false };
    let index = |name| die.entry.attrs().iter().position(|attribute| attribute.name() == name);
    index(gimli::DW_AT_type).zip(index(gimli::DW_AT_decl_line)).is_some_and(|(ty, line)| ty < line)
}

/// `DW_AT_location`, else `DW_AT_const_value`.
fn location(reading: Reading<'_>, origins: &Origins<'_>, type_id: Option<TypeId>) -> LocationAttribute {
    let name = gimli::DW_AT_location;
    if let Some(die) = origins.having(name)
        && let Some(value) = die.entry.attr_value(name)
    {
        return die.location_or_broken(&reading.info.sections, name, value);
    }
    match origins.having(gimli::DW_AT_const_value) {
        Some(die) => {
            constant(reading, die, type_id).unwrap_or_else(|why| LocationAttribute::Broken(Box::new(why)))
        }
        None => LocationAttribute::Missing,
    }
}

/// The bytes of `DW_AT_const_value`: a block or string unchanged, a number in its type's size (8 if unknown). DWARF 5
/// section 4.1, item 10.
fn constant(reading: Reading<'_>, die: &Die<'_>, type_id: Option<TypeId>) -> Result<LocationAttribute> {
    let name = gimli::DW_AT_const_value;
    let Some(value) = die.entry.attr_value(name) else { return Ok(LocationAttribute::Missing) };
    let size = || type_id.and_then(|id| reading.info.byte_size(id).ok().flatten()).unwrap_or(8);
    let number = |bytes: [u8; 16]| {
        let size = usize::try_from(size()).unwrap_or(16).min(16);
        Arc::from(bytes.get(..size).unwrap_or(&[]))
    };
    let bytes: Arc<[u8]> = match value {
        AttributeValue::Block(bytes) => Arc::from(bytes.slice()),
        AttributeValue::Exprloc(bytes) => Arc::from(bytes.0.slice()),
        AttributeValue::Sdata(signed) => number(i128::from(signed).to_le_bytes()),
        AttributeValue::Data16(wide) => number(wide.to_le_bytes()),
        AttributeValue::String(_)
        | AttributeValue::DebugStrRef(_)
        | AttributeValue::DebugLineStrRef(_)
        | AttributeValue::DebugStrOffsetsIndex(_) => {
            let text = die.string(name)?.unwrap_or_else(|| Arc::from(""));
            text.bytes().chain([0]).collect()
        }
        ref other => match crate::debuginfo::unit::sections::unsigned(other) {
            Some(unsigned) => number(u128::from(unsigned).to_le_bytes()),
            None => return Err(die.view.unexpected(&die.entry, name, "a constant, block or string", other)),
        },
    };
    Ok(LocationAttribute::Constant(bytes))
}

/// Whether an expression begins with a link-time address: `DW_OP_addr`, `DW_OP_addrx`, or GNU's older `addr_index`.
fn has_fixed_address(location: &LocationAttribute) -> bool {
    const OPERATIONS: [u8; 3] = [gimli::DW_OP_addr.0, gimli::DW_OP_addrx.0, gimli::DW_OP_GNU_addr_index.0];
    match location {
        LocationAttribute::Expression(bytes) => {
            bytes.first().is_some_and(|operation| OPERATIONS.contains(operation))
        }
        _ => false,
    }
}
