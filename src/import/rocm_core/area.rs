//! One save area: its header, and the walk of its control stack that finds every wave's block.
//!
//! The control stack is a list of dwords: state records, and waves that run with the state before them. Blocks lie below
//! each other in its order, so that only a walk from the top finds them. Where it ends, the area begins: a wrong layout
//! or a damaged word practically never ends there.

use std::sync::Arc;

use super::bytes::u32_at;
use super::memory::CoreMemory;
use crate::arch::Target;
use crate::arch::save_area::SaveArea;
use crate::units::WaveSize;

/// The most bytes of a control stack: a tenth of what all save areas of a GPU with 10^6 waves need.
pub(super) const MOST_STACK: u32 = 8 << 20;

/// Bytes of the header that matter here.
const HEADER: usize = 16;

/// Dwords of PM4 before the records.
const SKIPPED: usize = 2;

/// A dword with this bit is an event.
const EVENT: u32 = 1 << 30;

/// A dword with this one, and not the other, begins a state record.
const STATE: u32 = 1 << 31;

/// Bytes of 16 hardware registers, and of 16 trap temporaries.
pub(super) const SLOTS: u64 = 64;

/// Where the parts of one XCC's save area lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// First byte of the control stack.
    pub(super) stack: u64,
    /// Its bytes.
    pub(super) stack_size: u32,
    /// Lowest address of the waves.
    pub(super) begin: u64,
    /// First address above them.
    pub(super) end: u64,
}

impl Area {
    /// Reads the header at `address`; `None` where it was not captured or its numbers leave the address space.
    pub(super) fn read(memory: &CoreMemory, address: u64) -> Option<Self> {
        let mut header = [0; HEADER];
        if memory.read(address, &mut header) < HEADER {
            return None;
        }
        let word = |offset| u32_at(&header, offset);
        let (stack, stack_size, waves, size) = (word(0)?, word(4)?, word(8)?, word(12)?);
        let end = address.checked_add(u64::from(waves))?;
        Some(Self {
            stack: address.checked_add(u64::from(stack))?,
            stack_size,
            begin: end.checked_sub(u64::from(size))?,
            end,
        })
    }

    /// Whether its header says that nothing was saved.
    pub(super) fn is_unused(&self) -> bool {
        self.stack_size == 0 && self.begin == self.end
    }

    /// Whether no wave was saved.
    pub(super) fn is_empty(&self) -> bool {
        self.stack_size == 0 || self.begin == self.end
    }

    /// Whether the control stack ends where the waves begin, as the hardware lays them out.
    pub(super) fn is_consistent(&self) -> bool {
        self.stack.checked_add(u64::from(self.stack_size)) == Some(self.begin)
    }

    /// The records of the control stack, as far as they were captured.
    pub(super) fn records(&self, memory: &CoreMemory) -> Vec<u32> {
        let mut bytes = vec![0; self.stack_size.min(MOST_STACK) as usize];
        let got = memory.read(self.stack, &mut bytes);
        let words = bytes.get(..got).unwrap_or_default().chunks_exact(4).skip(SKIPPED);
        words.filter_map(|word| u32_at(word, 0)).collect()
    }
}

/// A wave's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// First address above it: that of the LDS of its work-group, or of the trap temporaries' end.
    pub(super) top: u64,
    /// Its lowest address, that of v0.
    pub(super) bottom: u64,
    /// The wave's dword.
    pub(super) word: u32,
    /// What is in it.
    pub(super) counts: Counts,
    /// Bytes of LDS at its top.
    pub(super) lds: u32,
}

impl Block {
    /// First address of the LDS.
    pub(super) fn lds_base(&self) -> u64 {
        self.top - u64::from(self.lds)
    }

    /// First address of the hardware registers; the trap temporaries follow.
    pub(super) fn hwregs(&self) -> u64 {
        self.lds_base() - 2 * SLOTS
    }
}

/// How many registers of each kind a wave has.
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
}

impl Counts {
    /// What a state's dword says.
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
        Self { size, vgprs, shared, accums, sgprs }
    }

    /// Bytes of VGPRs, of shared ones, of accumulation VGPRs and of SGPRs.
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

/// Bytes of LDS that a state's dword asks for.
fn lds(row: &SaveArea, state: u32, size: WaveSize) -> u32 {
    match row.state.lds_whole {
        Some(whole) if state >> (whole.bit & 31) & 1 == 1 => whole.bytes,
        _ => row.state.lds.of(state, size),
    }
}

/// Walks the records of a control stack from the top of the wave area down.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    row: &'a SaveArea,
    records: std::slice::Iter<'a, u32>,
    state: Option<(u32, Counts)>,
    /// Where the next wave's block has its top, before the gap.
    pub(super) last: u64,
    /// A wave came before any state, or the addresses are used up.
    pub(super) failed: bool,
}

impl<'a> Walk<'a> {
    /// From the area's end.
    pub(super) fn new(row: &'a SaveArea, records: &'a [u32], end: u64) -> Self {
        Self { row, records: records.iter(), state: None, last: end, failed: false }
    }

    /// Whether these records, read so, fill the area from its end to its begin.
    pub(super) fn fits(row: &'a SaveArea, records: &'a [u32], area: &Area) -> bool {
        let mut walk = Self::new(row, records, area.end);
        walk.by_ref().for_each(drop);
        !walk.failed && walk.last == area.begin
    }

    fn block(&self, word: u32) -> Option<Block> {
        let (state, counts) = self.state?;
        let top = self.last.checked_sub(u64::from(self.row.gap))?;
        let is_first = self.row.wave.first.of(word) != 0;
        let lds = if is_first { lds(self.row, state, counts.size) } else { 0 };
        let registers: u64 = counts.bytes().iter().sum();
        let bottom = top.checked_sub(u64::from(lds) + 2 * SLOTS + registers)?;
        Some(Block { top, bottom, word, counts, lds })
    }
}

impl Iterator for Walk<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        loop {
            let word = *self.records.next()?;
            if word & EVENT != 0 {
                continue;
            }
            if word & STATE != 0 {
                self.state = Some((word, Counts::of(self.row, word)));
                // What the other dwords say matters to the hardware only.
                for _ in 1..self.row.state_words {
                    self.records.next();
                }
                continue;
            }
            let Some(block) = self.block(word) else {
                self.failed = true;
                self.records = [].iter();
                return None;
            };
            self.last = block.bottom;
            return Some(block);
        }
    }
}

/// The processor whose layout the records of an area have: the first of those that fits.
pub(super) fn fitting<'a>(rows: &'a [Arc<Target>], records: &[u32], area: &Area) -> Option<&'a Arc<Target>> {
    rows.iter().find(|target| target.save_area.as_ref().is_some_and(|row| Walk::fits(row, records, area)))
}

#[cfg(test)]
#[path = "tests/area.rs"]
mod tests;
