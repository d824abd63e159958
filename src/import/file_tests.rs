//! Files that change while they are open.

use super::OpenFile;
use crate::capture::{Backing as _, RangeRead};
use crate::mapping::Changes;

#[test]
fn many_reads_find_a_change_as_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture");
    std::fs::write(&path, b"0123456789").unwrap();
    let changes = Changes::default();
    let file = OpenFile::open(&path, &changes).unwrap();
    let (mut first, mut last) = ([0; 4], [0; 4]);
    let mut reads = [
        RangeRead { offset: 2, buffer: &mut first, count: 0 },
        RangeRead { offset: 8, buffer: &mut last, count: 0 },
    ];
    file.read_many(&mut reads).unwrap();
    assert_eq!(reads.each_ref().map(|read| read.count), [4, 2], "the file ends");
    assert_eq!((&first, &last[..2]), (b"2345", &b"89"[..]));
    assert_eq!(changes.first(), None);
    std::fs::write(&path, b"0123456789, and more").unwrap();
    let mut reads = [RangeRead { offset: 2, buffer: &mut first, count: 0 }];
    assert!(file.read_many(&mut reads).is_err());
    assert!(changes.first().is_some_and(|name| name.ends_with("capture")));
}
