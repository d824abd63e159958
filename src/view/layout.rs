//! Where in a window things are. A window belongs to a frame of a lane; `rsp` of the frame is its first address.
//!
//! ```text
//! 0          nothing: zeros
//! 16         8 bytes: the tagged address of the wave's LDS
//! 0x200      pointers to the function's variables, 8 bytes each
//! ...        rooms for its variables that are not in memory, each on a boundary of 512 bytes
//! 0x80_0000  pointers to variables outside of functions, then their rooms
//! 0xff_fe00  zeros, up to
//! 0xff_fff8  8 bytes: the return address of the frame, where DW_CFA_offset(16, -8) looks for it
//! ```
//!
//! The boundaries are LLDB's: it reads 512 bytes at a time, and where any of them cannot be read, none can. gdb reads
//! return addresses 64 bytes at a time.

use std::collections::HashMap;

use crate::units::DieOffset;

/// Bytes from a frame's window to that of its caller.
pub const STRIDE: u32 = 1 << 24;
/// Frames that a token can name, of the wave's stack and as many of the lane's own.
pub const MAX_FRAMES: usize = 128;
/// Set in the frame of a token of the lane's own stack.
pub(super) const OWN_STACK: u32 = 0x80;
/// Where the address of LDS is.
pub(super) const LDS: u32 = 16;
/// Where the return address is.
pub(super) const RETURN_ADDRESS: u32 = STRIDE - 8;

/// LLDB's line of memory.
pub(super) const LINE: u32 = 512;
/// The first pointer.
const POINTERS: u32 = LINE;
/// What belongs to variables outside of functions.
const GLOBALS: u32 = STRIDE / 2;
/// What no variable may reach.
const END: u32 = STRIDE - LINE;
/// Bytes of a pointer.
pub(super) const POINTER: u32 = 8;
/// The room of a variable whose size only an object tells.
const UNSIZED: u32 = 4096;

/// What a variable is to a pointer's reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Its bytes are what they are.
    Plain,
    /// A pointer or reference of 4 bytes, which the client takes for one of 8.
    SmallPointer,
    /// One of 8 bytes, which may lead to memory of a lane or a work-group.
    Pointer,
}

/// A variable with its places in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its DIE, in `.debug_info` of the code object.
    pub(super) variable: DieOffset,
    /// What it is.
    pub(super) sort: Sort,
    /// Its size in bytes; as a client sees it.
    pub(super) size: u32,
    /// Where its room begins, from the window's first address.
    pub(super) room: u32,
}

/// What an address in a window is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Byte `at` of a pointer to a variable.
    Pointer {
        /// Which.
        slot: Slot,
        /// 0 to 7.
        at: u32,
    },
    /// Byte `at` of the room of a variable.
    Room {
        /// Which.
        slot: Slot,
        /// From the first on; past the variable's size there are zeros.
        at: u32,
    },
}

/// The variables of a function, or those outside of functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// What each view added, after what was there before.
    blocks: Vec<Block>,
}

/// Variables that came to a window together: pointers, then rooms.
#[derive(Clone, Debug)]
struct Block {
    /// The first pointer.
    first: u32,
    slots: Vec<Slot>,
}

/// Gives variables their places.
#[derive(Debug)]
pub(super) struct Planner {
    /// What is where it was, with the pointers by variable.
    before: Layout,
    pointers: HashMap<DieOffset, u32>,
    first: u32,
    end: u32,
    slots: Vec<(DieOffset, Sort, u32)>,
    bytes: u32,
}

impl Planner {
    /// For the variables of a function, of which an earlier view has some.
    pub(super) fn of_function(before: Option<&Layout>) -> Self {
        Self::after(before, POINTERS, GLOBALS)
    }

    /// For variables outside of functions, of which an earlier view has some.
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

    /// The offset of the pointer to one more variable; `None` where the window is full.
    pub(super) fn add(&mut self, variable: DieOffset, sort: Sort, size: Option<u64>) -> Option<u32> {
        if let Some(known) = self.pointers.get(&variable) {
            return Some(*known);
        }
        let size = match (sort, size) {
            (Sort::Plain, Some(size)) => u32::try_from(size).ok()?,
            (Sort::Plain, None) => UNSIZED,
            (Sort::SmallPointer | Sort::Pointer, _) => POINTER,
        };
        // What is larger than can be put together is shown from memory, or not at all.
        let size = size.min(crate::session::print::MAX_COMPOSED_BYTES as u32);
        let bytes = self.bytes.checked_add(rounded(size.max(1)))?;
        let count = u32::try_from(self.slots.len()).ok()?.checked_add(1)?;
        let pointers = rounded(count.checked_mul(POINTER)?);
        if self.first.checked_add(pointers)?.checked_add(bytes)? > self.end {
            return None;
        }
        self.slots.push((variable, sort, size));
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
        let mut room = self.first + pointers;
        let slots = self.slots.into_iter().map(|(variable, sort, size)| {
            let slot = Slot { variable, sort, size, room };
            room += rounded(size.max(1));
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
    /// What an offset in the window is for; `None` where it is for nothing.
    pub(super) fn at(&self, offset: u32) -> Option<Use> {
        let after = self.blocks.partition_point(|block| block.first <= offset);
        self.blocks.get(after.checked_sub(1)?)?.at(offset)
    }

    /// How many variables it has.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.slots.len()).sum()
    }
}

impl Block {
    /// Where the next may begin.
    fn end(&self) -> u32 {
        let last = self.slots.last();
        last.map_or(self.first, |slot| slot.room + rounded(slot.size.max(1)))
    }

    fn at(&self, offset: u32) -> Option<Use> {
        let first = self.first;
        let index = offset.checked_sub(first)? / POINTER;
        if let Some(slot) = self.slots.get(index as usize) {
            return Some(Use::Pointer { slot: *slot, at: (offset - first) % POINTER });
        }
        let after = self.slots.partition_point(|slot| slot.room <= offset);
        let slot = *self.slots.get(after.checked_sub(1)?)?;
        let at = offset - slot.room;
        (at < rounded(slot.size.max(1))).then_some(Use::Room { slot, at })
    }
}
