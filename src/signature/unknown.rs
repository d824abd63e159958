//! Waves whose faults are unknown: absent from a dump, or without a stop reason.

use crate::notation::plural;
use crate::session::{Dump, Inspect};
use crate::triage::has_faulted;
use crate::units::WaveId;

/// Maximum number of reasons.
const MAX_REASONS: usize = 16;

/// The reasons for waves whose faults are unknown; empty: the faults of all waves are known. `sessions`: one for each
/// kind of waves of the dump.
#[must_use]
pub fn unknown_waves(dump: &Dump, sessions: &[&dyn Inspect]) -> Vec<String> {
    let mut reasons = dump.absent_waves();
    if reasons.len() > MAX_REASONS {
        let more = reasons.split_off(MAX_REASONS - 1).len();
        reasons.push(format!("{more} further reasons"));
    }
    let is_unknown = |session: &dyn Inspect, wave: WaveId| {
        session.wave(wave).ok().and_then(|info| has_faulted(&info)).is_none()
    };
    let unknown = sessions
        .iter()
        .copied()
        .map(|session| session.waves().iter().filter(|wave| is_unknown(session, **wave)).count());
    reasons.extend(no_stop_reasons(unknown.sum()));
    reasons
}

/// `the stop reasons of 2 waves were not captured`; `None`: of no wave.
pub(crate) fn no_stop_reasons(waves: usize) -> Option<String> {
    let (reasons, noun, verb) =
        (plural(waves, "reason", "reasons"), plural(waves, "wave", "waves"), plural(waves, "was", "were"));
    (waves > 0).then(|| format!("the stop {reasons} of {waves} {noun} {verb} not captured"))
}
