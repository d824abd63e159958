//! Adds the waves of a save area and their work-groups to the capture.

use std::sync::Arc;

use super::block::Block;
use super::dispatch::{self, Dispatches};
use super::doubt::{Doubt, Launched, Seen, Unchecked};
use super::queues::{WaveReader, XccWaves};
use super::read_ahead::ReadAhead;
use super::scratch::NoScratch;
use super::skip_summary::{OutsideGroup, SkipSummary, count};
use super::wave::{Facts, Words};
use crate::arch::save_area::{BUFFER_BASE, SCRATCH_BUFFER, WaveWord};
use crate::capture::{
    BackingId, Capture, Extent, MemoryMap, RegisterBlock, Registers, Segment, Wave, WorkGroup,
};
use crate::units::LaneSet;

/// Adds the waves of one queue to a capture.
pub(super) struct QueueBuilder<'q, 'a> {
    pub(super) reader: &'q mut WaveReader<'a>,
    pub(super) capture: &'q mut Capture,
    /// Dispatches of the queue.
    pub(super) dispatches: Dispatches,
    /// Compared work-groups of the queue.
    pub(super) launched: Launched,
    /// Missing parts of the queue's waves.
    pub(super) skipped: SkipSummary,
}

/// A wave of a save area.
pub(super) struct SavedWave<'w> {
    pub(super) xcc: &'w XccWaves,
    pub(super) block: &'w Block,
    pub(super) words: &'w Words,
    /// Index of its row.
    row: usize,
    facts: Facts,
    /// Fields of its dword.
    fields: WaveWord,
    /// Index in the capture.
    index: usize,
}

impl SavedWave<'_> {
    /// Its id in the capture.
    fn id(&self) -> u32 {
        u32::try_from(self.index + 1).unwrap_or(u32::MAX)
    }

    /// Whether its record allots private memory.
    pub(super) fn is_allotted(&self) -> bool {
        self.fields.scratch.of(self.block.word) != 0
    }

    /// Shader engine and slot of private memory.
    fn slot(&self) -> (u32, u32) {
        (self.fields.engine.of(self.block.word), self.fields.scoreboard.of(self.block.word))
    }
}

impl<'q, 'a> QueueBuilder<'q, 'a> {
    /// A builder for the queue of `dispatches`.
    pub(super) fn new(
        reader: &'q mut WaveReader<'a>,
        capture: &'q mut Capture,
        dispatches: Dispatches,
    ) -> Self {
        Self { reader, capture, dispatches, launched: Launched::new(), skipped: SkipSummary::default() }
    }

    /// Adds the waves of an XCC, in the order of its control stack, and compares them.
    pub(super) fn xcc(&mut self, xcc: &XccWaves, ahead: &mut ReadAhead<'_, '_>) {
        let (mut open, mut seen) = (None, Vec::with_capacity(xcc.blocks.len()));
        for block in &xcc.blocks {
            let words = ahead.next(block);
            seen.extend(self.wave(xcc, block, &words, &mut open));
        }
        self.compare(&seen, xcc);
    }

    /// Adds a wave. `open`: the work-group of the previous wave, unless that was its last one.
    fn wave(
        &mut self,
        xcc: &XccWaves,
        block: &Block,
        words: &Words,
        open: &mut Option<Open>,
    ) -> Option<Seen> {
        // A damaged record may have a wave size that the processor lacks.
        let row = xcc.row(block.counts.size).or(xcc.row64).or(xcc.row32)?;
        let of = self.reader.rows.get(row)?;
        let (facts, fields) = (self.reader.facts(of, words, xcc), of.area()?.wave);
        let wave = SavedWave { xcc, block, words, row, facts, fields, index: self.capture.waves.len() };
        self.reader.pcs.extend(facts.pc);
        if !words.hw.is_whole() || !words.ttmps.is_whole() {
            count(&mut self.skipped.words, block.hwregs());
        }
        if facts.contradicts {
            self.reader.doubts.add(wave.index, Doubt::Stopped);
            count(&mut self.skipped.stopped, wave.id());
        }
        self.check_pc(&wave);
        let workgroup = self.work_group(&wave, open);
        self.launch(&wave, workgroup);
        self.check_place(&wave, workgroup);
        let (private, private_size, slot) = self.private_memory(&wave);
        let own = self.rewritten(&wave);
        self.close(&wave, open, own.is_some());
        let own = own?;
        let row = self.reader.rows.get_mut(row)?;
        let without_vgprs = row.without_vgprs(words);
        let stop = match facts.stopped {
            Some(true) => row.reasons(words, facts.trap),
            Some(false) => Some(Vec::new()),
            None => None,
        };
        let image = Extent {
            backing: self.reader.stores.by_address,
            offset: block.bottom,
            length: block.lds_base() - block.bottom,
        };
        self.capture.waves.push(Wave {
            id: wave.id(),
            kind: Arc::clone(&row.kind),
            agent: xcc.agent,
            workgroup,
            wave_in_group: facts.launch.map(|launch| launch.wave_in_group),
            stop,
            sgpr_count: u16::try_from(block.counts.sgprs).ok(),
            registers: Registers {
                layout: Some(row.layout(block.counts, without_vgprs)),
                image: Some(image),
                own,
            },
            private,
            private_size,
            label: None,
            unconfirmed: None,
            unchecked: None,
        });
        Some(Seen { wave: wave.index, group: workgroup, launch: facts.launch, counts: block.counts, slot })
    }

    /// Marks a wave whose PC is misaligned; other PCs are compared with all code at the end.
    fn check_pc(&mut self, wave: &SavedWave<'_>) {
        let Some(pc) = wave.facts.pc else { return };
        if pc % 4 != 0 {
            self.reader.doubts.add(wave.index, Doubt::Pc);
            count(&mut self.skipped.pc, (wave.id(), pc));
        } else {
            self.reader.doubts.pc(wave.index, pc);
        }
    }

    /// The index in the capture of a wave's work-group, by its flags.
    fn work_group(&mut self, wave: &SavedWave<'_>, open: &mut Option<Open>) -> Option<usize> {
        let SavedWave { block, facts, .. } = wave;
        if block.follows_gap {
            *open = None;
        }
        if wave.fields.first.of(block.word) != 0 {
            let lds = self.reader.pieces(block.lds_base(), u64::from(block.lds), None);
            let index = self.new_group(wave.xcc, Some((block.lds, lds)));
            let is_doubtful = block.doubt == Some(Doubt::Block);
            *open = Some(Open { index, launch: None, is_doubtful, has_all: true });
        } else if open.as_ref().is_none_or(|open| open.launch.is_some()) {
            // Without the first wave and its LDS, launch facts determine the work-group.
            let launch = facts.launch.map(|launch| (launch.group, launch.packet));
            if open.as_ref().is_none_or(|open| open.launch != launch) {
                *open = launch.map(|_| Open {
                    index: self.new_group(wave.xcc, None),
                    launch,
                    is_doubtful: false,
                    has_all: false,
                });
            }
            count(&mut self.skipped.group, wave.id());
        }
        let doubt = block
            .doubt
            .or_else(|| open.as_ref().is_some_and(|open| open.is_doubtful).then_some(Doubt::WorkGroup));
        if let Some(doubt) = doubt {
            self.reader.doubts.add(wave.index, doubt);
            if let Some(open) = open {
                open.has_all = false;
            }
        }
        open.as_ref().map(|open| open.index)
    }

    /// Closes the open work-group behind its last wave, by the flags; `is_added`: the capture has the wave.
    fn close(&mut self, wave: &SavedWave<'_>, open: &mut Option<Open>, is_added: bool) {
        if let Some(open) = open {
            open.has_all &= is_added;
        }
        if wave.fields.last.of(wave.block.word) == 0 {
            return;
        }
        let closed = open.take().filter(|open| open.has_all);
        if let Some(group) = closed.and_then(|open| self.capture.workgroups.get_mut(open.index)) {
            group.has_all_waves = true;
        }
    }

    /// Adds a work-group and returns its index. `lds`: size in bytes and contents; `None`: its first wave is missing.
    fn new_group(&mut self, xcc: &XccWaves, lds: Option<(u32, MemoryMap)>) -> usize {
        let index = self.capture.workgroups.len();
        let (lds_size, lds) =
            lds.map_or((None, MemoryMap::default()), |(size, lds)| (Some(size.into()), lds));
        self.capture.workgroups.push(WorkGroup {
            id: u32::try_from(index + 1).unwrap_or(u32::MAX),
            queue: Some(xcc.queue),
            dispatch: None,
            position: None,
            lds_size,
            has_all_waves: false,
            lds,
        });
        index
    }

    /// Sets position and dispatch of a work-group by a wave's launch facts, if it has none yet.
    fn launch(&mut self, wave: &SavedWave<'_>, workgroup: Option<usize>) {
        let Some(launch) = wave.facts.launch else {
            if wave.words.ttmps.is_whole() {
                count(&mut self.skipped.launch, wave.id());
            }
            return;
        };
        let group = workgroup.and_then(|index| self.capture.workgroups.get_mut(index));
        let Some(group) = group else { return };
        group.position.get_or_insert(launch.group);
        if group.dispatch.is_some() {
            return;
        }
        match self.dispatches.find(self.reader.memory, launch.packet, &mut self.capture.dispatches) {
            Ok(found) => group.dispatch = Some(found),
            Err(why) => {
                if why == dispatch::Unknown::Outside {
                    self.reader.doubts.add(wave.index, Doubt::Packet);
                }
                self.skipped.dispatch.entry(why).or_insert((0, wave.id())).0 += 1;
            }
        }
    }

    /// Marks a wave whose place is outside of its work-group.
    fn check_place(&mut self, wave: &SavedWave<'_>, workgroup: Option<usize>) {
        let dispatch = workgroup
            .and_then(|index| self.capture.dispatches.get(self.capture.workgroups.get(index)?.dispatch?));
        let lanes = wave.block.counts.size.lanes();
        if let (Some(launch), Some(dispatch)) = (wave.facts.launch, dispatch)
            && let Some(most) = dispatch.waves_of_group(launch.group, lanes)
            && u64::from(launch.wave_in_group) >= most
        {
            self.reader.doubts.add(wave.index, Doubt::Outside);
            let outside = OutsideGroup { wave: wave.id(), place: launch.wave_in_group, most };
            count(&mut self.skipped.in_group, outside);
        }
    }

    /// Contents and size of a wave's private memory, and the slot if it belongs to the wave.
    fn private_memory(&mut self, wave: &SavedWave<'_>) -> (MemoryMap, Option<u64>, Option<(u32, u32)>) {
        let Private { base, size, confirmed, note } = match self.reader.private(wave) {
            Ok(Some(private)) => private,
            Ok(None) => return (MemoryMap::default(), Some(0), None),
            Err(why) => {
                self.skipped.scratch.entry(why).or_insert((0, wave.id())).0 += 1;
                return (MemoryMap::default(), None, None);
            }
        };
        if confirmed == Some(false) {
            self.reader.doubts.add(wave.index, Doubt::OtherSlot);
            count(&mut self.skipped.other_slot, wave.id());
        }
        let is_own = wave.is_allotted() || confirmed == Some(true);
        if !is_own {
            self.reader.doubts.add(wave.index, Doubt::Unallotted);
            count(&mut self.skipped.unallotted, wave.id());
        }
        let pieces = self.reader.pieces(base, size, note.as_deref());
        if pieces.segments().is_empty() {
            count(&mut self.skipped.uncaptured, (wave.id(), base, size));
        } else if confirmed.is_none() {
            self.reader.doubts.unchecked(wave.index, Unchecked::Private);
        }
        (pieces, Some(size), is_own.then(|| wave.slot()))
    }

    /// The registers that are presented with other values than the saved ones.
    fn rewritten(&mut self, wave: &SavedWave<'_>) -> Option<Vec<(BackingId, RegisterBlock)>> {
        let row = self.reader.rows.get(wave.row)?;
        if wave.facts.stopped == Some(false) && row.has_fault(wave.words) {
            count(&mut self.skipped.faulty, wave.id());
        }
        let mut own = Vec::new();
        let (store, derived) = (self.reader.stores.derived, &mut *self.reader.derived);
        row.rewritten(wave.words, &wave.facts, |first, bytes| {
            let known = LaneSet(if bytes.is_some() { u64::MAX } else { 0 });
            let bytes = bytes.unwrap_or_default();
            let (offset, width) = (derived.len() as u64, bytes.len() as u16);
            derived.extend_from_slice(bytes);
            own.push((store, RegisterBlock { first, count: 1, width, offset, known }));
        });
        // A vector's first capacity is four, and most waves have one or two.
        own.shrink_to_fit();
        Some(own)
    }
}

impl WaveReader<'_> {
    /// A wave's private memory; `Ok(None)`: none.
    fn private(&self, wave: &SavedWave<'_>) -> Result<Option<Private>, NoScratch> {
        let SavedWave { xcc, block, words, .. } = wave;
        let (Some(scratch), Some(row)) = (xcc.scratch?, self.rows.get(wave.row)) else { return Ok(None) };
        if scratch.inferred.is_some() {
            return self.private_by_register(wave, row, &scratch).map(Some);
        }
        let (engine, slot) = wave.slot();
        let base = scratch.of(engine, slot)?;
        let confirmed = match row.scratch_base(words, &block.counts) {
            None => {
                let flat = row.flat_scratch(words, &block.counts);
                let buffer = xcc.target.buffer_scratch.then(|| self.buffer_base(block)).flatten();
                // Before the prologue adds the wave's offset, the descriptor holds the base of all slots.
                let buffer = buffer.filter(|address| *address == base || !scratch.is_begin(*address));
                let bases = [flat, buffer].into_iter().flatten();
                // Code may set them to any value, but is unlikely to choose the base of another slot.
                let mut of_slots = bases.filter(|address| scratch.is_slot(*address)).peekable();
                of_slots.peek().is_some().then(|| of_slots.all(|address| address == base))
            }
            Some(None) => return Err(NoScratch::NoBase),
            Some(Some(register)) if register == base => Some(true),
            Some(Some(_)) => return Err(NoScratch::Disagrees),
        };
        Ok(Some(Private { base, size: scratch.wave_size, confirmed, note: None }))
    }

    /// The base of the buffer descriptor that compiled code uses for private memory.
    fn buffer_base(&self, block: &Block) -> Option<u64> {
        let sgprs = block.hwregs().checked_sub(4 * u64::from(block.counts.sgprs))?;
        Some(self.memory.u64(sgprs.checked_add(SCRATCH_BUFFER)?)? & BUFFER_BASE)
    }

    /// The captured parts of a range of global memory, by offset from its start.
    fn pieces(&self, base: u64, length: u64, name: Option<&str>) -> MemoryMap {
        let map = self.memory.map();
        let Some(end) = length.checked_sub(1).and_then(|length| base.checked_add(length)) else {
            return MemoryMap::default();
        };
        // Mostly one piece.
        let mut pieces = Vec::with_capacity(1);
        let mut segment = map.find(base).or_else(|| map.next(base));
        while let Some(found) = segment.filter(|found| found.address <= end) {
            let first = found.address.max(base);
            let last = found.last().min(end);
            pieces.push(Segment {
                address: first - base,
                extent: Extent {
                    backing: found.extent.backing,
                    offset: found.extent.offset + (first - found.address),
                    length: last - first + 1,
                },
                name: name.map(str::to_owned),
            });
            segment = if found.last() < end { map.next(found.last()) } else { None };
        }
        MemoryMap::new(pieces).0
    }
}

/// The place of a wave's private memory.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) base: u64,
    /// Bytes.
    pub(super) size: u64,
    /// Whether a register holds its base; `None`: no register holds the base of any slot.
    pub(super) confirmed: Option<bool>,
    /// The source of an inferred place; `None`: the place is known.
    pub(super) note: Option<String>,
}

/// The present work-group of a control stack, up to the wave with the last flag.
#[derive(Debug)]
pub(super) struct Open {
    /// Index in the capture.
    index: usize,
    /// Work-group and packet of its waves, where its first wave is missing.
    launch: Option<([u32; 3], u32)>,
    /// Whether the block of its first wave is unconfirmed.
    is_doubtful: bool,
    /// Whether all its waves so far were added, from its first one on.
    has_all: bool,
}
