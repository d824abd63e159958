//! Names of functions and files, and patterns of stacks.

use super::{Fit, Function, fits, function_matches, source_matches};
use crate::check::file::SourceRange;

#[test]
fn functions_match_without_parameters_and_templates() {
    for (expected, function, is_it) in [
        ("saxpy", "saxpy", true),
        ("saxpy", "saxpy(int, float)", true),
        ("saxpy", "saxpy2", false),
        ("scale", "void scale<float>(float*, int)", true),
        ("scale<float>", "void scale<float>(float*, int)", true),
        ("scale<double>", "void scale<float>(float*, int)", false),
        ("scale<float>(float *, int)", "void scale<float>(float*, int)", true),
        ("scale(float*, int)", "scale(float*, int)", true),
        ("Body::at", "sky::Body::at(int) const", true),
        ("sky::Body::at", "sky::Body::at(int) const", true),
        ("at", "sky::Body::at(int) const", true),
        ("Body::at", "sky::Other::at(int)", false),
        ("Window::total", "ns::Window<float, 2>::total()", true),
        ("Window<float,2>::total", "ns::Window<float, 2>::total()", true),
        ("Window<int,2>::total", "ns::Window<float, 2>::total()", false),
        ("run", "(anonymous namespace)::run<int>(int)", true),
        ("operator()", "void Body::operator()(int) const", true),
        ("operator<(a, b)", "operator<(a, b)", true),
        ("", "saxpy", false),
        ("a::b::c", "c", false),
    ] {
        assert_eq!(function_matches(expected, function), is_it, "{expected} and {function}");
    }
}

#[test]
fn functions_match_with_the_parameters_and_scopes_of_their_symbols() {
    // The mangled names are those of clang for the source's declarations.
    for (expected, name, mangled, is_it) in [
        ("solver::step(int*)", "solver::step", "_ZN6solver4stepEPi", true),
        ("solver::step(int *)", "solver::step", "_ZN6solver4stepEPi", true),
        ("solver::step(int)", "solver::step", "_ZN6solver4stepEPi", false),
        ("lib::Box<int>::operator<<(int)", "lib::Box<int>::operator<<", "_ZN3lib3BoxIiElsEi", true),
        ("app<kern(int*)::{lambda(int)#1}>", "app<(lambda at b.hip:1:2)>", "_Z3appIZ4kernPiEUliE_EiT_", true),
        (
            "app<kern(int*)::{lambda(int)#2}>",
            "app<(lambda at b.hip:1:2)>",
            "_Z3appIZ4kernPiEUliE_EiT_",
            false,
        ),
        ("kern(int*)::L::m", "L::m", "_ZZ4kernPiEN1L1mEi", true),
        ("L::m", "L::m", "_ZZ4kernPiEN1L1mEi", true),
        ("A::operator int*()", "A::operator int *", "_ZN1AcvPiEv", true),
        ("B::operator int*", "A::operator int *", "_ZN1AcvPiEv", false),
        ("B::operator<(float)", "B::operator<<float>", "_ZN1BltIfEEiT_", true),
    ] {
        let function = Function { name, mangled: Some(mangled) };
        assert_eq!(function_matches(expected, function), is_it, "{expected} and {name}");
    }
}

#[test]
fn files_match_by_their_last_parts() {
    for (expected, file, is_it) in [
        ("saxpy.hip", "/src/kernels/saxpy.hip", true),
        ("kernels/saxpy.hip", "/src/kernels/saxpy.hip", true),
        ("./kernels/saxpy.hip", "/src/./kernels/saxpy.hip", true),
        ("els/saxpy.hip", "/src/kernels/saxpy.hip", false),
        ("saxpy.hip", "C:\\src\\saxpy.hip", true),
        ("/src/kernels/saxpy.hip", "kernels/saxpy.hip", false),
        ("saxpy.cpp", "saxpy.hip", false),
    ] {
        let range = |lines| SourceRange { file: expected.to_owned(), lines };
        assert_eq!(source_matches(&range(None), file, 7), is_it, "{expected} and {file}");
        assert_eq!(source_matches(&range(Some((7, 7))), file, 7), is_it);
        assert!(!source_matches(&range(Some((8, 9))), file, 7));
    }
}

/// `+` holds, `-` differs, `?` is unknown.
fn stack(pattern: &str, functions: &str, end: Option<&str>) -> char {
    let pattern: Vec<String> = pattern.split(" < ").map(str::to_owned).collect();
    let functions: Vec<Option<Function<'_>>> = functions
        .split(' ')
        .filter(|name| !name.is_empty())
        .map(|name| Some(name).filter(|name| *name != "?").map(Function::from))
        .collect();
    match fits(&functions, end.map(str::to_owned), &pattern) {
        Fit::Holds => '+',
        Fit::Differs => '-',
        Fit::Unknown(_) => '?',
    }
}

#[test]
fn patterns_of_stacks() {
    for (pattern, functions, end, expected) in [
        ("a < b < c", "a b c", None, '+'),
        ("a < b", "a b c", None, '-'),
        ("a < b < c", "a b", None, '-'),
        ("a < b < c", "a c b", None, '-'),
        ("a < ...", "a b c", None, '+'),
        ("a < ...", "a", None, '+'),
        ("... < c", "a b c", None, '+'),
        ("... < b", "a b c", None, '-'),
        ("a < ... < c", "a c", None, '+'),
        ("a < ... < c", "a b b c", None, '+'),
        ("a < ... < b < c", "a b b c", None, '+'),
        ("...", "", None, '+'),
        ("a", "", None, '-'),
        // Outer frames are unknown.
        ("a < b", "a b", Some("lost"), '?'),
        ("a < b < c", "a b", Some("lost"), '?'),
        ("a < ...", "a b", Some("lost"), '+'),
        ("x < ...", "a b", Some("lost"), '-'),
        ("a < ... < c", "a b", Some("lost"), '?'),
        ("a", "a b", Some("lost"), '-'),
        ("... < z", "a b", Some("lost"), '?'),
        ("a", "", Some("lost"), '?'),
        // A function is unknown.
        ("a < b", "? b", None, '?'),
        ("... < b", "? b", None, '+'),
        ("a < c", "? b", None, '-'),
    ] {
        assert_eq!(stack(pattern, functions, end), expected, "{pattern}: {functions} {end:?}");
    }
}
