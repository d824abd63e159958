//! Queues of a core, and through their save areas the work-groups and waves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agents::Agents;
use super::ahead::Ahead;
use super::area::Header;
use super::block::Block;
use super::dispatch::{self, Dispatches};
use super::doubt::{Doubts, Launched};
use super::memory::CoreMemory;
use super::missing::Missing;
use super::note::State;
use super::reading::XccPlace;
use super::scratch::{NoScratch, Scratch};
use super::stride;
use super::wave::{Facts, Promise, Row, Words};
use crate::arch::{Target, Targets};
use crate::capture::{BackingId, Capture, Queue, Ring};
use crate::import::problem::Problems;
use crate::units::WaveSize;

/// queue_type of AQL queues: the only ones whose waves can be told apart.
const AQL: u32 = 2;

/// queue_type of queues that copy: no wave runs on them.
const SDMA: [u32; 2] = [1, 3];

/// The most waves of a capture: a hundred times what the largest GPU runs.
pub(super) const MOST_WAVES: usize = 1 << 20;

/// The most bytes of control stacks that are read in all, and as many of those that readings of contradictory headers name.
const MOST_STACKS: u64 = 256 << 20;

/// The stores of a capture that waves' registers lie in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stores {
    /// Offsets are addresses.
    pub(super) by_address: BackingId,
    /// What was rewritten for the user.
    pub(super) derived: BackingId,
}

/// Reads waves.
#[derive(Debug)]
pub(super) struct Waves<'a> {
    pub(super) memory: &'a CoreMemory,
    pub(super) targets: &'a Targets,
    pub(super) r_version: Option<u32>,
    ttmp_setup: bool,
    pub(super) stores: Stores,
    pub(super) derived: &'a mut Vec<u8>,
    pub(super) rows: Vec<Row>,
    /// Bytes of control stacks that may still be read.
    pub(super) stacks_left: u64,
    /// Bytes of control stacks that contradictory headers may still be tried with.
    pub(super) candidates_left: u64,
    /// What makes waves doubtful.
    pub(super) doubts: Doubts,
    /// Where the waves are: what code objects are found by.
    pub(super) pcs: BTreeSet<u64>,
}

/// One XCC's waves: what they have in common.
pub(super) struct Lot {
    /// Index of the GPU in the capture.
    pub(super) agent: usize,
    /// Its processor.
    pub(super) target: Arc<Target>,
    /// Its trap temporaries always hold dispatch facts.
    pub(super) always: bool,
    /// Index of the queue in the capture.
    pub(super) queue: usize,
    pub(super) row32: Option<usize>,
    pub(super) row64: Option<usize>,
    pub(super) scratch: Result<Option<Scratch>, NoScratch>,
    /// Where its waves are, from the top of the area down.
    pub(super) blocks: Vec<Block>,
}

/// A queue whose waves are to be read.
struct Saved {
    key: String,
    /// Its index in the capture.
    queue: usize,
    ring: Ring,
    lots: Vec<Lot>,
}

impl<'a> Waves<'a> {
    /// A reader of the memory's waves; what is derived for users is appended to `derived`.
    pub(super) fn new(
        memory: &'a CoreMemory,
        targets: &'a Targets,
        r_version: Option<u32>,
        ttmp_setup: bool,
        stores: Stores,
        derived: &'a mut Vec<u8>,
    ) -> Self {
        Self {
            memory,
            targets,
            r_version,
            ttmp_setup,
            stores,
            derived,
            rows: Vec::new(),
            stacks_left: MOST_STACKS,
            candidates_left: MOST_STACKS,
            doubts: Doubts::default(),
            pcs: BTreeSet::new(),
        }
    }

    /// Adds the queues of the note to a capture, with their work-groups and waves.
    pub(super) fn queues(
        &mut self,
        state: &State,
        agents: &mut Agents,
        capture: &mut Capture,
        problems: &mut Problems,
    ) {
        let mut areas = 0u32;
        // Which waves there are first: their words are read ahead of what is made of them.
        let (mut saved, mut room) = (Vec::new(), MOST_WAVES.saturating_sub(capture.waves.len()));
        // Why a queue has no waves, which may be as it should be: said where no queue has any.
        let mut idle: Vec<(String, String)> = Vec::new();
        for entry in &state.queues {
            let key = format!("queue {}", entry.id);
            if entry.kind != AQL {
                if entry.save_area != 0 || !SDMA.contains(&entry.kind) {
                    let what = format!("it is of type {}; left out, with its waves", entry.kind);
                    problems.report(key, what, "type 2 (AQL), the one whose waves are read");
                }
                continue;
            }
            // Of a GPU that is not known, too: that its waves are left out has another reason.
            areas += u32::from(entry.save_area != 0);
            let Some(known) = agents.of_queue(entry.gpu_id, &key, capture, problems) else { continue };
            let ring = dispatch::ring(self.memory, entry);
            let queue = capture.queues.len();
            capture.queues.push(Queue { id: entry.id, agent: known.index, name: None, ring: Some(ring) });
            if entry.save_area == 0 {
                idle.push((key, "no save area".to_owned()));
                continue;
            }
            let mut lots = Vec::new();
            let stride = stride::stride(self.memory, entry, known.xccs, &key, problems);
            for xcc in 0..if stride.is_some() { known.xccs } else { 1 } {
                let key = if known.xccs == 1 { key.clone() } else { format!("{key}, XCC {xcc}") };
                let skip = stride.unwrap_or(0).checked_mul(u64::from(xcc));
                let Some(address) = skip.and_then(|skip| entry.save_area.checked_add(skip)) else {
                    problems.report(key, "its save area passes the last address", "an address below 2^64");
                    break;
                };
                let header = Header::read(self.memory, address);
                if header.is_some_and(|header| header.is_unused()) {
                    idle.push((key, format!("the save area at {address:#x} is empty")));
                    continue;
                }
                let place = XccPlace { address, xcc, queue, key: &key };
                let mut lot = self.lot(header, place, entry, known, &mut room, problems);
                if let Some(lot) = &mut lot {
                    self.settle_scratch(lot, entry, known, (xcc, &key), problems);
                }
                lots.extend(lot);
            }
            saved.push(Saved { key, queue, ring, lots });
        }
        self.waves(&saved, capture, problems);
        if areas == 0 {
            problems.report(
                "waves",
                "no queue has a save area: no waves",
                "AQL queues with ctx_save_restore_address",
            );
        } else if capture.waves.is_empty() {
            for (key, what) in idle {
                problems.report(key, what, "a save area with waves, unless none ran");
            }
        }
    }

    /// Adds the waves of queues.
    fn waves(&mut self, saved: &[Saved], capture: &mut Capture, problems: &mut Problems) {
        let blocks = saved.iter().flat_map(|queue| &queue.lots).flat_map(|lot| &lot.blocks);
        let count = saved.iter().flat_map(|queue| &queue.lots).map(|lot| lot.blocks.len()).sum();
        capture.waves.reserve(count);
        Ahead::read(self.memory, count, blocks, |ahead| {
            for Saved { key, queue, ring, lots } in saved {
                let (mut dispatches, mut missing) = (Dispatches::new(*queue, *ring), Missing::default());
                let mut launched = Launched::new();
                for lot in lots {
                    let (mut group, mut seen) = (None, Vec::with_capacity(lot.blocks.len()));
                    for block in &lot.blocks {
                        let words = ahead.next(block);
                        let wave =
                            self.wave(block, &words, lot, &mut group, &mut dispatches, &mut missing, capture);
                        seen.extend(wave);
                    }
                    self.compare(&seen, lot, (&mut dispatches, &mut launched), &mut missing, capture);
                }
                missing.report(key, self.memory, problems);
            }
        });
    }

    /// The row of a kind of wave in a layout: its index, if the processor has such waves.
    pub(super) fn row(
        &mut self,
        target: &Arc<Target>,
        layout: &Arc<Target>,
        size: WaveSize,
    ) -> Option<usize> {
        let same = |row: &Row| {
            row.kind.wave_size == size && row.kind.target.name == target.name && row.is_of(layout)
        };
        if let Some(index) = self.rows.iter().position(same) {
            return Some(index);
        }
        let kind = self.targets.kind(&target.name, size).ok()?;
        self.rows.push(Row::new(kind, Arc::clone(layout))?);
        Some(self.rows.len() - 1)
    }

    /// What a wave's words say.
    pub(super) fn facts(&self, row: &Row, words: &Words, lot: &Lot) -> Facts {
        let promise = Promise { setup: self.ttmp_setup || lot.always, r_version: self.r_version };
        row.facts(words, promise, |address| self.memory.segment(address).is_some())
    }
}

impl Lot {
    /// The row of waves of that size.
    pub(super) fn row(&self, size: WaveSize) -> Option<usize> {
        match size {
            WaveSize::W32 => self.row32,
            WaveSize::W64 => self.row64,
        }
    }
}
