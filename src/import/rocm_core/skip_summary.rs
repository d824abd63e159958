//! Missing parts of a queue's waves: one problem for each reason.

use std::collections::BTreeMap;

use super::dispatch;
use super::memory::CoreMemory;
use super::scratch::NoScratch;
use crate::capture::Dispatch;
use crate::import::problem::Problems;

/// Number of a queue's waves without a part, for each reason, with the first of them.
#[derive(Debug, Default)]
pub(super) struct SkipSummary {
    pub(super) words: Option<(u32, u64)>,
    pub(super) dispatch: BTreeMap<dispatch::Unknown, (u32, u32)>,
    pub(super) scratch: BTreeMap<NoScratch, (u32, u32)>,
    /// Wave, address of its private memory, and number of bytes.
    pub(super) uncaptured: Option<(u32, (u32, u64, u64))>,
    pub(super) unallotted: Option<(u32, u32)>,
    pub(super) launch: Option<(u32, u32)>,
    /// Number of work-groups.
    pub(super) grid: Option<(u32, OutsideGrid)>,
    pub(super) in_group: Option<(u32, OutsideGroup)>,
    pub(super) group: Option<(u32, u32)>,
    pub(super) faulty: Option<(u32, u32)>,
    /// Wave and PC.
    pub(super) pc: Option<(u32, (u32, u64))>,
    pub(super) stopped: Option<(u32, u32)>,
    pub(super) other_slot: Option<(u32, u32)>,
    /// Ids of a wave and of the earlier one with the same slot.
    pub(super) same_slot: Option<(u32, (usize, usize))>,
    /// Ids of a wave and of the earlier one at the same place.
    pub(super) same_place: Option<(u32, (usize, usize))>,
    /// Ids of a work-group's first wave, and of that of the earlier work-group at the same position.
    pub(super) same_position: Option<(u32, (usize, usize))>,
    /// Id of the first wave.
    pub(super) contradicting: Option<(u32, usize)>,
}

/// A work-group outside of its dispatch's grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideGrid {
    pub(super) group: [u32; 3],
    /// Work-items.
    pub(super) grid: [u32; 3],
    /// Work-items of a group.
    pub(super) size: [u32; 3],
}

impl OutsideGrid {
    /// The facts of such a work-group; `None`: it is inside, or the grid is unknown.
    pub(super) fn of(dispatch: &Dispatch, group: [u32; 3]) -> Option<Self> {
        let (grid, size) = (dispatch.grid?, dispatch.workgroup?);
        let mut axes = group.iter().zip(grid.iter().zip(size));
        let is_inside = axes.all(|(at, (grid, size))| *at < grid.div_ceil(size));
        (!is_inside).then_some(Self { group, grid, size })
    }
}

/// A wave at a place outside of its dispatch's work-groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideGroup {
    pub(super) wave: u32,
    pub(super) place: u32,
    /// Waves of a group.
    pub(super) most: u64,
}

/// Counts one more, and keeps the first.
pub(super) fn count<T>(slot: &mut Option<(u32, T)>, first: T) {
    match slot {
        Some((count, _)) => *count += 1,
        None => *slot = Some((1, first)),
    }
}

impl SkipSummary {
    /// Reports all reasons.
    pub(super) fn report(&self, key: &str, memory: &CoreMemory, problems: &mut Problems) {
        let waves = |(count, first): (u32, u32)| match count {
            1 => format!("wave {first}"),
            count => format!("{count} waves, the first of them {first}"),
        };
        if let Some((count, at)) = self.words {
            let whose = match count {
                1 => "a wave".to_owned(),
                count => format!("{count} waves, the first of them"),
            };
            let what = format!("state words of {whose} at {at:#x} were not captured whole");
            problems.report(
                key,
                what,
                "hardware registers and trap temporaries, which hold a wave's place and stop reason",
            );
        }
        for (why, (count, first)) in &self.dispatch {
            let what = format!("no dispatch for {}: {}", waves((*count, *first)), why.words());
            let expected = "a packet of the ring";
            let is_lost = *why != dispatch::Unknown::Outside;
            problems.report(key, what, if is_lost { memory.or_host(expected) } else { expected.to_owned() });
        }
        for (why, (count, first)) in &self.scratch {
            let what = format!("no private memory for {}: {}", waves((*count, *first)), why.words());
            let expected = "scratch memory that is known to be the wave's";
            let is_lost = *why == NoScratch::NoQueue;
            problems.report(key, what, if is_lost { memory.or_host(expected) } else { expected.to_owned() });
        }
        if let Some((count, (wave, base, size))) = self.uncaptured {
            let what = format!(
                "private memory of {} was not captured: {size} bytes from {base:#x} on{}",
                waves((count, wave)),
                if count == 1 { "" } else { " for the first" }
            );
            problems.report(key, what, "memory that holds the queue's scratch");
        }
        if let Some((count, OutsideGrid { group: at, grid, size })) = self.grid {
            let groups = [0, 1, 2].map(|axis| match (grid.get(axis), size.get(axis)) {
                (Some(grid), Some(size)) => grid.div_ceil((*size).max(1)),
                _ => 0,
            });
            // The first clause is whole in a short warning.
            let (who, their) = match count {
                1 => (format!("a work-group is outside of its dispatch's grid: {}", axes(at)), "its"),
                count => {
                    let what = "work-groups are outside of their dispatch's grid: the first is";
                    (format!("{count} {what} {}", axes(at)), "their")
                }
            };
            let what = format!(
                "{who}, and the grid has {} work-groups; the work-items of {their} lanes are not known",
                axes(groups)
            );
            problems.report(key, what, "trap temporaries with a work-group of the grid");
        }
        if let Some((count, OutsideGroup { wave, place, most })) = self.in_group {
            let who = match count {
                1 => format!("wave {wave} has"),
                count => format!(
                    "{count} waves have places outside of their work-groups; the first, wave {wave}, has"
                ),
            };
            let what = format!("{who} place {place} in its work-group, counted from 0");
            problems.report(key, what, format!("one of the {most} of a work-group of that dispatch"));
        }
        if let Some((count, (wave, pc))) = self.pc {
            let who = waves((count, wave));
            problems.report(
                key,
                format!("PC {pc:#x} of {who} is not aligned: unconfirmed"),
                "a multiple of 4",
            );
        }
        let pairs = [
            (self.same_slot, "share a slot of scratch memory", "a slot for each wave"),
            (self.same_place, "have the same place in their work-group", "a place for each wave"),
            (
                self.same_position,
                "are of work-groups with the same position in one dispatch",
                "a position for each work-group",
            ),
        ];
        for (found, what, expected) in pairs {
            if let Some((count, (wave, other))) = found {
                let more = if count > 1 { format!(" ({count} such pairs)") } else { String::new() };
                problems.report(key, format!("waves {other} and {wave} {what}{more}: unconfirmed"), expected);
            }
        }
        if let Some((count, wave)) = self.contradicting {
            let who = waves((count, u32::try_from(wave).unwrap_or(u32::MAX)));
            let what = format!("trap temporaries of {who} contradict those of its work-group: unconfirmed");
            problems.report(key, what, "one work-group and one packet for the waves of a work-group");
        }
        let simple = [
            (
                self.stopped,
                "trap temporaries of",
                "contradict STATUS on whether it was stopped: unconfirmed",
                "HALT, and from interface version 10 on SKIP_EXPORT, of waves that the trap handler stopped",
            ),
            (
                self.other_slot,
                "FLAT_SCRATCH or s[0:1] of",
                "has the base of another slot than its record: unconfirmed",
                "the base of its own private memory",
            ),
            (
                self.unallotted,
                "private memory of",
                "was not allotted by the control stack",
                "SCRATCH_EN in its record",
            ),
            (
                self.launch,
                "no dispatch for",
                "their trap temporaries were not set up",
                "ttmp_setup in the runtime information",
            ),
            (
                self.group,
                "no LDS for",
                "the first wave of its work-group is missing",
                "a first wave before others",
            ),
            (
                self.faulty,
                "flags of a fault in",
                "was not stopped: no stop reason is reported",
                "a wave that the trap handler stopped",
            ),
        ];
        for (found, before, after, expected) in simple {
            if let Some(found) = found {
                problems.report(key, format!("{before} {}: {after}", waves(found)), expected);
            }
        }
    }
}

/// Three numbers, one for each axis.
fn axes([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}
