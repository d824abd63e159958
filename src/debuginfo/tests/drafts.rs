//! Tags and attributes of the drafts, as in tests/fixtures/kernels/draft_ops.s, and the dialects that may read them.

use super::debug_info;
use crate::codeobject::Bytes;
use crate::debuginfo::{
    DebugInfo, DebugInfoError, Expression, Function, Lanes, LocationAttribute, MemorySpace, ObjectMap,
    TypeKind, UnitId,
};
use crate::dwarf::Dialect;
use crate::units::{AddressSpace, DieOffset};

const OBJECT: &[u8] = include_bytes!("../../../tests/fixtures/code/draft_ops-gfx1100.hsaco");

fn object() -> DebugInfo {
    debug_info(Bytes::from_static(OBJECT))
}

/// The fixture with some unique bytes replaced.
fn patched(from: &[u8], to: &[u8]) -> DebugInfo {
    let mut bytes = OBJECT.to_vec();
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(places.len() == 1 && from.len() == to.len(), "{places:x?}");
    bytes[places[0]..][..to.len()].copy_from_slice(to);
    debug_info(Bytes::from(bytes))
}

fn expressions(info: &DebugInfo) -> Vec<Expression> {
    let mut all = Vec::new();
    info.expressions(UnitId(0), |found| all.push(found.expect("sound"))).expect("sound");
    all
}

/// The object maps in the listing of expressions.
fn maps(info: &DebugInfo) -> Vec<DieOffset> {
    let of_maps = expressions(info).into_iter().filter(|at| at.tag == "DW_TAG_object_map");
    let mut maps: Vec<_> = of_maps.map(|at| at.die).collect();
    maps.dedup();
    maps
}

fn function(info: &DebugInfo, name: &str) -> std::sync::Arc<Function> {
    let of_name = |at: &Expression| at.tag == "DW_TAG_subprogram" && at.name.as_deref() == Some(name);
    let die = expressions(info).into_iter().find(of_name).expect(name).die;
    info.function(die).expect(name)
}

fn expression(bytes: &'static [u8]) -> LocationAttribute {
    LocationAttribute::Expression(Bytes::from_static(bytes))
}

fn number(number: u64) -> LocationAttribute {
    LocationAttribute::Constant(number.to_le_bytes().as_slice().into())
}

/// s8 and s9 as an address: DW_OP_composite by the built-in numbers, regx, piece.
const DST: &[u8] = &[0xee, 0x90, 40, 0x93, 4, 0x90, 41, 0x93, 4, 0x94, 8];
const VGPR2: &[u8] = &[0x90, 0x82, 0x0c];

#[test]
fn object_maps_have_their_attributes_in_every_class() {
    let info = object();
    let maps = maps(&info);
    let [of_scale, example, lists] = maps.as_slice() else { panic!("{maps:?}") };
    let found = info.object_map(*of_scale).expect("a map");
    assert_eq!(
        found,
        ObjectMap {
            unit: UnitId(0),
            mem_location: expression(DST),
            cntl_ordinal: expression(&[0x92, 52, 0]),
            vec_location: expression(VGPR2),
            element_size: number(4),
            element_count: number(8),
            ranges: None,
        }
    );
    let found = info.object_map(*example).expect("a map");
    assert_eq!((&found.element_size, &found.element_count), (&expression(&[0x34]), &expression(&[0x38])));
    let one = found.ranges.expect("low_pc and high_pc");
    let found = info.object_map(*lists).expect("a map");
    let two = found.ranges.expect("ranges");
    // The list's two ranges are the two chunks of the first map.
    assert_eq!((one.len(), two.len()), (1, 2));
    assert_eq!((one[0].start, one[0].end, two[0].end), (two[0].start, two[1].end, two[1].start));
    assert!(matches!(found.cntl_ordinal, LocationAttribute::List(_)));
    let at = |pc| info.location_at(found.unit, &found.vec_location, pc).expect("a list");
    assert_eq!(at(two[0].start).expression().map(|bytes| &bytes[..]), Some(VGPR2));
    assert_eq!(at(two[1].start).expression(), None);
}

#[test]
fn functions_have_lanes_and_types_have_spaces() {
    let info = object();
    let (scale, outer) = (function(&info, "scale"), function(&info, "outer"));
    assert_eq!(scale.simd.lanes, Lanes::Constant(8));
    assert_eq!(outer.simd.lanes, Lanes::Expression(expression(&[0x10, 32, 0x9f])));
    let lane_pc = expression(&[0xe7, 0xeb, 64, 32, 0x90, 16, 0xeb, 64, 32, 0x90, 1, 0x94, 4, 0xec, 64, 32]);
    assert_eq!((&scale.simd.lane_pc, &outer.simd.lane_pc), (&lane_pc, &lane_pc));
    assert_eq!(scale.simd.active_lane, LocationAttribute::Missing);
    assert_eq!(outer.simd.active_lane, expression(&[0x90, 1, 0x94, 4]));
    let pointers: Vec<_> = ["cell_pointer", "slot_pointer", "generic_pointer"]
        .map(|name| {
            let variables = &outer.scopes[0].variables;
            let variable = variables.iter().find(|one| one.name.as_deref() == Some(name)).expect(name);
            let pointer = info.type_of(variable.type_id.expect("a type")).expect("a type");
            let TypeKind::Pointer { address_space, .. } = pointer.kind else { panic!("{pointer:?}") };
            (address_space, pointer.memory_space)
        })
        .into();
    let space = |space, memory| (AddressSpace(space), Some(MemorySpace(memory)));
    assert_eq!(pointers, [space(3, 3), space(5, 4), space(1, 0)]);
    // The third base type, after int and unsigned int of 4 bytes and a name each.
    let base = (0..0x200)
        .find_map(|offset| info.base_type(UnitId(0), offset).ok().filter(|base| base.byte_size == 16));
    assert_eq!(base.and_then(|base| base.base.vector_size), Some(4));
}

#[test]
fn the_numbers_mean_something_in_draft_units_alone() {
    let silent = patched(b"[draft:v0.0]", b"[other:v0.0]");
    let map = maps(&object())[0];
    assert_eq!(silent.unit(UnitId(0)).expect("a unit").dialect, None);
    assert!(maps(&silent).is_empty());
    assert_eq!(function(&object(), "scale").simd.lanes, Lanes::Constant(8));
    assert_eq!(
        silent.function(function(&object(), "scale").subprogram.die).expect("it").simd.lanes,
        Lanes::Missing
    );
    let error = silent.object_map(map).unwrap_err().to_string();
    assert!(error.contains("expected DW_TAG_object_map of the draft dialect"), "{error}");
    // The user's choice of the dialect enables them, another choice disables them.
    let said = silent.in_dialect(Some(Dialect::Draft));
    assert_eq!(maps(&said), maps(&object()));
    assert_eq!(said.object_map(map), object().object_map(map));
    assert!(maps(&object().in_dialect(Some(Dialect::LlvmUser))).is_empty());
}

#[test]
fn what_is_no_object_map_is_refused() {
    let info = object();
    let scale = function(&info, "scale").subprogram.die;
    let refused = info.object_map(scale).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("DIE {scale} is DW_TAG_subprogram, expected DW_TAG_object_map of the draft dialect")
    );
    assert!(matches!(info.object_map(DieOffset(u64::MAX)), Err(DebugInfoError::NoSuchDie(_))));
    // The last map's abbreviation: DW_AT_element_count (0x3f84, data1) becomes 0x3ff4, which is unassigned.
    let broken = patched(&[0x84, 0x7f, 0x0b, 0, 0, 0x11, 0x24], &[0xf4, 0x7f, 0x0b, 0, 0, 0x11, 0x24]);
    let map = maps(&broken)[0];
    let refused = broken.object_map(map).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "DW_AT_element_count of DIE {map} in the unit at 0x0 is missing, expected an expression, a location list or a constant"
        )
    );
    // A string has none of the three classes: DW_FORM_data1 of the same attribute becomes DW_FORM_string.
    let broken = patched(&[0x84, 0x7f, 0x0b, 0, 0, 0x11, 0x24], &[0x84, 0x7f, 0x08, 0, 0, 0x11, 0x24]);
    let refused = broken.object_map(map).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("DW_AT_element_count of DIE {map}")), "{refused}");
    assert!(refused.contains("expected an expression"), "{refused}");
}
