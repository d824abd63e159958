//! Reading of locations: bits with their state (known, not captured or undefined).
//!
//! Missing bits are marked, never filled with zeros. Bits undefined by the DWARF have another mark, because "optimised
//! out" and "not captured" are different results.

use super::context::{Context, Machine, MemoryAt, RegisterBytes};
use super::error::{Cause, Error};
use super::limits::MAX_OBJECT_BYTES;
use super::location::{CapturedLane, Frame, Implicit, Location, Storage};
use super::origin::Origin;
use super::value::low_mask;
use crate::units::{Address, AddressSpace, BitSize, DwarfReg, ExprOffset, LaneId, LaneSet};

/// The state of a bit, or the common state of a byte's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// Its value.
    Value,
    /// Unknown: it was not captured.
    NotCaptured,
    /// Unknown: it does not exist at this program location.
    Undefined,
}

/// The bits of an object with their states; bit 0 is bit 0 of the first byte.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    size: BitSize,
    bytes: Vec<u8>,
    /// A mask as long as `bytes`, or empty if no bit of it is set.
    not_captured: Vec<u8>,
    /// A mask of the same form.
    undefined: Vec<u8>,
}

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
            && self.bytes == other.bytes
            && is_same(&self.not_captured, &other.not_captured)
            && is_same(&self.undefined, &other.undefined)
    }
}

impl Eq for Bits {}

/// Whether two masks, which are mostly empty, are equal.
///
/// `memcmp` of no bytes loads them nevertheless, with a mask of no bytes: on x86-64 such a load from the address of an
/// empty vector, which is not mapped, takes about a hundred times as long as a comparison of lengths.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}

impl Bits {
    /// Makes all bits known and 0.
    fn reset(&mut self, size: BitSize) {
        self.size = size;
        self.bytes.clear();
        self.bytes.resize(size.0.div_ceil(8) as usize, 0);
        self.not_captured.clear();
        self.undefined.clear();
    }

    /// Number of bits.
    #[inline]
    #[must_use]
    pub fn size(&self) -> BitSize {
        self.size
    }

    /// Returns all bytes; undefined and missing bits are 0 and meaningless.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a mask of the missing bits.
    #[inline]
    #[must_use]
    pub fn not_captured(&self) -> &[u8] {
        &self.not_captured
    }

    /// Returns a mask of the bits that do not exist at this program location.
    #[inline]
    #[must_use]
    pub fn undefined(&self) -> &[u8] {
        &self.undefined
    }

    /// Returns all bytes, the last one zero-extended, if every bit is known.
    #[inline]
    #[must_use]
    pub fn whole(&self) -> Option<&[u8]> {
        (self.not_captured.is_empty() && self.undefined.is_empty()).then_some(&self.bytes)
    }

    /// Returns the bits as a number, if there are at most 64 and all are known.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let bytes = self.whole().filter(|bytes| bytes.len() <= 8)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Whether every bit is undefined: the object was optimised away. True for zero bits.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        (0..self.size.0).all(|bit| self.bit(bit) == Known::Undefined)
    }

    /// Returns the state of one bit; bits beyond the end are undefined.
    #[inline]
    #[must_use]
    pub fn bit(&self, bit: u64) -> Known {
        let set = |mask: &[u8]| {
            let byte = usize::try_from(bit / 8).ok().and_then(|at| mask.get(at));
            byte.is_some_and(|bits| bits >> (bit % 8) & 1 == 1)
        };
        match (bit < self.size.0, set(&self.not_captured), set(&self.undefined)) {
            (true, _, true) | (false, ..) => Known::Undefined,
            (true, true, false) => Known::NotCaptured,
            (true, false, false) => Known::Value,
        }
    }

    /// Returns one byte, if all of its bits are known.
    ///
    /// # Errors
    /// The state of the byte; undefined if any bit is.
    #[inline]
    pub fn byte(&self, index: usize) -> Result<u8, Known> {
        let missing = |mask: &[u8]| mask.get(index).is_some_and(|bits| *bits != 0);
        match self.bytes.get(index) {
            Some(_) if missing(&self.undefined) => Err(Known::Undefined),
            Some(_) if missing(&self.not_captured) => Err(Known::NotCaptured),
            Some(byte) => Ok(*byte),
            None => Err(Known::Undefined),
        }
    }

    /// Writes up to 64 bits at an unwritten bit offset.
    fn put(&mut self, at: u64, chunk: &Chunk, bits: u32) {
        let merge = |bytes: &mut [u8], word: u64| {
            let word = u128::from(word & low_mask(bits)) << (at % 8);
            let from = (at / 8) as usize;
            for (to, byte) in bytes.iter_mut().skip(from).zip(word.to_le_bytes()) {
                *to |= byte;
            }
        };
        merge(&mut self.bytes, chunk.bits & !(chunk.not_captured | chunk.undefined));
        let length = self.bytes.len();
        for (mask, word) in
            [(&mut self.not_captured, chunk.not_captured), (&mut self.undefined, chunk.undefined)]
        {
            if word != 0 {
                mask.resize(length, 0);
                merge(mask, word);
            }
        }
    }
}

/// Up to 64 bits of a storage.
#[derive(Clone, Copy, Default)]
struct Chunk {
    bits: u64,
    not_captured: u64,
    undefined: u64,
    /// The first missing register or memory.
    missing: Option<Absent>,
    /// The origin of the first undefined bit.
    origin: Option<Origin>,
}

#[derive(Clone, Copy)]
enum Absent {
    Register(DwarfReg),
    Memory(AddressSpace, Address),
}

impl Absent {
    fn cause(self) -> Cause {
        match self {
            Self::Register(register) => Cause::RegisterNotCaptured(register),
            Self::Memory(space, address) => Cause::MemoryNotCaptured { space, address },
        }
    }
}

/// Reads an object of one lane.
///
/// `lane` is the lane of the evaluation, or any lane if there was none in focus. Missing bits are marked, not errors.
///
/// # Errors
/// Ill-formed: bits beyond the storage, an implicit pointer, or more than [`MAX_OBJECT_BYTES`].
pub fn fetch(
    context: &dyn Context,
    location: &Location,
    lane: Option<LaneId>,
    size: BitSize,
) -> Result<Bits, Error> {
    Fetcher::new(context).fetch(location, lane, size)
}

/// Reads an object of many lanes in order; a register is read once for all of them.
pub fn fetch_lanes(
    context: &dyn Context,
    location: &Location,
    lanes: LaneSet,
    size: BitSize,
) -> Vec<(LaneId, Result<Bits, Error>)> {
    let mut fetcher = Fetcher::new(context);
    lanes.iter().map(|lane| (lane, fetcher.fetch(location, Some(lane), size))).collect()
}

/// Reads objects one after another and keeps the last register for the other lanes' objects.
pub struct Fetcher<'c>(Reader<'c>);

impl<'c> Fetcher<'c> {
    /// Creates a fetcher for a context, which must not change.
    #[must_use]
    pub fn new(context: &'c dyn Context) -> Self {
        Self(Reader::new(context))
    }

    /// Reads an object of one lane, like [`fetch`].
    ///
    /// # Errors
    /// The errors of [`fetch`].
    pub fn fetch(&mut self, location: &Location, lane: Option<LaneId>, size: BitSize) -> Result<Bits, Error> {
        self.0.bits(location, 0, lane, size).map_err(at_fetch)
    }

    /// Reads an object of one lane into `bits`, and reuses its capacity. After an error the contents mean nothing.
    ///
    /// # Errors
    /// The errors of [`fetch`].
    pub fn fetch_into(
        &mut self,
        location: &Location,
        lane: Option<LaneId>,
        size: BitSize,
        bits: &mut Bits,
    ) -> Result<(), Error> {
        self.0.read_bits(location, 0, lane, size, bits).map_err(at_fetch)
    }
}

impl std::fmt::Debug for Fetcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fetcher({:?})", self.0.register)
    }
}

fn at_fetch(cause: Cause) -> Error {
    Error { at: ExprOffset(0), op: "read", cause }
}

/// Reads through a context and keeps the last register for the following lanes.
pub(super) struct Reader<'c> {
    machine: &'c dyn Machine,
    register: Option<(DwarfReg, Frame)>,
    contents: RegisterBytes,
    /// Number of parts and words read: the cost of reading.
    pub(super) read: usize,
}

impl<'c> Reader<'c> {
    pub(super) fn new(context: &'c dyn Context) -> Self {
        Self { machine: context.machine(), register: None, contents: RegisterBytes::unknown(), read: 0 }
    }

    /// Returns the whole register; reads it if it is not the last one.
    pub(super) fn register(&mut self, register: DwarfReg, frame: Frame) -> &RegisterBytes {
        if self.register != Some((register, frame)) {
            self.contents.clear();
            self.machine.read_register(register, frame, &mut self.contents);
            self.register = Some((register, frame));
        }
        &self.contents
    }

    /// Reads up to 64 bits, all of which must be known.
    pub(super) fn word(
        &mut self,
        location: &Location,
        extra: u64,
        bits: u32,
        lane: Option<LaneId>,
    ) -> Result<u64, Cause> {
        let at = check_inside(location, extra, u64::from(bits), lane)?;
        let chunk = self.chunk(&location.storage, at, bits, lane)?;
        if chunk.undefined != 0 {
            return Err(Cause::ReadsUndefined(chunk.origin));
        }
        match chunk.missing {
            Some(missing) if chunk.not_captured != 0 => Err(missing.cause()),
            _ => Ok(chunk.bits),
        }
    }

    /// Reads `size` bits from `extra` bits past the location on, with their states.
    pub(super) fn bits(
        &mut self,
        location: &Location,
        extra: u64,
        lane: Option<LaneId>,
        size: BitSize,
    ) -> Result<Bits, Cause> {
        let mut bits = Bits::default();
        self.read_bits(location, extra, lane, size, &mut bits)?;
        Ok(bits)
    }

    fn read_bits(
        &mut self,
        location: &Location,
        extra: u64,
        lane: Option<LaneId>,
        size: BitSize,
        into: &mut Bits,
    ) -> Result<(), Cause> {
        if size.0.div_ceil(8) > MAX_OBJECT_BYTES {
            return Err(Cause::Limit { what: "bytes of an object", limit: MAX_OBJECT_BYTES });
        }
        into.reset(size);
        let at = check_inside(location, extra, size.0, lane)?;
        self.fill(&location.storage, at, lane, into, 0, size.0)
    }

    /// Reads `count` bits of a storage into `into` at bit `to`.
    fn fill(
        &mut self,
        storage: &Storage,
        at: u128,
        lane: Option<LaneId>,
        into: &mut Bits,
        to: u64,
        count: u64,
    ) -> Result<(), Cause> {
        if let Storage::Composite(composite) = storage {
            let wanted = at + u128::from(count);
            for (_, start, part) in composite.covering(at, wanted) {
                let (from, until) = (at.max(start), wanted.min(start + u128::from(part.size.0)));
                let inside = offset_of(&part.location, lane) + (from - start);
                let place = to + (from - at) as u64;
                self.fill(&part.location.storage, inside, lane, into, place, (until - from) as u64)?;
            }
            return Ok(());
        }
        if let (Storage::Memory { space, lane: captured, .. }, 0, 0) = (storage, at % 8, to % 8) {
            let whole = count / 8;
            let address = (at / 8) as u64;
            let place = MemoryAt { space: *space, lane: captured.seen_by(lane), address: Address(address) };
            self.fill_memory(place, into, (to / 8) as usize, whole as usize);
            let rest = count % 8;
            if rest != 0 {
                let chunk = self.chunk(storage, at + u128::from(whole) * 8, rest as u32, lane)?;
                into.put(to + whole * 8, &chunk, rest as u32);
            }
            return Ok(());
        }
        let mut done = 0;
        while done < count {
            let bits = (count - done).min(64) as u32;
            let chunk = self.chunk(storage, at + u128::from(done), bits, lane)?;
            into.put(to + done, &chunk, bits);
            done += u64::from(bits);
        }
        Ok(())
    }

    /// Reads whole bytes of memory, with one read per captured run.
    fn fill_memory(&self, from: MemoryAt, into: &mut Bits, to: usize, count: usize) {
        let mut done = 0;
        let place =
            |done: usize| MemoryAt { address: Address(from.address.0.wrapping_add(done as u64)), ..from };
        while done < count {
            let Some(slice) = into.bytes.get_mut(to + done..to + count) else { return };
            let length = slice.len();
            let good = self.machine.read_memory(place(done), slice).min(length);
            done += good;
            if good < length {
                let missing = self.machine.missing_memory(place(done)).max(1);
                let end =
                    usize::try_from(missing).map_or(count, |missing| count.min(done.saturating_add(missing)));
                into.not_captured.resize(into.bytes.len(), 0);
                let gap = to + done..to + end;
                into.bytes.get_mut(gap.clone()).unwrap_or_default().fill(0);
                into.not_captured.get_mut(gap).unwrap_or_default().fill(0xff);
                done = end;
            }
        }
    }

    /// Reads up to 64 bits at a bit offset within a storage.
    fn chunk(
        &mut self,
        storage: &Storage,
        at: u128,
        bits: u32,
        lane: Option<LaneId>,
    ) -> Result<Chunk, Cause> {
        let wanted = low_mask(bits);
        if bits == 0 {
            return Ok(Chunk::default());
        }
        self.read += 1;
        Ok(match storage {
            Storage::Undefined(origin) => Chunk { undefined: wanted, origin: *origin, ..Chunk::default() },
            Storage::Register { register, frame, .. } => {
                let contents = self.register(*register, *frame);
                let mut chunk = Chunk { bits: contents.extract(at as u64, bits), ..Chunk::default() };
                if !contents.knows(at as u64, u64::from(bits)) {
                    let unknown = |bit: &u32| !contents.knows(at as u64 + u64::from(*bit), 1);
                    let lost = |bit: &u32| {
                        let dword = (at as u64 + u64::from(*bit)) / 32;
                        dword < 64 && contents.undefined >> dword & 1 == 1
                    };
                    let mask = |mask: u64, bit: u32| mask | 1 << bit;
                    let unknown = (0..bits).filter(unknown);
                    let (undefined, missing): (Vec<u32>, Vec<u32>) = unknown.partition(lost);
                    chunk.undefined = undefined.into_iter().fold(0, mask);
                    chunk.not_captured = missing.into_iter().fold(0, mask);
                    chunk.origin = contents.origin.filter(|_| chunk.undefined != 0);
                    chunk.missing = (chunk.not_captured != 0).then_some(Absent::Register(*register));
                }
                chunk
            }
            Storage::Memory { space, lane: captured, .. } => {
                self.memory_chunk(*space, *captured, at, bits, lane)
            }
            Storage::Implicit(implicit) => {
                let bits = match implicit {
                    Implicit::Bytes(bytes) => from_bytes(bytes, at, bits),
                    Implicit::Number(number) => {
                        let lane = lane.unwrap_or_default();
                        let (limb, shift) = ((at / 64) as usize, (at % 64) as u32);
                        let limbs = number.limbs_from(lane, limb);
                        (limbs >> shift) as u64 & wanted
                    }
                };
                Chunk { bits, ..Chunk::default() }
            }
            Storage::ImplicitPointer(_) => return Err(Cause::ImplicitPointerMisused),
            Storage::Composite(composite) => {
                let mut chunk = Chunk::default();
                let wanted = at + u128::from(bits);
                for (_, start, part) in composite.covering(at, wanted) {
                    let (from, until) = (at.max(start), wanted.min(start + u128::from(part.size.0)));
                    let inside = offset_of(&part.location, lane) + (from - start);
                    let piece = self.chunk(&part.location.storage, inside, (until - from) as u32, lane)?;
                    let shift = (from - at) as u32;
                    chunk.bits |= piece.bits << shift;
                    chunk.not_captured |= piece.not_captured << shift;
                    chunk.undefined |= piece.undefined << shift;
                    chunk.missing = chunk.missing.or(piece.missing);
                    chunk.origin = chunk.origin.or(piece.origin);
                }
                chunk
            }
        })
    }

    fn memory_chunk(
        &self,
        space: AddressSpace,
        captured: CapturedLane,
        at: u128,
        bits: u32,
        lane: Option<LaneId>,
    ) -> Chunk {
        let (address, shift) = ((at / 8) as u64, (at % 8) as u32);
        let count = (shift + bits).div_ceil(8) as usize;
        let mut bytes = [0u8; 16];
        let mut unknown = [0u8; 16];
        let mut missing = None;
        let mut done = 0;
        while done < count {
            let place = Address(address.wrapping_add(done as u64));
            let Some(slice) = bytes.get_mut(done..count) else { break };
            let from = MemoryAt { space, lane: captured.seen_by(lane), address: place };
            let length = slice.len();
            let good = self.machine.read_memory(from, slice).min(length);
            done += good;
            if good < length {
                let absent = Address(address.wrapping_add(done as u64));
                missing = missing.or(Some(Absent::Memory(space, absent)));
                if let Some(mask) = unknown.get_mut(done) {
                    *mask = 0xff;
                }
                done += 1;
            }
        }
        let cut = |bytes: [u8; 16]| (u128::from_le_bytes(bytes) >> shift) as u64 & low_mask(bits);
        Chunk { bits: cut(bytes), not_captured: cut(unknown), missing, ..Chunk::default() }
    }
}

/// Returns the location's bit offset for that lane.
pub(super) fn offset_of(location: &Location, lane: Option<LaneId>) -> u128 {
    location.offset.get(lane.unwrap_or_default())
}

/// Returns the bit offset to read, if the storage has that many bits there.
pub(super) fn check_inside(
    location: &Location,
    extra: u64,
    wanted: u64,
    lane: Option<LaneId>,
) -> Result<u128, Cause> {
    let (offset, wanted) = (offset_of(location, lane) + u128::from(extra), u128::from(wanted));
    match location.storage.size() {
        Some(size) if offset + wanted > size => Err(Cause::BeyondStorage { offset, wanted, size }),
        _ => Ok(offset),
    }
}

fn from_bytes(bytes: &[u8], at: u128, bits: u32) -> u64 {
    let mut word = [0u8; 16];
    for (to, from) in word.iter_mut().take(9).zip(bytes.iter().skip((at / 8) as usize)) {
        *to = *from;
    }
    (u128::from_le_bytes(word) >> (at % 8)) as u64 & low_mask(bits)
}
