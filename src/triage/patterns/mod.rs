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
use super::map::Span;
use super::source::Found;
use super::{Pattern, PatternOf};
use crate::units::LaneSet;

/// A lane with what its rules need.
struct Subject<'a> {
    accessed: &'a Accessed<'a>,
    lane: &'a LaneAt,
    /// The base pointer: the base register, the register that the code adds the index to, or the pointer of the term;
    /// the first of them that leads to listed memory.
    base: Option<u64>,
    /// The pointer of the term; of an array none.
    named: Option<u64>,
    /// The index in elements from the pointer of the term, or the negative one of an inner array.
    index: Option<i64>,
    /// Whether the bytes from the base to the address give no index: an inner array has one of its own.
    is_inner: bool,
    /// Pointer variables that lead to listed memory.
    pointers: &'a [u64],
    /// Bytes of an element of the term; without one the bytes of the access.
    element: u64,
    /// The variable of the term, if its address is known and it has bounds of its own.
    object: Option<&'a Span>,
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
    neighbours::freed,
    bits::flipped,
    pointers::host,
    neighbours::bad_pointer,
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
        let known = [lane.parts.base, lane.parts.origin, of_term.map(|known| known.base)];
        let known = || known.into_iter().flatten();
        let base = known().find(|base| accessed.map.lists(*base)).or_else(|| known().next());
        let named =
            of_term.map(|known| known.base).filter(|_| term.is_some_and(|of| of.term.declared.is_none()));
        let element = term.map_or(lane.bytes, |term| term.term.element).max(1);
        let index = of_term.and_then(|known| known.index);
        let is_inner = term.is_some_and(|of| of.term.is_ambiguous || !of.term.inner.is_empty());
        let object = term.and_then(|term| term.object.as_ref());
        Self { accessed, lane, base, named, index, is_inner, pointers: &found.pointers, element, object }
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

    /// The pointer of the term, if neither it nor a base pointer leads to listed memory.
    fn unlisted_name(&self) -> Option<u64> {
        self.named.filter(|_| self.has_listed_base() != Some(true))
    }

    /// Whether the capture lists the base pointer; `None`: there is no known base.
    fn has_listed_base(&self) -> Option<bool> {
        self.base.map(|base| self.accessed.map.lists(base))
    }
}
