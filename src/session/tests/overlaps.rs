//! Overlapping code objects: one hides the other, and the list reports it.

use super::Maker;
use crate::units::WaveSize;

const OBJECT: &[u8] = include_bytes!("paths/paths.hsaco");

/// Problems of code objects of the same bytes at those addresses.
fn problems(addresses: &[u64]) -> Vec<Option<String>> {
    let mut maker = Maker::new("gfx90a");
    addresses.iter().for_each(|address| maker.code_object(OBJECT, *address));
    maker.wave(WaveSize::W64, None, &[]);
    maker.finish().code_objects().into_iter().map(|object| object.problem()).collect()
}

#[test]
fn overlaps_are_problems_of_both() {
    let apart = 0x10_0000;
    assert_eq!(problems(&[apart, 2 * apart, 3 * apart]), [None, None, None]);
    let same = problems(&[apart, 3 * apart, apart]);
    assert!(
        same[0]
            .as_ref()
            .is_some_and(|words| words.contains("its addresses overlap those of object at 0x100000"))
    );
    assert!(same[2].is_some() && same[1].is_none(), "{same:?}");
    let partly = problems(&[apart + 0x100, apart]);
    assert!(partly.iter().all(Option::is_some), "{partly:?}");
}
