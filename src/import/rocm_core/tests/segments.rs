use std::sync::Arc;

use proptest::prelude::*;

use super::{Covered, map};
use crate::capture::{Backing, MemoryBacking, MemoryMap};
use crate::import::Problem;
use crate::import::problem::Problems;
use crate::import::rocm_core::headers::{Headers, Range};
use crate::work::{Count, done};

/// A file's bytes, and its segments: offset, address, bytes.
type Made<'a> = (usize, &'a [(u64, u64, u64)]);

/// Map and problems of such files.
fn made(files: &[Made<'_>]) -> (MemoryMap, Vec<Problem>) {
    let (map, problems, _) = all(files);
    (map, problems)
}

/// The same, and the sentence about a truncated file.
fn all(files: &[Made<'_>]) -> (MemoryMap, Vec<Problem>, Option<String>) {
    let mut problems = Problems::new("made");
    let files = files.iter().map(|(size, loads)| {
        let loads = (0..).zip(loads.iter()).map(|(index, (offset, address, size))| Range {
            flags: 0,
            index,
            offset: *offset,
            address: *address,
            size: *size,
        });
        let file: Arc<dyn Backing> = Arc::new(MemoryBacking::new("file", vec![0u8; *size]));
        (
            file,
            Headers {
                machine: crate::elf::EM_AMDGPU,
                loads: loads.collect(),
                notes: Vec::new(),
                end: 0,
                is_whole: true,
            },
        )
    });
    let (map, truncated) = map(&files.collect::<Vec<_>>(), &mut problems);
    (map, problems.finish(), truncated)
}

/// Address, bytes, file, offset.
fn rows(map: &MemoryMap) -> Vec<(u64, u64, u32, u64)> {
    let segments = map.segments().iter();
    segments.map(|s| (s.address, s.extent.length, s.extent.backing.0, s.extent.offset)).collect()
}

#[test]
fn the_fuller_segment_counts_and_the_other_keeps_what_it_alone_has() {
    let (map, problems) = made(&[(4096, &[(0, 0x100, 0x20), (0x40, 0x110, 0x80)])]);
    assert_eq!(rows(&map), [(0x100, 0x10, 0, 0), (0x110, 0x80, 0, 0x40)]);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().contains("segment 0: 1 overlap others"), "{}", problems[0]);
    // Of two equal ones the later one.
    let (map, _) = made(&[(4096, &[(0, 0x100, 0x20), (0x40, 0x100, 0x20)])]);
    assert_eq!(rows(&map), [(0x100, 0x20, 0, 0x40)]);
}

#[test]
fn the_gpus_core_comes_before_the_hosts_however_full() {
    let (map, problems) = made(&[(64, &[(0, 0x100, 0x10)]), (8192, &[(8, 0xf0, 0x1000)])]);
    assert_eq!(rows(&map), [(0xf0, 0x10, 1, 8), (0x100, 0x10, 0, 0), (0x110, 0xfe0, 1, 0x28)]);
    assert_eq!(problems, []);
}

#[test]
fn a_short_file_cuts_segments_with_the_place_reported() {
    let (map, problems) =
        made(&[(0x50, &[(0x10, 0x1000, 0x20), (0x40, 0x2000, 0x20), (0x80, 0x3000, 0x20)])]);
    assert_eq!(rows(&map), [(0x1000, 0x20, 0, 0x10), (0x2000, 0x10, 0, 0x40)]);
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!(
        problem.to_string(),
        "file: offset 0x40: segment 1: truncated at offset 0x50: 16 of 32 bytes at address 0x2000, and so is 1 more \
         (expected a file with all of it (was it cut short?))"
    );
}

#[test]
fn the_sentence_about_a_short_file_names_the_core() {
    let truncated = |files: &[Made<'_>]| all(files).2;
    let (whole, short) = ((0x50, &[(0x10, 0x1000, 0x20)][..]), (0x50, &[(0x40, 0x2000, 0x20)][..]));
    assert_eq!(truncated(&[whole, whole]), None);
    let of = |core: &str| Some(format!("{core} ends at offset 0x50, before the end of 1 segment"));
    assert_eq!(truncated(&[short, whole]), of("the core"));
    assert_eq!(truncated(&[whole, short]), of("the host's core"));
}

#[test]
fn a_segment_may_end_at_the_last_address_and_not_beyond() {
    let (map, problems) = made(&[(0x100, &[(0, u64::MAX - 15, 16), (0, u64::MAX - 15, 17)])]);
    assert_eq!(rows(&map), [(u64::MAX - 15, 16, 0, 0)]);
    assert_eq!(problems.len(), 1);
}

proptest! {
    /// Compared with marks in an array: a free part is returned once, in order, and the whole run is taken afterwards.
    #[test]
    fn what_is_covered_is_what_was_added(runs in prop::collection::vec((0u64..60, 1u64..20), 1..20)) {
        let mut marks = [false; 80];
        let mut covered = Covered::default();
        for (first, length) in runs {
            let last = first + length - 1;
            let expected: Vec<u64> = (first..=last).filter(|at| !marks[*at as usize]).collect();
            let mut free = Vec::new();
            let whole = covered.add(first, last, |first, last| free.extend(first..=last));
            prop_assert_eq!(&free, &expected);
            prop_assert_eq!(whole, expected.len() as u64 == length);
            (first..=last).for_each(|at| marks[at as usize] = true);
        }
    }
}

/// The maximum number of an ELF header, each overlapping the next: no quadratic work.
#[test]
fn many_overlaps_take_few_steps() {
    let loads: Vec<(u64, u64, u64)> = (0..65_535u64).map(|n| (0, n * 16, 64 + n % 7)).collect();
    let (map, _) = made(&[(4096, &loads)]);
    assert!(!map.segments().is_empty());
    let whole: Vec<(u64, u64, u64)> =
        std::iter::once((0, 0, 65_535 * 16)).chain(loads.iter().copied()).collect();
    // Large enough for the sum of all claims.
    let (map, _) = made(&[(2 * 65_535 * 16, &whole)]);
    let [one, rest @ ..] = map.segments() else { panic!("no segments") };
    assert_eq!((one.address, one.extent.length), (0, 65_535 * 16));
    // The last ones extend beyond it: the longest by 70 bytes, and it is 16 below.
    assert!((1..5).contains(&rest.len()) && rest.iter().all(|part| part.address >= 65_535 * 16), "{rest:?}");
    // A few steps for each.
    assert!(done(Count::Steps) < 65_535 * 8, "{}", done(Count::Steps));
}

/// Segments that share bytes of the file claim at most four times the file and 1 MiB.
#[test]
fn segments_that_share_bytes_are_bounded() {
    let size = 1usize << 20;
    let loads: Vec<_> = (0..1000u64).map(|index| (index, index << 32, size as u64 - index)).collect();
    let (map, problems) = made(&[(size, &loads)]);
    assert_eq!(map.segments().len(), 5);
    let told = problems[0].to_string();
    let left: u64 = (5..1000).map(|index| size as u64 - index).sum();
    assert!(told.contains(&format!("995 segments with {left} bytes are left out")), "{told}");
}
