//! Waves and lanes by call stack, as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::absent::{AbsentWaves, stands_for};
use super::schema::{Lanes, Run, Schema};
use super::text::lane_list;
use super::{Style, stack};
use crate::notation::{counted, is_zero, list, plural, range, ranges};
use crate::session::{Group, Groups, LaneState, Member};
use crate::units::LaneSet;

/// Maximum number of runs of waves, or of waves with the same lanes, in a line of text. JSON has all.
const MAX_RUNS: usize = 16;

/// Maximum number of stop reasons in a line of text. JSON has all.
const MAX_CAUSES: usize = 3;

/// A front end's numbers of waves.
pub struct WaveNumbers<'a> {
    /// The number of a member's wave.
    pub of: &'a dyn Fn(&Member) -> u64,
    /// The noun of the numbers: `wave` for ids in the dump, `thread` for a client's threads.
    pub noun: &'a str,
}

impl std::fmt::Debug for WaveNumbers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaveNumbers").field("noun", &self.noun).finish_non_exhaustive()
    }
}

/// Each group: members, stop reasons and stack.
#[must_use]
pub fn text(groups: &Groups, numbers: &WaveNumbers<'_>, style: Style) -> String {
    let mut text = String::new();
    for (index, group) in groups.groups.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let head = style.folded(&head(group, groups.grouping.lanes, numbers));
        let head = if group.faulted { style.alarm(&head) } else { style.heading(&head) };
        let _ = writeln!(text, "{gap}{head}");
        text.push_str(&stack::brief(&group.stack, style));
    }
    if groups.groups.is_empty() {
        text.push_str("No waves.\n");
    }
    text
}

/// `wave 3: breakpoint`, `3 waves (0-2): breakpoint`, `12 lanes (wave 1 lanes 0-7; wave 4 lanes 0-3): active, running`
fn head(group: &Group, by_lane: bool, numbers: &WaveNumbers<'_>) -> String {
    let members = match (by_lane, group.members.as_slice()) {
        (true, members) => {
            format!("{} ({})", counted(group.count, "lane"), which(members, numbers, Some(numbers.noun)))
        }
        (false, [member]) => format!("{} {}", numbers.noun, (numbers.of)(member)),
        (false, members) => {
            format!("{} ({})", counted(group.count, numbers.noun), which(members, numbers, None))
        }
    };
    let state = |(state, count): &(Option<LaneState>, usize)| {
        let words = state.map_or("state not captured", LaneState::words);
        if group.states.len() == 1 { words.to_owned() } else { format!("{count} {words}") }
    };
    let cause = |(cause, count): &(String, usize)| {
        if group.causes.len() == 1 { cause.clone() } else { format!("{count} {cause}") }
    };
    let mut words: Vec<String> = group.states.iter().map(state).collect();
    words.extend(group.causes.iter().take(MAX_CAUSES).map(cause));
    if let Some(more @ 1..) = group.causes.len().checked_sub(MAX_CAUSES) {
        words.push(format!("{more} more"));
    }
    let stands_for = stands_for(group.members.len(), group.stands_for);
    format!("{members}: {}{stands_for}", words.join(", "))
}

/// `1-3, 7`, or with a noun `waves 1-3 lanes 0-7; wave 4 lane 0`.
fn which(members: &[Member], numbers: &WaveNumbers<'_>, noun: Option<&str>) -> String {
    let mut parts = Vec::new();
    let mut left = MAX_RUNS;
    for part in members.chunk_by(|one, next| one.lanes == next.lanes) {
        let mut of_part: Vec<u64> = part.iter().map(numbers.of).collect();
        // A client may count threads in another order.
        of_part.sort_unstable();
        let runs = ranges(of_part);
        if left == 0 {
            break;
        }
        let shown: Vec<String> = runs.iter().take(left).map(range).collect();
        let more = if runs.len() > left { ", ..." } else { "" };
        left = left.saturating_sub(runs.len());
        let lanes = part.first().and_then(|member| member.lanes);
        let lanes = lanes.map_or(String::new(), |lanes: LaneSet| format!(" {}", lane_list(lanes.iter())));
        let noun = noun.map_or(String::new(), |noun| format!("{noun}{} ", plural(part.len(), "", "s")));
        parts.push((format!("{noun}{}{more}{lanes}", shown.join(", ")), part.len()));
    }
    let named: usize = parts.iter().map(|(_, count)| count).sum();
    let mut words: Vec<String> = parts.into_iter().map(|(words, _)| words).collect();
    if named < members.len() {
        words.push(format!("{} more", members.len() - named));
    }
    words.join("; ")
}

/// Numbers as runs, in ascending order: `1, 3-5`.
#[must_use]
pub fn number_list(mut numbers: Vec<u64>) -> String {
    numbers.sort_unstable();
    list(numbers)
}

/// Waves or lanes by call stack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupsByKind {
    /// The members.
    #[cfg_attr(test, schemars(extend("enum" = ["waves", "lanes"])))]
    pub of: &'static str,
    /// The criterion for equal stacks.
    #[cfg_attr(test, schemars(extend("enum" = crate::session::GroupBy::ALL.map(|(_, name)| name))))]
    pub by: &'static str,
    /// The groups of each kind of waves.
    pub kinds: Vec<GroupsOfKind>,
    /// Waves that the dump lacks.
    #[serde(flatten)]
    pub absent: AbsentWaves,
}

impl Schema for GroupsByKind {
    const NAME: &'static str = "groups";
}

/// The groups of a kind of waves.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupsOfKind {
    /// The GPU and the wave size: `gfx90a:wave64`.
    pub kind: String,
    /// The groups: faults first, then the largest.
    pub groups: Vec<StackGroup>,
}

/// Waves or lanes with equal call stacks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackGroup {
    /// Number of waves, or of lanes.
    pub count: usize,
    /// Number of waves that the dump leaves out, and that waves of the group stand for: their stacks are unknown. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub stands_for: usize,
    /// Whether a wave of the group is known to have faulted.
    pub faulted: bool,
    /// Number of waves without a captured stop reason: each of them may have faulted.
    pub unknown_stops: usize,
    /// Threads as runs of first and last.
    pub threads: Vec<Run>,
    /// Ids of waves as runs of first and last.
    pub waves: Vec<Run>,
    /// The causes of the stops.
    pub causes: Vec<CauseCount>,
    /// The stack of the first member.
    #[serde(flatten)]
    pub stack: stack::CallStack,
    /// States of the lanes, in groups of lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<Vec<StateCount>>,
    /// The lanes of each wave, in groups of lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<GroupMembers>>,
}

/// Waves that stopped for one cause.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CauseCount {
    /// The cause as text.
    pub cause: String,
    /// Number of waves.
    pub waves: usize,
}

/// Lanes of one state.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StateCount {
    /// `active`, `inactive` or `not_entered`; null: unknown.
    pub state: Option<LaneState>,
    /// Number of lanes.
    pub lanes: usize,
}

/// Waves with the same lanes in a group.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GroupMembers {
    /// Threads as runs of first and last.
    pub threads: Vec<Run>,
    /// Ids of waves as runs of first and last.
    pub waves: Vec<Run>,
    /// The lanes.
    pub lanes: Lanes,
}

/// All groups of a kind; `threads`: the numbers of a member's threads.
#[must_use]
pub fn json(groups: &Groups, kind: String, threads: &dyn Fn(&Member) -> Vec<u64>) -> GroupsOfKind {
    let by_lane = groups.grouping.lanes;
    let each = groups.groups.iter().map(|group| StackGroup {
        count: group.count,
        stands_for: group.stands_for,
        faulted: group.faulted,
        unknown_stops: group.unknown_stops,
        threads: ranges(group.members.iter().flat_map(threads)),
        waves: ranges(group.members.iter().map(|member| member.id)),
        causes: group
            .causes
            .iter()
            .map(|(cause, waves)| CauseCount { cause: cause.clone(), waves: *waves })
            .collect(),
        stack: stack::CallStack::of(&group.stack),
        states: by_lane.then(|| group.states.iter().map(state_count).collect()),
        members: by_lane.then(|| members_json(&group.members, threads)),
    });
    GroupsOfKind { kind, groups: each.collect() }
}

fn state_count((state, lanes): &(Option<LaneState>, usize)) -> StateCount {
    StateCount { state: *state, lanes: *lanes }
}

/// Merges waves with the same lanes of the group.
fn members_json(members: &[Member], threads: &dyn Fn(&Member) -> Vec<u64>) -> Vec<GroupMembers> {
    let parts = members.chunk_by(|one, next| one.lanes == next.lanes).map(|part| GroupMembers {
        threads: ranges(part.iter().flat_map(threads)),
        waves: ranges(part.iter().map(|member| member.id)),
        lanes: Lanes(part.first().and_then(|member| member.lanes).unwrap_or(LaneSet::EMPTY)),
    });
    parts.collect()
}
