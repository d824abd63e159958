//! What is mapped is the file's range; what leaves the file is an error.

use std::fs::{self, File};

use super::map;

#[test]
fn a_range_is_mapped_and_what_leaves_the_file_is_not() {
    let path = std::env::temp_dir().join(format!("lanescope-mapping-{}", std::process::id()));
    let bytes: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
    fs::write(&path, &bytes).unwrap();
    let file = File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(map(&file, 4097, 5000).unwrap().as_ref(), &bytes[4097..9097]);
    for (offset, length) in [(0, 10_001), (10_000, 1), (u64::MAX, 2), (5, 0)] {
        let error = map(&file, offset, length).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{offset}+{length}");
    }
}
