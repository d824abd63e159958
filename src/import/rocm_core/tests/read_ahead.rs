use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::{BATCH, ReadAhead, Unread, WAITING, WORTH_A_THREAD};
use crate::capture::{Backing, BackingId, Extent, MemoryBacking, MemoryMap, Segment};
use crate::import::rocm_core::block::{Block, Counts};
use crate::import::rocm_core::memory::CoreMemory;
use crate::units::WaveSize;
use crate::wait::until;

const BASE: u64 = 0x7f00_0000_0000;

/// A wave of only 16 SGPRs, hardware registers and trap temporaries.
const BYTES: u64 = 3 * 64;

/// `bytes` bytes at [`BASE`], with each dword's index as its value.
fn memory(bytes: u64) -> CoreMemory {
    let words: Vec<u8> = (0..bytes as u32 / 4).flat_map(u32::to_le_bytes).collect();
    let extent = Extent { backing: BackingId(0), offset: 0, length: bytes };
    let map = MemoryMap::new(vec![Segment { address: BASE, extent, name: None }]).0;
    let file: Arc<dyn Backing> = Arc::new(MemoryBacking::new("file", words));
    CoreMemory::new("file", map, vec![file])
}

/// Blocks of waves from the top of those bytes down.
fn blocks(count: u64) -> Vec<Block> {
    let (size, hwregs, ttmps_in_sgprs) = (WaveSize::W64, 16, false);
    let counts = Counts { size, vgprs: 0, shared: 0, accums: 0, sgprs: 16, hwregs, ttmps_in_sgprs };
    let block = |index: u64| {
        let bottom = BASE + index * BYTES;
        Block {
            top: bottom + BYTES,
            bottom,
            word: 0,
            counts,
            lds: 0,
            record: 0,
            follows_gap: false,
            doubt: None,
        }
    };
    (0..count).rev().map(block).collect()
}

#[test]
fn each_wave_has_its_own_words_whoever_read_them() {
    let most = WORTH_A_THREAD.max(BATCH * WAITING) * 2 + 3;
    for count in [0, 1, WORTH_A_THREAD - 1, WORTH_A_THREAD, BATCH * WAITING + 1, most] {
        // Half of the first wave's trap temporaries are missing.
        let memory = memory((count as u64 * BYTES).saturating_sub(32));
        let blocks = blocks(count as u64);
        let mut seen = 0;
        ReadAhead::read(&memory, blocks.iter(), |ahead| {
            for (index, block) in (0..count as u32).rev().zip(&blocks) {
                let words = ahead.next(block);
                let first = index * 48;
                for slot in 0..16u32 {
                    assert_eq!(words.hw.get(slot as usize), Some(first + 16 + slot));
                    let is_there = seen > 0 || slot < 8;
                    let ttmp = words.ttmps.get(slot as usize);
                    assert_eq!(ttmp, is_there.then_some(first + 32 + slot), "wave {index} of {count}");
                }
                seen += 1;
            }
        });
        assert_eq!(seen, count);
    }
}

/// The first batch has a reader that does not finish it before other batches have readers, too: the thread that needs
/// it reads them meanwhile, at most [`WAITING`] of them.
#[test]
fn a_thread_that_waits_for_a_batch_reads_the_following_ones() {
    let count = BATCH * WAITING * 3;
    let (memory, blocks) = (memory(count as u64 * BYTES), blocks(count as u64));
    let unread = Unread { memory: &memory, blocks: blocks.iter().collect(), first: AtomicUsize::new(0) };
    let unread = &unread;
    let first = unread.read().unwrap();
    let (sender, batches) = mpsc::sync_channel(WAITING);
    let mut ahead =
        ReadAhead { unread, batches, early: BTreeMap::new(), next: 0, batch: Vec::new().into_iter() };
    thread::scope(|scope| {
        scope.spawn(move || {
            let read = until("batches with other readers", || {
                Some(unread.first.load(Ordering::Relaxed)).filter(|read| *read > WAITING)
            });
            sender.send(first).unwrap();
            assert_eq!(read, 1 + WAITING);
        });
        for (index, block) in (0..count as u32).rev().zip(&blocks) {
            assert_eq!(ahead.next(block).hw.get(0), Some(index * 48 + 16));
        }
    });
}

/// Work that ends early does not wait for pending reads, nor does the reader wait forever.
#[test]
fn work_may_end_early() {
    let blocks = blocks(5000);
    let memory = memory(5000 * BYTES);
    ReadAhead::read(&memory, blocks.iter(), |ahead| {
        assert!(ahead.next(&blocks[0]).hw.is_whole());
    });
}
