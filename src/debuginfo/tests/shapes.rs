//! Hand-written DWARF: valid forms that clang does not write. See `shapes/shapes.s` for the contents.
//!
//! llvm-dwarfdump 22 reads the old attribute codes as ptrauth's, and crashes on the type that is its own parameter.

use super::debug_info;
use crate::codeobject::{Bytes, ElfAddress};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::format::Options;
use crate::debuginfo::{
    DebugInfo, DebugInfoError, Lanes, Location, LocationAttribute, Type, TypeId, TypeKind, UnitId, VariableAt,
};
use crate::units::{AddressSpace, DieOffset};

const OBJECT: &[u8] = include_bytes!("shapes/shapes.hsaco");
const LABELS: [&str; 27] = [
    "procedure",
    "int",
    "vector",
    "p_both",
    "p_class",
    "p_none",
    "typedef_a",
    "pair",
    "self",
    "origin_a",
    "bounds",
    "growing",
    "null",
    "far_type",
    "cu2",
    "r_both",
    "r_class",
    "r_none",
    "rr_both",
    "rr_class",
    "rr_none",
    "call_both",
    "call_class",
    "call_none",
    "called",
    "far_call",
    "places",
];

fn object() -> DebugInfo {
    debug_info(Bytes::from_static(OBJECT))
}

/// DIE at a label of the assembly.
fn label(info: &DebugInfo, name: &str) -> DieOffset {
    let offsets = info
        .code_object()
        .expect("an object")
        .section_bytes(".shapes")
        .expect("a section")
        .expect("a section");
    let index = LABELS.iter().position(|label| *label == name).expect(name);
    let offset = offsets[index * 4..][..4].try_into().expect("four bytes");
    DieOffset(u32::from_le_bytes(offset).into())
}

fn type_at(info: &DebugInfo, name: &str) -> std::sync::Arc<Type> {
    info.type_of(TypeId(label(info, name))).expect(name)
}

fn text(info: &DebugInfo) -> u64 {
    info.code_object().expect("an object").text().expect("code").start.0
}

fn variable(info: &DebugInfo, name: &str, offset: u64) -> VariableAt {
    let variables = info.variables_at(ElfAddress(text(info) + offset)).expect("variables");
    let found = variables.into_iter().find(|variable| variable.variable.name.as_deref() == Some(name));
    found.expect(name)
}

#[test]
fn reads_both_codes_of_llvms_attributes() {
    let info = object();
    let pc = ElfAddress(text(&info));
    let at = info.function_at(pc).expect("sound").expect("f");
    assert_eq!(info.unit(UnitId(0)).expect("a unit").augmentation.as_deref(), Some("[amd:v0.0]"));
    let simd = at.simd(0);
    assert_eq!(simd.lanes, Lanes::Constant(64));
    assert_eq!(simd.lane_pc, LocationAttribute::Expression(Bytes::from_static(&[0x90, 0x10, 0x9f])));
    let active = info.location_at(UnitId(0), &simd.active_lane, pc).expect("a list");
    assert_eq!(active.expression().map(|bytes| bytes.to_vec()), Some(vec![0x90, 0x11]));
    assert_eq!(at.frame_base, Location::Expression(Bytes::from_static(&[0x90, 0x41])));
    let functions = info.functions(UnitId(1)).expect("sound");
    let second = info.function(functions[0]).expect("g");
    assert_eq!(second.simd.lanes, Lanes::Constant(32));
    assert_eq!(second.simd.lane_pc, LocationAttribute::Expression(Bytes::from_static(&[0x30])));
    assert!(!info.dialect_hint(&second).expect("sound").producer_is_clang);
    let hint = info.dialect_hint(&at.function).expect("sound");
    assert_eq!((hint.producer_is_clang, hint.llvm_user), (true, false));
}

#[test]
fn constants_have_the_bytes_of_their_type() {
    let info = object();
    let constant = |name: &str| match variable(&info, name, 0).location {
        Location::ConstValue(bytes) => bytes.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(constant("minus"), (-2i32).to_le_bytes());
    assert_eq!(constant("block"), [1, 2, 3, 4]);
    assert_eq!(constant("text"), b"hi\0");
}

#[test]
fn a_default_entry_counts_where_no_other_does() {
    let info = object();
    let base = text(&info);
    let at = |offset| match variable(&info, "fallback", offset).location {
        Location::ListEntry { expression, range } => {
            (expression.to_vec(), range.map(|range| range.start.0 - base..range.end.0 - base))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(at(0), (vec![0x32], None));
    assert_eq!(at(4), (vec![0x31], Some(4..8)));
    assert_eq!(at(8), (vec![], Some(8..12)));
    assert_eq!(at(12), (vec![0x32], None));
    // Of two entries the first counts; after both there is no location.
    assert_eq!(variable(&info, "gap", 0).location.expression().expect("an entry").to_vec(), [0x33]);
    assert_eq!(variable(&info, "gap", 4).location.expression().expect("an entry").to_vec(), [0x34]);
    assert_eq!(variable(&info, "gap", 8).location, Location::NotAtPc);
    let LocationAttribute::List(list) = variable(&info, "gap", 8).variable.location else { panic!("a list") };
    let ranges = info
        .location_list(UnitId(0), list)
        .expect("a list")
        .into_iter()
        .map(|entry| entry.range.expect("a range"));
    assert_eq!(ranges.map(|range| range.end.0 - base).collect::<Vec<_>>(), [4, 8]);
}

#[test]
fn evaluators_find_what_expressions_name() {
    let info = object();
    let pc = ElfAddress(text(&info));
    let procedure = info.referenced_die(label(&info, "procedure"), pc).expect("a procedure");
    assert!(procedure.is_procedure && !procedure.is_list);
    assert_eq!(procedure.location, Location::Expression(Bytes::from_static(&[0x38])));
    let listed = info.referenced_die(variable(&info, "gap", 0).variable.die, pc).expect("a variable");
    assert!(listed.is_list && !listed.is_procedure);
    let vector = info.base_type(UnitId(0), label(&info, "vector").0).expect("a base type");
    assert_eq!((vector.base.vector_size, vector.byte_size), (Some(4), 16));
    let wrong = info.base_type(UnitId(0), label(&info, "pair").0).expect_err("a struct");
    assert!(matches!(wrong, DebugInfoError::Tag { expected: "DW_TAG_base_type with a size", .. }));
    assert!(matches!(
        info.indexed_address(UnitId(0), 0),
        Err(DebugInfoError::Unit { what: ".debug_addr entry", .. })
    ));
    assert!(matches!(info.referenced_die(DieOffset(1 << 40), pc), Err(DebugInfoError::NoSuchDie(_))));
}

#[test]
fn pointers_name_their_space_by_the_units_rules() {
    let info = object();
    let space = |name: &str| match type_at(&info, name).kind {
        TypeKind::Pointer { address_space, .. } => address_space,
        ref other => panic!("{other:?}"),
    };
    // LLVM_address_space has precedence. Otherwise the 2020 classes if the unit has their augmentation: 4 constant,
    // none generic.
    assert_eq!([space("p_both"), space("p_class"), space("p_none")], [5, 0, 1].map(AddressSpace));
    // A unit without augmentation uses address space numbers.
    assert_eq!(space("far_type"), AddressSpace(4));
    let far = variable(&info, "far", 0).variable.type_id.expect("a type");
    assert_eq!(info.type_name(Some(far)).expect("a name"), "int *");
    assert_eq!(info.byte_size(TypeId(label(&info, "p_both"))), Ok(Some(4)));
    let shown = |name: &str, bytes: &[u8]| {
        let name_of = |space: AddressSpace| (space.0 > 1).then(|| format!("space_{}", space.0));
        let options = Options { space_name: &name_of, ..Options::gdb() };
        info.value(TypeId(label(&info, name)), Contents::known(bytes), &options).expect(name).to_string()
    };
    assert_eq!(shown("p_both", &[0x40, 0, 0, 0]), "space_5#0x40");
    assert_eq!(shown("p_none", &[0, 0, 0x20, 0, 0, 0x7f, 0, 0]), "0x7f0000200000");
}

#[test]
fn references_and_functions_name_their_space_as_pointers_do() {
    let info = object();
    let reference = |name: &str| match type_at(&info, name).kind {
        TypeKind::Reference { address_space, is_rvalue, .. } => (address_space.0, is_rvalue),
        ref other => panic!("{other:?}"),
    };
    // DW_AT_LLVM_address_space has precedence; otherwise the 2020 classes: 3 is local, none is generic, whose number is
    // 1.
    assert_eq!(["r_both", "r_class", "r_none"].map(reference), [(5, false), (3, false), (1, false)]);
    assert_eq!(["rr_both", "rr_class", "rr_none"].map(reference), [(5, true), (3, true), (1, true)]);
    let function = |name: &str| match type_at(&info, name).kind {
        TypeKind::Subroutine { address_space, .. } => address_space,
        ref other => panic!("{other:?}"),
    };
    let spaces = [5, 3].map(|space| Some(AddressSpace(space)));
    assert_eq!(["call_both", "call_class"].map(function), spaces);
    assert_eq!((function("call_none"), function("growing")), (None, None));
    // Class 4 of the 2020 text is constant, which is global; without the augmentation 4 is the number of a space.
    assert_eq!((function("called"), function("far_call")), (Some(AddressSpace(0)), Some(AddressSpace(4))));
}

#[test]
fn members_are_at_no_other_place_than_the_one_that_is_given() {
    let places = type_at(&object(), "places");
    let TypeKind::Record(record) = &places.kind else { panic!("{places:?}") };
    let place = |index: usize| {
        let member = &record.members[index];
        (member.bit_offset, member.problem().map(ToString::to_string))
    };
    assert_eq!(place(0), (u64::MAX - 7, None));
    let beyond = place(1).1.expect("bit 2^64 is beyond what 64 bits count");
    assert!(beyond.contains("18446744073709551616"), "{beyond}");
    // 32 bits of storage minus 40 minus a width of 3.
    let before = place(2).1.expect("before the object");
    assert!(before.contains("bit -11"), "{before}");
}

#[test]
fn numbers_of_lanes_may_be_a_list() {
    let info = object();
    let functions = info.functions(UnitId(1)).expect("sound");
    let listed = info.function(functions[1]).expect("listed");
    let Lanes::Expression(lanes) = &listed.simd.lanes else { panic!("{:?}", listed.simd.lanes) };
    assert!(matches!(lanes, LocationAttribute::List(_)));
    let at = |offset| info.location_at(UnitId(1), lanes, ElfAddress(text(&info) + offset)).expect("a list");
    assert_eq!(at(0x14).expression().map(|bytes| bytes.to_vec()), Some(vec![0x38, 0x9f]));
    assert_eq!(at(0x18), Location::NotAtPc);
}

#[test]
fn circles_are_errors_with_their_place() {
    let info = object();
    let die = label(&info, "typedef_a");
    let error = info.byte_size(TypeId(die)).expect_err("a circle");
    assert_eq!(error, DebugInfoError::TooDeep { die, what: "typedefs", limit: 64 });
    let growing = info.type_name(Some(TypeId(label(&info, "growing")))).expect_err("a circle");
    assert!(matches!(growing, DebugInfoError::TooDeep { what: "types", .. }));
    let die = label(&info, "origin_a");
    let error = info.referenced_die(die, ElfAddress(0)).expect_err("a circle");
    assert_eq!(error, DebugInfoError::TooDeep { die, what: "abstract origins", limit: 8 });
    assert!(error.to_string().contains(&format!("from DIE {die}")));
    // A struct that contains itself has a value except for that member.
    let bytes = [0; 8];
    let value = info.value(TypeId(label(&info, "self")), Contents::known(&bytes), &Options::gdb());
    let again = format!("{{me = <the type at DIE {} contains itself>}}", label(&info, "self"));
    assert_eq!(value.expect("a value").to_string(), again);
}

#[test]
fn old_bit_fields_and_bounds() {
    let info = object();
    let pair = TypeId(label(&info, "pair"));
    // 0b101 in bits 31 to 29 and 0b10011 in bits 4 to 0, both signed.
    let word = (0b101u32 << 29 | 0b10011).to_le_bytes();
    let value = info.value(pair, Contents::known(&word), &Options::gdb()).expect("a value");
    assert_eq!(value.to_string(), "{top = -3, low = -13}");
    let bounds = type_at(&info, "bounds");
    let TypeKind::Array { dimensions, .. } = &bounds.kind else { panic!("{bounds:?}") };
    assert_eq!(dimensions.iter().map(|dimension| dimension.count()).collect::<Vec<_>>(), [Some(3), Some(0)]);
    assert_eq!(type_at(&info, "null").kind, TypeKind::Unspecified);
}
