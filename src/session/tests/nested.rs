//! Nested functions, entry points, return addresses, and expressions of pointers to members and virtual functions:
//! see `nested/nested.s`. The expected values follow from the text of DWARF 5 and the registers and memory here.

use super::Maker;
use crate::codeobject::{CodeObject, assembled};
use crate::session::print::Query;
use crate::session::{Session, Stacks as _, ValueState, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

const LOADED: u64 = 0x7f00_0010_0000;
const SOURCE: &str = include_str!("nested/nested.s");
/// The frame bases of the two frames of `outer`, the inner one first.
const INNER_BASE: u32 = 0x6000;
const OUTER_BASE: u32 = 0x5000;

/// A wave at an offset of a function; `link` is the value of s34, the static link of `inner`.
fn at(function: &str, offset: u64, link: u32) -> Session {
    let object = assembled(SOURCE);
    let elf = CodeObject::parse(object.clone()).unwrap();
    let code = |name: &str, offset: u64| LOADED + elf.symbol(name).expect(name).value + offset;
    let mut maker = Maker::new("gfx90a");
    maker.code_object(&object, LOADED);
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    // The frame of `outer` at a base: x, shared, early, given.
    let frame = |first: u32| words(&[first, first + 1, first + 2, first + 3]);
    let (inner, outer) = (frame(200), frame(100));
    let object = words(&[0x8000, 11, 22]);
    let table = code("inner", 0).to_le_bytes();
    let pieces: [(u64, &[u8]); 4] = [
        (u64::from(OUTER_BASE) + 16, &outer),
        (u64::from(INNER_BASE) + 16, &inner),
        (0x8010, &table),
        (0x9000, &object),
    ];
    maker.capture.global = maker.map(&pieces);
    let pc = code(function, offset).to_le_bytes();
    let (low, high) = (|address: u64| address as u32, |address: u64| (address >> 32) as u32);
    // `inner` returns into the block of `outer`, which returns after the block.
    let (first, second) = (code("outer", 8), code("outer", 12));
    let scalars = [
        ("s32", 0x100),
        ("s33", INNER_BASE),
        ("s34", link),
        ("s36", 0x9000),
        ("s40", 66),
        ("s41", 77),
        ("s42", OUTER_BASE),
        ("s46", low(code("inner", 4))),
        ("s47", high(code("inner", 4))),
        ("s50", low(first)),
        ("s51", high(first)),
        ("s52", low(second)),
        ("s53", high(second)),
        ("s54", 0),
        ("s55", 0),
        ("s56", 0x200),
    ];
    let scalars = scalars.map(|(name, value)| (name, value.to_le_bytes()));
    let mut registers: Vec<(&str, &[u8], u64)> = vec![("exec", &[0xff; 8], 3), ("pc", &pc, 3)];
    registers.extend(scalars.iter().map(|(name, bytes)| (*name, &bytes[..], 1)));
    maker.wave(WaveSize::W64, None, &registers);
    Session::new(maker.finish(), None).unwrap()
}

fn state(state: &ValueState) -> String {
    match state {
        ValueState::Value(text) => text.to_string(),
        ValueState::OptimizedOut(why) => format!("optimized out: {why}"),
        ValueState::Unavailable(why) => format!("unavailable: {why}"),
        ValueState::Error(why) => format!("error: {why}"),
    }
}

fn shown_in(session: &Session, frame: usize, path: &str) -> String {
    let query = Query { path: path.to_owned(), letter: None };
    let printed = session.print(WaveId(0), LaneSet::one(LaneId(1)), frame, &query).expect(path);
    state(&printed.lanes[0].value.state)
}

fn shown(session: &Session, path: &str) -> String {
    shown_in(session, 0, path)
}

/// DWARF 5 section 3.3.5: the static link is the frame base of the instance of the enclosing function.
#[test]
fn a_nested_function_sees_the_variables_of_the_frame_that_its_static_link_names() {
    let near = at("inner", 4, INNER_BASE);
    let names = |session: &Session| {
        let stack = session.backtrace(WaveId(0), None).unwrap();
        stack.frames.iter().map(|frame| frame.function.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(names(&near), ["inner", "outer", "outer"]);
    assert_eq!(
        (shown(&near, "x"), shown(&near, "shared"), shown(&near, "early")),
        three("200", "201", "202")
    );
    // The register of the enclosing frame, in the save slot of `inner`.
    assert_eq!(shown(&near, "r"), "77");
    let query = Query { path: "r".to_owned(), letter: None };
    let printed = near.print(WaveId(0), LaneSet::one(LaneId(1)), 0, &query).unwrap();
    assert_eq!(printed.lanes[0].value.location().as_deref(), Some("SGPR41"));
    let explained = near.explain(WaveId(0), LaneSet::one(LaneId(1)), 0, &query).unwrap();
    let words =
        "a variable of `outer` around this function, whose physical frame 1 DW_AT_static_link leads to";
    assert_eq!(explained[0].says, words);
    // The outer instance, in which the block with `early` has ended.
    let far = at("inner", 4, OUTER_BASE);
    assert_eq!((shown(&far, "x"), shown(&far, "shared")), ("100".to_owned(), "101".to_owned()));
    assert_eq!(shown(&far, "r"), "77");
    assert_eq!(shown(&far, "early"), "error: there is no `early` in this frame or its code object");
    // Questions in the frames of `outer` itself.
    assert_eq!((shown_in(&far, 1, "x"), shown_in(&far, 2, "x")), ("200".to_owned(), "100".to_owned()));
    assert_eq!(shown(&far, "own"), "7");
}

fn three(one: &str, two: &str, three: &str) -> (String, String, String) {
    (one.to_owned(), two.to_owned(), three.to_owned())
}

/// A frame is used only if it is known to be the right one.
#[test]
fn a_static_link_that_leads_nowhere_is_reported() {
    let lost = at("inner", 4, 0x7000);
    let why = "error: it is a variable of `outer` around this function, and none of the 2 frames of `outer` has the frame \
               base that DW_AT_static_link gives; the stack ends: the return address is 0";
    assert_eq!(shown(&lost, "x"), why);
    assert_eq!(shown(&lost, "own"), "7");
    let deaf = at("deaf", 4, INNER_BASE);
    let why = "error: it is a variable of `outer` around this function, whose frame is not known: the function has no \
               DW_AT_static_link";
    assert_eq!(shown(&deaf, "x"), why);
}

/// Eighteen nested functions: the search does not reach the outermost one's variables.
#[test]
fn functions_around_functions_are_bounded() {
    let deep = at("deep", 4, INNER_BASE);
    assert_eq!(shown(&deep, "outermost"), "error: there is no `outermost` in this frame or its code object");
}

/// DWARF 5 section 3.3: an entry point has its own name and parameters, and its function's variables and frame.
#[test]
fn an_entry_point_is_a_function() {
    let session = at("outer", 16, 0);
    let locals = session.locals(WaveId(0), LaneSet::one(LaneId(1)), 0).unwrap();
    assert_eq!(locals.function.as_deref(), Some("side"));
    let row = |variable: &crate::session::Variable| (variable.name.clone(), state(&variable.lanes[0].state));
    let rows: Vec<_> = locals.variables.iter().map(row).collect();
    let expected = [("x", "200"), ("r", "66"), ("shared", "201"), ("given", "203")];
    assert_eq!(rows, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // An entry point without an extent has an address, and code at it belongs to the entry point with one.
    let address = |path| shown(&session, path).split(' ').rev().nth(1).map(str::to_owned);
    assert_eq!(address("side"), address("gate"));
    assert!(shown(&session, "gate").ends_with("<outer+16>"), "{}", shown(&session, "gate"));
    let after = at("outer", 24, 0);
    let locals = after.locals(WaveId(0), LaneSet::one(LaneId(1)), 0).unwrap();
    assert_eq!(locals.function.as_deref(), Some("outer"));
}

/// DWARF 5 section 3.3.5: the place of the return address has no information about the caller's registers, so it
/// makes no frame.
#[test]
fn a_return_address_is_reported_where_nothing_unwinds() {
    let session = at("lone", 4, 0);
    let stack = session.backtrace(WaveId(0), None).unwrap();
    assert_eq!(stack.frames.len(), 1);
    let end = stack.end.to_string();
    assert!(end.starts_with("no unwind information for "), "{end}");
    let told = format!("; DW_AT_return_addr gives the return address {:#x} <inner+4>", {
        let elf = CodeObject::parse(assembled(SOURCE)).unwrap();
        LOADED + elf.symbol("inner").unwrap().value + 4
    });
    assert!(end.ends_with(&told), "{end}");
}

/// DWARF 5 section 5.14: the pointer's value, then the object's address are on the stack.
#[test]
fn use_locations_give_the_places_of_members() {
    let session = at("inner", 4, INNER_BASE);
    // DW_OP_plus.
    assert_eq!(shown(&session, "obj.*pm"), "22");
    assert_eq!(shown(&session, "(&obj)->*pm"), "22");
    // Half of 8 before the object, then 12: in no ABI.
    assert_eq!(shown(&session, "obj.*pm_odd"), "22");
    assert_eq!(shown(&session, "obj.*pm_null"), "error: the pointer to a member is NULL (-1)");
    assert_eq!(shown(&session, "pm_null"), "NULL");
    assert_eq!(shown(&session, "pm"), "&S::b");
    let unspecified = shown(&session, "obj.*pm_object");
    assert!(unspecified.contains("DW_AT_use_location"), "{unspecified}");
    assert!(unspecified.contains("no object is being evaluated"), "{unspecified}");
    // A value without an address allows no addition.
    let constant = shown(&session, "constant.*pm");
    assert!(constant.starts_with("error: DW_AT_use_location: DW_OP_plus at 0"), "{constant}");
}

/// DWARF 5 section 5.7.8: with the object's address on the stack, the place of the table's entry.
#[test]
fn table_entries_may_be_expressions() {
    let session = at("inner", 4, INNER_BASE);
    let run = shown(&session, "obj.run");
    assert!(run.starts_with("{int ()} 0x7f") && run.ends_with(" <inner>"), "{run}");
    let late =
        "unavailable: the entry of `late` in the table of virtual functions: global+0x8018 was not captured";
    assert_eq!(shown(&session, "obj.late"), late);
}

/// DWARF 5 sections 5.1.2 and 7.5.6; a type without a notation here is printed as its bits.
#[test]
fn base_types_of_every_sort() {
    let session = at("inner", 4, INNER_BASE);
    let expected = [
        // 0xc000 / 2^15, -0xc000 / 2^15, 0xc0 / 2^8, 1234 / 10^2, -3 / 12.
        ("accum", "1.5"),
        ("minus", "-1.5"),
        ("fract", "0.75"),
        ("money", "12.34"),
        ("twelfths", "-0.25"),
        ("packed", "<no notation for DW_ATE_packed_decimal: 0x1234>"),
        ("x87", "<no notation for a float of 10 bytes: 0x3fff8000000000000000>"),
        // DW_FORM_implicit_const.
        ("us", "65534"),
        ("minus_three", "-3"),
    ];
    for (path, value) in expected {
        assert_eq!(shown(&session, path), value, "{path}");
    }
    // A member with a location: the upper half of the first dword.
    assert_eq!(shown(&session, "constant.half"), "0");
    assert_eq!(shown(&session, "obj.half"), "0");
    assert_eq!(shown(&session, "constant.table"), "4096");
}
