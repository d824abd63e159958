//! The access to memory of a fault.

use super::causes::cause_names;
use super::error::FactError;
use super::facts::Facts;
use super::parts::{self, AccessPart};
use super::{Numbered, obstacle};
use crate::check::causes::is_named;
use crate::check::file::{AccessLine, Lanes, Span};
use crate::check::outcome::Verdict;
use crate::check::similar::similar;
use crate::check::syntax::ADDRESSES;
use crate::isa::Direction;
use crate::notation::lanes::ranges;
use crate::session::{Inspect, MemoryAddress};
use crate::triage::{AddressOf, Cause, Evidence, IndexRule, Pattern, Suspect};
use crate::units::{Address, LaneSet};

/// `access lane 24 x[i] not captured`. `part`: receives the columns of the only part that differs.
pub(super) fn access(
    facts: &Facts<'_>,
    expected: &AccessLine,
    line: &Numbered<'_>,
    part: &mut Option<Span>,
) -> Verdict {
    let triage = facts.triage();
    let Some(suspect) = triage.suspects.first() else { return no_access(facts, line) };
    let Some(session) = facts.subject.sessions.iter().copied().find(|session| session.has_wave(suspect.wave))
    else {
        return obstacle("the wave of the access cannot be read", None);
    };
    let mut wrong = Vec::new();
    match lanes(session, suspect, expected.lanes.as_ref()) {
        Ok(Some(wanted)) if wanted.0 != suspect.lanes.0 => {
            wrong.push((AccessPart::Lanes, lanes_text(suspect)));
        }
        Ok(_) => {}
        Err(why) => return obstacle(why.to_string(), None),
    }
    if let Some(kind) = expected.kind.as_ref().filter(|kind| !is_named(kind, [kind_name(suspect)])) {
        wrong.push((AccessPart::Kind(kind), format!("a {}", kind_name(suspect))));
    }
    if let Some(expression) = &expected.expression {
        let Some(term) = &suspect.term else {
            return obstacle("no variable is known to lead to the address", None);
        };
        let plain = |text: &str| text.replace(' ', "");
        let terms = expressions(suspect);
        if !terms.iter().any(|known| plain(known) == plain(expression)) {
            if let Some(found) = similar(expression, ADDRESSES.iter().copied())
                && expected.state.is_none()
            {
                let problem = format!("`{expression}` is neither the access nor a state of addresses");
                return obstacle(problem, Some(format!("did you mean `{found}`?")));
            }
            wrong.push((AccessPart::Expression(expression), format!("`{}`", term.expression)));
        }
    }
    if let Some(state) = &expected.state {
        let states = states(session, suspect);
        if !is_named(state, states.iter().copied()) {
            if is_unknown(facts, suspect, state) {
                let problem = format!("the dump lacks the memory that decides on `{state}`");
                return obstacle(problem, None);
            }
            let found = states.first().map_or("of no known state".to_owned(), |state| (*state).to_owned());
            wrong.push((AccessPart::State(state), found));
        }
    }
    if let [(only, _)] = wrong.as_slice() {
        *part = parts::of_access(line, only);
    }
    let wrong: Vec<String> = wrong.into_iter().map(|(_, found)| found).collect();
    match wrong.is_empty() {
        true => Verdict::Holds,
        false => line.differs(access_text(session, suspect, expected), wrong.join(", ")),
    }
}

/// States that follow from the address alone, or from the access; the others need the memory around the address, or a
/// variable in it.
const OF_ADDRESS: [&str; 7] =
    ["not captured", "unknown", "null", "misaligned", "non canonical", "poison", "other aperture"];

/// Whether a state that no pattern shows may be the true one: the memory that would show it is missing.
fn is_unknown(facts: &Facts<'_>, suspect: &Suspect, state: &str) -> bool {
    let has_pattern = suspect.patterns.iter().any(|of| of.covers(suspect.lanes));
    let has_map = suspect.evidence.iter().any(|evidence| matches!(evidence, Evidence::Unmapped));
    let has_memory = !facts.subject.dump.capture().global.segments().is_empty();
    !(OF_ADDRESS.contains(&state) || has_pattern || has_map && has_memory)
}

fn no_access(facts: &Facts<'_>, line: &Numbered<'_>) -> Verdict {
    let triage = facts.triage();
    // A wave whose fault is unknown may have the access.
    let is_known = facts.faulted().next().is_some();
    if let Some(why) = facts.unknown_faults().filter(|_| !is_known) {
        return obstacle(format!("whether a wave faulted is unknown: {why}"), None);
    }
    match (&triage.cause, triage.missing.first()) {
        (Some(Cause::Memory), Some(missing)) => {
            obstacle(format!("no access is known; missing: {missing}"), None)
        }
        (Some(Cause::Memory), None) => obstacle("no access is known", None),
        (Some(cause), _) => {
            let name = cause_names(cause).first().copied().unwrap_or_default();
            line.differs(None, format!("no access: the cause is {name}"))
        }
        (None, missing) if is_known => {
            let missing = missing.map_or_else(String::new, |missing| format!("; missing: {missing}"));
            obstacle(format!("no access is known{missing}"), None)
        }
        (None, _) => line.differs(None, "no access: no wave faulted".to_owned()),
    }
}

fn lanes(
    session: &dyn Inspect,
    suspect: &Suspect,
    expected: Option<&Lanes>,
) -> Result<Option<LaneSet>, FactError> {
    let Some(expected) = expected else { return Ok(None) };
    super::lanes::of(session, suspect.wave, 0, expected).map(Some)
}

fn lanes_text(suspect: &Suspect) -> String {
    match suspect.lanes.count() {
        0 => "a scalar access".to_owned(),
        1 => format!("lane {}", ranges(suspect.lanes)),
        _ => format!("lanes {}", ranges(suspect.lanes)),
    }
}

fn kind_name(suspect: &Suspect) -> &'static str {
    match suspect.access.direction {
        Direction::Load => "load",
        Direction::Store => "store",
        Direction::Atomic { .. } => "atomic",
    }
}

/// The expressions of the access, by the source and by its number.
fn expressions(suspect: &Suspect) -> Vec<String> {
    let Some(term) = &suspect.term else { return Vec::new() };
    let pointer = &term.pointer.name;
    let mut all = vec![term.expression.clone()];
    all.extend(term.equal.iter().map(|index| format!("{pointer}[{}]", index.name)));
    if let IndexRule::Constant(index) | IndexRule::Scalar(index) = term.index {
        all.push(format!("{pointer}[{index}]"));
    }
    all.extend(term.alternatives.iter().cloned());
    all
}

/// The states and patterns of a suspect's addresses, the preferred one first; patterns of some lanes are the last.
fn states(session: &dyn Inspect, suspect: &Suspect) -> Vec<&'static str> {
    let (whole, partial): (Vec<_>, Vec<_>) = suspect.patterns.iter().partition(|of| of.covers(suspect.lanes));
    let mut states: Vec<&'static str> = whole.iter().map(|of| pattern_name(&of.pattern)).collect();
    let evidence = suspect.evidence.iter().find_map(|evidence| match evidence {
        Evidence::Unmapped | Evidence::NotCaptured => Some("not captured"),
        Evidence::Null => Some("null"),
        Evidence::Misaligned => Some("misaligned"),
        _ => None,
    });
    states.extend(evidence);
    states.extend(suspect.unknown.as_ref().map(|_| "unknown"));
    let is_missing = |of: &AddressOf| {
        let place = MemoryAddress {
            space: of.space,
            address: Address(of.address),
            wave: Some(suspect.wave),
            lane: of.lane,
        };
        session.read(place, &mut [0]).is_err()
    };
    if !suspect.addresses.is_empty() && suspect.addresses.iter().all(is_missing) {
        states.push("not captured");
    }
    states.extend(partial.iter().map(|of| pattern_name(&of.pattern)));
    states
}

fn pattern_name(pattern: &Pattern) -> &'static str {
    match pattern {
        Pattern::Null { .. } => "null",
        Pattern::NonCanonical => "non canonical",
        Pattern::Wrapped32 { .. } => "overflow 32",
        Pattern::NegativeIndex { .. } => "negative index",
        Pattern::Poison { .. } => "poison",
        Pattern::OtherAperture { .. } => "other aperture",
        Pattern::HostPointer { .. } => "host pointer",
        Pattern::FlippedBit { .. } => "flipped bit",
        Pattern::PastEnd(_) => "past end",
        Pattern::BeforeStart(_) => "before start",
        Pattern::BadPointer(_) => "bad pointer",
        Pattern::Straddles(_) => "straddles",
        Pattern::Misaligned { .. } => "misaligned",
        Pattern::ReadOnly => "read only",
        Pattern::Freed => "freed",
        Pattern::LargeIndex { .. } => "large index",
    }
}

/// The access in the notation of the line, with the parts that the line has.
fn access_text(session: &dyn Inspect, suspect: &Suspect, expected: &AccessLine) -> Option<String> {
    let mut parts = Vec::new();
    if expected.lanes.is_some() {
        let lanes = crate::notation::list(suspect.lanes.iter().map(|lane| lane.0));
        parts.push(format!("lane {}", Some(lanes).filter(|lanes| !lanes.is_empty())?.replace(", ", ",")));
    }
    if expected.kind.is_some() {
        parts.push(kind_name(suspect).to_owned());
    }
    if expected.expression.is_some() {
        parts.push(suspect.term.as_ref()?.expression.clone());
    }
    if expected.state.is_some() {
        parts.push((*states(session, suspect).first()?).to_owned());
    }
    Some(parts.join(" "))
}
