//! Words for accesses, patterns, faults and lists.

use std::collections::HashSet;

use crate::isa::Direction;
use crate::notation::{counted, list, plural, ranges};
use crate::triage::{AddressOf, Confidence, Neighbour, Pattern, PatternOf, Scene, SourceAt, Suspect};
use crate::units::{AddressSpace, LaneSet, WaveId};

/// `and 3 more`, if there are more items than the maximum.
pub(in crate::triage) fn more(count: usize, most: usize) -> Option<String> {
    count.checked_sub(most).filter(|more| *more > 0).map(|more| format!("and {more} more"))
}

/// Maximum number of ranges of lanes in a list.
const MAX_RANGES: usize = 3;

/// `lane 24`, `lanes 0-3, 8`; `17 lanes` if they form many ranges.
pub(super) fn lanes(lanes: LaneSet) -> String {
    match ranges_of(lanes) {
        Some(list) => format!("{} {list}", plural(lanes.count(), "lane", "lanes")),
        None => counted(lanes.count(), "lane"),
    }
}

/// `0-3, 8`; `None`: many ranges.
pub(super) fn ranges_of(lanes: LaneSet) -> Option<String> {
    let numbers = || lanes.iter().map(|lane| lane.0);
    (ranges(numbers()).len() <= MAX_RANGES).then(|| list(numbers()))
}

/// `saxpy.hip:54`, `saxpy.hip:54 (inferred)`; the function without a line.
pub(in crate::triage) fn place(at: &SourceAt) -> Option<String> {
    let mark = if at.is_inferred { " (inferred)" } else { "" };
    match (&at.file, at.line) {
        (Some(file), Some(line)) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            Some(format!("{name}:{line}{mark}"))
        }
        (_, Some(line)) => Some(format!("line {line}")),
        _ => at.function.as_deref().map(|function| format!("in {}", crate::debuginfo::short_name(function))),
    }
}

/// Maximum number of waves in a list.
const MAX_WAVES: usize = 16;

/// `wave 4`, `waves 1-3, 7`
pub(in crate::triage) fn waves(of: &[WaveId], scene: &Scene<'_>) -> String {
    let mut ids: Vec<u32> = of.iter().take(MAX_WAVES).map(|wave| scene.id(*wave)).collect();
    ids.sort_unstable();
    let more = more(of.len(), MAX_WAVES).map_or_else(String::new, |more| format!(" {more}"));
    format!("{} {}{more}", plural(of.len(), "wave", "waves"), list(ids))
}

/// The verb of an access; the wave has not executed the instruction at its PC.
pub(super) fn verb(of: &Suspect) -> &'static str {
    match (of.access.direction, of.distance) {
        (Direction::Load, 0) => "would read",
        (Direction::Store, 0) => "would write",
        (Direction::Atomic { .. }, 0) => "would update",
        (Direction::Load, _) => "reads",
        (Direction::Store, _) => "writes",
        (Direction::Atomic { .. }, _) => "updates",
    }
}

/// The noun of an access.
pub(super) fn noun(direction: Direction) -> &'static str {
    match direction {
        Direction::Load => "load",
        Direction::Store => "store",
        Direction::Atomic { .. } => "atomic",
    }
}

/// The certainty.
pub(super) fn certainty(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Exact => "exact",
        Confidence::Likely => "likely",
        Confidence::Possible => "possible",
    }
}

/// Maximum number of addresses without a rule in a list.
const MAX_ADDRESSES: usize = 2;

/// `0x7f0000201000`, `local+0x10`; `0x1000..0x103c (+4)` if all steps are equal; else the first ones of a list.
pub(super) fn addresses(
    addresses: &[AddressOf],
    space: impl Fn(AddressSpace) -> Option<String>,
) -> Option<String> {
    let of = addresses.first()?;
    let own = addresses.iter().filter(|other| other.space == of.space).map(|of| of.address);
    let space = space(of.space).map_or_else(String::new, |name| format!("{name}+"));
    listed(own, &space)
}

/// The rule or the list of addresses, each behind `space`; `None`: there is none.
pub(super) fn listed(addresses: impl Iterator<Item = u64>, space: &str) -> Option<String> {
    // Lanes of one address are neighbours, or their list has no rule.
    let mut all: Vec<u64> = addresses.collect();
    all.dedup();
    if let ([first, .., last], Some(step)) = (all.as_slice(), step(&all).filter(|_| all.len() > 2)) {
        return Some(format!("{space}{first:#x}..{space}{last:#x} ({step:+})"));
    }
    // The order of the lanes is that of the rows below.
    let mut known = HashSet::new();
    all.retain(|address| known.insert(*address));
    let mut items: Vec<String> =
        all.iter().take(MAX_ADDRESSES).map(|address| format!("{space}{address:#x}")).collect();
    items.extend(
        all.len().checked_sub(MAX_ADDRESSES).filter(|more| *more > 0).map(|more| format!("{more} more")),
    );
    (!items.is_empty()).then(|| joined(&items))
}

/// The difference of neighbours, if it is the same everywhere.
fn step(all: &[u64]) -> Option<i64> {
    let mut steps = all.windows(2).map(|pair| match pair {
        [one, next] => next.wrapping_sub(*one).cast_signed(),
        _ => 0,
    });
    let first = steps.next()?;
    steps.all(|step| step == first).then_some(first)
}

/// `a`, `a and b`, `a, b and c`
pub(super) fn joined(items: &[String]) -> String {
    match items {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        items => items.concat(),
    }
}

/// An allocation: its name, else its bounds.
fn allocation(of: &Neighbour) -> String {
    of.name.clone().unwrap_or_else(|| format!("{:#x}-{:#x}", of.start, of.end))
}

/// The patterns of an access in those lanes as ends of sentences, the first one for the headline: with its lanes, if it
/// is not of all of them. An overflow of 32 bits and a flipped bit that lead to the same address are one: nothing
/// separates them.
pub(super) fn patterns(all: &[PatternOf], lanes: LaneSet) -> Vec<String> {
    let of_lanes = |of: &PatternOf, text: String| match of.covers(lanes) {
        true => text,
        false => format!("{text} in {}", self::lanes(of.lanes)),
    };
    let flipped = |meant: u64, lanes: LaneSet| {
        all.iter().find_map(|of| match of.pattern {
            Pattern::FlippedBit { bit, meant: other, .. } if other == meant && of.lanes == lanes => Some(bit),
            _ => None,
        })
    };
    let mut joined = None;
    let mut texts = Vec::new();
    for of in all {
        match of.pattern {
            Pattern::Wrapped32 { meant, .. } => match flipped(meant, of.lanes) {
                Some(bit) => {
                    joined = Some(meant);
                    let text = format!(
                        "a 32-bit overflow of index times size, or bit {bit} flipped: {meant:#x} is in memory"
                    );
                    texts.push(of_lanes(of, text));
                }
                None => texts.push(of_lanes(of, pattern(of))),
            },
            Pattern::FlippedBit { meant, .. } if joined == Some(meant) => {}
            _ => texts.push(of_lanes(of, pattern(of))),
        }
    }
    texts
}

/// A pattern as the end of a sentence about an access.
fn pattern(of: &PatternOf) -> String {
    match &of.pattern {
        Pattern::Null { base: Some(base), offset } if base.cast_signed() < 0 => {
            format!("the pointer -{:#x} plus {:#x}", base.wrapping_neg(), offset.wrapping_sub(*base))
        }
        Pattern::Null { offset: 0, .. } => "a null pointer".to_owned(),
        Pattern::Null { offset, .. } if offset.cast_signed() < 0 => {
            format!("a null pointer minus {:#x}", offset.wrapping_neg())
        }
        Pattern::Null { offset, .. } => format!("a null pointer plus {offset:#x}"),
        Pattern::NonCanonical => {
            plural(of.lanes.count().max(1), "a non-canonical address", "non-canonical addresses").to_owned()
        }
        Pattern::Wrapped32 { meant, .. } => {
            format!("a 32-bit overflow of index times size ({meant:#x} is in memory)")
        }
        Pattern::NegativeIndex { index, is_zero_extended } => {
            let extended = if *is_zero_extended { ", zero-extended" } else { "" };
            format!("{}{extended}", numbered("negative index", *index))
        }
        Pattern::Poison { value, origin } => {
            let value = value.map(|value| format!("{value:#x}"));
            format!("{} ({origin})", numbered("filler", value))
        }
        Pattern::OtherAperture { space } => format!("a pointer to {space}"),
        Pattern::HostPointer { is_reported: true } => "memory of the host alone".to_owned(),
        Pattern::HostPointer { is_reported: false } => "perhaps memory of the host alone".to_owned(),
        Pattern::FlippedBit { bit, meant, alternatives } => {
            let others = match alternatives {
                0 => String::new(),
                count => {
                    format!("; {} {} as well", counted(*count, "other bit"), plural(*count, "fits", "fit"))
                }
            };
            format!("perhaps one flipped bit (bit {bit}: {meant:#x} is in memory{others})")
        }
        Pattern::PastEnd(of) if of.distance == 0 => format!("right past the end of {}", allocation(of)),
        Pattern::PastEnd(of) => {
            format!("{} past the end of {}", counted(of.distance, "byte"), allocation(of))
        }
        Pattern::BeforeStart(of) => {
            format!("{} before the start of {}", counted(of.distance, "byte"), allocation(of))
        }
        Pattern::BadPointer(None) => "a bad pointer".to_owned(),
        Pattern::BadPointer(Some(of)) if of.distance == 0 => {
            format!("a bad pointer (next to {})", allocation(of))
        }
        Pattern::BadPointer(Some(of)) => {
            format!("a bad pointer ({} from {})", counted(of.distance, "byte"), allocation(of))
        }
        Pattern::Straddles(of) => format!("across the end of {}", allocation(of)),
        Pattern::Misaligned { needed } => format!("not aligned to {}", counted(*needed, "byte")),
        Pattern::ReadOnly => "read-only memory".to_owned(),
        Pattern::Freed => "a gap between allocations, perhaps freed memory".to_owned(),
        Pattern::LargeIndex { index } => numbered("large index", *index),
    }
}

/// `the filler 0xd0bed0be`; `a filler` if the number is left out.
fn numbered(noun: &str, number: Option<impl std::fmt::Display>) -> String {
    number.map_or_else(|| format!("a {noun}"), |number| format!("the {noun} {number}"))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
