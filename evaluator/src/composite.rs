//! Composite storages: consecutive parts of other storages, flattened on construction.
//!
//! "Composite Location Description Operations" of the 2020 AMDGPU text; `machine/composite.rs` has the operations.

use super::location::{ImplicitPointer, Location, Storage};
use crate::units::{BitSize, LaneId};

/// One part of a composite.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its location; never a composite, because composites are flattened.
    pub location: Location,
    /// Its size, never 0.
    pub size: BitSize,
}

/// A composite storage: flattened, without empty parts. [`Location::canonical`] merges contiguous neighbours, because
/// contiguity may depend on the lane.
#[derive(Clone, Debug, Default)]
pub struct Composite {
    parts: Vec<Part>,
    /// End of each part in bits from the start, for a binary search by offset.
    ends: Vec<u64>,
    /// Cached facts for reads: whether a part depends on the lane, and whether one is an implicit pointer.
    varying: bool,
    pointers: bool,
    /// Whether pieces may be added to a complete location: it was made by `DW_OP_composite`.
    pub(super) open: bool,
}

impl Composite {
    /// Returns the parts, least significant first.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Sum of the parts' sizes.
    #[must_use]
    pub fn size(&self) -> BitSize {
        BitSize(self.ends.last().copied().unwrap_or(0))
    }

    /// Creates an empty composite to which pieces may be added.
    pub(super) fn open() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// Creates a composite of these parts, none of which is a composite; `None` if the total exceeds 64 bits.
    #[must_use]
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Option<Self> {
        let mut composite = Self::default();
        parts.into_iter().try_for_each(|part| composite.push(part)).map(|()| composite)
    }

    /// Adds a part that is not a composite; `None` if the total then exceeds 64 bits. Empty parts are dropped.
    pub(super) fn push(&mut self, part: Part) -> Option<()> {
        if part.size.0 == 0 {
            return Some(());
        }
        self.ends.push(self.size().0.checked_add(part.size.0)?);
        self.varying |= !part.location.is_uniform();
        self.pointers |= matches!(part.location.storage, Storage::ImplicitPointer(_));
        self.parts.push(part);
        Some(())
    }

    /// Iterates over the parts that overlap the bits from `from` to `until`, each with its index and its first bit.
    pub(super) fn covering(&self, from: u128, until: u128) -> impl Iterator<Item = (usize, u128, &Part)> {
        let first = self.ends.partition_point(|end| u128::from(*end) <= from);
        let before = first.checked_sub(1).and_then(|before| self.ends.get(before).copied());
        let starts =
            before.into_iter().chain(first.eq(&0).then_some(0)).chain(self.ends.iter().skip(first).copied());
        let parts = self.parts.iter().enumerate().skip(first).zip(starts);
        parts
            .map(|((index, part), start)| (index, u128::from(start), part))
            .take_while(move |(_, start, _)| *start < until)
    }

    /// Whether a part depends on the lane.
    pub(super) fn is_varying(&self) -> bool {
        self.varying
    }

    /// Whether a part is an implicit pointer.
    pub(super) fn has_pointers(&self) -> bool {
        self.pointers
    }

    /// Returns the implicit pointer in the bits from `from` to `until` for one lane. `None`: no pointer. `Some(None)`:
    /// a part of one, or one among other bits. "All of its bits, from a single part": contiguous parts count as one.
    pub(super) fn pointer(
        &self,
        from: u128,
        until: u128,
        lane: LaneId,
    ) -> Option<Option<(ImplicitPointer, u128)>> {
        let is_pointer = |part: &Part| matches!(part.location.storage, Storage::ImplicitPointer(_));
        let (index, start, first) = self.covering(from, until).find(|(.., part)| is_pointer(part))?;
        let Storage::ImplicitPointer(pointer) = &first.location.storage else { return None };
        let joined = |left: usize| match (self.parts.get(left), self.parts.get(left + 1)) {
            (Some(left), Some(right)) => left.is_continued_by(right, lane),
            _ => false,
        };
        let mut end = start + u128::from(first.size.0);
        let mut last = index;
        while end <= until && joined(last) {
            last += 1;
            end += self.parts.get(last).map_or(0, |part| u128::from(part.size.0));
        }
        let whole = start == from && end == until && !index.checked_sub(1).is_some_and(joined);
        Some(whole.then(|| (*pointer, first.location.offset.get(lane))))
    }
}

impl FromIterator<Part> for Composite {
    /// The parts were counted before; a part beyond 64 bits of total is dropped.
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        let mut composite = Self::default();
        for part in parts {
            if composite.push(part).is_none() {
                break;
            }
        }
        composite
    }
}

/// Merges contiguous neighbours for one lane: returns the first `most`, and the number of unmerged parts after them.
pub(super) fn merged(parts: &[Part], lane: LaneId, most: usize) -> (Vec<Part>, usize) {
    let mut all: Vec<Part> = Vec::new();
    let mut previous: Option<&Part> = None;
    for (index, part) in parts.iter().enumerate() {
        let full = all.len() >= most;
        match (all.last_mut(), previous) {
            (Some(last), Some(previous)) if previous.is_continued_by(part, lane) => {
                last.size.0 += part.size.0
            }
            _ if full => return (all, parts.len() - index),
            _ => all.push(part.at(lane)),
        }
        previous = Some(part);
    }
    (all, 0)
}

impl Part {
    /// Returns the part for one lane.
    #[must_use]
    pub fn at(&self, lane: LaneId) -> Self {
        Self { location: self.location.at(lane), size: self.size }
    }

    /// Whether another part continues this one in the same storage.
    fn is_continued_by(&self, next: &Self, lane: LaneId) -> bool {
        let same = match (&self.location.storage, &next.location.storage) {
            (Storage::Undefined(_), Storage::Undefined(_)) => return true,
            (
                Storage::Memory { space, lane: captured, .. },
                Storage::Memory { space: other_space, lane: other_captured, .. },
            ) => space == other_space && captured.seen_by(Some(lane)) == other_captured.seen_by(Some(lane)),
            (
                Storage::Register { register, frame, .. },
                Storage::Register { register: other_register, frame: other_frame, .. },
            ) => register == other_register && frame == other_frame,
            (Storage::Implicit(implicit), Storage::Implicit(other)) => implicit.is(other),
            (Storage::ImplicitPointer(pointer), Storage::ImplicitPointer(other)) => pointer == other,
            _ => false,
        };
        let end = self.location.offset.get(lane) + u128::from(self.size.0);
        same && end == next.location.offset.get(lane)
    }
}
