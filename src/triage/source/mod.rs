//! Suspected accesses in terms of the program: patterns of their addresses, and the expression of the source.

mod expression;
mod fit;
mod indexes;
mod line;
mod readings;
mod rule;
mod score;
mod slots;
mod term;
#[cfg(test)]
mod tests;

pub(super) use line::Line;
pub(super) use term::Found;
#[cfg(test)]
pub(super) use term::{FoundTerm, TermLane};

use super::accessed::Accessed;
use super::{Suspect, patterns};
use crate::capture::Fault;
use crate::session::Inspect;

/// Fills the patterns and the term of a suspect. Its wave is served by the session.
///
/// The work is that of one question: its variables come from at most [`MAX_PARTS`](crate::session::print::MAX_PARTS)
/// parts, and each lane asks a bounded number of regions.
pub fn describe(session: &dyn Inspect, faults: &[Fault], suspect: &mut Suspect) {
    // Both are those of an address.
    if suspect.addresses.is_empty() {
        return;
    }
    session.next_question();
    let accessed = Accessed::new(session, faults, suspect);
    let found = term::find(&accessed);
    let patterns = patterns::of(&accessed, &found);
    suspect.patterns = patterns;
    suspect.term = found.term.map(|found| found.term);
}
