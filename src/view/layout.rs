//! The layout of a window. A window belongs to a frame of a lane; `rsp` of the frame is its first address.
//!
//! ```text
//! 0          unused
//! 0x200      pointers to the function's variables, 8 bytes each
//! ...        spill slots of its variables that are not in memory, each on a boundary of 512 bytes
//! 0x80_0000  pointers to variables outside of functions, then their spill slots
//! 0xff_fe00  unused, up to
//! 0xff_fff8  8 bytes: the return address of the frame, at the position of DW_CFA_offset(16, -8)
//! ```
//!
//! Unused ranges are not readable. The boundaries are LLDB's: it reads 512 bytes at a time, and discards part of a
//! line that arrives incomplete. A line with any contents therefore arrives whole, with zeros in the rest. gdb reads
//! exactly the wanted bytes, except around return addresses: there it reads 64 bytes at a time or, if that fails,
//! single bytes.

use std::collections::HashMap;

use crate::debuginfo::TypeId;
use crate::units::DieOffset;

/// Bytes from a frame's window to that of its caller.
pub const STRIDE: u32 = 1 << 24;
/// The maximum of frames that a token can name: of the wave's stack, and the same number of the lane's own.
pub const MAX_FRAMES: usize = 128;
/// The bit of a token's frame number for the lane's own stack.
pub(super) const OWN_STACK: u32 = 0x80;
/// The offset of the return address.
pub(super) const RETURN_ADDRESS: u32 = STRIDE - 8;

/// LLDB's line of memory.
pub(super) const LINE: u32 = 512;
/// gdb's line of a stack.
const STACK_LINE: u32 = 64;
/// The first pointer.
const POINTERS: u32 = LINE;
/// The start of the part for variables outside of functions.
const GLOBALS: u32 = STRIDE / 2;
/// The end of the part for variables.
const END: u32 = STRIDE - LINE;
/// Bytes of a pointer.
pub(super) const POINTER: u32 = 8;
/// The spill slot's size for a variable whose size only an object determines.
const UNSIZED: u32 = 4096;

/// The conversion that a variable's pointers need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// No conversion.
    Plain,
    /// A pointer or reference of 4 bytes, which has 8 bytes for the client.
    SmallPointer,
    /// A pointer of 8 bytes, which may lead to memory of a lane or a work-group.
    Pointer,
}

/// A variable with its positions in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its DIE, in `.debug_info` of the code object.
    pub(super) variable: DieOffset,
    /// Its type.
    pub(super) of: Option<TypeId>,
    /// Its sort.
    pub(super) sort: Sort,
    /// Its size in bytes, as the client has it.
    pub(super) size: u32,
    /// The offset of its spill slot from the window's first address.
    pub(super) capacity: u32,
}

/// The use of an address in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Byte `at` of a pointer to a variable.
    Pointer {
        /// The variable.
        slot: Slot,
        /// 0 to 7.
        at: u32,
    },
    /// Byte `at` of a variable's spill slot.
    Slot {
        /// The variable.
        slot: Slot,
        /// From 0; less than the variable's size.
        at: u32,
    },
    /// The return address, or the bytes before it in its line.
    ReturnAddress,
    /// The rest of a line with contents.
    Rest,
}

/// A client's way of reading memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Exactly the bytes of an object; lines of 64 bytes for a stack.
    Exact,
    /// In lines of 512 bytes.
    Lines,
}

impl Reading {
    /// Rounds a size up to whole lines.
    fn whole(self, bytes: u32) -> u32 {
        match self {
            Self::Exact => bytes,
            Self::Lines => rounded(bytes),
        }
    }

    /// The start of the line with the return address.
    fn return_line(self) -> u32 {
        match self {
            Self::Exact => STRIDE - STACK_LINE,
            Self::Lines => STRIDE - LINE,
        }
    }
}

/// The variables of a function, or those outside of functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The variables of each view, later ones after earlier ones.
    blocks: Vec<Block>,
}

/// Variables added to a window together: pointers, then spill slots.
#[derive(Clone, Debug)]
struct Block {
    /// The first pointer.
    first: u32,
    slots: Vec<Slot>,
}

/// Assigns variables their positions.
#[derive(Debug)]
pub(super) struct Planner {
    /// The earlier layout, with its pointers by variable.
    before: Layout,
    pointers: HashMap<DieOffset, u32>,
    first: u32,
    end: u32,
    slots: Vec<(DieOffset, Option<TypeId>, Sort, u32)>,
    bytes: u32,
}

impl Planner {
    /// A planner for the variables of a function, some of which an earlier view may have.
    pub(super) fn of_function(before: Option<&Layout>) -> Self {
        Self::after(before, POINTERS, GLOBALS)
    }

    /// A planner for variables outside of functions, some of which an earlier view may have.
    pub(super) fn of_globals(before: Option<&Layout>) -> Self {
        Self::after(before, GLOBALS, END)
    }

    fn after(before: Option<&Layout>, first: u32, end: u32) -> Self {
        let before = before.cloned().unwrap_or_default();
        let first = before.blocks.last().map_or(first, Block::end);
        let pointers = before.blocks.iter().flat_map(|block| {
            let places = (block.first..).step_by(POINTER as usize);
            block.slots.iter().zip(places).map(|(slot, at)| (slot.variable, at))
        });
        let pointers = pointers.collect();
        Self { before, pointers, first, end, slots: Vec::new(), bytes: 0 }
    }

    /// The offset of the pointer to one more variable; `None` if the window is full.
    pub(super) fn add(
        &mut self,
        variable: DieOffset,
        of: Option<TypeId>,
        sort: Sort,
        size: Option<u64>,
    ) -> Option<u32> {
        if let Some(known) = self.pointers.get(&variable) {
            return Some(*known);
        }
        let size = match (sort, size) {
            (Sort::Plain, Some(size)) => u32::try_from(size).ok()?,
            (Sort::Plain, None) => UNSIZED,
            (Sort::SmallPointer | Sort::Pointer, _) => POINTER,
        };
        // An object too large for composition is only readable in memory.
        let size = size.min(crate::session::print::MAX_COMPOSED_BYTES as u32);
        let bytes = self.bytes.checked_add(rounded(size.max(1)))?;
        let count = u32::try_from(self.slots.len()).ok()?.checked_add(1)?;
        let pointers = rounded(count.checked_mul(POINTER)?);
        if self.first.checked_add(pointers)?.checked_add(bytes)? > self.end {
            return None;
        }
        self.slots.push((variable, of, sort, size));
        self.bytes = bytes;
        let pointer = self.first + (count - 1) * POINTER;
        self.pointers.insert(variable, pointer);
        Some(pointer)
    }

    pub(super) fn finish(self) -> Layout {
        let mut layout = self.before;
        if self.slots.is_empty() {
            return layout;
        }
        let pointers = rounded(self.slots.len() as u32 * POINTER);
        let mut capacity = self.first + pointers;
        let slots = self.slots.into_iter().map(|(variable, of, sort, size)| {
            let slot = Slot { variable, of, sort, size, capacity };
            capacity += rounded(size.max(1));
            slot
        });
        let slots = slots.collect();
        layout.blocks.push(Block { first: self.first, slots });
        layout
    }
}

fn rounded(bytes: u32) -> u32 {
    bytes.div_ceil(LINE) * LINE
}

/// Whether an offset in a window belongs to variables outside of functions.
pub(super) fn is_global(offset: u32) -> bool {
    (GLOBALS..END).contains(&offset)
}

impl Layout {
    /// The use of an offset in the window, and the end of its part: all pointers, one spill slot, or the line of the
    /// return address. `None` for an unused offset.
    pub(super) fn at(&self, offset: u32, reading: Reading) -> Option<(Use, u32)> {
        let line = reading.return_line();
        if (line..STRIDE).contains(&offset) {
            return Some((Use::ReturnAddress, STRIDE));
        }
        let after = self.blocks.partition_point(|block| block.first <= offset);
        self.blocks.get(after.checked_sub(1)?)?.at(offset, reading)
    }

    /// The number of its variables.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.slots.len()).sum()
    }
}

impl Block {
    /// The start of the next block.
    fn end(&self) -> u32 {
        let last = self.slots.last();
        last.map_or(self.first, |slot| slot.capacity + rounded(slot.size.max(1)))
    }

    fn at(&self, offset: u32, reading: Reading) -> Option<(Use, u32)> {
        let first = self.first;
        let from_first = offset.checked_sub(first)?;
        let pointers = self.slots.len() as u32 * POINTER;
        if from_first < reading.whole(pointers) {
            let slot = self.slots.get((from_first / POINTER) as usize);
            let used = slot.map(|slot| Use::Pointer { slot: *slot, at: from_first % POINTER });
            return Some((used.unwrap_or(Use::Rest), first + reading.whole(pointers)));
        }
        let after = self.slots.partition_point(|slot| slot.capacity <= offset);
        let slot = *self.slots.get(after.checked_sub(1)?)?;
        let at = offset - slot.capacity;
        let size = reading.whole(slot.size);
        let used = if at < slot.size { Use::Slot { slot, at } } else { Use::Rest };
        (at < size).then_some((used, slot.capacity + size))
    }
}
