use super::{Piece, slice};

#[test]
fn pieces_mark_whether_more_follow() {
    assert_eq!(slice(b"abcdef", 0, 4).unwrap(), Piece { bytes: b"abcd", more: true });
    assert_eq!(slice(b"abcdef", 4, 4).unwrap(), Piece { bytes: b"ef", more: false });
    assert_eq!(slice(b"abcdef", 2, 4).unwrap(), Piece { bytes: b"cdef", more: false });
}

#[test]
fn the_end_is_empty_and_beyond_it_is_an_error() {
    assert_eq!(slice(b"abcdef", 6, 4).unwrap(), Piece { bytes: b"", more: false });
    assert!(slice(b"abcdef", 7, 4).is_err());
    assert!(slice(b"abcdef", u64::MAX, u64::MAX).is_err());
}

#[test]
fn any_length_can_be_asked_for() {
    assert_eq!(slice(b"abcdef", 1, u64::MAX).unwrap(), Piece { bytes: b"bcdef", more: false });
    assert_eq!(slice(b"abcdef", 1, 0).unwrap(), Piece { bytes: b"", more: true });
    let long = vec![0; super::MAX_READ * 2];
    assert_eq!(slice(&long, 0, u64::MAX).unwrap().bytes.len(), super::MAX_READ);
}
