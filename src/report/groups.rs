//! Waves and lanes by call stack, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::json::set;
use super::text::lane_list;
use super::{Style, stack};
use crate::notation::{counted, list, plural, range, ranges};
use crate::session::{Group, Groups, LaneState, Member};
use crate::units::LaneSet;

/// Maximum number of runs of waves, or of waves with the same lanes, in a line of text. JSON has all.
const MAX_RUNS: usize = 16;

/// Each group: count, members, stop reasons and stack. `number`: the user's number of a wave, its id in the dump or a
/// client's thread.
#[must_use]
pub fn text(groups: &Groups, number: &dyn Fn(&Member) -> u64, style: Style) -> String {
    let mut text = String::new();
    for (index, group) in groups.groups.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let head = head(group, groups.grouping.lanes, number);
        let head = if group.faulted { style.alarm(&head) } else { style.heading(&head) };
        let _ = writeln!(text, "{gap}{head}");
        text.push_str(&stack::text(&group.stack, style));
    }
    if groups.groups.is_empty() {
        text.push_str("No waves.\n");
    }
    text
}

/// `3 waves: breakpoint (waves 0-2)`
fn head(group: &Group, by_lane: bool, number: &dyn Fn(&Member) -> u64) -> String {
    let mut head = counted(group.count, if by_lane { "lane" } else { "wave" });
    if by_lane {
        let _ = write!(head, " of {}", counted(group.members.len(), "wave"));
    }
    let state = |(state, count): &(Option<LaneState>, usize)| {
        let words = state.map_or("state not captured", LaneState::words);
        if group.states.len() == 1 { words.to_owned() } else { format!("{count} {words}") }
    };
    let cause = |(cause, count): &(String, usize)| {
        if group.causes.len() == 1 { cause.clone() } else { format!("{count} {cause}") }
    };
    let mut words: Vec<String> = group.states.iter().map(state).collect();
    words.extend(group.causes.iter().map(cause));
    let _ = write!(head, ": {} ({})", words.join(", "), which(&group.members, number));
    head
}

/// `waves 1-3, 7`, or `waves 1-3 lanes 0-7; wave 4 lane 0`.
fn which(members: &[Member], number: &dyn Fn(&Member) -> u64) -> String {
    let mut parts = Vec::new();
    let mut left = MAX_RUNS;
    for part in members.chunk_by(|one, next| one.lanes == next.lanes) {
        let mut numbers: Vec<u64> = part.iter().map(number).collect();
        // A client may count threads in another order.
        numbers.sort_unstable();
        let runs = ranges(numbers);
        if left == 0 {
            break;
        }
        let shown: Vec<String> = runs.iter().take(left).map(range).collect();
        let more = if runs.len() > left { ", ..." } else { "" };
        left = left.saturating_sub(runs.len());
        let noun = plural(part.len(), "wave", "waves");
        let lanes = part.first().and_then(|member| member.lanes);
        let lanes = lanes.map_or(String::new(), |lanes: LaneSet| format!(" {}", lane_list(lanes.iter())));
        parts.push((format!("{noun} {}{more}{lanes}", shown.join(", ")), part.len()));
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

/// All groups; waves as runs of first and last, as thread numbers and as the dump's ids. `threads`: the numbers of a
/// member's threads.
#[must_use]
pub fn json(groups: &Groups, threads: &dyn Fn(&Member) -> Vec<u64>) -> Value {
    let each = groups.groups.iter().map(|group| {
        let mut value = json!({
            "count": group.count,
            "faulted": group.faulted,
            "threads": ranges(group.members.iter().flat_map(threads)),
            "waves": ranges(group.members.iter().map(|member| member.id)),
            "causes": group.causes.iter().map(|(cause, count)| json!({ "cause": cause, "waves": count })).collect::<Vec<_>>(),
            "frames": stack::frames_json(&group.stack),
            "end": stack::end_json(&group.stack.end),
        });
        if groups.grouping.lanes {
            let states = group.states.iter().map(|(state, count)| {
                json!({ "state": state.map(LaneState::name), "lanes": count })
            });
            set(&mut value, "states", states.collect::<Vec<_>>());
            set(&mut value, "members", members_json(&group.members, threads));
        }
        value
    });
    json!({
        "of": if groups.grouping.lanes { "lanes" } else { "waves" },
        "by": groups.grouping.by.name(),
        "groups": each.collect::<Vec<_>>(),
    })
}

/// Merges waves with the same lanes of the group.
fn members_json(members: &[Member], threads: &dyn Fn(&Member) -> Vec<u64>) -> Value {
    let parts = members.chunk_by(|one, next| one.lanes == next.lanes).map(|part| {
        let lanes = part.first().and_then(|member| member.lanes).unwrap_or(LaneSet::EMPTY);
        json!({
            "threads": ranges(part.iter().flat_map(threads)),
            "waves": ranges(part.iter().map(|member| member.id)),
            "lanes": lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(),
        })
    });
    parts.collect()
}
