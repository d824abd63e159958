//! Names in the spellings of clang's DWARF, of cpp_demangle, gdb and lldb, and of users.

use super::{FunctionName, outer_spaces, without_folders};
use crate::debuginfo::{short_name, source_name};

/// Components as `name arguments parameters`, `-` for an absent part.
fn components(text: &str) -> Vec<String> {
    let part = |part: Option<&str>| part.unwrap_or("-").to_owned();
    let name = FunctionName::parse(text);
    name.components
        .iter()
        .map(|of| format!("{} | {} | {}", of.name, part(of.arguments), part(of.parameters)))
        .collect()
}

#[test]
fn names_have_components() {
    let cases: &[(&str, &[&str])] = &[
        ("saxpy", &["saxpy | - | -"]),
        ("void ns::scale<float>(float*, int)", &["ns | - | -", "scale | <float> | (float*, int)"]),
        ("int B::operator<<float>(float)", &["B | - | -", "operator< | <float> | (float)"]),
        ("B::operator<< <float>", &["B | - | -", "operator<< | <float> | -"]),
        ("B::operator<<<float>", &["B | - | -", "operator<< | <float> | -"]),
        ("B::operator< <float>", &["B | - | -", "operator< | <float> | -"]),
        ("operator<=><int>", &["operator<=> | <int> | -"]),
        ("operator<<<>", &["operator<< | <> | -"]),
        ("operator-><int>", &["operator-> | <int> | -"]),
        ("operator->*", &["operator->* | - | -"]),
        ("operator,", &["operator, | - | -"]),
        ("B::operator()<float>(float) const", &["B | - | -", "operator() | <float> | (float)"]),
        ("B::operator ()(int)", &["B | - | -", "operator() | - | (int)"]),
        ("operator new[](unsigned long)", &["operator new[] | - | (unsigned long)"]),
        ("operator newest()", &["operator newest | - | ()"]),
        ("operator\"\" _km(unsigned long long)", &["operator\"\"_km | - | (unsigned long long)"]),
        ("operator\"\"_km", &["operator\"\"_km | - | -"]),
        ("A::operator bool", &["A | - | -", "operator bool | - | -"]),
        ("A::operator int *", &["A | - | -", "operator int* | - | -"]),
        ("A::operator int*() const", &["A | - | -", "operator int* | - | ()"]),
        ("A::operator const char *", &["A | - | -", "operator char const* | - | -"]),
        ("A::operator char const*()", &["A | - | -", "operator char const* | - | ()"]),
        ("A::operator unsigned long()", &["A | - | -", "operator unsigned long | - | ()"]),
        ("B::operator float *<float>", &["B | - | -", "operator float* | <float> | -"]),
        ("A::operator ns::T()", &["A | - | -", "operator ns::T | - | ()"]),
        ("A::operator Box<int>*()", &["A | - | -", "operator Box<int>* | - | ()"]),
        (
            "A::operator (anonymous namespace)::T()",
            &["A | - | -", "operator (anonymous namespace)::T | - | ()"],
        ),
        ("A::operator void (*)(int)()", &["A | - | -", "operator void (*)(int) | - | ()"]),
        ("my_operator<int>", &["my_operator | <int> | -"]),
        ("ptr<&B::operator[]>(int)", &["ptr | <&B::operator[]> | (int)"]),
        ("ptr<&B::operator<<>", &["ptr | <&B::operator<<> | -"]),
        ("ptr<&B::operator>>::f", &["ptr | <&B::operator>> | -", "f | - | -"]),
        ("f<(3<4)>(int)", &["f | <(3<4)> | (int)"]),
        ("f<(a>b), int>", &["f | <(a>b), int> | -"]),
        ("f<decltype(p->x)>(int)", &["f | <decltype(p->x)> | (int)"]),
        ("decltype (f(x)) ns::g<int>(int)", &["ns | - | -", "g | <int> | (int)"]),
        ("void (*pick(int))(float)", &["pick | - | (int)"]),
        ("(anonymous namespace)::anon(int)", &["(anonymous namespace) | - | -", "anon | - | (int)"]),
        ("void (anonymous namespace)::f<int>()", &["(anonymous namespace) | - | -", "f | <int> | ()"]),
        ("kern(int*)::L::m(int)", &["kern | - | (int*)", "L | - | -", "m | - | (int)"]),
        (
            "auto kern(int*)::{lambda(int)#1}::operator()(int) const",
            &["kern | - | (int*)", "{lambda(int)#1} | - | -", "operator() | - | (int)"],
        ),
        ("A::f(int) const::L::m()", &["A | - | -", "f | - | (int)", "L | - | -", "m | - | ()"]),
        (
            "main::'lambda0'(int)::operator()(int)",
            &["main | - | -", "'lambda0'(int) | - | -", "operator() | - | (int)"],
        ),
        ("name[abi:cxx11](int) [clone .cold]", &["name | - | (int)"]),
        ("softmax[helper]", &["softmax[helper] | - | -"]),
        ("A::~A()", &["A | - | -", "~A | - | ()"]),
        ("vtable for ns::A", &["ns | - | -", "A | - | -"]),
        ("größe(int)", &["größe | - | (int)"]),
        ("f<int", &["f | <int | -"]),
        ("f(int", &["f | - | (int"]),
        ("", &[]),
        (" ", &[]),
        ("operator", &["operator | - | -"]),
    ];
    for (text, expected) in cases {
        assert_eq!(components(text), *expected, "{text}");
    }
}

#[test]
fn functions_lose_their_result_types_and_parameters() {
    for (function, expected) in [
        ("saxpy", "saxpy"),
        ("saxpy(int, float)", "saxpy"),
        ("void scale<float>(float*, int)", "scale<float>"),
        ("void run<f(int), 3>(int (*)(int))", "run<f(int), 3>"),
        ("void (anonymous namespace)::run<int>(int)", "(anonymous namespace)::run<int>"),
        ("void Body::operator()(int) const", "Body::operator()"),
        ("operator<(a, b)", "operator<"),
        ("B::operator<<float>", "B::operator< <float>"),
        ("A::operator bool", "A::operator bool"),
        ("A::operator int *", "A::operator int*"),
        ("kern(int*)::L::m(int)", "kern::L::m"),
        ("app<(lambda at /src/me/b.hip:19:190)>", "app<(lambda at b.hip:19:190)>"),
        ("saxpy, target region at line 16", "saxpy, target region at line 16"),
        ("::error::saxpy##[error]", "::error::saxpy##[error]"),
        ("", ""),
    ] {
        assert_eq!(short_name(function), expected);
    }
}

#[test]
fn unnamed_entities_have_no_folders() {
    for (name, expected) in [
        ("app<(lambda at /src/a b/c.hip:19:190)>", "app<(lambda at c.hip:19:190)>"),
        ("app<(lambda at /src/(x)/c.hip:19:190)>", "app<(lambda at c.hip:19:190)>"),
        ("app<(lambda at C:\\src\\c.hip:1:2)>", "app<(lambda at c.hip:1:2)>"),
        ("app<(lambda at c.hip:1:2)>", "app<(lambda at c.hip:1:2)>"),
        (
            "f<(unnamed struct at /a/b.hip:1:2), (lambda at /a/b.hip:3:4)>",
            "f<(unnamed struct at b.hip:1:2), (lambda at b.hip:3:4)>",
        ),
        ("f<(anonymous union at ../b.hip:1:2) *>", "f<(anonymous union at b.hip:1:2) *>"),
        ("saxpy, target region at line 16", "saxpy, target region at line 16"),
        ("f<(lambda at ", "f<(lambda at "),
        ("f<(lambda at /a/b)>", "f<(lambda at /a/b)>"),
        ("saxpy", "saxpy"),
    ] {
        assert_eq!(without_folders(name), expected);
    }
}

#[test]
fn names_fit_functions_without_the_parts_that_they_leave_out() {
    let fits = |wanted, own| FunctionName::parse(wanted).names(&FunctionName::parse(own));
    for (wanted, own, expected) in [
        ("B::operator<", "B::operator<<float>", true),
        ("B::operator<<", "B::operator<<float>", false),
        ("B::operator<<float>", "B::operator<<float>", true),
        ("B::operator< <float>", "B::operator<<float>", true),
        ("B::operator<<int>", "B::operator<<float>", false),
        ("B::operator<<", "B::operator<<<float>", true),
        ("B::operator<", "B::operator<<<float>", false),
        ("A::operator bool", "A::operator bool", true),
        ("operator bool", "A::operator bool() const", true),
        ("B::operator bool", "A::operator bool", false),
        ("bool", "A::operator bool", false),
        ("operator int*", "A::operator int *", true),
        ("operator\"\"_km", "operator\"\" _km(unsigned long long)", true),
        ("{anonymous}::anon", "(anonymous namespace)::anon(int)", true),
        ("lib::Box<int>::operator<<(int)", "lib::Box<int>::operator<<(int)", true),
        ("lib::Box<int>::operator<<(float)", "lib::Box<int>::operator<<(int)", false),
        ("solver::step(int*)", "solver::step(int*)", true),
        ("solver::step(int *)", "void solver::step(int*)", true),
        ("solver::step(int*)", "solver::step", false),
        ("olver::step", "solver::step", false),
        ("L::m", "kern(int*)::L::m(int)", true),
        ("kern::L::m", "kern(int*)::L::m(int)", true),
        ("app<(lambda at /a/b.hip:1:2)>", "app<(lambda at b.hip:1:2)>", true),
        ("app<(lambda at b.hip:1:3)>", "app<(lambda at b.hip:1:2)>", false),
        ("", "saxpy", false),
    ] {
        assert_eq!(fits(wanted, own), expected, "{wanted} and {own}");
    }
}

#[test]
fn spaces_in_brackets_are_inner() {
    for (text, expected) in [
        ("saxpy saxpy.hip:54", &[5][..]),
        ("app<(lambda at b.hip:19:190)> b.hip:14", &[29]),
        ("f<int, 2>(float const*)", &[]),
        ("operator< a.hip", &[9]),
        ("B::operator<< <float> < main", &[13, 21, 23]),
        ("operator\"\"_km b.hip:3", &[13]),
    ] {
        assert_eq!(outer_spaces(text), expected, "{text}");
    }
}

/// The expected names are those of `llvm-cxxfilt`.
#[test]
fn literal_operators_have_the_spelling_of_other_demanglers() {
    for (symbol, expected) in [
        ("_Zli3_kmy", "operator\"\" _km(unsigned long long)"),
        ("_ZN11operator_kmli2_xEy", "operator_km::operator\"\" _x(unsigned long long)"),
        ("_Z4kernPi", "kern(int*)"),
    ] {
        assert_eq!(source_name(symbol), expected);
    }
}

/// Hostile names of 64 KiB take linear time: this test would run for minutes.
#[test]
fn hostile_names_have_a_result() {
    for part in [
        "(",
        "<",
        "operator<",
        "operator a<",
        "(lambda at ",
        "(lambda at :1)",
        "::",
        "'",
        "{",
        "a<b>::",
        "f()::",
        "\"\"",
        "operator\"\"",
        " const",
    ] {
        let name = part.repeat((1 << 16) / part.len());
        let parsed = FunctionName::parse(&name);
        let _ = (parsed.folded(), short_name(&name), outer_spaces(&name), parsed.names(&parsed));
    }
}
