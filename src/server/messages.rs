//! Texts only for users of a debugger; `report` renders all others.

use std::fmt::Write as _;

use super::facade::Facade;
use super::state::State;
use super::threads::{Item, Thread};
use crate::debuginfo::short_name;
use crate::notation::plural;
use crate::report::Style;
use crate::session::{LaneState, StopCounts, UNCONFIRMED, WaveInfo};
use crate::triage;

/// The command that names the cause, or that tells about waves without a fault.
#[must_use]
pub fn triage_hint(counts: StopCounts) -> &'static str {
    match counts.faulted {
        0 => "`monitor triage` names the states of the waves, and whether they hang.",
        _ => "`monitor triage` names the cause, the access, its lanes and the source line.",
    }
}

/// The greeting, for a client that can print text at attach.
pub(super) fn greeting(state: &State) -> String {
    let (session, threads) = (state.session.as_ref(), &state.threads);
    let kind = session.kind();
    let waves = session.waves().len();
    let plural = plural(waves, "wave", "waves");
    let mut text = format!(
        "Captured state of {}: {waves} {plural} of {} ({}){}.\n",
        session.name(),
        kind.target.name,
        kind.wave_size,
        lanes(threads)
    );
    let first = threads.first();
    if let Ok(info) = session.wave(first.wave) {
        let item = threads.item(first);
        let name = name(&info, first, item);
        let does = state_of(&info, item, lane_mark(state, first, &info).as_deref());
        let _ = writeln!(text, "Thread {} ({name}): {does}.", state.shown(first));
    }
    let counts = session.stop_counts();
    let summary = triage::summary(counts, session.faulted_outside(), &session.faults());
    let _ = writeln!(text, "{summary}\n{}", triage_hint(counts));
    for notice in session.notices().into_iter().chain(state.facade().note(&kind.target)) {
        let _ = writeln!(text, "Note: {notice}");
    }
    if state.facade() == Facade::AmdgcnGdb {
        text.push_str(
            "If gdb has warned of an unknown architecture, it does not know amdgcn: start the server without --client.\n",
        );
    }
    text.push_str("`monitor help` lists all commands.\n");
    Style::Plain.folded(&text)
}

/// `, 217 lanes as threads`; empty if threads are waves.
pub(super) fn lanes(threads: &super::threads::Threads) -> String {
    match threads.lanes() {
        0 => String::new(),
        1 => ", 1 lane as a thread".to_owned(),
        lanes => format!(", {lanes} lanes as threads"),
    }
}

/// A thread's name: a wave's is the session's; a lane's has the form of AMD's debugger,
/// `AMDGPU Lane AGENT:QUEUE:DISPATCH:WAVE/LANE (WORK-GROUP)[WORK-ITEM]`.
pub(super) fn name(info: &WaveInfo, thread: Thread, item: Item) -> String {
    let Some(lane) = thread.lane else { return info.name.clone() };
    let known = |id: Option<u32>| id.map_or("?".to_owned(), |id| id.to_string());
    let place =
        |place: Option<[u32; 3]>| place.map_or("?,?,?".to_owned(), |[x, y, z]| format!("{x},{y},{z}"));
    let mark = if info.unconfirmed.is_some() { UNCONFIRMED } else { "" };
    format!(
        "AMDGPU Lane {}:{}:{}:{}/{lane} ({})[{}]{mark}",
        info.agent,
        known(info.queue),
        known(info.dispatch),
        info.id,
        place(info.workgroup),
        place(item.local_id)
    )
}

/// A thread's state in a list of threads: the lane's state, the cause, and the kernel if it is known.
///
/// `mark`: [`lane_mark`] of a thread that is a wave.
pub(super) fn state_of(info: &WaveInfo, item: Item, mark: Option<&str>) -> String {
    let lane = item.state.map(LaneState::words);
    let words = mark.into_iter().chain(lane).chain([info.cause.as_str()]).chain(info.kernel_name.as_deref());
    words.collect::<Vec<_>>().join(", ")
}

/// The mark of an inactive lane in focus, `lane 17: inactive`, for a thread that is a wave: its variables may differ
/// from the source's meaning. `None`: the lane is active, or its state is unknown.
pub(super) fn lane_mark(state: &State, thread: Thread, info: &WaveInfo) -> Option<String> {
    let (wave, exec) = (thread.wave, info.exec?);
    let is_moved = state.moved.contains(&wave);
    // The focus of other waves is on the first lane of EXEC.
    let may_be = is_moved || exec.is_empty() || wave == state.threads.first().wave;
    if thread.lane.is_some() || !may_be {
        return None;
    }
    let lane = state.session.focus(wave);
    // The states of lanes in the debug information cost time for each wave.
    if exec.contains(lane) && !is_moved {
        return None;
    }
    let lanes = state.session.lanes(wave).ok()?;
    let does = lanes.into_iter().find(|info| info.lane == lane)?.state?;
    (does != LaneState::Active).then(|| format!("lane {lane}: {}", does.words()))
}

/// The name of a thread with its kernel and [`lane_mark`], for a client whose list prints only names.
pub(super) fn marked_name(state: &State, thread: Thread, info: &WaveInfo) -> String {
    let name = name(info, thread, state.threads.item(thread));
    let kernel = info.kernel_name.as_deref().map(|kernel| format!(", {}", short_name(kernel)));
    let mark = lane_mark(state, thread, info).map(|mark| format!(" [{mark}]"));
    [Some(name), kernel, mark].into_iter().flatten().collect()
}
