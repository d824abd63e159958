//! Casts between classes, vectors, templates, and numbers as addresses: output of gdb 13.1 for members/casts.cpp,
//! built for its machine by the same clang; by the C++ standard for cases that gdb guesses.

use super::members::{compiled, shown, stopped};
use crate::session::Session;

fn session(test: &str) -> Session {
    let object = compiled("casts.cpp", test);
    stopped(&object, &[".data.rel.ro", ".data", ".bss"], "f")
}

fn values(session: &Session, paths: &[(&str, &str)]) {
    for (path, expected) in paths {
        assert_eq!(shown(session, path).1, *expected, "{path}");
    }
}

fn refusals(session: &Session, paths: &[(&str, &str)]) {
    for (path, expected) in paths {
        let (_, text) = shown(session, path);
        assert!(text.starts_with("error: ") && text.contains(expected), "{path}: {text}");
    }
}

#[test]
fn pointers_to_classes_move_to_their_bases_and_back() {
    let session = session("bases");
    values(
        &session,
        &[
            ("((W *) whole)->w", "22"),
            ("(*(W *) whole).w", "22"),
            ("((Left *) whole)->left", "33"),
            ("((D *) second_base)->d", "55"),
            ("((D *) second_base)->left", "33"),
            ("(char *) (D *) second_base - (char *) whole", "0"),
            ("*(Second *) &both", "{second = 2}"),
            ("*(Both *) part", "{<First> = {first = 1}, <Second> = {second = 2}, own = 3}"),
            // Not a base: the bytes stay unchanged.
            ("((Second *) whole)->second", &shown(&session, "*(int *) whole").1),
        ],
    );
    // gdb takes the first match.
    refusals(&session, &[("*(First *) &twice", "`First` is an ambiguous base class of `Twice`")]);
}

/// The distance of two pointers is a signed number of 64 bits, the size of their target an unsigned one.
#[test]
fn pointers_to_huge_arrays_are_subtracted() {
    let session = session("huge");
    let apart = |elements: &str, left: &str, right: &str| {
        let to = format!("(char (*)[{elements}])");
        shown(&session, &format!("{to} {left} - {to} {right}")).1
    };
    assert_eq!(apart("0xffffffffffffffff", "0x8000000000000000", "0"), "0");
    assert_eq!(apart("0x8000000000000000", "0x8000000000000000", "0"), "-1");
    assert_eq!(apart("0x8000000000000000", "0", "0x8000000000000000"), "-1");
    assert_eq!(apart("0x7fffffffffffffff", "0x7fffffffffffffff", "0"), "1");
}

#[test]
fn vectors_have_components() {
    let session = session("vectors");
    values(
        &session,
        &[
            ("four.x", "1"),
            ("four.w", "4"),
            ("four.s2", "3"),
            ("at_four->y", "2"),
            ("three.z", "7"),
            ("three.x + three.y", "11"),
        ],
    );
    refusals(
        &session,
        &[
            ("three.w", "has no component `w`: it has 3, by name x, y, z or s0 to s2, one at a time"),
            ("four + 1", "needs"),
            ("*four", "needs a pointer"),
            ("four - four", "needs"),
            ("four.q", "has no component `q`"),
            ("history.x", "`x` needs a struct or class"),
        ],
    );
}

#[test]
fn template_arguments_may_be_spaced_as_one_likes() {
    let session = session("templates");
    for path in ["*(Vec<int, 3> *) at_vec", "*(Vec<int,3>*) at_vec", "*(Vec< int , 3 > *) at_vec"] {
        assert_eq!(shown(&session, path).1, "{at = {7, 8, 9}}", "{path}");
    }
}

#[test]
fn numbers_have_types_and_addresses_end() {
    let session = session("numbers");
    for (path, ty, value) in [
        ("~0", "int", "-1"),
        ("-1 >> 1", "int", "-1"),
        ("-number", "unsigned int", "4294967289"),
        ("history[1]", "long", "2"),
        ("(local int *) -1", "int *", "local#0x"),
        ("at_history[1]", "long", "2"),
    ] {
        assert_eq!(shown(&session, path), (ty.to_owned(), value.to_owned()), "{path}");
    }
    refusals(
        &session,
        &[
            ("(local int *) 0x100000000", "0x is no address of local memory: those have 32 bits"),
            ("local#0x100000000", "0x is no address of local memory: those have 32 bits"),
            ("*((local int *) 0xfffffffc + 1)", "is no address of local memory"),
            ("history[0x7fffffffffffffff]", "is beyond the addresses"),
            ("at_history[0x7fffffffffffffff]", "is no address of generic memory"),
            ("(__int128) 1", "`__int128` has 16 bytes, and a path computes with at most 8"),
            ("number->x", "`->x` needs a pointer; `unsigned int` is a number"),
        ],
    );
    let (_, text) = shown(&session, "number->x");
    assert!(!text.contains("write"), "{text}");
    assert!(shown(&session, "both->own").1.ends_with("write `.own`"));
}
