use super::{Thread, number, pairs, range, thread};

#[test]
fn numbers_are_1_to_16_hex_digits() {
    assert_eq!(number(b"1f"), Some(0x1f));
    assert_eq!(number(b"ffffffffffffffff"), Some(u64::MAX));
    for wrong in [b"".as_slice(), b"zz", b"0x10", b"-1", b"10000000000000000"] {
        assert_eq!(number(wrong), None, "{}", wrong.escape_ascii());
    }
}

#[test]
fn threads_may_have_processes() {
    assert_eq!(thread(b"1f"), Some(Thread::Id(0x1f)));
    assert_eq!(thread(b"p1.1f"), Some(Thread::Id(0x1f)));
    assert_eq!(thread(b"p-1.-1"), Some(Thread::All));
    assert_eq!(thread(b"p1"), Some(Thread::All));
    assert_eq!(thread(b"0"), Some(Thread::Any));
    assert_eq!(thread(b"-1"), Some(Thread::All));
    for wrong in [b"".as_slice(), b"p", b"p.1", b"pz.1", b"-2", b"p1."] {
        assert_eq!(thread(wrong), None, "{}", wrong.escape_ascii());
    }
}

#[test]
fn ranges_have_two_numbers() {
    assert_eq!(range(b"10,4"), Some((0x10, 4)));
    assert_eq!(range(b"10"), None);
    assert_eq!(range(b"10,"), None);
}

#[test]
fn pairs_end_with_semicolons_or_the_packet() {
    let all: Vec<_> = pairs(b"a:1;b:2;;c").collect();
    assert_eq!(all, [(b"a".as_slice(), b"1".as_slice()), (b"b", b"2"), (b"c", b"")]);
}
