use proptest::prelude::*;

use super::{escape_into, unescape};

fn escaped(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    escape_into(data, &mut out);
    out
}

#[test]
fn four_bytes_are_escaped() {
    assert_eq!(escaped(b"a#b$c}d*e"), b"a}\x03b}\x04c}]d}\ne");
}

#[test]
fn an_escape_without_a_byte_is_dropped() {
    assert_eq!(unescape(b"ab}"), b"ab");
}

proptest! {
    #[test]
    fn what_is_escaped_comes_back(data in prop::collection::vec(any::<u8>(), 0..200)) {
        let escaped = escaped(&data);
        prop_assert!(!escaped.iter().any(|byte| matches!(byte, b'#' | b'$' | b'*')));
        prop_assert_eq!(unescape(&escaped), data);
    }
}
