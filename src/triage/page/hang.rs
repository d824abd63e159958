//! Hangs: states by dispatch, work-groups that wait, loops and the values that they poll.

use std::collections::HashMap;

use super::layout::Page;
use super::words;
use crate::notation::{counted, list, plural};
use crate::triage::scene::Scene;
use crate::triage::{Cause, GroupWait, Hang, PolledValue, Triage, WaveState, WaveWait};
use crate::units::{LaneSet, WaveId};

/// Maximum number of dispatches, work-groups and loops in text.
const MAX_ROWS: usize = 6;
/// Maximum number of sentences of a proof.
const MAX_PROOF: usize = 4;

/// A state as a verb: `wait at a barrier`.
fn state(of: WaveState, count: usize) -> &'static str {
    match of {
        WaveState::AtBarrier => plural(count, "waits at a barrier", "wait at a barrier"),
        WaveState::Spinning => plural(count, "spins in a loop", "spin in a loop"),
        WaveState::WaitingMemory => plural(count, "waits for memory", "wait for memory"),
        WaveState::Sleeping => plural(count, "sleeps", "sleep"),
        WaveState::Halted => plural(count, "is halted", "are halted"),
        WaveState::Faulted => "faulted",
        WaveState::Ended => "ended",
        WaveState::Running => plural(count, "runs", "run"),
        WaveState::Unknown => plural(count, "is at unknown code", "are at unknown code"),
    }
}

/// `deadlock` with the first work-group, or the states of all waves.
pub(super) fn headline(hang: Option<&Hang>, scene: &Scene<'_>) -> String {
    let Some(hang) = hang else { return format!("a hang of {}", counted(scene.waves(), "wave")) };
    let kernel = hang.waves.first().and_then(|of| scene.kernel(of.wave));
    let kernel = kernel.unwrap_or_else(|| "an unknown kernel".to_owned());
    let (subject, certainty) = match (hang.is_deadlock, hang.is_hang) {
        (true, _) => ("deadlock", "proven"),
        (false, true) => ("hang", "likely"),
        (false, false) => ("no hang is visible", "one capture cannot exclude it"),
    };
    match blocked(hang) {
        Some(group) => {
            let (waiting, missing) = (group.waiting.len(), group.missing.len());
            let wait = plural(waiting, "waits", "wait");
            let have = plural(missing, "has", "have");
            format!(
                "{subject} in {kernel}: {} of {} {wait} at a barrier that {} {have} not reached ({certainty})",
                counted(waiting, "wave"),
                name(group),
                words::waves(&group.missing, scene)
            )
        }
        None => format!("{subject} in {kernel}: {} ({certainty})", totals(Some(hang), scene)),
    }
}

/// The first work-group that waits for waves.
fn blocked(hang: &Hang) -> Option<&GroupWait> {
    hang.groups.iter().find(|group| group.is_blocked())
}

/// Whether the first sentence has the states of all waves.
pub(super) fn has_totals(triage: &Triage) -> bool {
    match triage.cause {
        Some(Cause::Hang) => triage.hang.as_ref().is_some_and(|hang| blocked(hang).is_none()),
        None => triage.waves.faulted == 0 && triage.waves.unknown == 0,
        Some(_) => false,
    }
}

/// `3 waves wait at a barrier, 2 run`; the number of waves without their states.
pub(super) fn totals(hang: Option<&Hang>, scene: &Scene<'_>) -> String {
    let mut totals: Vec<(WaveState, usize)> = Vec::new();
    for (_, state, count) in hang.iter().flat_map(|hang| &hang.counts) {
        match totals.iter_mut().find(|(known, _)| known == state) {
            Some((_, total)) => *total = total.saturating_add(*count),
            None => totals.push((*state, *count)),
        }
    }
    match totals.is_empty() {
        true => counted(scene.waves(), "wave"),
        false => states(&totals),
    }
}

fn states(counts: &[(WaveState, usize)]) -> String {
    let each = counts.iter().enumerate().map(|(index, (of, count))| {
        let waves = if index == 0 { counted(*count, "wave") } else { count.to_string() };
        format!("{waves} {}", state(*of, *count))
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The rows; `has_totals`: those of the first sentence are not repeated.
pub(super) fn rows(hang: &Hang, has_totals: bool, scene: &Scene<'_>, page: &mut Page) {
    let by_dispatch: Vec<_> = hang.counts.chunk_by(|(one, ..), (next, ..)| one == next).collect();
    let each = by_dispatch.iter().take(MAX_ROWS).map(|counts| {
        let dispatch = counts.first().and_then(|(dispatch, ..)| *dispatch);
        let dispatch = dispatch.map_or_else(|| "unknown dispatch".to_owned(), |id| format!("dispatch {id}"));
        let counts: Vec<_> = counts.iter().map(|(_, state, count)| (*state, *count)).collect();
        format!("{dispatch}: {}", states(&counts))
    });
    if !has_totals || by_dispatch.len() > 1 {
        page.list("States", each.chain(words::more(by_dispatch.len(), MAX_ROWS)));
    }
    let waiting = || hang.groups.iter().filter(|group| !group.waiting.is_empty());
    let each = waiting().take(MAX_ROWS).map(|of| group(of, hang, scene));
    page.list("Barriers", each.chain(words::more(waiting().count(), MAX_ROWS)));
    let loops = loops(hang);
    let each = loops.iter().take(MAX_ROWS).map(|members| polling(members, scene));
    page.list("Loops", each.chain(words::more(loops.len(), MAX_ROWS)));
    let proof = hang.proof.iter().take(MAX_PROOF).cloned();
    page.list("Because", proof.chain(words::more(hang.proof.len(), MAX_PROOF)));
}

/// `work-group (1,0,0)`
fn name(group: &GroupWait) -> String {
    match group.position {
        Some([x, y, z]) => format!("work-group ({x},{y},{z})"),
        None => format!("work-group {}", group.workgroup),
    }
}

/// The waiting waves of a work-group, and the missing ones with their places.
fn group(of: &GroupWait, hang: &Hang, scene: &Scene<'_>) -> String {
    let wait = plural(of.waiting.len(), "waits", "wait");
    let mut text = format!("{}: {} {wait}", name(of), words::waves(&of.waiting, scene));
    match of.missing.as_slice() {
        [] => text += ", and no captured wave is missing",
        missing => {
            text += &format!("; missing: {}", words::waves(missing, scene));
            let first = missing.first().and_then(|wave| hang.waves.iter().find(|of| of.wave == *wave));
            if let Some(place) = first.and_then(place) {
                text += &format!(" at {place}");
            }
        }
    }
    if let Some(first) = of.signalled.first() {
        text += &format!("; {} signalled it", words::waves(&of.signalled, scene));
        let first = hang.waves.iter().find(|of| of.wave == *first);
        if let Some((state, place)) = first.and_then(|first| Some((first.state, place(first)?))) {
            text += &format!(" and {} at {place}", self::state(state, of.signalled.len()));
        }
    }
    for (count, what) in [(of.ended, "ended"), (of.not_captured, "not captured")] {
        match count {
            Some(0) => {}
            Some(count) => text += &format!("; {} {what}", counted(count, "wave")),
            None => text += &format!("; number of waves {what}: unknown"),
        }
    }
    text
}

/// `wait in spin.hip:10-12`
fn place(of: &WaveWait) -> Option<String> {
    let of = &of.at;
    let lines = list(of.lines.iter().copied());
    let function = of.function.as_deref().map(crate::debuginfo::short_name);
    match (&of.file, lines.is_empty(), function) {
        (Some(file), false, _) => Some(format!("{}:{lines}", file.rsplit('/').next().unwrap_or(file))),
        (_, _, Some(function)) => Some(function),
        _ => of.pc.map(|pc| pc.to_string()),
    }
}

/// Waves in the same loop with the same polled values.
fn loops(hang: &Hang) -> Vec<Vec<&WaveWait>> {
    let mut loops: Vec<Vec<&WaveWait>> = Vec::new();
    let mut known = HashMap::new();
    for wave in hang.waves.iter().filter(|of| of.state == WaveState::Spinning) {
        let polls = |of: &'_ WaveWait| -> Vec<_> {
            of.polls.iter().map(|poll| (poll.is_lds, poll.address, poll.value)).collect()
        };
        let key = (&wave.at.function, &wave.at.file, &wave.at.lines, polls(wave));
        let index = *known.entry(key).or_insert(loops.len());
        match loops.get_mut(index) {
            Some(members) => members.push(wave),
            None => loops.push(vec![wave]),
        }
    }
    loops
}

/// `waves 1-4 at spin.hip:10-12 poll flag = 0 at 0x7f0000200000 (lanes 0-63)`
fn polling(members: &[&WaveWait], scene: &Scene<'_>) -> String {
    let ids: Vec<WaveId> = members.iter().map(|of| of.wave).collect();
    let Some(first) = members.first() else { return String::new() };
    let at = place(first).map_or_else(String::new, |place| format!(" at {place}"));
    let polls: Vec<String> = alike(&first.polls).iter().map(|of| poll(of)).collect();
    let verb = plural(ids.len(), "polls", "poll");
    let polls = match (first.at.is_polling, polls.is_empty()) {
        (false, _) => " without polling memory".to_owned(),
        (true, true) => format!(" {verb} memory at unknown addresses"),
        (true, false) => format!(" {verb} {}", polls.join(", ")),
    };
    format!("{}{at}{polls}", words::waves(&ids, scene))
}

/// Polled values that differ in lanes and addresses alone, together.
fn alike(polls: &[PolledValue]) -> Vec<Vec<&PolledValue>> {
    let mut groups: Vec<Vec<&PolledValue>> = Vec::new();
    for one in polls {
        let is_alike = |of: &&PolledValue| {
            PolledValue { address: one.address, lanes: one.lanes, ..(*of).clone() } == *one
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(is_alike)) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// Values of [`alike`].
fn poll(all: &[&PolledValue]) -> String {
    let Some(of) = all.first() else { return String::new() };
    let lanes = all.iter().fold(LaneSet::EMPTY, |lanes, one| lanes.or(one.lanes));
    let space = if of.is_lds { "LDS " } else { "" };
    let name = of.name.clone().unwrap_or_else(|| counted(of.bytes, "byte"));
    let value = of.value.map_or_else(|| ", not captured,".to_owned(), |value| format!(" = {value:#x}"));
    let lanes = if lanes.is_empty() { String::new() } else { format!(" ({})", words::lanes(lanes)) };
    let addresses = words::listed(all.iter().map(|one| one.address), space).unwrap_or_default();
    let compared = match (of.compared, of.comparison) {
        (Some(value), Some(comparison)) => format!("; the loop tests {comparison} {value:#x}"),
        (Some(value), None) => format!("; the loop compares it with {value:#x}"),
        (None, _) => String::new(),
    };
    let mark = of.inferred.map_or_else(String::new, |inferred| format!(" ({inferred})"));
    format!("{name}{mark}{value} at {addresses}{lanes}{compared}")
}
