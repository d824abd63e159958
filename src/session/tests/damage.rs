//! Debug information with one error: all other data stays, and every incomplete answer has the reason.

use crate::codeobject::{Bytes, CodeObject};
use crate::session::print::Query;
use crate::session::stack::unwind::tests::hostile::{OBJECT, dump_of};
use crate::session::{Locals, ReadError, Session, ValueState, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId};

/// `y` of `leaf`, the last variable of the function in llvm-dwarfdump's list; `x` precedes it.
const Y: usize = 0x8d;

/// The code object with a byte of a section changed.
fn changed(section: &str, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = OBJECT.to_vec();
    let object = CodeObject::parse(Bytes::from(bytes.clone())).unwrap();
    bytes[object.section(section).unwrap().offset as usize + at] = byte;
    bytes
}

fn session(object: &[u8]) -> Session {
    Session::new(dump_of(object, 0), None).unwrap()
}

fn locals(object: &[u8]) -> Result<Locals, ReadError> {
    session(object).locals(WaveId(0), LaneSet::one(LaneId(0)), 0)
}

fn names(locals: &Locals) -> Vec<&str> {
    locals.variables.iter().map(|variable| variable.name.as_str()).collect()
}

#[test]
fn a_line_table_costs_lines() {
    // The version of its header.
    let found = locals(&changed(".debug_line", 4, 0x7f)).unwrap();
    assert_eq!((names(&found), found.line, found.function.as_deref()), (vec!["x", "y"], None, Some("leaf")));
    let [problem] = &found.problems[..] else { panic!("{:?}", found.problems) };
    assert!(problem.starts_with("line table of the unit at 0x0"), "{problem}");
    assert!(locals(OBJECT).unwrap().problems.is_empty());
}

#[test]
fn a_die_costs_what_follows_it() {
    let object = changed(".debug_info", Y, 0x63);
    let found = locals(&object).unwrap();
    assert_eq!(names(&found), ["x"]);
    let [problem] = &found.problems[..] else { panic!("{:?}", found.problems) };
    assert!(problem.contains("DIE 0x8d in the unit at 0x0"), "{problem}");
    // A name that may be in the damaged unit is not reported as unknown.
    let session = session(&object);
    let query = Query::typed("y").unwrap();
    let printed = session.print(WaveId(0), LaneSet::one(LaneId(0)), 0, &query);
    let words = format!("{printed:?}");
    assert!(words.contains("DIE 0x8d in the unit at 0x0"), "{words}");
    // A check before any question reports it, too.
    let checked = dump_of(&object, 0).check_debug();
    assert!(checked.iter().any(|problem| problem.contains("DIE 0x8d in the unit at 0x0")), "{checked:?}");
    assert!(dump_of(OBJECT, 0).check_debug().is_empty());
}

#[test]
fn an_expression_costs_its_variable() {
    let section = CodeObject::parse(Bytes::from(OBJECT.to_vec())).unwrap();
    let info = section.section_bytes(".debug_info").unwrap().unwrap();
    let regx = Y + info[Y..].iter().position(|byte| *byte == 0x90).unwrap();
    let found = locals(&changed(".debug_info", regx, 0xff)).unwrap();
    assert_eq!(names(&found), ["x", "y"]);
    let ValueState::Error(why) = &found.variables[1].lanes[0].state else { panic!("{found:?}") };
    assert!(why.ends_with("in DW_AT_location of DIE 0x8d in the unit at 0x0"), "{why}");
    assert!(!matches!(found.variables[0].lanes[0].state, ValueState::Error(_)));
}

#[test]
fn the_reason_of_a_broken_unit_is_reported() {
    // The code of the root's abbreviation.
    let object = changed(".debug_abbrev", 0, 0x7f);
    let Err(ReadError::NoVariables(why)) = locals(&object) else { panic!("variables") };
    let why = why.to_string();
    assert!(why.starts_with("abbreviations of the unit at 0x0"), "{why}");
    // Paths without names need no unit.
    let print =
        |path| session(&object).print(WaveId(0), LaneSet::one(LaneId(0)), 0, &Query::typed(path).unwrap());
    let printed = print("(short) 0x18000 + 1").unwrap();
    assert_eq!(printed.lanes[0].value.state, ValueState::Value("-32767".into()));
    let named = print("y").unwrap_err().to_string();
    assert!(named.contains("abbreviations of the unit at 0x0"), "{named}");
    let checked = dump_of(&object, 0).check_debug();
    assert!(
        checked.iter().any(|problem| problem.contains("abbreviations of the unit at 0x0")),
        "{checked:?}"
    );
}
