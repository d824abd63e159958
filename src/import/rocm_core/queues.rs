//! Queues of a core, with the work-groups and waves of their save areas.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agents::{Agents, Known};
use super::area::Header;
use super::block::Block;
use super::build::QueueBuilder;
use super::dispatch::{self, Dispatches};
use super::doubt::Doubts;
use super::memory::CoreMemory;
use super::note::State;
use super::read_ahead::ReadAhead;
use super::reading::{XccPlace, XccReader};
use super::scratch::{NoScratch, Scratch};
use super::stride;
use super::wave::{Facts, Promise, Row, Words};
use crate::arch::{Target, Targets};
use crate::capture::{BackingId, Capture, Queue, Ring};
use crate::import::problem::Problems;
use crate::units::WaveSize;

/// queue_type of AQL queues, the only ones whose waves are read.
const AQL: u32 = 2;

/// queue_type of copy queues: they run no waves.
const SDMA: [u32; 2] = [1, 3];

/// Maximum number of waves of a capture: a hundred times the waves of the largest GPU.
pub(super) const MAX_WAVES: usize = 1 << 20;

/// Maximum bytes of all control stacks; the readings of contradictory headers have the same maximum.
const MAX_STACKS: u64 = 256 << 20;

/// Backings of waves' registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stores {
    /// Its offsets are addresses.
    pub(super) by_address: BackingId,
    /// Registers with rewritten values.
    pub(super) derived: BackingId,
}

/// Reads the waves of a core.
#[derive(Debug)]
pub(super) struct WaveReader<'a> {
    pub(super) memory: &'a CoreMemory,
    pub(super) targets: &'a Targets,
    pub(super) r_version: Option<u32>,
    ttmp_setup: bool,
    pub(super) stores: Stores,
    /// Bytes of the backing of rewritten registers.
    pub(super) derived: &'a mut Vec<u8>,
    pub(super) rows: Vec<Row>,
    /// Remaining number of waves.
    pub(super) waves_left: usize,
    /// Remaining bytes of control stacks.
    pub(super) stacks_left: u64,
    /// Remaining bytes of control stacks with contradictory headers.
    pub(super) candidates_left: u64,
    pub(super) doubts: Doubts,
    /// PCs of waves: code objects are searched below them.
    pub(super) pcs: BTreeSet<u64>,
}

/// The waves of one XCC and their common facts.
pub(super) struct XccWaves {
    /// Index of the GPU in the capture.
    pub(super) agent: usize,
    /// Its processor.
    pub(super) target: Arc<Target>,
    /// Whether its trap temporaries always hold dispatch facts.
    pub(super) always: bool,
    /// Index of the queue in the capture.
    pub(super) queue: usize,
    pub(super) row32: Option<usize>,
    pub(super) row64: Option<usize>,
    pub(super) scratch: Result<Option<Scratch>, NoScratch>,
    /// First address of the save area, and the address after its waves.
    pub(super) area: (u64, u64),
    /// The waves' blocks, from the top of the area down.
    pub(super) blocks: Vec<Block>,
}

/// A queue with known save areas.
struct Saved {
    key: String,
    /// Index of the queue in the capture.
    queue: usize,
    ring: Ring,
    xccs: Vec<XccWaves>,
}

impl Saved {
    /// The queue's ranges that hold no code, first to last address: ring, save areas and scratch memory.
    fn data(&self) -> impl Iterator<Item = (u64, u64)> {
        let Ring { address, size, .. } = self.ring;
        let ring = size.checked_sub(1).map(|last| (address, address.saturating_add(last)));
        let of_xcc = |xcc: &XccWaves| {
            let (first, end) = xcc.area;
            let scratch = xcc.scratch.as_ref().ok().and_then(|scratch| (*scratch)?.range());
            [end.checked_sub(1).map(|last| (first, last)), scratch]
        };
        ring.into_iter().chain(self.xccs.iter().flat_map(of_xcc).flatten())
    }
}

/// Save areas without waves, which may be correct: reported only if no queue has waves.
type Idle = Vec<(String, String)>;

impl<'a> WaveReader<'a> {
    /// Creates a reader of the memory's waves; it appends rewritten registers to `derived`.
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
            waves_left: MAX_WAVES,
            stacks_left: MAX_STACKS,
            candidates_left: MAX_STACKS,
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
        let (mut saved, mut unsaved, mut idle) = (Vec::new(), Vec::new(), Idle::new());
        let (mut areas, before) = (0u32, problems.count());
        // All blocks must be known before the first wave is built: `ReadAhead` reads their words in advance.
        for entry in &state.queues {
            let key = format!("queue {}", entry.id);
            if entry.kind != AQL {
                if entry.save_area != 0 || !SDMA.contains(&entry.kind) {
                    let what = format!("it is of type {}; left out, with its waves", entry.kind);
                    problems.report(key, what, "type 2 (AQL), the one whose waves are read");
                    problems.hides_waves();
                }
                continue;
            }
            // Queues of unknown GPUs count: their waves are skipped for another reason.
            areas += u32::from(entry.save_area != 0);
            let Some(known) = agents.of_queue(entry.gpu_id, &key, capture, problems) else { continue };
            let ring = dispatch::ring(self.memory, entry);
            let queue = capture.queues.len();
            capture.queues.push(Queue { id: entry.id, agent: known.index, name: None, ring: Some(ring) });
            if entry.save_area == 0 {
                // Its waves cannot have been saved: the driver gives each AQL queue an area.
                unsaved.push(key);
                continue;
            }
            let place = XccPlace { address: entry.save_area, xcc: 0, queue, entry, key: &key };
            let xccs = self.xccs(place, known, &mut idle, problems);
            saved.push(Saved { key, queue, ring, xccs });
        }
        self.build(&saved, capture, problems);
        if areas == 0 {
            problems.report(
                "waves",
                "no queue has a save area: no waves",
                "AQL queues with ctx_save_restore_address",
            );
            problems.explains_no_waves();
            return;
        }
        for key in unsaved {
            problems.report(key, "no save area", "a save area with waves, unless none ran");
            problems.hides_waves();
        }
        if capture.waves.is_empty() {
            problems.explain_no_waves_from(before);
            // Queues without work are no error.
            for (key, what) in idle {
                problems.report(key, what, "a save area with waves, unless none ran");
            }
        }
    }

    /// Finds the waves of a queue's XCCs; `first` is the first XCC.
    fn xccs(
        &mut self,
        first: XccPlace<'_>,
        known: &mut Known,
        idle: &mut Idle,
        problems: &mut Problems,
    ) -> Vec<XccWaves> {
        let XccPlace { entry, key, .. } = first;
        let mut found = Vec::new();
        let count = known.xccs;
        let stride = stride::stride(self.memory, entry, count, key, problems);
        for xcc in 0..if stride.is_some() { count } else { 1 } {
            let key = if count == 1 { key.to_owned() } else { format!("{key}, XCC {xcc}") };
            let skip = stride.unwrap_or(0).checked_mul(u64::from(xcc));
            let Some(address) = skip.and_then(|skip| entry.save_area.checked_add(skip)) else {
                problems.report(key, "its save area passes the last address", "an address below 2^64");
                problems.hides_waves();
                break;
            };
            let header = Header::read(self.memory, address);
            if header.is_some_and(|header| header.is_unused()) {
                idle.push((key, format!("the save area at {address:#x} is empty")));
                continue;
            }
            let place = XccPlace { address, xcc, key: &key, ..first };
            found.extend(XccReader { reader: self, known, place, problems }.read(header));
        }
        found
    }

    /// Adds the waves of queues to a capture.
    fn build(&mut self, saved: &[Saved], capture: &mut Capture, problems: &mut Problems) {
        let blocks = saved.iter().flat_map(|queue| &queue.xccs).flat_map(|xcc| &xcc.blocks);
        let count: usize = saved.iter().flat_map(|queue| &queue.xccs).map(|xcc| xcc.blocks.len()).sum();
        capture.waves.reserve(count);
        self.doubts.data(saved.iter().flat_map(Saved::data));
        let (memory, before) = (self.memory, capture.waves.len());
        ReadAhead::read(memory, blocks, |ahead| {
            for Saved { key, queue, ring, xccs } in saved {
                let mut builder = QueueBuilder::new(self, capture, Dispatches::new(*queue, *ring));
                xccs.iter().for_each(|xcc| builder.xcc(xcc, ahead));
                builder.skipped.report(key, memory, problems);
            }
        });
        let built = capture.waves.len().saturating_sub(before);
        if built < count {
            problems.report("waves", format!("{built} of {count} saved waves are read"), "all of them");
            problems.hides_waves();
        }
    }

    /// The index of the row of a processor's waves in a layout; `None`: the processor has no waves of that size.
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

    /// The facts in a wave's words.
    pub(super) fn facts(&self, row: &Row, words: &Words, xcc: &XccWaves) -> Facts {
        let promise = Promise { setup: self.ttmp_setup || xcc.always, r_version: self.r_version };
        row.facts(words, promise, |address| self.memory.segment(address).is_some())
    }
}

impl XccWaves {
    /// The row of waves of that size.
    pub(super) fn row(&self, size: WaveSize) -> Option<usize> {
        match size {
            WaveSize::W32 => self.row32,
            WaveSize::W64 => self.row64,
        }
    }
}
