//! Paths through types and locations that no compiler fixture has, and their limits: see `paths/paths.s`. The expected
//! values follow from the text of DWARF 5 for the bytes below, and from C for the casts.

use super::Maker;
use crate::report::print as report;
use crate::session::print::{MAX_STRING, Query};
use crate::session::{Session, ValueState, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

const OBJECT: &[u8] = include_bytes!("paths/paths.hsaco");
const LOADED: u64 = 0x7f00_0010_0000;
/// `DATA` of paths.s.
const DATA: u64 = 0x7f00_0020_0000;

/// Characters without a NUL, longer than the output limit of a string.
fn letters() -> Vec<u8> {
    (b'a'..=b'z').cycle().take(300).collect()
}

/// The objects' bytes.
fn data() -> Vec<u8> {
    let mut data = vec![0; 604];
    let mut put = |at: usize, bytes: &[u8]| data[at..at + bytes.len()].copy_from_slice(bytes);
    for number in 1..=8u32 {
        put(number as usize * 4 - 4, &number.to_le_bytes());
    }
    put(32, &[0x21, 0x43]);
    // The table is at 208; the entry before its start gives B's offset, 16 bytes.
    put(64, &(DATA + 208).to_le_bytes());
    put(72, &9u32.to_le_bytes());
    put(80, &5u32.to_le_bytes());
    put(184, &16u64.to_le_bytes());
    put(128, &(DATA + 128).to_le_bytes());
    put(136, &(DATA + 256).to_le_bytes());
    put(144, &(DATA + 600).to_le_bytes());
    put(256, &letters());
    put(600, b"tail");
    data
}

/// The address of `f`; the wave is 4 bytes after it.
fn start() -> u64 {
    LOADED + crate::codeobject::CodeObject::parse(OBJECT.to_vec()).unwrap().symbol("f").unwrap().value
}

fn session() -> Session {
    let mut maker = Maker::new("gfx90a");
    maker.code_object(OBJECT, LOADED);
    maker.capture.global = maker.map(&[(DATA, &data())]);
    let group = maker.group([0, 0, 0], &[(16, &[0x2a, 0, 0, 0, 0x2b, 0, 0, 0])]);
    let pc = (start() + 4).to_le_bytes();
    maker.wave(WaveSize::W64, Some(group), &[("exec", &[0xff; 8], 3), ("pc", &pc, 3)]);
    Session::new(maker.finish(), None).unwrap()
}

/// The result of a path in lane 1: its type, and its value or the reason for its absence.
fn shown(session: &Session, path: &str) -> (String, Result<String, String>) {
    let query = Query::typed(path).unwrap();
    let printed = session.print(WaveId(0), LaneSet::one(LaneId(1)), 0, &query);
    let printed = report::json(&printed.unwrap_or_else(|error| panic!("{path}: {error}")), None);
    let printed = serde_json::to_value(printed).unwrap();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let lane = &printed["lanes"][0];
    let value = text(&lane["value"]).ok_or_else(|| text(&lane["why"]).unwrap_or_default());
    (text(&printed["type"]).unwrap_or_default(), value)
}

fn values(paths: &[(&str, &str)]) {
    let session = session();
    for (path, expected) in paths {
        assert_eq!(shown(&session, path).1.as_deref(), Ok(*expected), "{path}");
    }
}

fn refusals(paths: &[(&str, &str)]) {
    let session = session();
    for (path, expected) in paths {
        let why = shown(&session, path).1.unwrap_err();
        assert!(why.contains(expected), "{path}: {why}");
    }
}

#[test]
fn elements_lie_as_far_apart_as_their_strides() {
    values(&[
        ("apart", "{1, 3, 5}"),
        ("apart[0]", "1"),
        ("apart[1]", "3"),
        ("apart[2]", "5"),
        ("*apart", "1"),
        ("*&apart[1]", "3"),
        ("backwards", "{3, 2, 1}"),
        ("backwards[2]", "1"),
        ("nibbles", "{1, 2, 3, 4}"),
        ("nibbles[0]", "1"),
        ("nibbles[1]", "2"),
        ("nibbles[2]", "3"),
        ("nibbles[3] + 1", "5"),
    ]);
    refusals(&[
        // A pointer to int steps by 4 bytes.
        ("apart + 1", "the elements of `int [3]` are 64 bits apart"),
        ("&nibbles[1]", "a bit-field has no address"),
    ]);
}

#[test]
fn virtual_bases_are_at_the_offset_of_their_object() {
    values(&[
        ("derived", "{<B> = {x = 5}, own = 9}"),
        ("derived.x", "5"),
        ("(&derived)->x", "5"),
        ("derived.own", "9"),
    ]);
    let (_, at) = shown(&session(), "&derived.x");
    assert!(at.unwrap().starts_with(&format!("{:#x}", DATA + 80)));
    // A pointer cast to the base adjusts the address, and NULL stays NULL. The cast back needs the object's own table.
    values(&[("*(B *) &derived", "{x = 5}"), ("(B *) (D *) 0", "0x0")]);
    let (_, at) = shown(&session(), "(B *) &derived");
    assert!(at.unwrap().starts_with(&format!("{:#x}", DATA + 80)));
    refusals(&[("(D *) (B *) &derived", "`B` is a virtual base class of `D`: no cast leads back")]);
}

#[test]
fn implicit_pointers_lead_to_what_exists_only_in_the_debug_information() {
    values(&[
        ("*implicit", "6"),
        ("implicit[-1]", "5"),
        ("*(implicit - 1)", "5"),
        ("implicit[0] + pair[0]", "11"),
    ]);
    refusals(&[
        ("&*implicit", "it has no address: it is not in memory"),
        ("*(implicit + 0xffffffffffffffff)", "times 4 bytes are more than a pointer moves by"),
        ("implicit[0x4000000000000000]", "4611686018427387904 times 4 bytes"),
    ]);
}

#[test]
fn casts_lead_to_arrays() {
    values(&[
        ("*(int (*)[4]) &numbers", "{1, 2, 3, 4}"),
        ("((int (*)[4]) &numbers)[1]", "{5, 6, 7, 8}"),
        ("((int (*)[4]) &numbers)[1][2]", "7"),
        ("(*((int (*)[2][2]) &numbers + 1))[1][0]", "7"),
        ("**((int (*)[4]) &numbers + 1)", "5"),
        ("(*(const int (*)[3]) numbers)[2]", "3"),
        ("*(*(char (*)[2]) &numbers)@3", "\"\\001\\000\""),
    ]);
    let session = session();
    for (path, name) in [
        ("(int (*)[4]) &numbers", "int (*)[4]"),
        ("(int (*)[2][3]) 16", "int (*)[2][3]"),
        ("(int *(*)[4]) 16", "int *(*)[4]"),
        ("(int (**)[4]) 16", "int (**)[4]"),
    ] {
        assert_eq!(shown(&session, path).0, name);
    }
    let local = shown(&session, "(*(local int (*)[2]) 16)[1]");
    assert_eq!(local, ("int".to_owned(), Ok("43".to_owned())));
    let number = shown(&session, "(local int (*)[2]) 16");
    assert_eq!(number.1.as_deref(), Ok("local#0x10"));
    refusals(&[
        ("*(int (*)[4]) 0", "the pointer is NULL"),
        ("(local int (*)[4]) &numbers", "is not in the aperture of local memory"),
    ]);
}

#[test]
fn names_of_other_units_and_of_lds() {
    values(&[
        ("counter", "42"),
        ("&counter", "local#0x10"),
        ("*(&counter + 1)", "43"),
        ("far::away", "3"),
        ("::far::away", "3"),
        ("away", "3"),
        ("far::slots", "43"),
        ("&far::slots", "local#0x14"),
    ]);
}

#[test]
fn references_and_members_end() {
    // The low half of the address in all references.
    let whole = i32::from_le_bytes(((DATA + 128) as u32).to_le_bytes()).to_string();
    values(&[("eight", &whole), ("eight + 0", &whole), ("deep.x", "1")]);
    refusals(&[
        ("nine + 0", "more than 8 references lead to one another"),
        ("endless + 0", "more than 8 references lead to one another"),
        ("endless.x", "more than 8 references lead to one another"),
        ("deeper.x", "`x` is looked for in more than 65536 members or 32 classes inside one another"),
    ]);
}

#[test]
fn strings_end_without_a_nul() {
    let session = session();
    let shown = |path: &str| shown(&session, path).1.unwrap();
    let letters = String::from_utf8(letters()[..MAX_STRING].to_vec()).unwrap();
    assert_eq!(shown("/s text"), format!("{:#x} \"{letters}\"...", DATA + 256));
    // The last captured bytes.
    assert_eq!(shown("/s tail"), format!("{:#x} \"tail\"...", DATA + 600));
}

/// Eight runs of PCs, counted from `f`, and the number of further ones.
fn eight_of_ten() -> String {
    let run = |n: u64| format!("{:#x}-{:#x}", start() + 8 * n, start() + 8 * n + 4);
    let runs: Vec<String> = (1..=8).map(run).collect();
    format!("{} and 2 more", runs.join(", "))
}

#[test]
fn objects_in_other_places_have_their_place() {
    let pc = start() + 4;
    let list = format!("its location list has no entry for this PC {pc:#x}, but for {}", eight_of_ten());
    let empty =
        format!("its location is empty at this PC {pc:#x}, but for {:#x}-{:#x}", start() + 8, start() + 12);
    let session = session();
    let why = |path: &str| shown(&session, path).1.unwrap_err();
    assert_eq!(why("inside"), format!("`inside` is not in scope at PC {pc:#x}; it is at {}", eight_of_ten()));
    assert_eq!(why("listed"), format!("`listed` was optimized out: {list}"));
    assert_eq!(why("emptied"), format!("`emptied` was optimized out: {empty}"));
    // The list of all variables includes those without a location, with the same reasons, but not other blocks'.
    let locals = session.locals(WaveId(0), LaneSet::one(LaneId(1)), 0).unwrap();
    let of = |name: &str| {
        let found = locals.variables.iter().find(|variable| variable.name == name);
        found.map(|variable| variable.lanes[0].state.clone())
    };
    assert_eq!(of("listed"), Some(ValueState::OptimizedOut(list.into())));
    assert_eq!(of("emptied"), Some(ValueState::OptimizedOut(empty.into())));
    assert_eq!(of("inside"), None);
    // The text output has the reasons, and `print` has the type.
    let text = crate::report::text::locals(
        &locals,
        crate::report::lanes::Detail::Located,
        crate::report::Style::Plain,
    );
    assert!(
        text.contains("int listed = <optimized out>  [its location list has no entry for this PC"),
        "{text}"
    );
    assert!(text.contains("int emptied = <optimized out>  [its location is empty at this PC"), "{text}");
    let query = Query::typed("listed").unwrap();
    let printed = session.print(WaveId(0), LaneSet::one(LaneId(1)), 0, &query).unwrap();
    let text = report::text(&printed, crate::report::lanes::Detail::Full, crate::report::Style::Plain);
    assert!(
        text.starts_with("int listed = <optimized out>  [`listed` was optimized out: its location"),
        "{text}"
    );
}
