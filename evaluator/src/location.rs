//! Locations: a storage and an offset into it, for one lane or for a set of lanes.
//!
//! Follows "Location Description Operations" of the 2020 AMDGPU text: a storage is a linear stream of bits, least
//! significant first, and any location may be an entry of the evaluation stack. The same type represents a set of lanes
//! and a single lane: [`Location::at`] selects a lane.

use std::ops::Range;
use std::sync::Arc;

use super::composite::{Composite, Part, merged};
use super::lanes::Lanes;
use super::origin::{Origin, WhyUndefined};
use super::value::Number;
use crate::units::{Address, AddressSpace, BitSize, DieOffset, DwarfReg, ExprOffset, LaneId, LaneSet};

/// The frame of a register location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// The frame of the evaluation.
    Current,
    /// Its caller at the call, for `DW_OP_LLVM_call_frame_entry_reg` and `DW_OP_entry_value`.
    Caller,
}

/// The lane of a memory location, captured when the location is formed, not when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapturedLane {
    /// The space is the same for all lanes, or no lane was in focus.
    None,
    /// Each lane of the set uses itself.
    Own,
    /// This lane, for every lane of the set.
    Fixed(LaneId),
}

impl CapturedLane {
    /// Returns the lane for a lane of the set; `None` without a lane.
    #[inline]
    #[must_use]
    pub fn seen_by(self, lane: Option<LaneId>) -> Option<LaneId> {
        match self {
            Self::None => None,
            Self::Own => lane,
            Self::Fixed(lane) => Some(lane),
        }
    }
}

/// A pointer that exists only in the DWARF; its target is described by another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImplicitPointer {
    /// The entry pointed to, an offset in `.debug_info`.
    pub die: DieOffset,
    /// Byte offset from its start.
    pub byte_offset: i64,
    /// The address space of the target.
    pub space: AddressSpace,
    /// Size of the pointer in bits: that of an address in the space.
    pub bits: u8,
}

/// The bits of an implicit storage.
#[derive(Clone, Debug)]
pub enum Implicit {
    /// The block of `DW_OP_implicit_value` or `DW_AT_const_value`.
    Bytes(Arc<[u8]>),
    /// The stack value of `DW_OP_stack_value`.
    Number(Arc<Number>),
}

impl Implicit {
    /// Size in bits.
    #[must_use]
    pub fn size(&self) -> BitSize {
        match self {
            Self::Bytes(bytes) => BitSize(bytes.len() as u64 * 8),
            Self::Number(number) => number.size(),
        }
    }

    /// Returns the bytes for one lane, least significant first.
    #[must_use]
    pub fn bytes(&self, lane: LaneId) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Number(number) => number.bytes(lane),
        }
    }

    /// Whether two constants are the same storage, made by the same run of an operation; equal contents do not suffice.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(bytes), Self::Bytes(other)) => Arc::ptr_eq(bytes, other),
            (Self::Number(number), Self::Number(other)) => Arc::ptr_eq(number, other),
            _ => false,
        }
    }
}

/// The storage of a location.
#[derive(Clone, Debug)]
pub enum Storage {
    /// No storage: the object, or that part of it, was optimised away; with the operation that caused it, if any.
    Undefined(Option<Origin>),
    /// Memory of an address space; the offset's bytes are the address.
    Memory {
        /// The address space.
        space: AddressSpace,
        /// Size of its addresses in bits: 32 or 64.
        address_bits: u8,
        /// The captured lane, for spaces that depend on it.
        lane: CapturedLane,
    },
    /// A register.
    Register {
        /// Its DWARF number.
        register: DwarfReg,
        /// The frame.
        frame: Frame,
        /// Its size.
        size: BitSize,
    },
    /// A constant.
    Implicit(Implicit),
    /// A pointer that exists only in the DWARF.
    ImplicitPointer(ImplicitPointer),
    /// Consecutive parts of other storages.
    Composite(Arc<Composite>),
}

impl Storage {
    /// Size in bits; `None` for the undefined storage.
    #[must_use]
    pub fn size(&self) -> Option<u128> {
        Some(match self {
            Self::Undefined(_) => return None,
            Self::Memory { address_bits, .. } => 8u128.checked_shl(u32::from(*address_bits)).unwrap_or(0),
            Self::Register { size, .. } => u128::from(size.0),
            Self::Implicit(implicit) => u128::from(implicit.size().0),
            Self::ImplicitPointer(pointer) => u128::from(pointer.bits),
            Self::Composite(composite) => u128::from(composite.size().0),
        })
    }

    /// Returns its kind in a few words for errors.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Undefined(_) => "an undefined location",
            Self::Memory { space: AddressSpace(0), .. } => "a memory location",
            Self::Memory { .. } => "a location in another address space",
            Self::Register { .. } => "a register location",
            Self::Implicit(_) => "an implicit location",
            Self::ImplicitPointer(_) => "an implicit pointer",
            Self::Composite(_) => "a composite location",
        }
    }
}

/// An offset into a storage. Bytes and bits are separate because the bit offset of a 64-bit address has 67 bits.
#[derive(Clone, Debug)]
pub struct Offset {
    /// Whole bytes: the address, for memory.
    pub bytes: Lanes<u64>,
    /// Additional bits, 0 to 7.
    pub bits: Lanes<u8>,
}

impl Offset {
    /// Whether it is the start for all lanes.
    fn is_start(&self) -> bool {
        matches!((&self.bytes, &self.bits), (Lanes::Uniform(0), Lanes::Uniform(0)))
    }

    /// The start of the storage.
    pub const ZERO: Self = Self { bytes: Lanes::Uniform(0), bits: Lanes::Uniform(0) };

    /// Creates a byte offset.
    #[must_use]
    pub fn bytes(bytes: impl Into<Lanes<u64>>) -> Self {
        Self { bytes: bytes.into(), bits: Lanes::Uniform(0) }
    }

    /// Returns the offset of one lane, in bits.
    #[inline]
    #[must_use]
    pub fn get(&self, lane: LaneId) -> u128 {
        u128::from(self.bytes.get(lane)) * 8 + u128::from(self.bits.get(lane))
    }

    /// Returns the common offset of these lanes, in bits, if they agree.
    #[must_use]
    pub fn agreed(&self, lanes: LaneSet) -> Option<u128> {
        Some(u128::from(self.bytes.agreed(lanes)?) * 8 + u128::from(self.bits.agreed(lanes)?))
    }

    pub(super) fn from_bits(bits: u128) -> Self {
        Self { bytes: Lanes::Uniform((bits / 8) as u64), bits: Lanes::Uniform((bits % 8) as u8) }
    }

    /// Adds bits to the offset. The caller knows that the storage is large enough.
    pub(super) fn advanced(&self, by: u64) -> Self {
        if let (Lanes::Uniform(bytes), Lanes::Uniform(bits)) = (&self.bytes, &self.bits) {
            return Self::from_bits(u128::from(*bytes) * 8 + u128::from(*bits) + u128::from(by));
        }
        if by.is_multiple_of(8) {
            return Self {
                bytes: self.bytes.map(|bytes| bytes.wrapping_add(by / 8)),
                bits: self.bits.clone(),
            };
        }
        let at = |lane| self.get(LaneId(lane)).wrapping_add(u128::from(by));
        Self {
            bytes: Lanes::from_fn(|lane| (at(lane) / 8) as u64),
            bits: Lanes::from_fn(|lane| (at(lane) % 8) as u8),
        }
    }
}

/// A storage and an offset into it.
#[derive(Clone, Debug)]
pub struct Location {
    /// The storage.
    pub storage: Storage,
    /// The offset into it.
    pub offset: Offset,
}

impl Location {
    /// Creates the undefined location.
    #[must_use]
    pub fn undefined() -> Self {
        Self { storage: Storage::Undefined(None), offset: Offset::ZERO }
    }

    /// Creates the undefined location with the operation that caused it.
    pub(super) fn undefined_by(origin: Origin) -> Self {
        Self { storage: Storage::Undefined(Some(origin)), offset: Offset::ZERO }
    }

    /// This location, in which another origin replaces that of `DW_OP_LLVM_undefined`.
    pub(super) fn lost(mut self, origin: Origin) -> Self {
        let is_explicit =
            |of: &Storage| matches!(of, Storage::Undefined(Some(Origin { why: WhyUndefined::Explicit, .. })));
        if is_explicit(&self.storage) {
            self.storage = Storage::Undefined(Some(origin));
        } else if let Storage::Composite(composite) = &self.storage
            && composite.parts().iter().any(|part| is_explicit(&part.location.storage))
        {
            // Parts are not composites.
            let parts =
                composite.parts().iter().cloned().map(|part| match is_explicit(&part.location.storage) {
                    true => Part { location: Self::undefined_by(origin), ..part },
                    false => part,
                });
            if let Some(composite) = Composite::of(parts) {
                self.storage = Storage::Composite(Arc::new(composite));
            }
        }
        self
    }

    /// This location for an object of that size: bits behind the last piece of a composite are undefined. Compilers leave
    /// out the pieces at the end that they keep nowhere; DWARF 5, 2.6.1.2, says nothing of them.
    #[must_use]
    pub fn filled(self, size: BitSize) -> Self {
        let Storage::Composite(composite) = &self.storage else { return self };
        let Some(missing @ 1..) = size.0.checked_sub(composite.size().0).filter(|_| self.offset.is_start())
        else {
            return self;
        };
        let origin =
            Origin { at: ExprOffset(0), op: "DW_OP_piece", within: None, why: WhyUndefined::NoPiece };
        let rest = Part { location: Self::undefined_by(origin), size: BitSize(missing) };
        let parts = composite.parts().iter().cloned().chain([rest]);
        match Composite::of(parts) {
            Some(filled) => Self { storage: Storage::Composite(Arc::new(filled)), ..self },
            None => self,
        }
    }

    /// This location for an object of that size of which it holds some bytes; ranges may overlap, in any order. The others
    /// are undefined.
    #[must_use]
    pub fn held(self, bytes: &[Range<u64>], size: u64) -> Self {
        let mut held: Vec<Range<u64>> = bytes.to_vec();
        held.sort_by_key(|range| range.start);
        let origin =
            Origin { at: ExprOffset(0), op: "result", within: None, why: WhyUndefined::NotAtAddress };
        let (mut parts, mut end) = (Vec::new(), 0);
        let bits = |bytes: u64| BitSize(bytes.saturating_mul(8));
        for range in held.into_iter().chain(std::iter::once(size..size)) {
            let start = range.start.max(end).min(size);
            let missing = Part { location: Self::undefined_by(origin), size: bits(start - end) };
            let last = range.end.min(size).max(start);
            let offset = self.offset.advanced(start.saturating_mul(8));
            let part = Part { location: Self { offset, ..self.clone() }, size: bits(last - start) };
            parts.extend([missing, part]);
            end = last;
        }
        match Composite::of(parts) {
            Some(parts) => Self { storage: Storage::Composite(Arc::new(parts)), offset: Offset::ZERO },
            None => self,
        }
    }

    /// Creates a location in memory of a space that does not depend on the lane.
    #[must_use]
    pub fn memory(space: AddressSpace, address_bits: u8, address: Address) -> Self {
        let storage = Storage::Memory { space, address_bits, lane: CapturedLane::None };
        Self { storage, offset: Offset::bytes(address.0) }
    }

    /// Creates a location in memory of a lane.
    #[must_use]
    pub fn lane_memory(space: AddressSpace, address_bits: u8, lane: LaneId, address: Address) -> Self {
        let storage = Storage::Memory { space, address_bits, lane: CapturedLane::Fixed(lane) };
        Self { storage, offset: Offset::bytes(address.0) }
    }

    /// Creates a location at the start of a register of this frame.
    #[must_use]
    pub fn register(register: DwarfReg, size: BitSize) -> Self {
        Self::register_of(register, Frame::Current, size)
    }

    /// Creates a location at the start of a register of a frame.
    #[must_use]
    pub fn register_of(register: DwarfReg, frame: Frame, size: BitSize) -> Self {
        Self { storage: Storage::Register { register, frame, size }, offset: Offset::ZERO }
    }

    /// Creates a constant object of these bytes.
    #[must_use]
    pub fn implicit(bytes: &[u8]) -> Self {
        Self { storage: Storage::Implicit(Implicit::Bytes(bytes.into())), offset: Offset::ZERO }
    }

    /// Returns the location for one lane, independent of other lanes; composites are in canonical form.
    #[must_use]
    pub fn at(&self, lane: LaneId) -> Self {
        let storage = match &self.storage {
            Storage::Memory { space, address_bits, lane: CapturedLane::Own } => Storage::Memory {
                space: *space,
                address_bits: *address_bits,
                lane: CapturedLane::Fixed(lane),
            },
            Storage::Implicit(Implicit::Number(number)) => {
                Storage::Implicit(Implicit::Number(Arc::new(number.at(lane))))
            }
            Storage::Composite(_) => Storage::Composite(Arc::new(self.canonical(lane).into_iter().collect())),
            other => other.clone(),
        };
        let offset = Offset {
            bytes: Lanes::Uniform(self.offset.bytes.get(lane)),
            bits: Lanes::Uniform(self.offset.bits.get(lane)),
        };
        Self { storage, offset }
    }

    /// Returns the parts in canonical form for one lane: flattened, without empty parts, contiguous neighbours in the
    /// same storage merged. They begin at the start of the composite, at any offset; other storages have none.
    #[must_use]
    pub fn canonical(&self, lane: LaneId) -> Vec<Part> {
        let Storage::Composite(composite) = &self.storage else { return Vec::new() };
        merged(composite.parts(), lane, usize::MAX).0
    }

    /// Returns the canonical parts from the composite's own bit offset on, for one lane.
    #[must_use]
    pub fn canonical_from_offset(&self, lane: LaneId) -> Vec<Part> {
        self.canonical_up_to(lane, usize::MAX).0
    }

    /// Returns the first `most` of them, and the number of unmerged parts after those.
    pub(super) fn canonical_up_to(&self, lane: LaneId, most: usize) -> (Vec<Part>, usize) {
        let Storage::Composite(composite) = &self.storage else { return (Vec::new(), 0) };
        let from = self.offset.get(lane);
        let Some((index, start, _)) = composite.covering(from, u128::MAX).next() else {
            return (Vec::new(), 0);
        };
        let (mut parts, left) = merged(composite.parts().get(index..).unwrap_or_default(), lane, most);
        let cut = from.saturating_sub(start);
        if let Some(part) = parts.first_mut().filter(|_| cut > 0) {
            if !part.location.is_undefined() {
                part.location.offset = Offset::from_bits(part.location.offset.get(lane) + cut);
            }
            part.size.0 -= cut as u64;
        }
        (parts, left)
    }

    /// Whether it is the undefined location itself.
    #[inline]
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        matches!(self.storage, Storage::Undefined(_))
    }
}
