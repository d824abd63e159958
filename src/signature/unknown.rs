//! Waves whose faults are unknown: absent from a dump, or without a stop reason.

use crate::session::{Dump, Inspect};
use crate::triage::no_stop_reasons;
use crate::units::WaveId;

/// Maximum number of reasons.
const MAX_REASONS: usize = 16;

/// The reasons for waves whose faults are unknown; empty: the faults of all waves are known. `sessions`: one for each
/// kind of waves of the dump.
#[must_use]
pub fn unknown_waves(dump: &Dump, sessions: &[&dyn Inspect]) -> Vec<String> {
    let mut reasons = dump.absent_waves();
    // Without a fault the signature is that of a hang, which all waves decide.
    if dump.faulted() == 0 {
        reasons.extend(dump.absent_running_waves().iter().cloned());
    }
    if reasons.len() > MAX_REASONS {
        let more = reasons.split_off(MAX_REASONS - 1).len();
        reasons.push(format!("{more} further reasons"));
    }
    let is_unknown = |session: &dyn Inspect, wave: WaveId| {
        session.wave(wave).ok().and_then(|info| info.has_faulted()).is_none()
    };
    let unknown = sessions
        .iter()
        .copied()
        .map(|session| session.waves().iter().filter(|wave| is_unknown(session, **wave)).count());
    reasons.extend(no_stop_reasons(unknown.sum()));
    reasons
}
