//! Queues of a core, and through their save areas the work-groups and waves.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::agents::{Agents, Known};
use super::ahead::Ahead;
use super::area::{self, Area, Block, Walk};
use super::dispatch::{self, Dispatches};
use super::memory::CoreMemory;
use super::missing::Missing;
use super::note::{QueueEntry, State};
use super::scratch::{NoScratch, Scratch};
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

/// The most bytes of control stacks that are read in all.
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
    targets: &'a Targets,
    r_version: Option<u32>,
    ttmp_setup: bool,
    pub(super) stores: Stores,
    pub(super) derived: &'a mut Vec<u8>,
    pub(super) rows: Vec<Row>,
    stacks_left: u64,
    /// Where the waves are: what code objects are found by.
    pub(super) pcs: BTreeSet<u64>,
}

/// One XCC's waves: what they have in common.
pub(super) struct Lot {
    /// Index of the GPU in the capture.
    pub(super) agent: usize,
    /// Its trap temporaries always hold dispatch facts.
    always: bool,
    /// Index of the queue in the capture.
    pub(super) queue: usize,
    pub(super) row32: Option<usize>,
    pub(super) row64: Option<usize>,
    pub(super) scratch: Result<Option<Scratch>, NoScratch>,
    /// Where its waves are, from the top of the area down.
    blocks: Vec<Block>,
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
        let (rows, stacks_left) = (Vec::new(), MOST_STACKS);
        let pcs = BTreeSet::new();
        Self { memory, targets, r_version, ttmp_setup, stores, derived, rows, stacks_left, pcs }
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
            let is_unknown = agents.is_unknown(entry.gpu_id);
            let Some(known) = agents.find(entry.gpu_id) else {
                if !is_unknown {
                    let what =
                        format!("it is of agent {}, which the note does not have; left out", entry.gpu_id);
                    problems.report(key, what, "an agent of the note");
                }
                continue;
            };
            let ring = dispatch::ring(self.memory, entry);
            let queue = capture.queues.len();
            capture.queues.push(Queue { id: entry.id, agent: known.index, name: None, ring: Some(ring) });
            if entry.save_area == 0 {
                idle.push((key, "no save area".to_owned()));
                continue;
            }
            let mut lots = Vec::new();
            for xcc in 0..known.xccs {
                let key = if known.xccs == 1 { key.clone() } else { format!("{key}, XCC {xcc}") };
                let area = u64::from(entry.save_area_size)
                    .checked_mul(u64::from(xcc))
                    .and_then(|offset| entry.save_area.checked_add(offset));
                let Some(address) = area.filter(|_| xcc == 0 || entry.save_area_size != 0) else {
                    let what = "the size of its save areas is not known: those of other XCCs are not read";
                    problems.report(key, what, "ctx_save_restore_area_size");
                    break;
                };
                let area = Area::read(self.memory, address);
                if area.is_some_and(|area| area.is_unused()) {
                    idle.push((key, format!("the save area at {address:#x} is empty")));
                    continue;
                }
                lots.extend(self.area(area, address, xcc, queue, entry, known, &mut room, &key, problems));
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
                for lot in lots {
                    let mut group = None;
                    for block in &lot.blocks {
                        let words = ahead.next(block);
                        self.wave(block, &words, lot, &mut group, &mut dispatches, &mut missing, capture);
                    }
                }
                missing.report(key, problems);
            }
        });
    }

    /// Which waves one XCC has; takes them off the room for waves.
    #[expect(clippy::too_many_arguments, reason = "a queue's loop, taken apart")]
    fn area(
        &mut self,
        area: Option<Area>,
        address: u64,
        xcc: u32,
        queue: usize,
        entry: &QueueEntry,
        known: &mut Known,
        room: &mut usize,
        key: &str,
        problems: &mut Problems,
    ) -> Option<Lot> {
        let Some(area) = area else {
            let what =
                format!("its save area at {address:#x} was not captured, or its header is damaged: no waves");
            problems.report(key, what, "a segment with the area's header");
            return None;
        };
        if !area.is_consistent() {
            let end = area.stack.saturating_add(u64::from(area.stack_size));
            let what = format!("its control stack ends at {end:#x} and its waves begin at {:#x}", area.begin);
            problems.report(key, what, "one address (the save area's header is damaged)");
        }
        if area.is_empty() {
            return None;
        }
        if area.stack_size > area::MOST_STACK || u64::from(area.stack_size) > self.stacks_left {
            let what = format!("a control stack of {} bytes, left out", area.stack_size);
            problems.report(
                key,
                what,
                format!("at most {}", u64::from(area::MOST_STACK).min(self.stacks_left)),
            );
            return None;
        }
        self.stacks_left -= u64::from(area.stack_size);
        let records = area.records(self.memory);
        let is_cut = (records.len() as u64 + 2) * 4 < u64::from(area.stack_size) / 4 * 4;
        if is_cut {
            let what = format!(
                "{} of its control stack's {} bytes were captured",
                records.len() * 4,
                area.stack_size
            );
            problems.report(key, what, "all of it: the waves that follow are left out");
        }
        let own = Arc::clone(&known.target);
        let fits = own.save_area.as_ref().is_some_and(|row| Walk::fits(row, &records, &area));
        let layout = if fits || (is_cut && area.is_consistent()) {
            Some(Arc::clone(&own))
        } else if is_cut {
            // Where the header contradicts itself the walk may have read anything, and the end of it tells nothing.
            None
        } else {
            let found = area::fitting(known.siblings(self.targets), &records, &area).cloned();
            if let Some(found) = &found {
                let what = format!(
                    "its control stack is not laid out as on {}; that of {} fits",
                    own.name, found.name
                );
                problems.report(key, what, "the processor's own layout");
            }
            found
        };
        let target = Arc::clone(&known.target);
        let reading = layout.as_ref().unwrap_or(&own);
        let Some(row) = reading.save_area.as_ref() else {
            let what = format!("{} has no [save_area]: its waves cannot be read", reading.name);
            problems.report(key, what, "a target file that says where waves are saved");
            return None;
        };
        let scratch =
            Scratch::read(self.memory, entry.read_pointer, &row.scratch, known.engines, xcc, self.r_version);
        let mut lot = Lot {
            agent: known.index,
            always: known.always,
            queue,
            row32: self.row(&target, reading, WaveSize::W32),
            row64: self.row(&target, reading, WaveSize::W64),
            scratch,
            blocks: Vec::new(),
        };
        let mut blocks: Vec<Block> = Walk::new(row, &records, area.end).collect();
        let mut kept = if layout.is_some() {
            // What was captured of a stack that was cut has no end to tell a wrong layout by.
            let (all, inside) = (blocks.len(), blocks.partition_point(|block| block.bottom >= area.begin));
            if inside < all {
                let what = format!(
                    "{} of {all} waves of its control stack lie below {:#x}, where its waves begin; left out",
                    all - inside,
                    area.begin
                );
                problems.report(key, what, "waves within the save area");
                blocks.truncate(inside);
            }
            blocks
        } else {
            let (kept, all) = self.sound(row, &records, &area, &lot, blocks);
            let what = format!(
                "its control stack does not fill its waves' area from {:#x} down to {:#x}: {} of {all} waves are kept",
                area.end,
                area.begin,
                kept.len()
            );
            let expected = "a walk that ends where the area begins (a record is damaged); the waves at the ends of the area \
                            whose PC is in captured memory";
            problems.report(key, what, expected);
            kept
        };
        let all = kept.len();
        if all > *room {
            problems.report(
                key,
                format!("{all} waves, of which {room} are taken"),
                format!("at most {MOST_WAVES}"),
            );
            kept.truncate(*room);
        }
        *room -= kept.len();
        lot.blocks = kept;
        Some(lot)
    }

    /// The row of a kind of wave in a layout: its index, if the processor has such waves.
    fn row(&mut self, target: &Arc<Target>, layout: &Arc<Target>, size: WaveSize) -> Option<usize> {
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

    /// Of a damaged area the waves at both ends that look like waves, and how many there were.
    ///
    /// Blocks before the damaged record are where the walk down finds them, those after it where a walk up does.
    fn sound(
        &self,
        row: &crate::arch::save_area::SaveArea,
        records: &[u32],
        area: &Area,
        lot: &Lot,
        down: Vec<Block>,
    ) -> (Vec<Block>, usize) {
        let all = down.len();
        let inside = down.into_iter().take_while(|block| block.bottom >= area.begin);
        let upper: Vec<Block> = inside.take_while(|block| self.looks_sound(block, lot)).collect();
        // The same blocks, moved so that the last one ends where the area begins.
        let end = upper.last().map_or(area.end, |block| block.bottom);
        let mut walk = Walk::new(row, records, area.end);
        walk.by_ref().for_each(drop);
        let (failed, reached) = (walk.failed, walk.last);
        let mut lower: Vec<Block> = Vec::new();
        if !failed {
            let moved = |address: u64| address.wrapping_sub(reached).wrapping_add(area.begin);
            let walk = Walk::new(row, records, area.end).skip(upper.len());
            lower = walk
                .map(|block| Block { top: moved(block.top), bottom: moved(block.bottom), ..block })
                .filter(|block| block.top <= end && block.bottom >= area.begin && block.bottom < block.top)
                .collect();
            let first =
                lower.iter().rposition(|block| !self.looks_sound(block, lot)).map_or(0, |last| last + 1);
            lower.drain(..first);
        }
        (upper.into_iter().chain(lower).collect(), all)
    }

    /// Whether a block has a PC as waves have: of an instruction in captured memory.
    fn looks_sound(&self, block: &Block, lot: &Lot) -> bool {
        let row = lot.row(block.counts.size).and_then(|index| self.rows.get(index));
        let Some(row) = row else { return false };
        let facts = self.facts(row, &Words::read(self.memory, block), lot);
        facts.pc.is_some_and(|pc| pc % 4 == 0 && self.memory.segment(pc).is_some())
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
