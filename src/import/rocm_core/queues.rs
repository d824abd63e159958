//! Queues of a core, and through their save areas the work-groups and waves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::agents::{Agents, Known};
use super::area::{self, Area, Block, Walk};
use super::dispatch::{self, Dispatches};
use super::memory::CoreMemory;
use super::note::{QueueEntry, State};
use super::scratch::{NoScratch, Scratch};
use super::wave::{Facts, Launch, Promise, Row, Words};
use crate::arch::{Target, Targets};
use crate::capture::{
    BackingId, Capture, Dispatch, Extent, MemoryMap, Queue, RegisterBlock, Registers, Segment, Wave,
    WorkGroup,
};
use crate::import::problem::Problems;
use crate::units::{LaneSet, WaveSize};

/// queue_type of AQL queues: the only ones whose waves can be told apart.
const AQL: u32 = 2;

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
    memory: &'a CoreMemory,
    targets: &'a Targets,
    r_version: Option<u32>,
    ttmp_setup: bool,
    stores: Stores,
    derived: &'a mut Vec<u8>,
    rows: Vec<Row>,
    stacks_left: u64,
}

/// What is missing of a queue's waves: how many lack it for each reason, so that a reason is said once.
#[derive(Debug, Default)]
struct Missing {
    words: Option<(u32, u64)>,
    dispatch: BTreeMap<dispatch::Unknown, (u32, u32)>,
    scratch: BTreeMap<NoScratch, (u32, u32)>,
    unallotted: Option<(u32, u32)>,
    launch: Option<(u32, u32)>,
    outside: Option<(u32, u32)>,
    group: Option<(u32, u32)>,
    faulty: Option<(u32, u32)>,
}

/// Counts one more, and keeps the first.
fn count<T>(slot: &mut Option<(u32, T)>, first: T) {
    match slot {
        Some((count, _)) => *count += 1,
        None => *slot = Some((1, first)),
    }
}

/// One XCC's waves: what they have in common.
struct Lot<'k> {
    known: &'k Known,
    queue: usize,
    row32: Option<usize>,
    row64: Option<usize>,
    scratch: Result<Option<Scratch>, NoScratch>,
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
        Self { memory, targets, r_version, ttmp_setup, stores, derived, rows, stacks_left }
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
        for entry in state.queues.iter().filter(|entry| entry.kind == AQL) {
            let key = format!("queue {}", entry.id);
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
                continue;
            }
            areas += 1;
            let mut dispatches = Dispatches::new(queue, ring);
            let mut missing = Missing::default();
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
                self.area(
                    address,
                    xcc,
                    queue,
                    entry,
                    known,
                    &mut dispatches,
                    &mut missing,
                    capture,
                    &key,
                    problems,
                );
            }
            missing.report(&key, problems);
        }
        if areas == 0 {
            problems.report(
                "waves",
                "no queue has a save area: no waves",
                "AQL queues with ctx_save_restore_address",
            );
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a queue's loop, taken apart")]
    fn area(
        &mut self,
        address: u64,
        xcc: u32,
        queue: usize,
        entry: &QueueEntry,
        known: &mut Known,
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
        key: &str,
        problems: &mut Problems,
    ) {
        let Some(area) = Area::read(self.memory, address) else {
            let what =
                format!("its save area at {address:#x} was not captured, or its header is damaged: no waves");
            problems.report(key, what, "a segment with the area's header");
            return;
        };
        if area.stack_size == 0 && area.begin == area.end {
            return;
        }
        if !area.is_consistent() {
            let end = area.stack.saturating_add(u64::from(area.stack_size));
            let what = format!("its control stack ends at {end:#x} and its waves begin at {:#x}", area.begin);
            problems.report(key, what, "one address (the save area's header is damaged)");
        }
        if area.is_empty() {
            return;
        }
        if area.stack_size > area::MOST_STACK || u64::from(area.stack_size) > self.stacks_left {
            let what = format!("a control stack of {} bytes, left out", area.stack_size);
            problems.report(
                key,
                what,
                format!("at most {}", u64::from(area::MOST_STACK).min(self.stacks_left)),
            );
            return;
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
        let layout = if fits || is_cut {
            Some(Arc::clone(&own))
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
            return;
        };
        let scratch =
            Scratch::read(self.memory, entry.read_pointer, &row.scratch, known.engines, xcc, self.r_version);
        let lot = Lot {
            known,
            queue,
            row32: self.row(&target, reading, WaveSize::W32),
            row64: self.row(&target, reading, WaveSize::W64),
            scratch,
        };
        let blocks: Vec<Block> = Walk::new(row, &records, area.end).collect();
        let kept = if layout.is_some() {
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
        let (room, all) = (MOST_WAVES.saturating_sub(capture.waves.len()), kept.len());
        if all > room {
            problems.report(
                key,
                format!("{all} waves, of which {room} are taken"),
                format!("at most {MOST_WAVES}"),
            );
        }
        capture.waves.reserve(all.min(room));
        let mut group = None;
        for block in kept.iter().take(room) {
            self.wave(block, &lot, &mut group, dispatches, missing, capture);
        }
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
        lot: &Lot<'_>,
        down: Vec<Block>,
    ) -> (Vec<Block>, usize) {
        let all = down.len();
        let upper: Vec<Block> = down.into_iter().take_while(|block| self.looks_sound(block, lot)).collect();
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
    fn looks_sound(&self, block: &Block, lot: &Lot<'_>) -> bool {
        let row = lot.row(block.counts.size).and_then(|index| self.rows.get(index));
        let Some(row) = row else { return false };
        let facts = self.facts(row, &Words::read(self.memory, block), lot);
        facts.pc.is_some_and(|pc| pc % 4 == 0 && self.memory.segment(pc).is_some())
    }

    fn facts(&self, row: &Row, words: &Words, lot: &Lot<'_>) -> Facts {
        let promise = Promise { setup: self.ttmp_setup || lot.known.always, r_version: self.r_version };
        row.facts(words, promise, |address| self.memory.segment(address).is_some())
    }

    fn wave(
        &mut self,
        block: &Block,
        lot: &Lot<'_>,
        group: &mut Option<usize>,
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
    ) {
        let id = u32::try_from(capture.waves.len() + 1).unwrap_or(u32::MAX);
        // A wave that its processor cannot run comes of a damaged record.
        let Some(index) = lot.row(block.counts.size).or(lot.row64).or(lot.row32) else { return };
        let words = Words::read(self.memory, block);
        let Some(row) = self.rows.get(index) else { return };
        let facts = self.facts(row, &words, lot);
        let Some(area) = row.area() else { return };
        let (word, is_last) = (area.wave, area.wave.last.of(block.word) != 0);
        if words.hw.is_none() || words.ttmps.is_none() {
            count(&mut missing.words, block.hwregs());
        }
        if area.wave.first.of(block.word) != 0 {
            *group = Some(self.group(block, lot, capture));
        }
        let workgroup = *group;
        if workgroup.is_none() {
            count(&mut missing.group, id);
        }
        if is_last {
            *group = None;
        }
        match (facts.launch, workgroup.and_then(|index| capture.workgroups.get(index))) {
            (None, _) if words.ttmps.is_some() => count(&mut missing.launch, id),
            (Some(launch), Some(of)) if of.dispatch.is_none() => {
                match dispatches.find(self.memory, launch.packet, &mut capture.dispatches) {
                    Ok(found) => place(capture, workgroup, found, &launch, &mut missing.outside, id),
                    Err(why) => missing.dispatch.entry(why).or_insert((0, id)).0 += 1,
                }
            }
            _ => {}
        }
        let dispatch =
            workgroup.and_then(|index| capture.dispatches.get(capture.workgroups.get(index)?.dispatch?));
        let lanes = block.counts.size.lanes();
        let wave_in_group = facts.launch.map(|launch| launch.wave_in_group).filter(|place| {
            let fits = dispatch.is_none_or(|dispatch| is_in_group(dispatch, *place, lanes));
            if !fits {
                count(&mut missing.outside, id);
            }
            fits
        });
        let (engine, slot) = (word.engine.of(block.word), word.scoreboard.of(block.word));
        let (private, private_size) = match self.private(row, &words, block, lot, engine, slot) {
            Ok(Some((base, size))) => {
                if word.scratch.of(block.word) == 0 {
                    count(&mut missing.unallotted, id);
                }
                (self.pieces(base, size), Some(size))
            }
            Ok(None) => (MemoryMap::default(), Some(0)),
            Err(why) => {
                missing.scratch.entry(why).or_insert((0, id)).0 += 1;
                (MemoryMap::default(), None)
            }
        };
        let mut own = Vec::new();
        let (stores, derived) = (self.stores, &mut *self.derived);
        row.rewritten(&words, &facts, |first, bytes| {
            let (offset, width) = (derived.len() as u64, bytes.len() as u16);
            derived.extend_from_slice(bytes);
            let known = LaneSet(u64::MAX);
            own.push((stores.derived, RegisterBlock { first, count: 1, width, offset, known }));
        });
        if facts.stopped == Some(false) && row.has_fault(&words) {
            count(&mut missing.faulty, id);
        }
        let without_vgprs = row.without_vgprs(&words);
        let kind = Arc::clone(&row.kind);
        let Some(row) = self.rows.get_mut(index) else { return };
        let stop =
            facts.stopped.map(|stopped| if stopped { row.reasons(&words, facts.trap) } else { Vec::new() });
        let layout = row.layout(block.counts, without_vgprs);
        let image = Extent {
            backing: self.stores.by_address,
            offset: block.bottom,
            length: block.lds_base() - block.bottom,
        };
        capture.waves.push(Wave {
            id,
            kind,
            agent: lot.known.index,
            workgroup,
            wave_in_group,
            stop,
            sgpr_count: u16::try_from(block.counts.sgprs).ok(),
            registers: Registers { layout: Some(layout), image: Some(image), own },
            private,
            private_size,
        });
    }

    /// A new work-group of a first wave.
    fn group(&self, block: &Block, lot: &Lot<'_>, capture: &mut Capture) -> usize {
        let index = capture.workgroups.len();
        let lds = self.pieces(block.lds_base(), u64::from(block.lds));
        capture.workgroups.push(WorkGroup {
            id: u32::try_from(index + 1).unwrap_or(u32::MAX),
            queue: Some(lot.queue),
            dispatch: None,
            position: None,
            lds_size: Some(u64::from(block.lds)),
            lds,
        });
        index
    }

    /// First byte and size of a wave's private memory; `Ok(None)`: it has none.
    fn private(
        &self,
        row: &Row,
        words: &Words,
        block: &Block,
        lot: &Lot<'_>,
        engine: u32,
        slot: u32,
    ) -> Result<Option<(u64, u64)>, NoScratch> {
        let Some(scratch) = lot.scratch? else { return Ok(None) };
        let base = scratch.of(engine, slot)?;
        match row.scratch_base(words, &block.counts) {
            None => {}
            Some(None) => return Err(NoScratch::NoBase),
            Some(Some(register)) if register == base => {}
            Some(Some(_)) => return Err(NoScratch::Disagrees),
        }
        Ok(Some((base, scratch.wave_size)))
    }

    /// What was captured of a range of global memory, by offset from its start.
    fn pieces(&self, base: u64, length: u64) -> MemoryMap {
        let map = self.memory.map();
        let Some(last) = length.checked_sub(1).and_then(|length| base.checked_add(length)) else {
            return MemoryMap::default();
        };
        let mut pieces = Vec::new();
        let mut segment = map.find(base).or_else(|| map.next(base));
        while let Some(found) = segment.filter(|found| found.address <= last) {
            let first = found.address.max(base);
            let last = found.last().min(last);
            pieces.push(Segment {
                address: first - base,
                extent: Extent {
                    backing: found.extent.backing,
                    offset: found.extent.offset + (first - found.address),
                    length: last - first + 1,
                },
                name: None,
            });
            segment = map.next(found.last());
        }
        MemoryMap::new(pieces).0
    }
}

impl Lot<'_> {
    fn row(&self, size: WaveSize) -> Option<usize> {
        match size {
            WaveSize::W32 => self.row32,
            WaveSize::W64 => self.row64,
        }
    }
}

/// Gives a work-group its dispatch, and its place there if it is one.
fn place(
    capture: &mut Capture,
    workgroup: Option<usize>,
    found: usize,
    launch: &Launch,
    outside: &mut Option<(u32, u32)>,
    id: u32,
) {
    let is_inside = capture.dispatches.get(found).is_none_or(|dispatch| {
        let (Some(grid), Some(size)) = (dispatch.grid, dispatch.workgroup) else { return true };
        let mut axes = launch.group.iter().zip(grid.iter().zip(size));
        axes.all(|(at, (grid, size))| *at < grid.div_ceil(size))
    });
    let Some(group) = workgroup.and_then(|index| capture.workgroups.get_mut(index)) else { return };
    group.dispatch = Some(found);
    // What was saved is shown, and that it cannot be is said.
    group.position = Some(launch.group);
    if !is_inside {
        count(outside, id);
    }
}

/// Whether a work-group of the dispatch has a wave at that place.
fn is_in_group(dispatch: &Dispatch, place: u32, lanes: u8) -> bool {
    let Some(size) = dispatch.workgroup else { return true };
    let items: u64 = size.iter().map(|size| u64::from(*size)).product();
    u64::from(place) < items.div_ceil(u64::from(lanes))
}

impl Missing {
    fn report(&self, key: &str, problems: &mut Problems) {
        let waves = |(count, first): (u32, u32)| match count {
            1 => format!("wave {first}"),
            count => format!("{count} waves, the first of them {first}"),
        };
        if let Some((count, at)) = self.words {
            let what =
                format!("{count} waves without hardware registers or trap temporaries, the first at {at:#x}");
            problems.report(key, what, "memory that holds them: where these waves are is not known");
        }
        for (why, (count, first)) in &self.dispatch {
            let what = format!("no dispatch for {}: {}", waves((*count, *first)), why.words());
            problems.report(key, what, "a packet of the ring");
        }
        for (why, (count, first)) in &self.scratch {
            let what = format!("no private memory for {}: {}", waves((*count, *first)), why.words());
            problems.report(key, what, "scratch memory that is known to be the wave's");
        }
        let said = [
            (
                self.unallotted,
                "private memory of",
                "was not allotted by the control stack",
                "SCRATCH_EN in its record",
            ),
            (
                self.launch,
                "no dispatch for",
                "their trap temporaries were not set up",
                "ttmp_setup in the runtime information",
            ),
            (
                self.outside,
                "no place for",
                "what its trap temporaries say is outside of its dispatch",
                "a work-group of the grid",
            ),
            (self.group, "no work-group for", "none was opened before", "a first wave before others"),
            (
                self.faulty,
                "flags of a fault in",
                "was not stopped: no stop reason is told",
                "a wave that the trap handler stopped",
            ),
        ];
        for (found, before, after, expected) in said {
            if let Some(found) = found {
                problems.report(key, format!("{before} {}: {after}", waves(found)), expected);
            }
        }
    }
}
