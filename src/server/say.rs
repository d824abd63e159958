//! The few sentences that only a debugger's user reads; everything else is said by `report`.

use std::fmt::Write as _;

use crate::session::{Inspect, WaveInfo};

/// What was attached to, for a client that can show text on attaching.
pub(super) fn greeting(session: &dyn Inspect) -> String {
    let kind = session.kind();
    let waves = session.waves().len();
    let plural = if waves == 1 { "wave" } else { "waves" };
    let mut text = format!(
        "Captured state {}: {waves} {plural} of {} ({}).\n",
        session.name(),
        kind.target.name,
        kind.wave_size
    );
    if let Ok(info) = session.wave(session.first_wave()) {
        let _ = writeln!(text, "Thread {} ({}): {}.", info.wave.0 + 1, info.name, state_of(&info));
    }
    for notice in session.notices() {
        let _ = writeln!(text, "Note: {notice}");
    }
    text.push_str("`monitor help` lists what else can be asked.\n");
    text
}

/// A wave's state in a list of threads: the cause, and the kernel where it is known.
pub(super) fn state_of(info: &WaveInfo) -> String {
    match &info.kernel {
        Some(kernel) => format!("{}, {kernel}", info.cause),
        None => info.cause.clone(),
    }
}
