//! Locations: a variable's location becomes its slot in the window.

use std::ops::Range;
use std::rc::Rc;

use gimli::write::{
    Address, AttributeValue, ConvertResult, ConvertUnitEntry, Expression, Location, LocationList,
};
use gimli::{UnitOffset, constants};

use super::Slice;
use super::context::Unit;
use super::entry::{Conversion, constant};
use super::filter::type_of;
use crate::debuginfo::TypeId;
use crate::dwarf::{Dialect, Encoding, Operation, Placed, Program};
use crate::units::{BitSize, DieOffset};
use crate::view::layout::Sort;

/// A variable's `DW_AT_location` or `DW_AT_const_value` in the view; `None` where it has none.
pub(super) fn rewrite<'r>(
    conversion: &mut Conversion<'_, '_, '_, 'r>,
    entry: &ConvertUnitEntry<'_, Slice<'r>>,
    attribute: &gimli::Attribute<Slice<'r>>,
    die: DieOffset,
    function: Option<DieOffset>,
) -> ConvertResult<Option<AttributeValue>> {
    let of = type_of(conversion.others, entry.read_unit, &entry.read_entry);
    let of = of.and_then(|of| conversion.die_of(entry.read_unit, of));
    let sort = of.map_or(Sort::Plain, |of| conversion.unit.sort(of));
    let has_location = entry.has_attr(constants::DW_AT_location);
    if attribute.name() == constants::DW_AT_const_value {
        // A location of the same DIE has more information; a small pointer's bytes would be read as a large one's.
        let is_plain = !has_location && sort != Sort::SmallPointer;
        let long = conversion.plans.texts.long(conversion.to, entry.read_unit, attribute.value());
        let value = || conversion.to.convert_attribute_value(entry.read_unit, attribute, &constant).ok();
        return Ok(long.or_else(value).filter(|_| is_plain));
    }
    let size = of.and_then(|of| conversion.unit.debug.byte_size(TypeId(of)).ok().flatten());
    let is_scalar = |of: &DieOffset| sort != Sort::Plain || conversion.unit.debug.is_scalar(TypeId(*of));
    let number =
        size.filter(|_| of.as_ref().is_some_and(is_scalar)).map(|size| BitSize(size.saturating_mul(8)));
    let list = match attribute.value() {
        gimli::AttributeValue::Exprloc(expression) => {
            if is_nowhere(expression.0.slice(), conversion.unit, number) {
                return Ok(Some(AttributeValue::Exprloc(Expression::raw(Vec::new()))));
            }
            if sort != Sort::SmallPointer && is_plain_address(expression.0.slice(), entry) {
                let value = conversion.to.convert_attribute_value(entry.read_unit, attribute, &constant);
                return Ok(value.ok());
            }
            None
        }
        gimli::AttributeValue::LocationListsRef(offset) => Some(offset),
        gimli::AttributeValue::DebugLocListsIndex(index) => {
            Some(real(conversion, entry).locations_offset(index)?)
        }
        _ => return Ok(None),
    };
    let Some(slot) = conversion.plan(function).add(die, of.map(TypeId), sort, size) else {
        let problem = "variables are left out: there are more than a window can hold";
        conversion.plans.problems.insert(problem.to_owned());
        return Ok(None);
    };
    let Some(list) = list else { return Ok(Some(AttributeValue::Exprloc(pointer_at(slot)))) };
    let Some(ranges) = ranges(conversion, entry, list, number)? else { return Ok(too_many(conversion)) };
    if ranges.is_empty() {
        return Ok(Some(AttributeValue::Exprloc(Expression::raw(Vec::new()))));
    }
    let mut locations = LocationList(vec![Location::BaseAddress { address: Address::Constant(0) }]);
    for range in ranges.iter() {
        if !conversion.plans.locations.take() {
            return Ok(too_many(conversion));
        }
        let (begin, end) = (range.start, range.end);
        locations.0.push(Location::OffsetPair { begin, end, data: pointer_at(slot) });
    }
    Ok(Some(AttributeValue::LocationListRef(conversion.to.unit.locations.add(locations))))
}

/// Records a variable beyond the window's capacity.
fn too_many(conversion: &mut Conversion<'_, '_, '_, '_>) -> Option<AttributeValue> {
    let problem = "variables are left out: their location lists are more than a view can hold";
    conversion.plans.problems.insert(problem.to_owned());
    None
}

/// The ranges in which a location list has any location. All of them lead to the window, thus adjoining ranges are
/// merged. `number`: as for [`is_nowhere`]. `None` beyond the view's limit of reads.
fn ranges<'r>(
    conversion: &mut Conversion<'_, '_, '_, 'r>,
    entry: &ConvertUnitEntry<'_, Slice<'r>>,
    list: gimli::LocationListsOffset,
    number: Option<BitSize>,
) -> ConvertResult<Option<Rc<[Range<u64>]>>> {
    if let Some(known) = conversion.lists.get(&(list.0, number)) {
        return Ok(Some(Rc::clone(known)));
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut entries = real(conversion, entry).locations(list)?;
    while let Ok(Some(each)) = entries.next() {
        if !conversion.plans.locations_read.take() {
            return Ok(None);
        }
        let (begin, end) = (each.range.begin, each.range.end);
        if begin >= end || is_nowhere(each.data.0.slice(), conversion.unit, number) {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if begin <= last.end && last.start <= end => {
                *last = last.start.min(begin)..last.end.max(end);
            }
            _ => ranges.push(begin..end),
        }
    }
    let ranges: Rc<[Range<u64>]> = ranges.into();
    conversion.lists.insert((list.0, number), Rc::clone(&ranges));
    Ok(Some(ranges))
}

/// The unit with its location lists, which the converted sections lack.
fn real<'e, 'r: 'e>(
    conversion: &Conversion<'_, '_, '_, 'r>,
    entry: &ConvertUnitEntry<'e, Slice<'r>>,
) -> gimli::UnitRef<'e, Slice<'r>> {
    gimli::UnitRef::new(conversion.signed.dwarf(), entry.read_unit.unit)
}

/// `DW_OP_breg7 (rsp) slot; DW_OP_deref`: the address in the window's slot.
fn pointer_at(slot: u32) -> Expression {
    let mut bytes = vec![constants::DW_OP_breg7.0];
    let mut left = i64::from(slot);
    loop {
        let byte = left as u8 & 0x7f;
        left >>= 7;
        if left == 0 && byte & 0x40 == 0 {
            bytes.push(byte);
            break;
        }
        bytes.push(byte | 0x80);
    }
    bytes.push(constants::DW_OP_deref.0);
    Expression::raw(bytes)
}

/// Whether an expression is an empty location, or `DW_OP_LLVM_undefined` alone, in the dialect of its unit; `number`: the
/// size of a number or pointer. One whose pieces leave out bits of it has no value, and a debugger's error or zeros for
/// the missing bits would be wrong.
fn is_nowhere(bytes: &[u8], unit: &Unit<'_>, number: Option<BitSize>) -> bool {
    // `DW_OP_LLVM_undefined` has one byte, or two after `DW_OP_LLVM_user`; the pieces of a number have some more.
    const MAX: usize = 128;
    if bytes.is_empty() {
        return true;
    }
    let is_short = bytes.len() <= if number.is_some() { MAX } else { 2 };
    let encoding = Encoding::new(unit.facts.dialect.unwrap_or(Dialect::LlvmUser));
    is_short
        && Program::decode(bytes, encoding).is_ok_and(|program| match program.operations() {
            [Placed { operation: Operation::Undefined, .. }] => true,
            _ => number.is_some_and(|size| program.leaves_out(size)),
        })
}

/// Whether an expression is just an address of global memory.
fn is_plain_address(bytes: &[u8], entry: &ConvertUnitEntry<'_, Slice<'_>>) -> bool {
    // A space of the variable's own, such as LDS.
    let has_space = entry
        .attrs
        .iter()
        .any(|attribute| attribute.name() == constants::DW_AT_address_class || attribute.name().0 >= 0x3e00);
    let rest = match bytes.split_first() {
        Some((&op, rest)) if op == constants::DW_OP_addr.0 => rest.get(8..),
        Some((&op, rest)) if op == constants::DW_OP_addrx.0 || op == constants::DW_OP_GNU_addr_index.0 => {
            let end = rest.iter().position(|byte| byte & 0x80 == 0);
            end.and_then(|end| rest.get(end + 1..))
        }
        _ => None,
    };
    !has_space && rest.is_some_and(<[u8]>::is_empty)
}

/// Whether an attribute's expression needs neither AMDGPU's registers nor its operations; true for other attributes.
pub(super) fn is_readable(
    attribute: &gimli::Attribute<Slice<'_>>,
    unit: gimli::UnitRef<'_, Slice<'_>>,
) -> bool {
    use gimli::Operation;
    let expression = match attribute.value() {
        gimli::AttributeValue::Exprloc(expression) => expression,
        gimli::AttributeValue::Block(bytes) if is_expression(attribute) => gimli::Expression(bytes),
        gimli::AttributeValue::LocationListsRef(_) | gimli::AttributeValue::DebugLocListsIndex(_) => {
            return false;
        }
        _ => return true,
    };
    let mut operations = expression.operations(unit.encoding());
    loop {
        match operations.next() {
            Ok(None) => return true,
            Err(_)
            | Ok(Some(
                Operation::Register { .. }
                | Operation::RegisterOffset { .. }
                | Operation::FrameOffset { .. }
                | Operation::CallFrameCFA
                | Operation::Call { .. }
                | Operation::TLS
                | Operation::EntryValue { .. }
                | Operation::ParameterRef { .. }
                | Operation::ImplicitPointer { .. }
                | Operation::Piece { .. }
                | Operation::Deref { space: true, .. },
            )) => return false,
            Ok(Some(_)) => {}
        }
    }
}

/// An expression of a unit other than the converted one; `None` if it refers to that unit.
pub(super) fn copied(
    attribute: &gimli::Attribute<Slice<'_>>,
    unit: gimli::UnitRef<'_, Slice<'_>>,
) -> Option<AttributeValue> {
    use gimli::Operation;
    let gimli::AttributeValue::Exprloc(expression) = attribute.value() else { return None };
    let mut operations = expression.operations(unit.encoding());
    loop {
        match operations.next() {
            Ok(None) => break,
            Ok(Some(Operation::Deref { base_type: UnitOffset(0), .. })) => {}
            Err(_)
            | Ok(Some(
                Operation::Deref { .. }
                | Operation::TypedLiteral { .. }
                | Operation::Convert { .. }
                | Operation::Reinterpret { .. }
                | Operation::AddressIndex { .. }
                | Operation::ConstantIndex { .. },
            )) => return None,
            Ok(Some(_)) => {}
        }
    }
    Some(AttributeValue::Exprloc(Expression::raw(expression.0.slice().to_vec())))
}

/// Whether blocks of an attribute are expressions: DWARF 3 and older have no separate form for them.
fn is_expression(attribute: &gimli::Attribute<Slice<'_>>) -> bool {
    matches!(
        attribute.name(),
        constants::DW_AT_data_member_location
            | constants::DW_AT_vtable_elem_location
            | constants::DW_AT_data_location
    )
}
