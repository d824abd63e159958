//! Unit tests: shared bytes, addresses, MessagePack.

use std::sync::Arc;

use crate::codeobject::metadata::msgpack::{MsgpackError, Value, decode};
use crate::codeobject::{Bytes, ElfAddress};
use crate::units::Pc;

#[test]
fn slices_share_their_owner() {
    let owner: Arc<[u8]> = Arc::from(&b"0123456789"[..]);
    let bytes = Bytes::from(Arc::clone(&owner));
    let middle = bytes.slice(2..8).expect("inside");
    assert_eq!(&*middle, b"234567");
    assert_eq!(middle.as_ptr(), owner[2..].as_ptr());
    assert_eq!(&*middle.slice(1..3).expect("inside"), b"34");
    assert_eq!(middle.slice(1..7), None);
    assert_eq!(bytes.slice(8..usize::MAX), None);
    assert_eq!(bytes.slice_ref(&owner[4..6]).as_deref(), Some(&b"45"[..]));
    assert_eq!(middle.slice_ref(&owner[0..1]), None);
    assert_eq!(format!("{middle:?}"), "Bytes(323334353637)");
}

#[test]
fn an_owner_that_shrinks_reads_as_empty() {
    struct Shrinking(std::sync::atomic::AtomicBool);
    impl AsRef<[u8]> for Shrinking {
        fn as_ref(&self) -> &[u8] {
            if self.0.swap(true, std::sync::atomic::Ordering::Relaxed) { &[] } else { &[1, 2, 3] }
        }
    }
    let bytes = Bytes::new(Arc::new(Shrinking(false.into())));
    assert_eq!(&*bytes, &[] as &[u8]);
}

#[test]
fn addresses_wrap_like_the_loader() {
    assert_eq!(ElfAddress::of(Pc(0x7f00_0000_1a00), 0x7f00_0000_0000), ElfAddress(0x1a00));
    assert_eq!(ElfAddress(0x1a00).at(0x7f00_0000_0000), Pc(0x7f00_0000_1a00));
}

#[test]
fn messagepack_is_bounded() {
    // MessagePack specification, "Formats": fixmap with fixstr, array, positive and negative integers, bool, nil.
    let value = decode(b"\x82\xa1a\x93\x01\xff\xcd\x01\x00\xa1b\x92\xc3\xc0").expect("sound");
    let elements = value.get("a").expect("a").elements();
    assert_eq!(elements, [Value::Unsigned(1), Value::Signed(-1), Value::Unsigned(256)]);
    assert_eq!(value.get("b").expect("b").elements(), [Value::Bool(true), Value::Nil]);
    assert_eq!(value.get("c"), None);
    // Lengths beyond the bytes, endless nesting, the one reserved byte.
    assert_eq!(decode(b"\xdd\xff\xff\xff\xff\x01"), Err(MsgpackError::Truncated(6)));
    assert_eq!(decode(b"\xdb\xff\xff\xff\xff"), Err(MsgpackError::Truncated(5)));
    assert_eq!(decode(&[0x91; 600]), Err(MsgpackError::TooDeep(513)));
    assert_eq!(decode(b"\xc1"), Err(MsgpackError::Reserved(0)));
    assert_eq!(decode(b""), Err(MsgpackError::Truncated(0)));
}
