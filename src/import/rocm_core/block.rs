//! The control stack: records of states and of waves, and the iteration that finds every wave's block.
//!
//! The control stack is a list of dwords: state records, and waves that run with the preceding state. Blocks are
//! stacked downwards in its order, so that only an iteration from the top finds them. It must end at the area's start:
//! with a wrong layout or a damaged word it practically never does.

use std::sync::Arc;

use super::area::Area;
use super::doubt::Doubt;
use crate::arch::Target;
use crate::arch::save_area::SaveArea;
use crate::units::WaveSize;

/// Bit of a dword that is an event.
const EVENT: u32 = 1 << 30;

/// Bit of a dword that begins a state record, without [`EVENT`].
const STATE: u32 = 1 << 31;

/// Bytes of the hardware registers that are read (16), and of 16 trap temporaries.
pub(super) const SLOTS: u64 = 64;

/// A wave's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Address after its last byte: the end of the LDS of its work-group, or of its trap temporaries.
    pub(super) top: u64,
    /// Its lowest address, that of v0.
    pub(super) bottom: u64,
    /// The wave's dword.
    pub(super) word: u32,
    /// Counts of its registers.
    pub(super) counts: Counts,
    /// Bytes of LDS at its top.
    pub(super) lds: u32,
    /// Index of the dword among the records.
    pub(super) record: usize,
    /// Whether waves before it are missing: the open work-group may not be its own.
    pub(super) follows_gap: bool,
    /// The reason for doubt about its registers.
    pub(super) doubt: Option<Doubt>,
}

impl Block {
    /// First address of the LDS.
    pub(super) fn lds_base(&self) -> u64 {
        self.top - u64::from(self.lds)
    }

    /// First address of the hardware registers; the SGPRs end there.
    pub(super) fn hwregs(&self) -> u64 {
        self.lds_base() - self.counts.hwreg_bytes() - if self.counts.ttmps_in_sgprs { 0 } else { SLOTS }
    }

    /// First address of the trap temporaries.
    pub(super) fn ttmps(&self) -> u64 {
        if self.counts.ttmps_in_sgprs {
            self.hwregs() - SLOTS
        } else {
            self.hwregs() + self.counts.hwreg_bytes()
        }
    }
}

/// Number of a wave's registers of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counts {
    /// Lanes.
    pub(super) size: WaveSize,
    /// VGPRs.
    pub(super) vgprs: u32,
    /// VGPRs of 32 lanes that the wave's halves share.
    pub(super) shared: u32,
    /// Accumulation VGPRs.
    pub(super) accums: u32,
    /// SGPR slots.
    pub(super) sgprs: u32,
    /// Slots of hardware registers.
    pub(super) hwregs: u32,
    /// Whether the trap temporaries are the last SGPR slots.
    pub(super) ttmps_in_sgprs: bool,
}

impl Counts {
    /// The counts in a state's dword.
    pub(super) fn of(row: &SaveArea, state: u32) -> Self {
        let is32 = row.state.wave32.is_some_and(|bits| bits.of(state) != 0);
        let size = if is32 { WaveSize::W32 } else { WaveSize::W64 };
        let total = row.state.vgprs.of(state, size);
        let (vgprs, accums) = match &row.state.accum_offset {
            Some(offset) => {
                let vgprs = offset.of(state, size);
                (vgprs, total.saturating_sub(vgprs))
            }
            None if row.state.accum_as_vgprs => (total, total),
            None => (total, 0),
        };
        let sgprs = row.state.sgprs.map(|count| count.of(state, size)).or(row.sgpr_slots).unwrap_or(0);
        let shared = row.state.shared_vgprs.map_or(0, |count| count.of(state, size));
        let (hwregs, ttmps_in_sgprs) = (row.hwreg_slots, row.ttmps_in_sgprs);
        Self { size, vgprs, shared, accums, sgprs, hwregs, ttmps_in_sgprs }
    }

    /// Bytes of hardware registers.
    pub(super) fn hwreg_bytes(&self) -> u64 {
        u64::from(self.hwregs) * 4
    }

    /// Bytes of VGPRs, shared VGPRs, accumulation VGPRs and SGPRs.
    pub(super) fn bytes(&self) -> [u64; 4] {
        let lane = 4 * u64::from(self.size.lanes());
        [
            u64::from(self.vgprs) * lane,
            u64::from(self.shared) * 32 * 4,
            u64::from(self.accums) * 64 * 4,
            u64::from(self.sgprs) * 4,
        ]
    }
}

/// Bytes of LDS in a state's dword.
fn lds(row: &SaveArea, state: u32, size: WaveSize) -> u32 {
    match row.state.lds_whole {
        Some(whole) if state >> (whole.bit & 31) & 1 == 1 => whole.bytes,
        _ => row.state.lds.of(state, size),
    }
}

/// A wave's record with its state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// Index among the records.
    index: usize,
    word: u32,
    /// The state's dword and its counts; `None`: the wave precedes every state.
    state: Option<(u32, Counts)>,
}

impl Record {
    /// Its block below `last`.
    pub(super) fn below(&self, row: &SaveArea, last: u64) -> Option<Block> {
        let (state, counts) = self.state?;
        let top = last.checked_sub(u64::from(row.gap))?;
        let lds = self.lds(row, state, counts);
        let bottom = top.checked_sub(Self::size(lds, &counts))?;
        Some(self.block(top, bottom, counts, lds))
    }

    /// Its block from `bottom` up, and the bottom of the block above.
    pub(super) fn above(&self, row: &SaveArea, bottom: u64) -> Option<(Block, u64)> {
        let (state, counts) = self.state?;
        let lds = self.lds(row, state, counts);
        let top = bottom.checked_add(Self::size(lds, &counts))?;
        Some((self.block(top, bottom, counts, lds), top.checked_add(u64::from(row.gap))?))
    }

    fn lds(&self, row: &SaveArea, state: u32, counts: Counts) -> u32 {
        if row.wave.first.of(self.word) != 0 { lds(row, state, counts.size) } else { 0 }
    }

    fn size(lds: u32, counts: &Counts) -> u64 {
        let ttmps = if counts.ttmps_in_sgprs { 0 } else { SLOTS };
        u64::from(lds) + counts.hwreg_bytes() + ttmps + counts.bytes().iter().sum::<u64>()
    }

    fn block(&self, top: u64, bottom: u64, counts: Counts, lds: u32) -> Block {
        let Self { index, word, .. } = *self;
        Block { top, bottom, word, counts, lds, record: index, follows_gap: false, doubt: None }
    }
}

/// The waves' records of a control stack, in its order.
#[derive(Debug)]
pub(super) struct Stack<'a> {
    row: &'a SaveArea,
    records: std::iter::Enumerate<std::slice::Iter<'a, u32>>,
    state: Option<(u32, Counts)>,
}

impl<'a> Stack<'a> {
    pub(super) fn new(row: &'a SaveArea, records: &'a [u32]) -> Self {
        Self { row, records: records.iter().enumerate(), state: None }
    }
}

impl Iterator for Stack<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            let (index, word) = self.records.next()?;
            if word & EVENT != 0 {
                continue;
            }
            if word & STATE == 0 {
                return Some(Record { index, word: *word, state: self.state });
            }
            self.state = Some((*word, Counts::of(self.row, *word)));
            // Only the hardware uses the other dwords of a state.
            for _ in 1..self.row.state_words {
                self.records.next();
            }
        }
    }
}

/// Iterates over the records of a control stack from the top of the wave area down.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    stack: Stack<'a>,
    /// Top of the next wave's block, before the gap.
    pub(super) last: u64,
    /// Whether a wave preceded every state, or the addresses are exhausted.
    pub(super) failed: bool,
}

impl<'a> BlockReader<'a> {
    /// Starts at the area's end.
    pub(super) fn new(row: &'a SaveArea, records: &'a [u32], end: u64) -> Self {
        Self { stack: Stack::new(row, records), last: end, failed: false }
    }

    /// The blocks of an area, if these records fill it exactly.
    pub(super) fn closed(row: &'a SaveArea, records: &'a [u32], area: &Area) -> Option<Vec<Block>> {
        Self::fits(row, records, area).then(|| Self::new(row, records, area.end).collect())
    }

    /// Whether these records fill the area exactly.
    pub(super) fn fits(row: &'a SaveArea, records: &'a [u32], area: &Area) -> bool {
        let mut walk = Self::new(row, records, area.end);
        walk.by_ref().for_each(drop);
        !walk.failed && walk.last == area.begin
    }
}

impl Iterator for BlockReader<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let record = if self.failed { None } else { self.stack.next() }?;
        let block = record.below(self.stack.row, self.last);
        match &block {
            Some(block) => self.last = block.bottom,
            None => self.failed = true,
        }
        block
    }
}

/// The first processor whose layout fits the records of an area.
pub(super) fn fitting<'a>(rows: &'a [Arc<Target>], records: &[u32], area: &Area) -> Option<&'a Arc<Target>> {
    rows.iter()
        .find(|target| target.save_area.as_ref().is_some_and(|row| BlockReader::fits(row, records, area)))
}

#[cfg(test)]
#[path = "tests/block.rs"]
mod tests;
