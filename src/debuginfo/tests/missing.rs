//! Values with missing bits, and values as JSON.

use super::debug_info;
use crate::codeobject::Bytes;
use crate::debuginfo::contents::Contents;
use crate::debuginfo::format::{Options, Value};
use crate::debuginfo::{DebugInfo, TypeId};

fn object() -> DebugInfo {
    debug_info(Bytes::from_static(include_bytes!("values/values.hsaco")))
}

fn type_of(info: &DebugInfo, global: &str) -> TypeId {
    info.globals_named(global).expect(global)[0].type_id.expect("a type")
}

fn shown(global: &str, contents: Contents<'_>) -> Value {
    let info = object();
    info.value(type_of(&info, global), contents, &Options::gdb()).expect(global)
}

#[test]
fn a_missing_byte_takes_its_scalar_and_no_more() {
    let bytes = [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0];
    let mut gone = [0; 16];
    gone[6] = 0x10;
    let unavailable = Contents { unavailable: &gone, ..Contents::known(&bytes) };
    assert_eq!(shown("arr", unavailable).to_string(), "{1, <unavailable>, 3, 4}");
    let undefined = Contents { undefined: &gone, ..Contents::known(&bytes) };
    assert_eq!(shown("arr", undefined).to_string(), "{1, <optimized out>, 3, 4}");
    // Optimised out comes first, as in gdb.
    let both = Contents { undefined: &gone, unavailable: &[0xff; 8], bytes: &bytes };
    assert_eq!(shown("arr", both).to_string(), "{<unavailable>, <optimized out>, 3, 4}");
    assert_eq!(
        shown("arr", Contents::known(&bytes[..6])).to_string(),
        "{1, <unavailable>, <unavailable>, <unavailable>}"
    );
    // An entirely missing value is one word.
    assert_eq!(shown("arr", Contents::known(&[])), Value::UNAVAILABLE);
    let nothing = Contents { undefined: &[0xff; 16], ..Contents::known(&bytes) };
    assert_eq!(shown("arr", nothing), Value::OPTIMIZED_OUT);
    assert_eq!(shown("vec", nothing), Value::OPTIMIZED_OUT);
}

#[test]
fn a_string_with_a_gap_is_a_list() {
    let text = Contents { unavailable: &[0, 0xff], ..Contents::known(b"hello\0") };
    let expected = "{104 'h', <unavailable>, 108 'l', 108 'l', 111 'o', 0 '\\000'}";
    assert_eq!(shown("s1", text).to_string(), expected);
}

#[test]
fn bits_of_a_field_do_not_hide_its_neighbours() {
    // Bits: a is 3 bits, b 5, c 40 from bit 8, d 1, e 4.
    let bytes = [5 | 0b11101 << 3, 1, 0, 0, 0, 0, 0b11, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let gone = [0b1000_0000];
    let value = shown("bits", Contents { unavailable: &gone, ..Contents::known(&bytes) }).to_string();
    assert!(value.starts_with("{a = 5, b = <unavailable>, c = 1, d = true, e = GREEN"), "{value}");
}

#[test]
fn equal_gaps_repeat() {
    let bytes = [0; 80];
    let value = shown("rep20", Contents { unavailable: &[0xff; 48], ..Contents::known(&bytes) }).to_string();
    assert_eq!(value, "{<unavailable> <repeats 12 times>, 0, 0, 0, 0, 0, 0, 0, 0}");
}

#[test]
fn json_has_one_shape_per_kind() {
    let json = |global: &str, contents: Contents<'_>| {
        let info = object();
        let value = info.value(type_of(&info, global), contents, &Options::machine()).expect(global);
        serde_json::to_string(&value).expect("JSON")
    };
    let word = 7u32.to_le_bytes();
    assert_eq!(json("i", Contents::known(&word)), r#"{"text":"7"}"#);
    assert_eq!(json("i", Contents::known(&[])), r#"{"absent":"unavailable"}"#);
    assert_eq!(
        json("ob", Contents::known(&word)),
        r#"{"members":[{"name":"Base","base":true,"value":{"members":[{"name":"x","value":{"text":"7"}}]}}]}"#
    );
    let two = [1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(json("carr", Contents::known(&two)), r#"{"elements":[{"text":"1"},{"text":"2"}]}"#);
    let many = [0; 1200];
    assert!(json("zeros300", Contents::known(&many)).ends_with(r#"{"text":"0"}],"omitted":100}"#));
}
