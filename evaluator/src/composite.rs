//! Composite storages: parts of other storages one after another, flattened as they are built.
//!
//! "Composite Location Description Operations" of the 2020 AMDGPU text; what the operations do with them is in
//! `machine/composite.rs`.

use super::location::{ImplicitPointer, Location, Storage};
use crate::units::{BitSize, LaneId};

/// One part of a composite.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where it is; never a composite, because composites are flattened as they are built.
    pub location: Location,
    /// Its size, never 0.
    pub size: BitSize,
}

/// A composite storage: flattened, without empty parts. Neighbours that continue one another are merged by
/// [`Location::canonical`], since whether they do may depend on the lane.
#[derive(Clone, Debug, Default)]
pub struct Composite {
    parts: Vec<Part>,
    /// Where each part ends, in bits from the start: what is at an offset is found without passing all before it.
    ends: Vec<u64>,
    /// Whether a part depends on the lane, and whether one is an implicit pointer: asked at every read.
    varying: bool,
    pointers: bool,
    /// Whether pieces may be added although it is a whole location: made by `DW_OP_composite`.
    pub(super) open: bool,
}

impl Composite {
    /// The parts, least significant first.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Sum of the parts' sizes.
    #[must_use]
    pub fn size(&self) -> BitSize {
        BitSize(self.ends.last().copied().unwrap_or(0))
    }

    /// An empty one that pieces may be added to.
    pub(super) fn open() -> Self {
        Self { open: true, ..Self::default() }
    }

    /// One of these parts, none of which is a composite; `None` if 64 bits do not count the bits of all.
    #[must_use]
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Option<Self> {
        let mut composite = Self::default();
        parts.into_iter().try_for_each(|part| composite.push(part)).map(|()| composite)
    }

    /// Adds a part that is no composite; `None` if 64 bits do not count the bits of all then. Empty parts are dropped.
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

    /// The parts that share bits with those from `from` to `until`, each with its index and its first bit.
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

    /// The implicit pointer among the bits from `from` to `until` as one lane has them: `None` if there is none of it,
    /// `Some(None)` if it is there in part, or among others. "All of its bits, from a single part": parts that
    /// continue one another are one.
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
    /// Of parts that were counted before: what 64 bits cannot count is left out.
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

/// Parts with neighbours that continue one another merged, as one lane has them: the first `most`, and how many parts
/// are in none of those.
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
    /// The part as one lane has it.
    #[must_use]
    pub fn at(&self, lane: LaneId) -> Self {
        Self { location: self.location.at(lane), size: self.size }
    }

    /// Whether another part goes on in the same storage where this one ends.
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
