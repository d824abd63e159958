//! Symbols with their types by the Itanium C++ ABI, section 5.1.

use super::*;

fn types(symbol: &str) -> Option<Vec<String>> {
    parameter_types(symbol)
}

#[test]
fn types_are_those_of_the_mangled_name() {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    assert_eq!(types("_Z5scalePff"), words(&["float*", "float"]));
    assert_eq!(types("_Z3nopv"), None);
    // A template's name has its return type; a comma in brackets separates no parameters.
    assert_eq!(
        types("_Z1fIiEvSt4pairIT_dEPFvijE"),
        words(&["std::pair<int, double>", "void (*)(int, unsigned int)"])
    );
    for symbol in ["plain", "_Z5value", "_ZTV3Foo", "_Z"] {
        assert_eq!(types(symbol), None, "{symbol}");
    }
}

#[test]
fn values_of_base_types() {
    for (name, bytes, text) in [
        ("float", &1.5f32.to_le_bytes()[..], "1.5"),
        ("double", &(-0.25f64).to_le_bytes(), "-0.25"),
        ("int", &(-7i32).to_le_bytes(), "-7"),
        ("signed char", &[0xff], "-1"),
        // clang --target=amdgcn -dM -E defines no __CHAR_UNSIGNED__.
        ("char", &[0xfd], "-3"),
        ("long", &i64::MIN.to_le_bytes(), "-9223372036854775808"),
        ("unsigned long", &u64::MAX.to_le_bytes(), "18446744073709551615"),
        ("bool", &[1], "true"),
        // IEEE 754 binary16, and the upper half of a float.
        ("half", &[0, 0x3c], "1"),
        ("_Float16", &[0, 0x3c], "1"),
        ("std::bfloat16_t", &[0x80, 0x3f], "1"),
        ("__int128", &(-5i128).to_le_bytes(), "-5"),
        ("unsigned __int128", &u128::MAX.to_le_bytes(), "340282366920938463463374607431768211455"),
        ("wchar_t", &(-2i32).to_le_bytes(), "-2"),
        ("float __vector(2)", &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], "{1, -2}"),
        // Three elements have the size of four.
        ("short __vector(3)", &[1, 0, 0xfe, 0xff, 3, 0, 9, 9], "{1, -2, 3}"),
        ("unsigned char __vector(2)", &[1, 255], "{1, 255}"),
    ] {
        assert_eq!(size(name), Some(bytes.len() as u64), "{name}");
        assert_eq!(value(name, bytes).as_deref(), Some(text), "{name}");
    }
    for pointer in ["float const*", "void (*)(int)", "int (*) [5]", "Body<int> (&) [2]", "std::nullptr_t"] {
        assert_eq!((size(pointer), is_number(pointer)), (Some(8), true), "{pointer}");
    }
    for other in ["Body<int (*)(int)>", "void (Body::*)(int)", "bool __vector(4)", "Body __vector(2)"] {
        assert_eq!((size(other), is_number(other)), (None, false), "{other}");
    }
    assert_eq!((size("char16_t"), size("char32_t")), (Some(2), Some(4)));
    assert!(is_number("char16_t") && !is_number("float __vector(2)"));
    assert_eq!((size("Body"), value("Body", &[1])), (None, None));
    assert!(is_number("unsigned int") && is_number("float const*"));
    assert!(!is_number("Body") && !is_number("__half") && !is_number("half"));
}
