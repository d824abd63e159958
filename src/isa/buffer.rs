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
    /// OOB_SELECT.
    range_select: Option<u32>,
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
            base: u64::from(low) | u64::from(high & 0xffff) << 32,
            stride: u64::from(high >> 16 & 0x3fff | extension << 14),
            records: u64::from(records),
            index_stride: 8 << (control >> 21 & 3),
            has_lane_index,
            element,
            range_select: facts.has_range_select.then_some(control >> 28 & 3),
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
        match self.range_select {
            // Private memory.
            None if self.has_lane_index && self.element.is_some() => Some(true),
            None if self.stride != 0 && at.index.is_some() => Some(is_structured),
            // The scalar offset counts or not.
            None => same(offset < self.records, offset + scalar < self.records),
            Some(0) => Some(is_inside_record),
            Some(1) => Some(is_structured),
            Some(2) => Some(self.records != 0),
            Some(_) if self.element.is_some() && self.stride != 0 => Some(is_inside_record),
            // The index counts or not.
            Some(_) => {
                let capacity = self.records.saturating_sub(scalar);
                same(end <= capacity, end + index * self.stride <= capacity)
            }
        }
    }

    /// Whether a scalar load at an offset is in range.
    pub(super) fn holds_scalar(&self, offset: u64) -> bool {
        offset < self.stride.max(1) * self.records
    }
}
