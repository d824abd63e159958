//! The header of one save area, and the places of control stack and waves.

use super::memory::CoreMemory;
use crate::integers::u32_at;

/// Maximum size of a control stack in bytes: a tenth of the size of all save areas of a GPU with 10^6 waves.
pub(super) const MAX_STACK: u32 = 8 << 20;

/// Bytes of the header's words on control stack and waves.
const HEADER: usize = 16;

/// Bytes of the whole header: control stack and waves begin after it.
const HEADER_SIZE: u64 = 40;

/// Dwords of PM4 before the records.
const SKIPPED: usize = 2;

/// The parts of one XCC's save area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// Address of the control stack.
    pub(super) stack: u64,
    /// Bytes of the control stack.
    pub(super) stack_size: u32,
    /// Lowest address of the waves.
    pub(super) begin: u64,
    /// Address after the waves.
    pub(super) end: u64,
}

/// The words of a save area's header that place control stack and waves.
///
/// They are redundant: the control stack ends where the waves begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The area's address.
    address: u64,
    /// control_stack_offset.
    stack: u32,
    /// control_stack_size, in bytes.
    stack_size: u32,
    /// wave_state_offset: the end of the waves.
    end: u32,
    /// wave_state_size, in bytes.
    size: u32,
}

impl Header {
    /// Reads the header at `address`; `None` where it was not captured.
    pub(super) fn read(memory: &CoreMemory, address: u64) -> Option<Self> {
        let mut header = [0; HEADER];
        if memory.read(address, &mut header) < HEADER {
            return None;
        }
        let word = |offset| u32_at(&header, offset);
        Some(Self { address, stack: word(0)?, stack_size: word(4)?, end: word(8)?, size: word(12)? })
    }

    /// Whether the header records no control stack and no waves.
    pub(super) fn is_unused(&self) -> bool {
        self.stack_size == 0 && self.size == 0
    }

    /// The area according to the header; `None`: the words contradict each other.
    pub(super) fn area(&self) -> Option<Area> {
        let begin = self.end.checked_sub(self.size)?;
        (self.stack.checked_add(self.stack_size)? == begin)
            .then(|| self.place(self.stack.into(), begin.into(), self.end.into()))?
    }

    /// The areas of a header with one wrong word, each with that word's name.
    ///
    /// Each word follows from the other three. Only the control stack confirms a reading.
    pub(super) fn repairs(&self) -> Vec<(Area, &'static str)> {
        let [stack, stack_size, end, size] =
            [self.stack, self.stack_size, self.end, self.size].map(u64::from);
        let begin = end.checked_sub(size);
        let top = stack + stack_size;
        let found = [
            (
                begin.and_then(|begin| Some((begin.checked_sub(stack_size)?, begin, end))),
                "control_stack_offset",
            ),
            (begin.map(|begin| (stack, begin, end)), "control_stack_size"),
            (Some((stack, top, top + size)), "wave_state_offset"),
            (Some((stack, top, end)), "wave_state_size"),
        ];
        let sound = found.into_iter().filter_map(|(found, name)| {
            let (stack, begin, end) = found?;
            let is_placed = stack >= HEADER_SIZE || begin == end;
            let area =
                self.place(stack, begin, end).filter(|area| is_placed && area.stack_size <= MAX_STACK)?;
            Some((area, name))
        });
        sound.collect()
    }

    /// The four words, for messages.
    pub(super) fn words(&self) -> String {
        let Self { stack, stack_size, end, size, .. } = self;
        format!("control stack at {stack:#x} of {stack_size:#x} bytes, waves to {end:#x} of {size:#x} bytes")
    }

    /// The area with these offsets; `None`: they are out of order or exceed the address space.
    fn place(&self, stack: u64, begin: u64, end: u64) -> Option<Area> {
        let at = |offset| self.address.checked_add(offset);
        let stack_size = u32::try_from(begin.checked_sub(stack)?).ok()?;
        let area = Area { stack: at(stack)?, stack_size, begin: at(begin)?, end: at(end)? };
        (area.begin <= area.end).then_some(area)
    }
}

impl Area {
    /// The captured records of the control stack.
    pub(super) fn records(&self, memory: &CoreMemory) -> Vec<u32> {
        let mut bytes = vec![0; self.stack_size.min(MAX_STACK) as usize];
        let got = memory.read(self.stack, &mut bytes);
        let words = bytes.get(..got).unwrap_or_default().chunks_exact(4).skip(SKIPPED);
        words.filter_map(|word| u32_at(word, 0)).collect()
    }

    /// Whether records are missing at the end of the control stack.
    pub(super) fn is_cut(&self, records: &[u32]) -> bool {
        ((records.len() + SKIPPED) as u64) < u64::from(self.stack_size) / 4
    }
}

#[cfg(test)]
#[path = "tests/area.rs"]
mod tests;
