//! The few sentences that only a debugger's user reads; everything else is said by `report`.

use std::fmt::Write as _;

use super::threads::{Item, Thread, Threads};
use crate::session::{Inspect, LaneState, UNCONFIRMED, WaveInfo};

/// What was attached to, for a client that can show text on attaching.
pub(super) fn greeting(session: &dyn Inspect, threads: &Threads) -> String {
    let kind = session.kind();
    let waves = session.waves().len();
    let plural = if waves == 1 { "wave" } else { "waves" };
    let mut text = format!(
        "Captured state {}: {waves} {plural} of {} ({}){}.\n",
        session.name(),
        kind.target.name,
        kind.wave_size,
        lanes(threads)
    );
    let first = threads.first();
    if let (Ok(info), Some(number)) = (session.wave(first.wave), threads.find(first)) {
        let item = threads.item(first);
        let (name, state) = (name(&info, first, item), state_of(&info, item));
        let _ = writeln!(text, "Thread {number} ({name}): {state}.");
    }
    for notice in session.notices() {
        let _ = writeln!(text, "Note: {notice}");
    }
    text.push_str("`monitor help` lists what else can be asked.\n");
    text
}

/// `, 217 lanes as threads`; nothing where threads are waves.
pub(super) fn lanes(threads: &Threads) -> String {
    match threads.lanes() {
        0 => String::new(),
        1 => ", 1 lane as a thread".to_owned(),
        lanes => format!(", {lanes} lanes as threads"),
    }
}

/// A thread's name: a wave's is the session's; a lane's is in the form that AMD's debugger has for it, `AMDGPU Lane
/// AGENT:QUEUE:DISPATCH:WAVE/LANE (WORK-GROUP)[WORK-ITEM]`.
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

/// A thread's state in a list of threads: what the lane does, the cause, and the kernel where it is known.
pub(super) fn state_of(info: &WaveInfo, item: Item) -> String {
    let lane = item.state.map(LaneState::words);
    let words = lane.into_iter().chain([info.cause.as_str()]).chain(info.kernel.as_deref());
    words.collect::<Vec<_>>().join(", ")
}
