//! Worked examples of the save area's layout, with addresses computed by hand from AMD's documents.

use std::sync::Arc;

use super::{Area, Block, BlockReader, Counts, SLOTS, fitting};
use crate::arch::save_area::SaveArea;
use crate::arch::{Target, Targets};
use crate::units::WaveSize;

/// Counts of processors with 16 slots of hardware registers, and 16 of trap temporaries above them.
fn counts(size: WaveSize, [vgprs, shared, accums, sgprs]: [u32; 4]) -> Counts {
    Counts { size, vgprs, shared, accums, sgprs, hwregs: 16, ttmps_in_sgprs: false }
}

fn target(name: &str) -> Arc<Target> {
    Targets::builtin().target(name).unwrap()
}

fn row(target: &Target) -> &SaveArea {
    target.save_area.as_ref().unwrap()
}

fn walk(name: &str, records: &[u32], end: u64) -> Vec<Block> {
    let target = target(name);
    let mut walk = BlockReader::new(row(&target), records, end);
    let blocks: Vec<Block> = walk.by_ref().collect();
    assert!(!walk.failed, "{name}");
    assert_eq!(blocks.last().map(|block| block.bottom), Some(walk.last));
    blocks
}

/// State: vgprs field 3, accum_offset 3, sgprs field 6, lds field 2; a first wave.
#[test]
fn a_wave_of_gfx90a() {
    let state = 1 << 31 | 3 | 6 << 6 | 2 << 9 | 3 << 24;
    let [block] = walk("gfx90a", &[state, 1 << 17], 0x7f00_0010_0000)[..] else { panic!("one wave") };
    assert_eq!(block.counts, counts(WaveSize::W64, [16, 0, 16, 96]));
    assert_eq!((block.top, block.lds), (0x7f00_000f_ffc0, 0x400));
    assert_eq!(block.lds_base(), 0x7f00_000f_fbc0);
    assert_eq!((block.hwregs(), block.hwregs() + SLOTS), (0x7f00_000f_fb40, 0x7f00_000f_fb80));
    assert_eq!(block.bottom, 0x7f00_000f_d9c0);
}

/// Not first, 32 lanes, vgprs field 2, no shared VGPRs; the state's second dword is not a record, whatever its bits.
#[test]
fn a_wave_of_gfx1100() {
    let state = 1 << 31 | 2 | 1 << 24;
    let [block] = walk("gfx1100", &[state, 0xffff_ffff, 0], 0x7f00_0010_0000)[..] else { panic!("one wave") };
    assert_eq!(block.counts, counts(WaveSize::W32, [24, 0, 0, 128]));
    assert_eq!((block.top, block.hwregs()), (0x7f00_0010_0000, 0x7f00_000f_ff80));
    assert_eq!(block.bottom, 0x7f00_0010_0000 - 0xe80);
}

/// Counts by GPU, from the tables of bit fields: all counts for one word.
#[test]
fn counts_of_a_state_by_gpu() {
    let (w64, w32) = (WaveSize::W64, WaveSize::W32);
    let cases = [
        ("gfx900", 1 << 31 | 5 | 2 << 6, [24, 0, 0, 32], w64),
        ("gfx908", 1 << 31 | 5 | 2 << 6, [24, 0, 24, 32], w64),
        ("gfx90a", 1 << 31 | 5 | 2 << 6 | 1 << 24, [8, 0, 40, 32], w64),
        ("gfx942", 1 << 31 | 63 | 6 << 6 | 63 << 24, [256, 0, 256, 96], w64),
        ("gfx1010", 1 << 31 | 5 | 3 << 26, [24, 24, 0, 128], w64),
        ("gfx1030", 1 << 31 | 5 | 1 << 24, [48, 0, 0, 128], w32),
        ("gfx1200", 1 << 31 | 5 | 1 << 26, [24, 8, 0, 128], w64),
    ];
    for (name, state, expected, size) in cases {
        assert_eq!(Counts::of(row(&target(name)), state), counts(size, expected), "{name}");
    }
}

/// Not first, 32 lanes, vgprs field 32: 528 VGPRs of 128 bytes, 128 SGPR slots that end with the trap temporaries, and
/// 128 slots of hardware registers. A first and last wave has 3 * 1024 bytes of LDS besides.
#[test]
fn waves_of_gfx1250() {
    let state = 1 << 31 | 32 | 3 << 10 | 1 << 24;
    let blocks = walk("gfx1250", &[state, 0xffff_ffff, 1 << 12 | 1 << 13, 0], 0x7f00_0010_0000);
    let expected = Counts {
        size: WaveSize::W32,
        vgprs: 528,
        shared: 0,
        accums: 0,
        sgprs: 128,
        hwregs: 128,
        ttmps_in_sgprs: true,
    };
    assert_eq!([blocks[0].counts, blocks[1].counts], [expected, expected]);
    assert_eq!((blocks[0].top, blocks[0].lds), (0x7f00_0010_0000, 0xc00));
    assert_eq!((blocks[0].hwregs(), blocks[0].ttmps()), (0x7f00_000f_f200, 0x7f00_000f_f1c0));
    assert_eq!(blocks[0].bottom, 0x7f00_000f_f000 - 528 * 128);
    assert_eq!((blocks[1].lds, blocks[1].top - blocks[1].bottom), (0, 528 * 128 + 0x400));
    assert_eq!(blocks[1].ttmps(), blocks[1].top - 0x240);
}

/// LDS granules: 512 bytes, on gfx950 1280, and all of it if a gfx12 work-group owns the whole WGP.
#[test]
fn lds_belongs_to_the_first_wave() {
    let cases = [
        ("gfx906", 3 << 9, 1 << 17, 1536),
        ("gfx942", 3 << 9, 1 << 17, 1536),
        ("gfx950", 3 << 9, 1 << 17, 3840),
        ("gfx1100", 3 << 10, 1 << 12, 1536),
        ("gfx1201", 1 << 6, 1 << 12, 131_072),
        ("gfx1250", 1 << 24 | 1 << 18 | 3 << 10, 1 << 12, 265_216),
    ];
    for (name, state, first, bytes) in cases {
        let two = row(&target(name)).state_words == 2;
        let mut records = vec![1 << 31 | state];
        records.extend(two.then_some(0));
        // An event between them is ignored.
        records.extend([first, 1 << 30 | 7, 0]);
        let blocks = walk(name, &records, 1 << 40);
        assert_eq!([blocks[0].lds, blocks[1].lds], [bytes, 0], "{name}");
        assert_eq!(blocks[1].top, blocks[0].bottom - u64::from(row(&target(name)).gap), "{name}");
    }
}

#[test]
fn a_wave_before_any_state_and_addresses_that_are_used_up_end_the_walk() {
    let gfx90a = target("gfx90a");
    for (records, end) in [(vec![0u32], 1u64 << 40), (vec![1 << 31, 0], 100)] {
        let mut walk = BlockReader::new(row(&gfx90a), &records, end);
        assert_eq!(walk.next(), None);
        assert!(walk.failed);
    }
}

/// The end of the area distinguishes layouts.
#[test]
fn a_neighbours_layout_is_found_by_where_the_walk_ends() {
    let state = 1 << 31 | 3 | 6 << 6 | 2 << 9 | 3 << 24;
    let records = [state, 1 << 17, 1 << 16];
    let rows: Vec<_> = ["gfx900", "gfx90a", "gfx942", "gfx950"].map(target).to_vec();
    let end = 1 << 40;
    for (name, lds) in [("gfx90a", 1024), ("gfx950", 2560)] {
        // Two waves of 32 VGPRs in all and 96 SGPRs, gaps, and the LDS of the first.
        let size = 2 * (64 + 128 + 96 * 4 + 32 * 256) + lds;
        let area = Area { stack: 0, stack_size: 0, begin: end - size, end };
        assert_eq!(fitting(&rows, &records, &area).unwrap().name, name);
    }
    let area = Area { stack: 0, stack_size: 0, begin: 4, end };
    assert!(fitting(&rows, &records, &area).is_none());
}
