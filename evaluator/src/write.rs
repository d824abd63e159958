//! Writes to an object: to every part of its location, or to none if one part is not writable.
//!
//! [`Plan::new`] converts a location and the new bits to runs of bytes of registers and memory, each with a mask.
//! [`Plan::apply`] checks all runs with a [`Store`], and only then writes. The error names each part that is not
//! writable: undefined bits, constants, implicit pointers, rejected parts, and parts that share bits with conflicting
//! values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use super::context::MemoryAt;
use super::error::Cause;
use super::fetch::offset_of;
use super::limits::MAX_OBJECT_BYTES;
use super::location::{Frame, Location, Storage};
use super::origin::because;
use crate::units::{Address, BitSize, DwarfReg, LaneId};

/// The destination of a run of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Bytes of a register.
    Register {
        /// The register.
        register: DwarfReg,
        /// The frame.
        frame: Frame,
        /// The first byte within it.
        first: u64,
    },
    /// Bytes of memory.
    Memory(MemoryAt),
}

impl Target {
    /// Returns the destination that many bytes further.
    fn byte(self, index: usize) -> Self {
        match self {
            Self::Register { register, frame, first } => {
                Self::Register { register, frame, first: first.saturating_add(index as u64) }
            }
            Self::Memory(at) => {
                let address = Address(at.address.0.wrapping_add(index as u64));
                Self::Memory(MemoryAt { address, ..at })
            }
        }
    }
}

/// Bytes to write. Only the bits in the mask change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Destination of the first byte.
    pub to: Target,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// A set bit for each bit to write, as long as `bytes`.
    pub mask: Vec<u8>,
    /// The corresponding bits of the object.
    pub of: ObjectBits,
}

/// A run of bits of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectBits {
    /// The first bit.
    pub first: u64,
    /// Number of bits.
    pub count: u64,
}

impl fmt::Display for ObjectBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bits {} to {}", self.first, (self.first + self.count).saturating_sub(1))
    }
}

/// A destination of writes: an overlay on a capture, or a machine.
pub trait Store {
    /// The reason for rejecting a run.
    type Error: fmt::Display;

    /// Checks that the whole run is writable.
    ///
    /// # Errors
    /// The reason that it is not.
    fn check(&self, run: &Run) -> Result<(), Self::Error>;

    /// Writes a run that [`check`](Self::check) accepted.
    fn write(&mut self, run: &Run);

    /// Returns a canonical address: equal for two addresses of the same byte, as in views of private memory.
    fn identity(&self, at: MemoryAt) -> MemoryAt {
        at
    }
}

/// The reason that a part is not writable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// It is undefined.
    #[error("optimized out{0}")]
    Undefined(String),
    /// It is a constant of the DWARF.
    #[error("a constant in the debug information")]
    Constant,
    /// It is a pointer that exists only in the DWARF.
    #[error("a pointer that exists only in the debug information")]
    ImplicitPointer,
    /// The store rejects it.
    #[error("{0}")]
    Store(String),
    /// It shares bits with another part and has a conflicting value.
    #[error("shares storage with {0}, which would have to hold another value")]
    Contradicts(ObjectBits),
}

/// A part that is not writable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPart {
    /// The bits of the object.
    pub part: ObjectBits,
    /// The reason.
    pub why: PartError,
}

/// An error for which nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The object's size differs from the location's or from the given bytes.
    #[error(transparent)]
    Object(#[from] Cause),
    /// These parts are not writable.
    #[error("nothing was written: {}", words(.0))]
    Parts(Vec<RefusedPart>),
}

fn words(parts: &[RefusedPart]) -> String {
    let each: Vec<String> =
        parts.iter().map(|refused| format!("{}: {}", refused.part, refused.why)).collect();
    each.join("; ")
}

/// The runs of bytes of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    runs: Vec<Run>,
}

impl Plan {
    /// Plans the runs that give the object of one lane these bits; `lane` as in [`fetch()`](super::fetch()).
    ///
    /// # Errors
    /// Parts that no store can write, or bits missing in the location or in `bytes`.
    pub fn new(
        location: &Location,
        lane: Option<LaneId>,
        size: BitSize,
        bytes: &[u8],
    ) -> Result<Self, WriteError> {
        let needed = size.0.div_ceil(8);
        if needed > MAX_OBJECT_BYTES {
            return Err(Cause::Limit { what: "bytes of an object", limit: MAX_OBJECT_BYTES }.into());
        }
        let given = bytes.len() as u64;
        if given != needed {
            return Err(Cause::SizesDiffer { given: given * 8, actual: size.0 }.into());
        }
        let offset = offset_of(location, lane);
        if let Some(storage) = location.storage.size()
            && offset + u128::from(size.0) > storage
        {
            return Err(Cause::BeyondStorage { offset, wanted: u128::from(size.0), size: storage }.into());
        }
        let mut planner = Planner { lane, bytes, runs: Vec::new(), refused: Vec::new() };
        planner.part(location, offset, ObjectBits { first: 0, count: size.0 });
        if planner.refused.is_empty() {
            Ok(Self { runs: planner.runs })
        } else {
            Err(WriteError::Parts(planner.refused))
        }
    }

    /// Returns the runs in the order of the object's bits.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Writes all runs, or none of them.
    ///
    /// # Errors
    /// The parts that the store rejects or that conflict.
    pub fn apply(&self, store: &mut impl Store) -> Result<(), WriteError> {
        let mut refused: Vec<RefusedPart> = Vec::new();
        for run in &self.runs {
            if let Err(why) = store.check(run) {
                refused.push(RefusedPart { part: run.of, why: PartError::Store(why.to_string()) });
            }
        }
        refused.extend(self.contradictions(store));
        if !refused.is_empty() {
            return Err(WriteError::Parts(refused));
        }
        self.runs.iter().for_each(|run| store.write(run));
        Ok(())
    }

    /// Returns the runs with conflicting values for bits of an earlier run.
    fn contradictions(&self, store: &impl Store) -> Vec<RefusedPart> {
        if self.runs.len() < 2 {
            return Vec::new();
        }
        let mut seen: HashMap<Key, (u8, u8, ObjectBits)> = HashMap::new();
        let mut refused: Vec<RefusedPart> = Vec::new();
        for run in &self.runs {
            let mut other = None;
            for (index, (byte, mask)) in run.bytes.iter().zip(&run.mask).enumerate() {
                match seen.entry(Key::of(run.to.byte(index), store)) {
                    Entry::Vacant(room) => {
                        room.insert((*byte, *mask, run.of));
                    }
                    Entry::Occupied(mut there) => {
                        let (value, known, of) = there.get_mut();
                        if (*value ^ byte) & *known & mask != 0 {
                            other = other.or(Some(*of));
                        }
                        *value = *value & !mask | byte & mask;
                        *known |= mask;
                    }
                }
            }
            if let Some(other) = other {
                refused.push(RefusedPart { part: run.of, why: PartError::Contradicts(other) });
            }
        }
        refused
    }
}

/// A byte, independent of its name.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Register(DwarfReg, Frame, u64),
    Memory(crate::units::AddressSpace, Option<LaneId>, Address),
}

impl Key {
    fn of(target: Target, store: &impl Store) -> Self {
        match target {
            Target::Register { register, frame, first } => Self::Register(register, frame, first),
            Target::Memory(at) => {
                let MemoryAt { space, lane, address } = store.identity(at);
                Self::Memory(space, lane, address)
            }
        }
    }
}

struct Planner<'b> {
    lane: Option<LaneId>,
    bytes: &'b [u8],
    runs: Vec<Run>,
    refused: Vec<RefusedPart>,
}

impl Planner<'_> {
    /// Plans bits of the object at a bit offset of a location's storage, which contains them.
    fn part(&mut self, location: &Location, at: u128, of: ObjectBits) {
        if of.count == 0 {
            return;
        }
        let mut refuse = |why| self.refused.push(RefusedPart { part: of, why });
        match &location.storage {
            Storage::Undefined(origin) => refuse(PartError::Undefined(because(origin.as_ref()))),
            Storage::Implicit(_) => refuse(PartError::Constant),
            Storage::ImplicitPointer(_) => refuse(PartError::ImplicitPointer),
            Storage::Register { register, frame, .. } => {
                let first = (at / 8) as u64;
                self.run(Target::Register { register: *register, frame: *frame, first }, at, of);
            }
            Storage::Memory { space, lane, .. } => {
                let address = Address((at / 8) as u64);
                let at_byte = MemoryAt { space: *space, lane: lane.seen_by(self.lane), address };
                self.run(Target::Memory(at_byte), at, of);
            }
            Storage::Composite(composite) => {
                let until = at + u128::from(of.count);
                let mut start = 0u128;
                for part in composite.parts() {
                    let end = start + u128::from(part.size.0);
                    let (from, to) = (at.max(start), until.min(end));
                    if from < to {
                        let inside = offset_of(&part.location, self.lane) + (from - start);
                        let first = of.first + (from - at) as u64;
                        self.part(&part.location, inside, ObjectBits { first, count: (to - from) as u64 });
                    }
                    start = end;
                }
            }
        }
    }

    fn run(&mut self, to: Target, at: u128, of: ObjectBits) {
        let shift = (at % 8) as u64;
        let length = (shift + of.count).div_ceil(8) as usize;
        let mut bytes = vec![0u8; length];
        let mut mask = vec![0u8; length];
        if shift == 0 && of.first.is_multiple_of(8) {
            // Whole bytes, then the remaining bits of the last one.
            let from = (of.first / 8) as usize;
            for (to, byte) in bytes.iter_mut().zip(self.bytes.iter().skip(from)) {
                *to = *byte;
            }
            mask.fill(0xff);
            if let (Some(last), Some(bits)) = (mask.last_mut(), Some(of.count % 8).filter(|bits| *bits != 0))
            {
                *last = (1u8 << bits) - 1;
            }
            for (byte, mask) in bytes.iter_mut().zip(&mask) {
                *byte &= mask;
            }
        } else {
            for bit in 0..of.count {
                let from = of.first + bit;
                let byte = self.bytes.get((from / 8) as usize).copied().unwrap_or(0);
                let place = shift + bit;
                let index = (place / 8) as usize;
                if let (Some(to), Some(mask)) = (bytes.get_mut(index), mask.get_mut(index)) {
                    *to |= (byte >> (from % 8) & 1) << (place % 8);
                    *mask |= 1 << (place % 8);
                }
            }
        }
        self.runs.push(Run { to, bytes, mask, of });
    }
}
