//! Waves of a save area, with their work-groups, into the capture.

use std::sync::Arc;

use super::block::Block;
use super::dispatch::{self, Dispatches};
use super::doubt::{Doubt, Seen, Unchecked};
use super::missing::{Missing, OutsideGroup, count};
use super::queues::{Lot, Waves};
use super::scratch::NoScratch;
use super::wave::{Row, Words};
use crate::arch::save_area::{BUFFER_BASE, SCRATCH_BUFFER};
use crate::capture::{
    Capture, Dispatch, Extent, MemoryMap, RegisterBlock, Registers, Segment, Wave, WorkGroup,
};
use crate::units::LaneSet;

impl Waves<'_> {
    /// Adds a wave; `open` is the work-group that is open.
    #[expect(clippy::too_many_arguments, reason = "a wave's loop, taken apart")]
    pub(super) fn wave(
        &mut self,
        block: &Block,
        words: &Words,
        lot: &Lot,
        open: &mut Option<Open>,
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
    ) -> Option<Seen> {
        let ordinal = capture.waves.len();
        let id = u32::try_from(ordinal + 1).unwrap_or(u32::MAX);
        // A wave that its processor cannot run comes of a damaged record.
        let index = lot.row(block.counts.size).or(lot.row64).or(lot.row32)?;
        let row = self.rows.get(index)?;
        let facts = self.facts(row, words, lot);
        self.pcs.extend(facts.pc);
        let row = self.rows.get(index)?;
        let area = row.area()?;
        let (word, is_last) = (area.wave, area.wave.last.of(block.word) != 0);
        if !words.hw.is_whole() || !words.ttmps.is_whole() {
            count(&mut missing.words, block.hwregs());
        }
        if block.follows_gap {
            *open = None;
        }
        if word.first.of(block.word) != 0 {
            let index = self.group(block, lot, capture);
            let is_doubtful = block.doubt == Some(Doubt::Block);
            *open = Some(Open { index, launch: None, is_doubtful });
        } else if open.as_ref().is_none_or(|open| open.launch.is_some()) {
            // Its first wave is missing, and with it the LDS: what it holds of its launch tells its work-group.
            let launch = facts.launch.map(|launch| (launch.group, launch.packet));
            if open.as_ref().is_none_or(|open| open.launch != launch) {
                *open = launch.map(|_| Open {
                    index: Self::group_without_lds(lot, capture),
                    launch,
                    is_doubtful: false,
                });
            }
            count(&mut missing.group, id);
        }
        let workgroup = open.as_ref().map(|open| open.index);
        let mut doubt = |doubt| self.doubts.add(ordinal, doubt);
        if let Some(reason) = block.doubt {
            doubt(reason);
        } else if open.as_ref().is_some_and(|open| open.is_doubtful) {
            doubt(Doubt::WorkGroup);
        }
        if facts.contradicts {
            doubt(Doubt::Stopped);
            count(&mut missing.stopped, id);
        }
        if is_last {
            *open = None;
        }
        if let (Some(launch), Some(of)) =
            (facts.launch, workgroup.and_then(|index| capture.workgroups.get_mut(index)))
        {
            of.position.get_or_insert(launch.group);
        }
        match (facts.launch, workgroup.and_then(|index| capture.workgroups.get(index))) {
            (None, _) if words.ttmps.is_whole() => count(&mut missing.launch, id),
            (Some(launch), Some(of)) if of.dispatch.is_none() => {
                match dispatches.find(self.memory, launch.packet, &mut capture.dispatches) {
                    Ok(found) => {
                        let group = workgroup.and_then(|index| capture.workgroups.get_mut(index));
                        group.into_iter().for_each(|group| group.dispatch = Some(found));
                    }
                    Err(why) => {
                        if why == dispatch::Unknown::Outside {
                            doubt(Doubt::Packet);
                        }
                        missing.dispatch.entry(why).or_insert((0, id)).0 += 1;
                    }
                }
            }
            _ => {}
        }
        if let Some(pc) = facts.pc {
            if pc % 4 != 0 {
                doubt(Doubt::Pc);
                count(&mut missing.pc, (id, pc));
            } else if self.memory.segment(pc).is_none() {
                self.doubts.astray(ordinal, pc);
            }
        }
        let dispatch =
            workgroup.and_then(|index| capture.dispatches.get(capture.workgroups.get(index)?.dispatch?));
        let lanes = block.counts.size.lanes();
        let wave_in_group = facts.launch.map(|launch| launch.wave_in_group);
        if let (Some(place), Some(launch), Some(dispatch)) = (wave_in_group, facts.launch, dispatch)
            && let Some(most) = waves_of_group(dispatch, launch.group, lanes)
            && u64::from(place) >= most
        {
            self.doubts.add(ordinal, Doubt::Outside);
            count(&mut missing.in_group, OutsideGroup { wave: id, place, most });
        }
        let (engine, slot) = (word.engine.of(block.word), word.scoreboard.of(block.word));
        let mut own_slot = None;
        let (private, private_size) = match self.private(row, words, block, lot, engine, slot) {
            Ok(Some(Private { base, size, confirmed, note })) => {
                if confirmed == Some(false) {
                    self.doubts.add(ordinal, Doubt::OtherSlot);
                    count(&mut missing.other_slot, id);
                }
                if word.scratch.of(block.word) != 0 || confirmed == Some(true) {
                    own_slot = Some((engine, slot));
                } else {
                    self.doubts.add(ordinal, Doubt::Unallotted);
                    count(&mut missing.unallotted, id);
                }
                let pieces = self.pieces(base, size, note.as_deref());
                if pieces.segments().is_empty() {
                    count(&mut missing.uncaptured, (id, base, size));
                } else if confirmed.is_none() {
                    self.doubts.unchecked(ordinal, Unchecked::Private);
                }
                (pieces, Some(size))
            }
            Ok(None) => (MemoryMap::default(), Some(0)),
            Err(why) => {
                missing.scratch.entry(why).or_insert((0, id)).0 += 1;
                (MemoryMap::default(), None)
            }
        };
        let mut own = Vec::new();
        let (stores, derived) = (self.stores, &mut *self.derived);
        row.rewritten(words, &facts, |first, bytes| {
            let known = LaneSet(if bytes.is_some() { u64::MAX } else { 0 });
            let bytes = bytes.unwrap_or_default();
            let (offset, width) = (derived.len() as u64, bytes.len() as u16);
            derived.extend_from_slice(bytes);
            own.push((stores.derived, RegisterBlock { first, count: 1, width, offset, known }));
        });
        if facts.stopped == Some(false) && row.has_fault(words) {
            count(&mut missing.faulty, id);
        }
        let without_vgprs = row.without_vgprs(words);
        let kind = Arc::clone(&row.kind);
        let row = self.rows.get_mut(index)?;
        let stop = match facts.stopped {
            Some(true) => row.reasons(words, facts.trap),
            Some(false) => Some(Vec::new()),
            None => None,
        };
        let layout = row.layout(block.counts, without_vgprs);
        let image = Extent {
            backing: self.stores.by_address,
            offset: block.bottom,
            length: block.lds_base() - block.bottom,
        };
        capture.waves.push(Wave {
            id,
            kind,
            agent: lot.agent,
            workgroup,
            wave_in_group,
            stop,
            sgpr_count: u16::try_from(block.counts.sgprs).ok(),
            registers: Registers { layout: Some(layout), image: Some(image), own },
            private,
            private_size,
            label: None,
            unconfirmed: None,
            unchecked: None,
        });
        let (counts, launch) = (block.counts, facts.launch);
        Some(Seen { wave: ordinal, group: workgroup, launch, counts, slot: own_slot })
    }

    /// A new work-group whose first wave is missing.
    fn group_without_lds(lot: &Lot, capture: &mut Capture) -> usize {
        let index = capture.workgroups.len();
        capture.workgroups.push(WorkGroup {
            id: u32::try_from(index + 1).unwrap_or(u32::MAX),
            queue: Some(lot.queue),
            dispatch: None,
            position: None,
            lds_size: None,
            lds: MemoryMap::default(),
        });
        index
    }

    /// A new work-group of a first wave.
    fn group(&self, block: &Block, lot: &Lot, capture: &mut Capture) -> usize {
        let index = capture.workgroups.len();
        let lds = self.pieces(block.lds_base(), u64::from(block.lds), None);
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

    /// A wave's private memory; `Ok(None)`: it has none.
    fn private(
        &self,
        row: &Row,
        words: &Words,
        block: &Block,
        lot: &Lot,
        engine: u32,
        slot: u32,
    ) -> Result<Option<Private>, NoScratch> {
        let Some(scratch) = lot.scratch? else { return Ok(None) };
        if scratch.inferred.is_some() {
            return self.private_by_register(row, words, block, &scratch).map(Some);
        }
        let base = scratch.of(engine, slot)?;
        let confirmed = match row.scratch_base(words, &block.counts) {
            None => {
                let flat = row.flat_scratch(words, &block.counts);
                let buffer = lot.target.buffer_scratch.then(|| self.buffer_base(block)).flatten();
                // Before the prologue adds the wave's offset the descriptor has the base of all slots.
                let buffer = buffer.filter(|address| *address == base || !scratch.is_begin(*address));
                let bases = [flat, buffer].into_iter().flatten();
                // Code may set them to anything, but hardly to the base of another slot.
                let mut of_slots = bases.filter(|address| scratch.is_slot(*address)).peekable();
                of_slots.peek().is_some().then(|| of_slots.all(|address| address == base))
            }
            Some(None) => return Err(NoScratch::NoBase),
            Some(Some(register)) if register == base => Some(true),
            Some(Some(_)) => return Err(NoScratch::Disagrees),
        };
        Ok(Some(Private { base, size: scratch.wave_size, confirmed, note: None }))
    }

    /// The base of the buffer descriptor through which code of the compiler addresses private memory.
    fn buffer_base(&self, block: &Block) -> Option<u64> {
        let sgprs = block.hwregs().checked_sub(4 * u64::from(block.counts.sgprs))?;
        Some(self.memory.u64(sgprs.checked_add(SCRATCH_BUFFER)?)? & BUFFER_BASE)
    }

    /// What was captured of a range of global memory, by offset from its start.
    fn pieces(&self, base: u64, length: u64, name: Option<&str>) -> MemoryMap {
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
                name: name.map(str::to_owned),
            });
            segment = map.next(found.last());
        }
        MemoryMap::new(pieces).0
    }
}

/// Where a wave's private memory lies.
#[derive(Debug)]
pub(super) struct Private {
    pub(super) base: u64,
    /// Bytes.
    pub(super) size: u64,
    /// Whether a register has its base; `None`: no register has that of any slot.
    pub(super) confirmed: Option<bool>,
    /// What its place was inferred from; `None`: it is known.
    pub(super) note: Option<String>,
}

/// The work-group that waves of a control stack belong to until one is the last.
#[derive(Debug)]
pub(super) struct Open {
    /// Index in the capture.
    index: usize,
    /// Work-group and packet of its waves, where its first wave is missing.
    launch: Option<([u32; 3], u32)>,
    /// The block of its first wave is not confirmed.
    is_doubtful: bool,
}

/// How many waves the work-group at a position of the dispatch has: those at the grid's edge may be smaller.
pub(super) fn waves_of_group(dispatch: &Dispatch, position: [u32; 3], lanes: u8) -> Option<u64> {
    let axes = dispatch.grid?.into_iter().zip(dispatch.workgroup?).zip(position);
    let items = axes.map(|((grid, size), at)| {
        let rest = u64::from(grid).checked_sub(u64::from(at) * u64::from(size));
        u64::from(size).min(rest.filter(|rest| *rest > 0).unwrap_or(u64::from(size)))
    });
    Some(items.product::<u64>().div_ceil(u64::from(lanes)))
}
