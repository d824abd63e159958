//! Regions of written memory.

use super::{dump, place};
use crate::session::{Session, Storage as _, WhatIf as _};
use crate::units::WaveId;

/// LDS that its work-group owns and that was not captured becomes readable after a write, and its region shows that.
#[test]
fn what_becomes_known_is_a_region() {
    let mut session = Session::new(dump(), None).unwrap();
    let tagged = |address: u64| 3 << 56 | 0x7f << 32 | address;
    assert!(!session.region(tagged(0x200), WaveId(0)).readable);
    session.write(place(3, 0x200, 0, 0), &[1; 8]).unwrap();
    let region = session.region(tagged(0x204), WaveId(0));
    assert!(region.readable, "{region:?}");
    assert_eq!((region.start & 0xffff, region.last & 0xffff), (0x200, 0x207));
    // The other wave of the group has the same memory, a wave of another group does not.
    assert!(session.region(3 << 56 | 2 << 39 | 0x7f << 32 | 0x200, WaveId(0)).readable);
    assert!(!session.region(3 << 56 | 3 << 39 | 0x7f << 32 | 0x200, WaveId(0)).readable);
    // A run that touches captured bytes makes one region with them.
    session.write(place(3, 0x130, 0, 0), &[1; 4]).unwrap();
    let region = session.region(tagged(0x20), WaveId(0));
    assert_eq!((region.start & 0xffff, region.last & 0xffff), (0x10, 0x133));
}
