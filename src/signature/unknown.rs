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
    let unknown = |session: &dyn Inspect, wave: WaveId| match session.wave(wave) {
        Ok(info) if info.has_faulted().is_some() => 0,
        Ok(info) => info.count(),
        Err(_) => 1,
    };
    let count =
        |session: &dyn Inspect| -> usize { session.waves().iter().map(|wave| unknown(session, *wave)).sum() };
    reasons.extend(no_stop_reasons(sessions.iter().map(|session| count(*session)).sum()));
    reasons
}
