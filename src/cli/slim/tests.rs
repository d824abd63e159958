//! Ranges, sizes and the bar, as text.

use std::path::Path;
use std::sync::Arc;

use super::bar::line;
use super::{answered, dump, range, size};
use crate::arch::Targets;
use crate::import;
use crate::session::Dump;
use crate::slim::{Choice, Progress};

#[test]
fn ranges_are_without_their_end() {
    assert_eq!(range("0x1000-0x2000"), Ok((0x1000, 0x1fff)));
    assert_eq!(range("0x1000+1"), Ok((0x1000, 0x1000)));
    assert_eq!(range("16 + 0x10"), Ok((16, 31)));
    assert_eq!(
        range("0x1000-0x1000").unwrap_err().to_string(),
        "`0x1000-0x1000` is empty: 0x1000 is not above 0x1000"
    );
    for wrong in ["", "0x1000", "x-y", "1-2-3"] {
        assert!(range(wrong).unwrap_err().to_string().contains("START-END"), "{wrong}");
    }
    assert_eq!(range("0+0").unwrap_err().to_string(), "`0+0` is empty: SIZE is 0");
    assert_eq!(range("0xffffffffffffff00+0x100"), Ok((0xffff_ffff_ffff_ff00, u64::MAX)));
    assert_eq!(
        range("0xffffffffffffff00+0x200").unwrap_err().to_string(),
        "`0xffffffffffffff00+0x200` passes the end of memory, 2^64; expected at most 0x100 bytes from \
         0xffffffffffffff00 on"
    );
}

#[test]
fn sizes_have_units() {
    assert_eq!(size("4096"), Ok(4096));
    assert_eq!((size("64K"), size("8m"), size("0x2G")), (Ok(65536), Ok(8 << 20), Ok(2 << 30)));
    for wrong in ["", "K", "1T", "-1", "17179869184G"] {
        assert!(size(wrong).is_err(), "{wrong}");
    }
}

/// The analysis of all waves is not repeated for the sentence; that of some waves has another one.
#[test]
fn all_waves_are_analysed_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/calls-gfx90a");
    let opened = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap();
    let dump = Arc::new(Dump::new(opened.capture, opened.problems));
    let sentence = dump::sentence(&dump::sessions(&dump, None).unwrap());
    for choice in [Choice::Representative, Choice::All] {
        assert_eq!(answered(&dump, None, &choice).unwrap().1.as_ref(), Some(&sentence));
    }
    assert_eq!(answered(&dump, None, &Choice::Ids(vec![1..=1])).unwrap().1, None);
    assert_eq!(answered(&dump, None, &Choice::Ids(vec![900..=900])).unwrap().1, None);
}

#[test]
fn a_bar_prints_the_progress() {
    let half = line(Progress::Writing(12 << 20, 24 << 20));
    assert_eq!(half, "writing [###############...............]  50% 12 of 24 MiB");
    assert_eq!(line(Progress::Asking(7, 7)), "asking waves [##############################] 100% 7 of 7");
    let grouping = line(Progress::Grouping(1, 4));
    assert_eq!(grouping, "grouping stacks [#######.......................]  25% 1 of 4");
    // An estimate that was too low, and an estimate of nothing.
    assert_eq!(line(Progress::Asking(9, 7)), line(Progress::Asking(7, 7)));
    assert!(line(Progress::Writing(0, 0)).contains("  0% 0 of 0 MiB"));
}
