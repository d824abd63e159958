//! Objects on a path: a type and a location for one lane; and moves within an object.

use crate::dwarf::{CapturedLane, Composite, LaneNeed, Lanes, Location, Offset, Part, SpaceInfo, Storage};
use crate::session::{Provenance, ValueState};
use crate::units::{AddressSpace, BitSize, LaneId};

use super::typed::Ty;

/// A value, or the reason for its absence.
pub(super) type Answer<T> = Result<T, Box<ValueState>>;

/// The error for a meaningless path, or one that cannot be followed.
pub(super) fn error<T>(words: impl Into<std::sync::Arc<str>>) -> Answer<T> {
    Err(Box::new(ValueState::Error(words.into())))
}

/// The error for data missing from the capture.
pub(super) fn unavailable<T>(words: impl Into<std::sync::Arc<str>>) -> Answer<T> {
    Err(Box::new(ValueState::Unavailable(words.into())))
}

/// A typed object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) ty: Ty,
    /// Its location, independent of the lane.
    pub(super) location: Location,
    /// Width of a bit-field.
    pub(super) bits: Option<u64>,
    /// Whether it was computed and has no location.
    pub(super) is_value: bool,
    /// The way in which its location was found.
    pub(super) provenance: Provenance,
}

impl Object {
    /// A computed value.
    pub(super) fn value(ty: Ty, bytes: &[u8]) -> Self {
        Self {
            ty,
            location: Location::implicit(bytes),
            bits: None,
            is_value: true,
            provenance: Provenance::default(),
        }
    }

    /// A computed number of `size` bytes; drops higher bits.
    pub(super) fn number(ty: Ty, bits: u64, size: u64) -> Self {
        let bytes = u128::from(bits).to_le_bytes();
        let count = usize::try_from(size).unwrap_or(usize::MAX);
        Self::value(ty, bytes.get(..count).unwrap_or(&bytes))
    }

    /// An object somewhere.
    pub(super) fn at(ty: Ty, location: Location, provenance: Provenance) -> Self {
        Self { ty, location, bits: None, is_value: false, provenance }
    }

    /// A part of it, at another location and of another type.
    pub(super) fn part(&self, ty: Ty, location: Location, bits: Option<u64>) -> Self {
        Self { ty, location, bits, is_value: self.is_value, provenance: self.provenance }
    }

    /// Whether it is in memory, where adjacent objects have addresses, too.
    pub(super) fn in_memory(&self) -> bool {
        !self.is_value && matches!(self.location.storage, Storage::Memory { .. })
    }
}

/// A location in a space's memory, for a lane.
pub(super) fn memory(space: AddressSpace, info: SpaceInfo, address: u64, lane: LaneId) -> Location {
    let lane = match info.lane {
        LaneNeed::None => CapturedLane::None,
        LaneNeed::Now | LaneNeed::WhenRead => CapturedLane::Fixed(lane),
        LaneNeed::Fixed(lane) => CapturedLane::Fixed(lane),
    };
    let storage = Storage::Memory { space, address_bits: info.address_bits, lane };
    Location { storage, offset: Offset::bytes(address) }
}

/// The location moved by that number of bits. Memory wraps around at the end of its addresses; every other storage
/// ends.
pub(super) fn moved(location: &Location, by: i128, lane: LaneId) -> Option<Location> {
    let Some(size) = location.storage.size() else { return Some(location.clone()) };
    let at = i128::try_from(location.offset.get(lane)).ok()?.checked_add(by)?;
    let at = match location.storage {
        Storage::Memory { .. } => at.rem_euclid(i128::try_from(size).ok()?),
        _ => Some(at).filter(|at| *at <= size as i128)?,
    };
    let at = u128::try_from(at).ok()?;
    let offset = Offset { bytes: Lanes::Uniform((at / 8) as u64), bits: Lanes::Uniform((at % 8) as u8) };
    Some(Location { storage: location.storage.clone(), offset })
}

/// A location without the parts of a composite beyond its size: a member of one part has that part's location.
pub(super) fn narrowed(location: Location, size: BitSize, lane: LaneId) -> Location {
    let Storage::Composite(_) = location.storage else { return location };
    let mut left = size.0;
    let mut parts: Vec<Part> = location.canonical_from_offset(lane);
    parts.retain_mut(|part| {
        part.size.0 = part.size.0.min(left);
        left -= part.size.0;
        part.size.0 > 0
    });
    if left > 0 {
        // The storage ends before the object: the read reports that.
        return location;
    }
    if let [only] = parts.as_slice() {
        return only.location.clone();
    }
    let Some(composite) = Composite::of(parts) else { return location };
    Location { storage: Storage::Composite(std::sync::Arc::new(composite)), offset: Offset::ZERO }
}
