//! Patterns of bad addresses, each by an exact rule; docs/triage.md lists the rules.
//!
//! A rule sees one lane. Missing memory counts as unmapped only if the map is whole or a report names the page.

mod alignment;
mod bits;
mod index;
mod neighbours;
mod pointers;
mod poison;
#[cfg(test)]
mod tests;

use super::accessed::{Accessed, LaneAt};
use super::source::Found;
use super::{Pattern, PatternOf};
use crate::units::LaneSet;

/// A lane with what its rules need.
struct Subject<'a> {
    accessed: &'a Accessed<'a>,
    lane: &'a LaneAt,
    /// The base pointer: the base register, or the pointer of the term.
    base: Option<u64>,
    /// The index in elements from the pointer of the term.
    index: Option<i64>,
    /// Pointer variables that lead to listed memory.
    pointers: &'a [u64],
    /// Bytes of an element of the term; without one the bytes of the access.
    element: u64,
}

type Rule = fn(&Subject<'_>) -> Option<Pattern>;

/// The rules, the most telling first.
const RULES: &[Rule] = &[
    pointers::null,
    pointers::other_aperture,
    poison::poison,
    pointers::non_canonical,
    alignment::read_only,
    alignment::misaligned,
    index::zero_extended,
    index::negative,
    index::wrapped,
    index::large,
    neighbours::straddles,
    neighbours::past_end,
    neighbours::before_start,
    bits::flipped,
    pointers::host,
    neighbours::freed,
];

/// The patterns of the lanes of an access.
pub(super) fn of(accessed: &Accessed<'_>, found_term: &Found) -> Vec<PatternOf> {
    let mut found: Vec<PatternOf> = Vec::new();
    for rule in RULES {
        let mut first: Option<PatternOf> = None;
        for lane in &accessed.lanes {
            let Some(pattern) = rule(&Subject::new(accessed, lane, found_term)) else { continue };
            let of = lane.lane.map_or(LaneSet::EMPTY, LaneSet::one);
            match &mut first {
                Some(first) => first.lanes = first.lanes.or(of),
                None => first = Some(PatternOf { pattern, lanes: of }),
            }
        }
        found.extend(first);
    }
    found
}

impl<'a> Subject<'a> {
    fn new(accessed: &'a Accessed<'a>, lane: &'a LaneAt, found: &'a Found) -> Self {
        let term = found.term.as_ref();
        let of_term = term.and_then(|term| term.lanes.iter().find(|known| known.lane == lane.lane));
        let base = lane.parts.base.or_else(|| of_term.map(|known| known.base));
        let element = term.map_or(lane.bytes, |term| term.term.element).max(1);
        let index = of_term.map(|known| known.index);
        Self { accessed, lane, base, index, pointers: &found.pointers, element }
    }

    /// The first byte in global memory, if the access is to global memory.
    fn global(&self) -> Option<u64> {
        self.lane.is_global().then_some(self.lane.address)
    }

    /// The first byte in global memory, if the capture does not list it.
    fn unlisted(&self) -> Option<u64> {
        self.global().filter(|address| !self.accessed.map.lists(*address))
    }

    /// The first byte in global memory, if it is known to be unmapped.
    fn unmapped(&self) -> Option<u64> {
        self.global().filter(|_| self.accessed.is_unmapped(self.lane))
    }

    /// Whether the capture lists the base pointer; `None`: there is no known base.
    fn has_listed_base(&self) -> Option<bool> {
        self.base.map(|base| self.accessed.map.lists(base))
    }
}
