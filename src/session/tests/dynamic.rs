//! Types whose attributes depend on the object: see `dynamic/dynamic.s` for the objects' bytes. The expected values
//! follow from the text of DWARF 5.

use super::Maker;
use crate::session::{Session, ValueState, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

const OBJECT: &[u8] = include_bytes!("dynamic/dynamic.hsaco");
const LOADED: u64 = 0x7f00_0010_0000;

/// Name, type and output of every variable in scope at a function's start.
fn shown(function: &str) -> Vec<(String, String, String)> {
    let elf = crate::codeobject::CodeObject::parse(OBJECT.to_vec()).unwrap();
    let pc = LOADED + elf.symbol(function).unwrap().value;
    let mut maker = Maker::new("gfx90a");
    maker.code_object(OBJECT, LOADED);
    maker.wave(WaveSize::W64, None, &[("exec", &[0xff; 8], 3), ("pc", &pc.to_le_bytes(), 3)]);
    let session = Session::new(maker.finish(), None).unwrap();
    let locals = session.locals(WaveId(0), LaneSet::one(LaneId(1)), 0).unwrap();
    let value = |state: &ValueState| match state {
        ValueState::Value(text) => text.to_string(),
        ValueState::OptimizedOut(why) => format!("optimized out: {why}"),
        ValueState::Unavailable(why) => format!("unavailable: {why}"),
        ValueState::Error(why) => format!("error: {why}"),
    };
    let row = |variable: &crate::session::Variable| {
        (variable.name.clone(), variable.type_name.clone(), value(&variable.lanes[0].state))
    };
    locals.variables.iter().map(row).collect()
}

#[test]
fn objects_determine_the_rest_of_their_types() {
    let expected = [
        ("n", "unsigned long", "2"),
        ("nowhere", "unsigned long", "optimized out: it has no DW_AT_location"),
        ("vla", "int [variable length]", "{1, 2, 3}"),
        ("counted", "int [variable length]", "{2, 7}"),
        (
            "gone",
            "int [variable length]",
            "unavailable: DW_AT_upper_bound is the value of a variable that was optimized out",
        ),
        ("empty", "int [0]", "{}"),
        ("allocated", "int [variable length]", "{10, 12, 14}"),
        ("unallocated", "int [variable length]", "<not allocated>"),
        ("backwards", "int [3]", "{12, 11, 10}"),
        ("text", "character [variable length]", "\"abc\""),
        ("fixed", "character [3]", "\"abc\""),
        ("ranked", "int [variable length]", "{{1, 2}, {3, 4}, {5, 6}}"),
        ("derived", "struct D", "{<B> = {x = 5}, own = 9}"),
        ("packed", "unsigned _BitInt(4) [3]", "{1, 2, 3}"),
        ("one", "struct V", "{tag = 1, a = 41}"),
        ("six", "struct V", "{tag = 6, b = 42}"),
        ("other", "struct V", "{tag = 9, c = 43}"),
        ("set", "<unnamed type>", "0x0102"),
        ("small", "small", "7"),
        ("dynamic", "int", "77"),
        ("apart", "int", "<not associated>"),
    ];
    let found = shown("f");
    for (row, expected) in found.iter().zip(expected) {
        assert_eq!((row.0.as_str(), row.1.as_str(), row.2.as_str()), expected);
    }
    assert_eq!(found.len(), expected.len());
}

/// Fortran counts from 1, and its first index moves fastest.
#[test]
fn languages_order_their_dimensions() {
    let rows = [("matrix".to_owned(), "integer (2,3)".to_owned(), "((1, 2) (3, 4) (5, 6))".to_owned())];
    assert_eq!(shown("g"), rows);
}
