//! A printed path parses to the same path; and no text makes the parser panic.

use proptest::prelude::*;

use super::super::{Binary, MemberSign, Node, Path, TypeName, Unary, parse, parse_in};

fn path(node: Node) -> Path {
    Path { column: 0, node }
}

fn leaf() -> impl Strategy<Value = Path> {
    let number = (any::<u64>(), 0..4u8, any::<bool>()).prop_map(|(value, kind, hex)| {
        // Only the combinations that a literal of C can have.
        let (value, long, unsigned) = match kind {
            0 => (value & 0x7fff_ffff, false, false),
            1 => (value & 0xffff_ffff, false, true),
            2 => (value & 0x7fff_ffff_ffff_ffff, true, false),
            _ => (value, true, true),
        };
        Node::Integer { value, long, unsigned, hex }
    });
    prop_oneof![
        "[a-z_][a-z0-9_]{0,3}"
            .prop_filter("a word of types", |name| !matches!(
                name.as_str(),
                "int" | "bool" | "char" | "long" | "void" | "enum"
            ))
            .prop_map(Node::Name),
        prop::sample::select(vec!["ns::x", "::y", "W<int, 2>::z", "(anonymous namespace)::q", "T"])
            .prop_map(|name| Node::Name(name.to_owned())),
        number,
        any::<f64>()
            .prop_filter("a literal", |value| value.is_finite() && value.is_sign_positive())
            .prop_map(|value| Node::Float { value, single: false }),
        any::<f32>()
            .prop_filter("a literal", |value| value.is_finite() && value.is_sign_positive())
            .prop_map(|value| Node::Float { value: value.into(), single: true }),
        any::<u8>().prop_map(Node::Character),
        "[vs][0-9]{1,2}".prop_map(Node::Register),
        any::<u64>().prop_map(|address| Node::Address { space: "local".to_owned(), address }),
    ]
    .prop_map(path)
}

fn any_path() -> impl Strategy<Value = Path> {
    use Binary::{Add, And, Divide, Multiply, Or, Remainder, ShiftLeft, ShiftRight, Subtract, Xor};
    let unary = [Unary::Deref, Unary::Address, Unary::Minus, Unary::Plus, Unary::Not, Unary::IsZero];
    let binary = [Add, Subtract, Multiply, Divide, Remainder, ShiftLeft, ShiftRight, And, Or, Xor];
    let types = ["int", "unsigned long", "struct S", "local int", "T", "ns::V<int>"];
    leaf().prop_recursive(5, 48, 3, move |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let arrays = prop::option::of((1..3usize, prop::collection::vec(0..9u64, 1..3)));
        let cast = (prop::sample::select(types.to_vec()), 0..3usize, arrays, boxed.clone()).prop_map(
            |(words, pointers, to_arrays, of)| {
                // A template's arguments are part of one word.
                let words = if words.contains('<') {
                    vec![words.to_owned()]
                } else {
                    words.split(' ').map(str::to_owned).collect()
                };
                Node::Cast(TypeName { words, pointers, to_arrays }, of)
            },
        );
        prop_oneof![
            (prop::sample::select(unary.to_vec()), boxed.clone())
                .prop_map(|(sign, of)| Node::Unary(sign, of)),
            (prop::sample::select(binary.to_vec()), boxed.clone(), boxed.clone())
                .prop_map(|(sign, left, right)| Node::Binary(sign, left, right)),
            (boxed.clone(), any::<bool>()).prop_map(|(object, arrow)| Node::Member {
                object,
                name: "m".to_owned(),
                sign: if arrow { MemberSign::Arrow } else { MemberSign::Dot },
            }),
            (boxed.clone(), boxed.clone()).prop_map(|(object, index)| Node::Index(object, index)),
            (boxed.clone(), boxed.clone()).prop_map(|(object, count)| Node::Repeat(object, count)),
            (boxed.clone(), boxed.clone(), any::<bool>())
                .prop_map(|(object, member, arrow)| { Node::MemberPointer { object, member, arrow } }),
            cast,
        ]
        .prop_map(path)
    })
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(path in any_path()) {
        let text = path.to_string();
        let again = parse(&text, &|name| name == "T");
        prop_assert_eq!(again.as_ref(), Ok(&path), "{}", text);
    }

    #[test]
    fn any_text_is_a_path_or_an_error_within_it(text in "[ a-f0-9x.,%>\\-\\[\\]()*&@+<:#$'\\\\]{0,40}") {
        for is_fortran in [false, true] {
            match parse_in(is_fortran, &text, &|name| name == "a") {
                Ok(path) => {
                    let shown = path.to_string();
                    let again = parse_in(is_fortran, &shown, &|name| name == "a");
                    prop_assert_eq!(again.as_ref(), Ok(&path), "{}", shown);
                }
                Err(error) => {
                    prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}", error);
                }
            }
        }
    }
}

/// A qualifier in brackets begins a cast: no object may have its name.
#[test]
fn qualifiers_name_no_object() {
    let no_type = |_: &str| false;
    for qualifier in ["const", "volatile", "__restrict__", "_Atomic"] {
        let error = parse(&format!("{qualifier}/0&o1"), &no_type).unwrap_err();
        assert_eq!(
            (error.column, error.words),
            (1, format!("expected an object, found the type `{qualifier}`"))
        );
    }
    // `restrict` is not a keyword of C++, and a variable's name there.
    for text in ["restrict/0&o1", "(restrict)", "(restrict) + 1"] {
        let path = parse(text, &no_type).unwrap();
        assert_eq!(parse(&path.to_string(), &no_type), Ok(path), "{text}");
    }
}
