//! Code objects of one file have one extent.

use super::super::{Found, FoundObject, Held};
use crate::capture::BackingId;
use crate::codeobject::Bytes;

#[test]
fn equal_bytes_have_one_backing() {
    let file = Bytes::from(vec![7; 64]);
    let copy = Bytes::from(vec![7; 64]);
    let held = [file.clone(), file.clone(), file.slice(0..32).unwrap(), copy, file];
    let object = |(index, bytes): (u64, Bytes)| FoundObject {
        address: 0x1000 * index,
        held: Some(Held::File(bytes)),
        uri: Some(format!("file:///program#offset={index}")),
        build_id: None,
        name: format!("object {index}"),
        origin: None,
    };
    let found = Found { code_objects: (0..).zip(held).map(object).collect() };
    let mut backings = Vec::new();
    let objects = found.into_capture(BackingId(0), &mut backings);
    let extents: Vec<_> = objects.iter().map(|object| object.extent.unwrap()).collect();
    assert_eq!(extents[0], extents[1]);
    assert_eq!(extents[0], extents[4]);
    // A part, and another file with the same contents.
    assert_eq!((extents[2].length, extents[3].length), (32, 64));
    assert_ne!(extents[2].backing, extents[0].backing);
    assert_ne!(extents[3].backing, extents[0].backing);
    assert_eq!(backings.len(), 3);
}
