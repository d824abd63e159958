//! Values of Fortran in the dumps of `offload`, in gdb's notation: whole variables, elements and members.

use std::fmt::Write as _;
use std::path::Path;

use lanescope::report::print;
use lanescope::session::print::Query;
use lanescope::session::{Session, Variables as _};
use lanescope::units::{LaneId, LaneSet, WaveId};
use serde_json::Value;

use super::offload::{Case, asked, cases};
use crate::fixtures::{open, session};
use crate::json_of;
use crate::slim::Scratch;

/// An expected value as gdb 13 prints it in a Fortran frame.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Bool(truth) => if *truth { ".TRUE." } else { ".FALSE." }.to_owned(),
        Value::String(text) => format!("'{text}'"),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        Value::Array(elements) => {
            let gap = if elements.iter().any(Value::is_array) { " " } else { ", " };
            format!("({})", elements.iter().map(text).collect::<Vec<_>>().join(gap))
        }
        other => panic!("{other}"),
    }
}

/// A dump's wave in `total`. Frame 1 is its caller `smooth`: flang's locations of parameters end behind the call.
struct Subject {
    session: Session,
    wave: WaveId,
    case: Case,
}

fn subjects() -> (Scratch, Vec<Subject>) {
    let (scratch, cases) = cases("fields");
    let of = |case: Case| {
        let (session, wave) = session(&open(Path::new(&case.dump)), 2);
        Subject { session, wave, case }
    };
    (scratch, cases.into_iter().map(of).collect())
}

/// The answer for a path in lane 3.
fn answer(of: &Subject, frame: usize, path: &str) -> Value {
    let query = Query { path: path.to_owned(), letter: None };
    let printed = of.session.print(of.wave, LaneSet::one(LaneId(3)), frame, &query);
    let printed = printed.unwrap_or_else(|error| panic!("{path}: {error}"));
    let printed = json_of(print::json(&printed, None));
    let mut answer = printed["lanes"][0].clone();
    answer["type"] = printed["type"].clone();
    answer
}

fn value(of: &Subject, frame: usize, path: &str) -> String {
    let answer = answer(of, frame, path);
    answer["value"].as_str().unwrap_or_else(|| panic!("{path} of {}: {answer}", of.case.dump)).to_owned()
}

fn why(of: &Subject, path: &str) -> String {
    let answer = answer(of, 1, path);
    answer["why"].as_str().unwrap_or_else(|| panic!("{path} of {}: {answer}", of.case.dump)).to_owned()
}

/// The first index of a row moves fastest: `rows[j][i]` is `name(i, j)`.
fn check_rows(of: &Subject, name: &str, first: [i64; 2]) {
    for (j, row) in (first[1]..).zip(of.case.expected["values"][name].as_array().unwrap()) {
        for (i, expected) in (first[0]..).zip(row.as_array().unwrap()) {
            assert_eq!(value(of, 1, &format!("{name}({i}, {j})")), text(expected), "{}", of.case.dump);
        }
    }
}

#[test]
fn elements_have_the_values_and_bounds_of_the_source() {
    let (_scratch, subjects) = subjects();
    for of in &subjects {
        let values = &of.case.expected["values"];
        check_rows(of, "w", [0, 1]);
        check_rows(of, "grid", [2, 5]);
        for (name, first) in [("hist", 0), ("x", 1)] {
            for (i, expected) in (first..).zip(values[name].as_array().unwrap()) {
                assert_eq!(value(of, 1, &format!("{name}({i})")), text(expected), "{}", of.case.dump);
            }
        }
        for (name, first) in [("ids", 2), ("row", 1)] {
            for (i, expected) in (first..).zip(values["q"][name].as_array().unwrap()) {
                assert_eq!(value(of, 1, &format!("q%{name}({i})")), text(expected), "{}", of.case.dump);
            }
        }
        let w = values["w"][0][2].as_f64().unwrap();
        let calls = text(&values["calls"]);
        for (path, expected) in [
            ("W(2, 1)", w.to_string()),
            ("Q%IDS(3)", text(&values["q"]["ids"][1])),
            ("w(hist(0) - 4, 1) + 1", (w + 1.0).to_string()),
            ("w(grid(3, 6) - 34, 1)", w.to_string()),
            ("calls", calls.clone()),
            ("Fields::Calls", calls.clone()),
            ("fields::calls + n", (3 + 6).to_string()),
        ] {
            assert_eq!(value(of, 1, path), expected, "{path} of {}", of.case.dump);
        }
        assert_eq!(value(of, 2, "calls"), calls, "{}", of.case.dump);
        for (path, expected) in [
            ("w(4, 1)", "index 4 of dimension 1 is outside of `real(kind=8) (:,:)`: its indexes are 0 to 3"),
            ("w(0, 4)", "index 4 of dimension 2 is outside of `real(kind=8) (:,:)`: its indexes are 1 to 3"),
            (
                "grid(3, 9)",
                "index 9 of dimension 2 is outside of `integer (2:3,5:7)`: its indexes are 5 to 7",
            ),
            ("hist(8)", "index 8 is outside of `integer (0:7)`: its indexes are 0 to 7"),
            ("hist(-1)", "index -1 is outside of `integer (0:7)`: its indexes are 0 to 7"),
            ("x(0)", "index 0 is outside of `integer (:)`: its first index is 1"),
            ("q%ids(1)", "index 1 is outside of `integer, allocatable (:)`: its indexes are 2 to 5"),
            ("q%row(4)", "index 4 is outside of `real (:)`: its indexes are 1 to 3"),
            ("q%none(1)", "`real (:)` is not associated"),
            ("q%empty(1, 1)", "`real, allocatable (:,:)` is not allocated"),
            ("grid(3)", "`integer (2:3,5:7)` needs 2 indexes, found 1"),
            ("grid[5]", "`[]` cannot take a row of `integer (2:3,5:7)`: write all indexes, `(1, 2)`"),
            ("w(1, 2, 3)", "`real(kind=8) (:,:)` needs 2 indexes, found 3"),
            ("n(1)", "`[]` needs an array or a pointer; `integer` is a number"),
            ("q%nothing", "`Type cell` has no member `nothing`"),
            ("size(w)", "there is no `size` in this frame or its code object"),
        ] {
            assert_eq!(why(of, path), expected, "{path} of {}", of.case.dump);
        }
    }
}

#[test]
fn whole_values_have_the_notation_of_fortran() {
    let (_scratch, subjects) = subjects();
    for of in &subjects {
        let values = &of.case.expected["values"];
        let q = &values["q"];
        let mut cell = "( ".to_owned();
        for name in ["tag", "mass", "ids", "row"] {
            write!(cell, "{name} = {}, ", text(&q[name])).unwrap();
        }
        cell.push_str("none = <not associated>, empty = <not allocated> )");
        let expected = [
            ("w", "real(kind=8) (:,:)", text(&values["w"])),
            ("q", "Type cell", cell),
            ("n", "integer", text(&values["n"])),
            ("hist", "integer (0:7)", text(&values["hist"])),
            ("grid", "integer (2:3,5:7)", text(&values["grid"])),
            ("name", "character*5", text(&values["name"])),
            ("z", "complex", "(1.5,-2)".to_owned()),
            ("found", "logical", text(&values["found"])),
            ("i", "integer", text(&values["i"])),
        ];
        let locals =
            asked(&["locals", &of.case.dump, "--wave", "2", "--frame", "1", "--lane", "3", "--json"]);
        let locals = locals["variables"].as_array().unwrap();
        for (name, type_name, value) in expected {
            let printed = answer(of, 1, name);
            assert_eq!(printed["value"], value, "{name} of {}", of.case.dump);
            assert_eq!(printed["type"], type_name, "{name} of {}", of.case.dump);
            let local = locals.iter().find(|local| local["name"] == name).unwrap();
            assert_eq!(local["lanes"][0]["value"], value, "{name} of {}", of.case.dump);
            assert_eq!(local["type"], type_name, "{name} of {}", of.case.dump);
        }
        // Its length is the value of a variable without a location.
        assert_eq!(
            why(of, "x"),
            "the size of `integer (:)` is not known: DW_AT_count is the value of a variable that was optimized out"
        );
        assert_eq!(answer(of, 1, "&grid")["type"], "PTR TO -> ( integer (2:3,5:7) )");
        assert_eq!(value(of, 1, "q%none"), "<not associated>");
        assert_eq!(value(of, 1, "q%empty"), "<not allocated>");
        assert_eq!(value(of, 1, "q%ids"), text(&q["ids"]));
    }
}

/// The bytes of the answer would be those of the descriptor.
#[test]
fn an_array_behind_a_descriptor_has_no_bytes_of_it() {
    let (_scratch, subjects) = subjects();
    for of in &subjects {
        for path in ["w", "q%ids"] {
            let answer = answer(of, 1, path);
            assert!(answer["value"].as_str().is_some_and(|text| text.starts_with('(')), "{answer}");
            let bytes = answer["bytes"].as_str().unwrap_or_default();
            assert_eq!(bytes, "", "{path} of {}: {answer}", of.case.dump);
        }
    }
}
