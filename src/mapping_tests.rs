//! Bytes of stable files, of changing files, and of truncated files.

use std::fs::{self, File};
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{LEAST_MAPPED, Mapped, Watch, map};

const SIZE: usize = 2 * LEAST_MAPPED as usize;

/// Serialises the tests: the guard has a limited number of mappings per process.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bytes() -> Vec<u8> {
    (0..SIZE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// A file with an old modification time.
fn old(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes()).unwrap();
    age(&path, 60);
    (folder, path)
}

fn age(path: &std::path::Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

fn mapped(path: &std::path::Path) -> (Mapped, Watch) {
    let mapped = map(&File::open(path).unwrap(), 0, SIZE as u64).unwrap();
    assert!(matches!(mapped, Mapped::Guarded(_)));
    let watch = Watch::of(mapped.as_ref().get(5000..5001).unwrap()).unwrap();
    (mapped, watch)
}

#[test]
fn a_range_is_read_and_what_leaves_the_file_is_not() {
    let _alone = alone();
    let (_folder, path) = old("ranges");
    let file = File::open(&path).unwrap();
    let expected = bytes();
    for (offset, length) in [(4097, 5000), (4097, SIZE - 4097), (0, SIZE), (SIZE - 1, 1)] {
        let found = map(&file, offset as u64, length as u64).unwrap();
        assert!(found.as_ref() == &expected[offset..offset + length], "{offset}+{length}");
        assert_eq!(matches!(found, Mapped::Guarded(_)), length as u64 >= LEAST_MAPPED);
    }
    for (offset, length) in [(0, SIZE as u64 + 1), (SIZE as u64, 1), (u64::MAX, 2), (5, 0)] {
        let error = map(&file, offset, length).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{offset}+{length}");
    }
    let error = map(&file, 10, SIZE as u64).unwrap_err().to_string();
    let expected = format!("the file ends at offset {SIZE:#x}, 10 bytes before {:#x}", SIZE + 10);
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_file_that_shrinks_reads_as_zeros_and_is_changed() {
    let _alone = alone();
    let (expected, zeros) = (bytes(), vec![0u8; SIZE]);
    for left in [0, 1, 4096, 5000, SIZE as u64 / 2, SIZE as u64 - 1] {
        let (_folder, path) = old("shrinks");
        let (mapped, watch) = mapped(&path);
        assert!(mapped.as_ref() == expected && !watch.is_changed());
        File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
        // Every byte can be read, from several threads at once.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let (kept, lost) = mapped.as_ref().split_at(left as usize);
                    assert!(kept == &expected[..left as usize], "{left}");
                    assert!(lost == &zeros[left as usize..], "{left}");
                });
            }
        });
        assert!(watch.is_changed(), "{left}");
        assert!(super::first_changed().is_some());
        // A file that has grown back is still another file.
        fs::write(&path, &expected).unwrap();
        age(&path, 60);
        assert!(watch.is_changed(), "{left}");
    }
}

#[test]
fn a_file_that_is_written_in_place_is_changed() {
    let _alone = alone();
    for at in [0, SIZE as u64 - 1] {
        let (_folder, path) = old("written");
        let (_mapped, watch) = mapped(&path);
        let mut file = File::options().write(true).open(&path).unwrap();
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).unwrap();
        file.write_all(&[0x5a]).unwrap();
        assert!(watch.is_changed());
    }
}

#[test]
fn a_file_that_is_replaced_renamed_or_removed_is_what_it_was() {
    let _alone = alone();
    let (folder, path) = old("replaced");
    let (mapped, watch) = mapped(&path);
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(folder.path().join("new"), vec![7; SIZE / 2]).unwrap();
    fs::rename(folder.path().join("new"), folder.path().join("moved")).unwrap();
    assert!(mapped.as_ref() == bytes() && !watch.is_changed());
}

#[test]
fn a_file_that_was_just_written_is_copied() {
    let _alone = alone();
    let (_folder, path) = old("fresh");
    for seconds in [0, 1] {
        age(&path, seconds);
        let mapped = map(&File::open(&path).unwrap(), 0, SIZE as u64).unwrap();
        assert!(matches!(mapped, Mapped::Copied(_)) && Watch::of(mapped.as_ref()).is_none());
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert!(mapped.as_ref() == bytes());
        fs::write(&path, bytes()).unwrap();
    }
}

/// More mappings than the guard has places for: the rest is copied, and places are free again afterwards.
#[test]
fn mappings_beyond_the_guards_places_are_copies() {
    let _alone = alone();
    let (_folder, path) = old("many");
    let file = File::open(&path).unwrap();
    let all: Vec<Mapped> = (0..300).map(|_| map(&file, 4096, LEAST_MAPPED).unwrap()).collect();
    let guarded = all.iter().filter(|mapped| matches!(mapped, Mapped::Guarded(_))).count();
    // Other tests map files meanwhile.
    assert!((200..=256).contains(&guarded), "{guarded}");
    let expected = bytes();
    assert!(all.iter().all(|mapped| mapped.as_ref() == &expected[4096..4096 + LEAST_MAPPED as usize]));
    drop(all);
    assert!(matches!(map(&file, 0, LEAST_MAPPED).unwrap(), Mapped::Guarded(_)));
}

#[test]
fn a_range_beyond_the_bound_is_never_copied() {
    let _alone = alone();
    let (_folder, path) = old("large");
    let size = super::MAX_COPIED + 1;
    // Sparse, and just modified.
    File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
    let file = File::open(&path).unwrap();
    assert!(matches!(map(&file, 0, size).unwrap(), Mapped::Guarded(_)));
    assert!(matches!(map(&file, 0, size - 1).unwrap(), Mapped::Copied(_)));
    let all: Vec<Mapped> = (0..256).filter_map(|_| map(&file, 0, size).ok()).collect();
    assert_eq!(map(&file, 0, size).unwrap_err().kind(), std::io::ErrorKind::OutOfMemory);
    drop(all);
}
