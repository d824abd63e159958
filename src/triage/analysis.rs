//! The analysis: waves by their stops, suspected accesses, other causes, hangs.

use super::listings::{Listings, MAX_LISTED};
use super::survey::Survey;
use super::{Missing, Triage};
use crate::session::Inspect;
use crate::units::WaveId;

/// A question about a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The only wave to analyse. `None`: all waves.
    pub wave: Option<WaveId>,
    /// Whether the states of waves and work-groups are wanted, also after a fault.
    pub wants_hang: bool,
}

/// Finds the cause of a crash or hang. `sessions`: one for each kind of wave of a dump.
#[must_use]
pub fn triage(sessions: &[&dyn Inspect], question: &Question) -> Triage {
    let faults = sessions.first().map(|session| session.faults()).unwrap_or_default();
    let survey = Survey::of(sessions, question.wave);
    let stops = survey.stops();
    let mut code = Listings::default();
    let mut found = Triage { faults, waves: stops, ..Triage::default() };
    let stopped = survey.stopped();
    let places: Vec<_> = stopped.iter().filter_map(|group| group.code()).take(MAX_LISTED).collect();
    code.prepare(&places);
    for place in &places {
        match code.around(*place) {
            Some(Ok(listing)) if listing.holding(place.address).is_none() => {
                found.missing.push(Missing::Code(place.address));
            }
            Some(Err(error)) => found.missing.push(Missing::Instructions(error.to_string())),
            _ => {}
        }
    }
    found.missing.dedup();
    found
}
