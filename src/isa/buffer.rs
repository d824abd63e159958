//! Buffer descriptors: address and range check.
//!
//! AMD's ISA documents, "Buffer Resource Descriptor", "Buffer Addressing", "Range Checking".

use super::address::AddressError;
use super::facts::BufferFacts;

/// Bytes of an element of swizzled buffers whose descriptor does not give it.
const ELEMENT: u64 = 4;

/// A buffer as its descriptor gives it.
#[derive(Debug)]
pub(super) struct Descriptor {
    pub(super) base: u64,
    stride: u64,
    records: u64,
    index_stride: u64,
    /// Adds the lane to the index.
    has_lane_index: bool,
    /// Bytes of an element, if swizzled.
    element: Option<u64>,
    range_check: RangeCheck,
}

/// The range check of a buffer.
#[derive(Clone, Copy, Debug)]
enum RangeCheck {
    /// That of GFX9.
    Gfx9,
    /// By OOB_SELECT.
    Select(u32),
    /// One of several.
    Unclear,
}

/// A lane's position in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The index in a register, if the instruction has one.
    pub(super) index: Option<u32>,
    /// The lane.
    pub(super) lane: u8,
    /// Offset of the lane: register and constant.
    pub(super) offset: u32,
    /// Bytes from there, of a part of the access.
    pub(super) ahead: u32,
    /// The scalar offset.
    pub(super) scalar: u32,
}

impl Descriptor {
    pub(super) fn new(words: [u32; 4], facts: BufferFacts, has_format: bool) -> Result<Self, AddressError> {
        if facts.is_wide {
            return Self::wide(words);
        }
        let [low, high, records, control] = words;
        if control >> 30 != 0 {
            return Err(AddressError::NoBuffer);
        }
        let has_lane_index = control >> 23 & 1 == 1;
        let extension =
            if facts.has_long_stride && has_lane_index && !has_format { control >> 15 & 0xf } else { 0 };
        let element = match (facts.has_swizzle_size, high >> 30) {
            (false, bits) if bits & 2 == 2 => Some(ELEMENT),
            (false, _) | (true, 0) => None,
            (true, 1) => Some(4),
            (true, 3) => Some(16),
            (true, _) => return Err(AddressError::NoBuffer),
        };
        Ok(Self {
            base: join(low, high & 0xffff),
            stride: u64::from(high >> 16 & 0x3fff | extension << 14),
            records: u64::from(records),
            index_stride: 8 << (control >> 21 & 3),
            has_lane_index,
            element,
            range_check: if facts.has_range_select {
                RangeCheck::Select(control >> 28 & 3)
            } else {
                RangeCheck::Gfx9
            },
        })
    }

    /// A descriptor of gfx12.5. LLVM 22 (`make.buffer.rsrc`): base 56:0, records 101:57, stride 121:108 with its scale
    /// in 123:122, four bits of flags. No source gives the meaning of scale and flags, or that of 107:102.
    fn wide(words: [u32; 4]) -> Result<Self, AddressError> {
        const UNCLEAR: u32 = 0xfc00_0fc0;
        let [low, high, more, control] = words;
        if control & UNCLEAR != 0 {
            return Err(AddressError::DescriptorFields);
        }
        let (low, high) = (join(low, high), join(more, control));
        Ok(Self {
            // An address has a sign.
            base: ((low << 7).cast_signed() >> 7).cast_unsigned(),
            stride: high >> 44 & 0x3fff,
            records: low >> 57 | (high & ((1 << 38) - 1)) << 7,
            index_stride: 8,
            has_lane_index: false,
            element: None,
            range_check: RangeCheck::Unclear,
        })
    }

    /// Whether it is that of private memory: each lane has elements of its own.
    pub(super) fn is_private(&self) -> bool {
        self.has_lane_index && self.element.is_some()
    }

    fn index(&self, at: Position) -> u64 {
        u64::from(at.index.unwrap_or(0)) + if self.has_lane_index { u64::from(at.lane) } else { 0 }
    }

    /// The address of a position.
    pub(super) fn address(&self, at: Position) -> u64 {
        let index = self.index(at);
        let offset = u64::from(at.offset) + u64::from(at.ahead);
        let inside = match self.element {
            None => offset + index * self.stride,
            Some(element) => {
                let row = index / self.index_stride * self.stride + offset / element * element;
                let column = index % self.index_stride * element;
                row.wrapping_mul(self.index_stride).wrapping_add(column + offset % element)
            }
        };
        self.base.wrapping_add(u64::from(at.scalar)).wrapping_add(inside)
    }

    /// Whether `bytes` at a position are in range; `None` if the readings of AMD's documents differ about it.
    pub(super) fn holds(&self, at: Position, bytes: u16) -> Option<bool> {
        let index = self.index(at);
        let offset = u64::from(at.offset) + u64::from(at.ahead);
        let (end, scalar) = (offset + u64::from(bytes), u64::from(at.scalar));
        let same = |one: bool, other: bool| (one == other).then_some(one);
        let is_structured = index < self.records;
        let is_inside_record = is_structured && end <= self.stride;
        use RangeCheck::{Gfx9, Select, Unclear};
        let capacity = self.records.saturating_sub(scalar);
        match self.range_check {
            // Private memory.
            Gfx9 if self.has_lane_index && self.element.is_some() => Some(true),
            Gfx9 if self.stride != 0 && at.index.is_some() => Some(is_structured),
            // The scalar offset counts or not.
            Gfx9 => same(offset < self.records, offset + scalar < self.records),
            Select(0) => Some(is_inside_record),
            Select(1) => Some(is_structured),
            Select(2) => Some(self.records != 0),
            Select(_) if self.element.is_some() && self.stride != 0 => Some(is_inside_record),
            // The index counts or not.
            Select(_) => same(end <= capacity, end + index * self.stride <= capacity),
            // Bytes, or records without and with their size.
            Unclear => {
                let has_record = is_structured && (self.stride == 0 || end <= self.stride);
                let is_inside = same(is_structured, has_record)?;
                same(is_inside, end <= capacity)?;
                same(is_inside, end + index * self.stride <= capacity)
            }
        }
    }

    /// Whether a scalar load at an offset is in range.
    pub(super) fn holds_scalar(&self, offset: u64) -> bool {
        offset < self.stride.max(1) * self.records
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
