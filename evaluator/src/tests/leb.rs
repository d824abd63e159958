//! LEB128 numbers against a separate implementation of DWARF 5 section 7.6: shift and add in 128 bits.

use proptest::prelude::*;

use super::super::decode::{sleb128, uleb128};

/// The number and its size in bytes; `None` if the bytes end first.
fn slow(bytes: &[u8], signed: bool) -> Option<(i128, usize)> {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0)?;
    let groups = &bytes[..=end];
    let mut value = 0i128;
    // More than 18 groups exceed 128 bits; the strategies stay below.
    for (index, byte) in groups.iter().enumerate() {
        value |= i128::from(byte & 0x7f) << (7 * index);
    }
    if signed && bytes[end] & 0x40 != 0 {
        value |= -1 << (7 * groups.len());
    }
    Some((value, end + 1))
}

proptest! {
    #[test]
    fn unsigned_numbers(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x80), Just(0xff), Just(0)], 0..16)) {
        let mut at = 0;
        let read = uleb128(&bytes, &mut at);
        match slow(&bytes, false) {
            None => prop_assert!(read.is_err()),
            Some((value, length)) => match u64::try_from(value) {
                Ok(value) => prop_assert_eq!((read, at), (Ok(value), length)),
                Err(_) => prop_assert!(read.is_err()),
            },
        }
    }

    #[test]
    fn signed_numbers(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x80), Just(0xff), Just(0x7f), Just(0)], 0..16)) {
        let mut at = 0;
        let read = sleb128(&bytes, &mut at);
        match slow(&bytes, true) {
            None => prop_assert!(read.is_err()),
            Some((value, length)) => match i64::try_from(value) {
                Ok(value) => prop_assert_eq!((read, at), (Ok(value), length)),
                Err(_) => prop_assert!(read.is_err(), "{} read as {:?}", value, read),
            },
        }
    }
}
