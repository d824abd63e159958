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
        ("long", &i64::MIN.to_le_bytes(), "-9223372036854775808"),
        ("unsigned long", &u64::MAX.to_le_bytes(), "18446744073709551615"),
        ("bool", &[1], "true"),
    ] {
        assert_eq!(size(name), Some(bytes.len() as u64), "{name}");
        assert_eq!(value(name, bytes).as_deref(), Some(text), "{name}");
    }
    assert_eq!(size("float const*"), Some(8));
    assert_eq!((size("Body"), value("Body", &[1])), (None, None));
}
