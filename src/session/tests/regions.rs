//! Regions: they cover all addresses without overlap, and say what reading would say.

use super::Maker;
use crate::session::{Inspect as _, Session};
use crate::units::{WaveId, WaveSize};

fn session() -> Session {
    let mut maker = Maker::new("gfx90a");
    let group = maker.group([0, 0, 0], &[(0, &[1; 64]), (128, &[2; 64])]);
    maker.wave(WaveSize::W64, Some(group), &[("exec", &[8, 0, 0, 0, 0, 0, 0, 0], 3)]);
    maker.private(0, &[(0, &[3; 1024])]);
    maker.capture.global =
        maker.map(&[(0x1000, &[4; 16]), (0x7f00_0000_0000, &[5; 32]), (0xffff_8000_0000_0000, &[6; 16])]);
    Session::new(maker.finish(), None).unwrap()
}

#[test]
fn walking_covers_the_whole_space() {
    let session = session();
    let mut at = 0u64;
    let mut readable = Vec::new();
    for step in 0.. {
        assert!(step < 1000, "the walk does not end");
        let region = session.region(at, WaveId(0));
        assert_eq!(region.start, at, "a region begins where the one before ended");
        assert!(region.last >= at);
        if region.readable {
            readable.push((region.start, region.last));
        }
        // Readable ends do read, and the byte after does not continue the region.
        for edge in [region.start, region.last] {
            let place = session.place(edge, WaveId(0));
            let reads = place.is_ok_and(|place| session.read(place, &mut [0]).is_ok());
            assert_eq!(reads, region.readable, "{edge:#x} of {region:?}");
        }
        match region.last.checked_add(1) {
            Some(next) => at = next,
            None => break,
        }
    }
    for expected in [
        (0x1000, 0x100f),
        (0x7f00_0000_0000, 0x7f00_0000_001f),
        (0xffff_8000_0000_0000, 0xffff_8000_0000_000f),
        (0x0001_0000_0000_0000, 0x0001_0000_0000_003f),
        (0x0300_007f_0000_0000, 0x0300_007f_0000_003f),
        (0x0300_007f_0000_0080, 0x0300_007f_0000_00bf),
        (0x0500_007f_0000_0000, 0x0500_007f_0000_000f),
        (0x0600_007f_0000_0000, 0x0600_007f_0000_03ff),
        (0x2300_007f_0000_0000, 0x2300_007f_0000_000f),
    ] {
        assert!(readable.contains(&expected), "{expected:x?} is missing in {readable:x?}");
    }
}

#[test]
fn explicit_waves_and_lanes_are_answered_exactly() {
    let session = session();
    let block = 5 << 56 | 1 << 39 | 9 << 32;
    let region = session.region(block | 4, WaveId(0));
    assert_eq!((region.start, region.last, region.readable), (block, block | 15, true));
    assert_eq!(region.name.as_deref(), Some("private_lane[9] of wave 1"));
    let beyond = session.region(block | 16, WaveId(0));
    assert!(!beyond.readable);
    assert_eq!(beyond.start, block | 16);
    let nobody = session.region(5 << 56 | 7 << 39, WaveId(0));
    assert!(!nobody.readable);
}
