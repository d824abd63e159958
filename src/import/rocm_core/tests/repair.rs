//! Control stacks of gfx906 with one damaged dword.

use std::sync::Arc;

use super::super::area::Area;
use super::super::block::{Block, BlockReader};
use super::super::doubt::Doubt;
use super::{breaks, remains, with_flags};
use crate::arch::save_area::SaveArea;
use crate::arch::{Target, Targets};

const FIRST: u32 = 1 << 17;
const LAST: u32 = 1 << 16;
const END: u64 = 0x10_0000;

/// VGPRs in fours, no SGPRs, LDS in units of 512 bytes.
fn state(vgprs: u32, lds: u32) -> u32 {
    1 << 31 | (vgprs - 1) | lds << 9
}

fn target() -> Arc<Target> {
    Targets::builtin().target("gfx906").unwrap()
}

fn row(target: &Target) -> &SaveArea {
    target.save_area.as_ref().unwrap()
}

fn blocks(target: &Target, records: &[u32]) -> Vec<Block> {
    BlockReader::new(row(target), records, END).collect()
}

fn area(target: &Target, records: &[u32]) -> Area {
    let begin = blocks(target, records).last().unwrap().bottom;
    Area { stack: 0, stack_size: 0, begin, end: END }
}

/// Work-groups of 3 and 2 waves with LDS, of several sizes.
const SOUND: [u32; 7] = [1 << 31 | 1 << 9, FIRST, 1, LAST | 2, 1 << 31 | 1 | 2 << 9, FIRST | 3, LAST | 4];

#[test]
fn flags_that_alternate_are_no_contradiction() {
    let target = target();
    assert!(breaks(row(&target), &blocks(&target, &SOUND)).is_empty());
    for (index, flag, at) in
        [(1, FIRST, vec![0]), (3, LAST, vec![3]), (5, FIRST, vec![3]), (6, LAST, vec![5])]
    {
        let mut records = SOUND;
        records[index] ^= flag;
        assert_eq!(breaks(row(&target), &blocks(&target, &records)), at, "{index}");
    }
}

#[test]
fn a_flipped_flag_is_restored() {
    let target = target();
    let (truth, area) = (blocks(&target, &SOUND), area(&target, &SOUND));
    for index in [1, 2, 3, 5, 6] {
        for flag in [FIRST, LAST] {
            let mut records = SOUND;
            records[index] ^= flag;
            let found = with_flags(row(&target), &records, &area, &blocks(&target, &records));
            let [found] = found.as_slice() else { panic!("{index} {flag:#x}: {} readings", found.len()) };
            let places =
                |blocks: &[Block]| blocks.iter().map(|b| (b.top, b.bottom, b.word)).collect::<Vec<_>>();
            assert_eq!(places(found), places(&truth), "{index} {flag:#x}");
            let doubts: Vec<Option<Doubt>> = found.iter().map(|block| block.doubt).collect();
            assert_eq!(doubts.iter().filter(|doubt| **doubt == Some(Doubt::Record)).count(), 1, "{doubts:?}");
        }
    }
}

/// A state with more VGPRs than its waves have: the next wave has a valid PC, and nothing confirms the rest of it.
#[test]
fn a_block_whose_size_nothing_confirms_is_doubtful() {
    let target = target();
    let sound = [state(1, 0), FIRST, LAST, FIRST, LAST, state(2, 0), FIRST, LAST, state(1, 0), FIRST, LAST];
    let (truth, area) = (blocks(&target, &sound), area(&target, &sound));
    // A block looks valid by its state words, near its top.
    let is_sound = |block: &Block| truth.iter().any(|true_block| true_block.hwregs() == block.hwregs());
    let places: Vec<(u64, u64)> = truth.iter().map(|block| (block.top, block.bottom)).collect();
    // The block below confirms each of the first three, nothing confirms the fourth; of the last two the second one is
    // confirmed. The block between them is absent if it overlaps the others, and marked if it is too small.
    let shown = |vgprs: u32| {
        let mut records = sound;
        records[5] = state(vgprs, 0);
        let found = remains(row(&target), &records, &area, is_sound);
        assert_eq!(found.listed, truth.len());
        let of = |block: &Block| (places.contains(&(block.top, block.bottom)), block.doubt.is_none());
        found.blocks.iter().map(of).collect::<Vec<_>>()
    };
    let (confirmed, doubtful, wrong) = ((true, true), (true, false), (false, false));
    assert_eq!(shown(9), [confirmed, confirmed, confirmed, doubtful, doubtful, confirmed]);
    assert_eq!(shown(1), [confirmed, confirmed, confirmed, confirmed, wrong, doubtful, confirmed]);
}
