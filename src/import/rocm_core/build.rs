//! Waves of a save area, with their work-groups, into the capture.

use std::sync::Arc;

use super::area::Block;
use super::dispatch::Dispatches;
use super::missing::{Missing, OutsideGrid, OutsideGroup, count};
use super::queues::{Lot, Waves};
use super::scratch::NoScratch;
use super::wave::{Launch, Row, Words};
use crate::capture::{
    Capture, Dispatch, Extent, MemoryMap, RegisterBlock, Registers, Segment, Wave, WorkGroup,
};
use crate::units::LaneSet;

impl Waves<'_> {
    /// Adds a wave; `group` is the work-group that is open.
    #[expect(clippy::too_many_arguments, reason = "a wave's loop, taken apart")]
    pub(super) fn wave(
        &mut self,
        block: &Block,
        words: &Words,
        lot: &Lot,
        group: &mut Option<usize>,
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
    ) {
        let id = u32::try_from(capture.waves.len() + 1).unwrap_or(u32::MAX);
        // A wave that its processor cannot run comes of a damaged record.
        let Some(index) = lot.row(block.counts.size).or(lot.row64).or(lot.row32) else { return };
        let Some(row) = self.rows.get(index) else { return };
        let facts = self.facts(row, words, lot);
        self.pcs.extend(facts.pc);
        let Some(row) = self.rows.get(index) else { return };
        let Some(area) = row.area() else { return };
        let (word, is_last) = (area.wave, area.wave.last.of(block.word) != 0);
        if !words.hw.is_whole() || !words.ttmps.is_whole() {
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
        if let (Some(launch), Some(of)) =
            (facts.launch, workgroup.and_then(|index| capture.workgroups.get_mut(index)))
        {
            of.position.get_or_insert(launch.group);
        }
        match (facts.launch, workgroup.and_then(|index| capture.workgroups.get(index))) {
            (None, _) if words.ttmps.is_whole() => count(&mut missing.launch, id),
            (Some(launch), Some(of)) if of.dispatch.is_none() => {
                match dispatches.find(self.memory, launch.packet, &mut capture.dispatches) {
                    Ok(found) => place(capture, workgroup, found, &launch, missing),
                    Err(why) => missing.dispatch.entry(why).or_insert((0, id)).0 += 1,
                }
            }
            _ => {}
        }
        let dispatch =
            workgroup.and_then(|index| capture.dispatches.get(capture.workgroups.get(index)?.dispatch?));
        let lanes = block.counts.size.lanes();
        let wave_in_group = facts.launch.map(|launch| launch.wave_in_group).filter(|place| {
            let Some(most) = dispatch.and_then(|dispatch| waves_of_group(dispatch, lanes)) else {
                return true;
            };
            let fits = u64::from(*place) < most;
            if !fits {
                count(&mut missing.in_group, OutsideGroup { wave: id, place: *place, most });
            }
            fits
        });
        let (engine, slot) = (word.engine.of(block.word), word.scoreboard.of(block.word));
        let (private, private_size) = match self.private(row, words, block, lot, engine, slot) {
            Ok(Some((base, size))) => {
                if word.scratch.of(block.word) == 0 {
                    count(&mut missing.unallotted, id);
                }
                let pieces = self.pieces(base, size);
                if pieces.segments().is_empty() {
                    count(&mut missing.uncaptured, (id, base, size));
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
        let Some(row) = self.rows.get_mut(index) else { return };
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
        });
    }

    /// A new work-group of a first wave.
    fn group(&self, block: &Block, lot: &Lot, capture: &mut Capture) -> usize {
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
        lot: &Lot,
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

/// Gives a work-group its dispatch, and its place there if it is one.
fn place(
    capture: &mut Capture,
    workgroup: Option<usize>,
    found: usize,
    launch: &Launch,
    missing: &mut Missing,
) {
    let outside = capture.dispatches.get(found).and_then(|dispatch| {
        let (grid, size) = (dispatch.grid?, dispatch.workgroup?);
        let mut axes = launch.group.iter().zip(grid.iter().zip(size));
        let is_inside = axes.all(|(at, (grid, size))| *at < grid.div_ceil(size));
        (!is_inside).then_some(OutsideGrid { group: launch.group, grid, size })
    });
    let Some(group) = workgroup.and_then(|index| capture.workgroups.get_mut(index)) else { return };
    group.dispatch = Some(found);
    // What was saved is shown, and that it cannot be is said.
    if let Some(outside) = outside {
        count(&mut missing.grid, outside);
    }
}

/// How many waves a work-group of the dispatch has.
fn waves_of_group(dispatch: &Dispatch, lanes: u8) -> Option<u64> {
    let items: u64 = dispatch.workgroup?.iter().map(|size| u64::from(*size)).product();
    Some(items.div_ceil(u64::from(lanes)))
}
