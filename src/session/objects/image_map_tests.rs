//! The map against a linear search of a list.

use crate::session::objects::image_map::ImageMap;

/// Ranges of pseudo-random starts and sizes, some of which wrap around.
#[test]
fn the_first_of_overlapping_images_holds_an_address() {
    for seed in 1..200u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        // Addresses from -32 to 63.
        let images: Vec<(u64, u64)> = (0..20)
            .map(|_| (next(96).wrapping_sub(32), if seed % 2 == 0 { next(6) } else { next(60) }))
            .collect();
        let mut map = ImageMap::default();
        for added in 0..images.len() {
            let (start, size) = images[added];
            map.add(start, size, added);
            for address in (0..128u64).map(|at| at.wrapping_sub(48)) {
                let holds = |(start, size): &(u64, u64)| address.wrapping_sub(*start) < *size;
                assert_eq!(
                    map.at(address),
                    images[..=added].iter().position(holds),
                    "{images:x?}: {address:#x}"
                );
            }
        }
    }
}
