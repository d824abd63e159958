//! Causes of stops, accesses to memory and hangs.

use super::facts::{Facts, Wave};
use super::names::similar_names;
use super::places::Fit;
use super::{Numbered, obstacle};
use crate::check::compare::ordering_fits;
use crate::check::file::{AccessLine, Comparator, FaultLine, HangLine, Lanes};
use crate::check::outcome::Verdict;
use crate::check::similar::folded;
use crate::isa::Direction;
use crate::notation::lanes::ranges;
use crate::session::{Inspect, MemoryAddress, WaveInfo};
use crate::triage::{Cause, Evidence, Pattern, Suspect, Triage, WaveState, has_faulted};
use crate::units::{Address, LaneSet};

/// The state of a wave without a stop reason.
const RUNNING: &str = "running";

/// The names of a cause, the preferred one first.
fn cause_names(cause: &Cause) -> &'static [&'static str] {
    match cause {
        Cause::Memory => &["memory violation", "memory"],
        Cause::BadPc { .. } => &["bad pc"],
        Cause::Assertion(_) => &["assertion", "assertion failed"],
        Cause::Trap { .. } => &["trap"],
        Cause::IllegalInstruction { .. } => &["illegal instruction"],
        Cause::Arithmetic(_) => &["arithmetic", "arithmetic exception"],
        Cause::Ecc => &["ecc", "ecc error"],
        Cause::Bystander { .. } => &["bystander"],
        Cause::Queue(_) => &["queue", "queue error"],
        Cause::Breakpoint => &["breakpoint"],
        Cause::Hang => &["hang"],
    }
}

/// The names of all causes.
const CAUSES: &[&str] = &[
    "memory violation",
    "memory",
    "bad pc",
    "assertion",
    "assertion failed",
    "trap",
    "illegal instruction",
    "arithmetic",
    "arithmetic exception",
    "ecc",
    "ecc error",
    "bystander",
    "queue",
    "queue error",
    "breakpoint",
    "hang",
];

/// The name of a stop reason and its words, of the wave's target, each with the words before a bracket.
fn reason_names<'k>(info: &'k WaveInfo, of: &str) -> Vec<&'k str> {
    let reasons = &info.kind.target.stop_reasons;
    let mut names = Vec::new();
    for reason in reasons.iter().filter(|reason| of.is_empty() || reason.name == of) {
        names.extend([&*reason.name, &*reason.words]);
        names.extend(reason.words.split_once(" (").map(|(words, _)| words));
    }
    names
}

fn is_named<'k>(expected: &str, names: impl IntoIterator<Item = &'k str>) -> bool {
    let expected = folded(expected);
    names.into_iter().any(|name| folded(name) == expected)
}

/// Whether a wave stopped for a reason of that name; `None`: its reasons are unknown.
fn stopped_for(info: &WaveInfo, expected: &str) -> Option<bool> {
    let reasons = info.stop.as_ref()?;
    Some(reasons.iter().any(|reason| is_named(expected, reason_names(info, reason))))
}

/// The reasons of a wave's stop in the notation of the file.
pub(super) fn stop_text(wave: &Wave<'_>) -> Option<String> {
    let reasons = wave.info.stop.as_ref()?;
    let first = match reasons.first() {
        None => RUNNING.to_owned(),
        Some(reason) => reason.replace('_', " "),
    };
    Some(first)
}

/// `fault memory violation`
pub(super) fn fault(facts: &Facts<'_>, expected: &FaultLine, line: &Numbered<'_>) -> Verdict {
    let faulted: Vec<&Wave<'_>> = facts.faulted().filter_map(|index| facts.waves.get(index)).collect();
    let is_reported = !facts.subject.faults.is_empty();
    let unknown = facts.unknown_stops();
    let of_unknown = || obstacle(format!("the stop reasons of {unknown} waves were not captured"), None);
    let FaultLine::Cause(name) = expected else {
        return match (faulted.is_empty() && !is_reported, unknown) {
            (true, 0) => Verdict::Holds,
            (true, _) => of_unknown(),
            (false, _) => got_cause(facts, &faulted, line),
        };
    };
    if !faulted.is_empty() && faulted.iter().all(|wave| stopped_for(&wave.info, name) == Some(true)) {
        return Verdict::Holds;
    }
    let known: Vec<&str> = facts.waves.first().map(|wave| reason_names(&wave.info, "")).unwrap_or_default();
    if !is_named(name, CAUSES.iter().copied().chain(known.iter().copied())) {
        let names = known.iter().chain(CAUSES).map(|name| (*name).to_owned());
        return obstacle(format!("unknown cause `{name}`"), similar_names(name, names));
    }
    let triage = facts.triage();
    if triage.cause.as_ref().is_some_and(|cause| is_named(name, cause_names(cause).iter().copied())) {
        return Verdict::Holds;
    }
    if faulted.is_empty() && !is_reported && triage.cause.is_none() {
        return match unknown {
            0 => {
                line.differs(Some("none".to_owned()), "no wave faulted, and no fault is reported".to_owned())
            }
            _ => of_unknown(),
        };
    }
    got_cause(facts, &faulted, line)
}

/// The difference between the expected cause and the dump's.
fn got_cause(facts: &Facts<'_>, faulted: &[&Wave<'_>], line: &Numbered<'_>) -> Verdict {
    let texts: Vec<Option<String>> = faulted.iter().map(|wave| stop_text(wave)).collect();
    let shared = texts
        .first()
        .cloned()
        .flatten()
        .filter(|first| texts.iter().all(|text| text.as_ref() == Some(first)));
    let cause = || {
        facts
            .triage()
            .cause
            .as_ref()
            .and_then(|cause| cause_names(cause).first().map(|name| (*name).to_owned()))
    };
    let got = shared.or_else(cause);
    let found = got.clone().unwrap_or_else(|| "a reported fault of another kind".to_owned());
    line.differs(got, found)
}

/// The reason that a name is no stop reason; `None`: it is one.
pub(super) fn unknown_stop(facts: &Facts<'_>, expected: &str) -> Option<Verdict> {
    let reasons = facts.waves.first().map(|wave| reason_names(&wave.info, "")).unwrap_or_default();
    if is_named(expected, reasons.iter().copied().chain([RUNNING])) {
        return None;
    }
    let hint = similar_names(expected, reasons.into_iter().map(str::to_owned));
    Some(obstacle(format!("unknown stop reason `{expected}`"), hint))
}

/// Whether a wave stopped for a reason; `running`: for none.
pub(super) fn stop(wave: &Wave<'_>, expected: &str) -> Fit {
    let fits = match is_named(expected, [RUNNING]) {
        true => wave.info.stop.as_ref().map(Vec::is_empty),
        false => stopped_for(&wave.info, expected),
    };
    known(fits)
}

fn known(fits: Option<bool>) -> Fit {
    match fits {
        Some(true) => Fit::Holds,
        Some(false) => Fit::Differs,
        None => Fit::Unknown("the stop reason was not captured".to_owned()),
    }
}

const STATES: &[WaveState] = &[
    WaveState::AtBarrier,
    WaveState::Spinning,
    WaveState::WaitingMemory,
    WaveState::Sleeping,
    WaveState::Halted,
    WaveState::Faulted,
    WaveState::Ended,
    WaveState::Running,
    WaveState::Unknown,
];

fn state_named(name: &str) -> Option<WaveState> {
    STATES.iter().copied().find(|state| is_named(name, [state.name()]))
}

fn state_of(facts: &Facts<'_>, wave: &Wave<'_>) -> Option<WaveState> {
    let hang = facts.hang().hang.as_ref()?;
    hang.waves.iter().find(|one| one.wave == wave.id()).map(|one| one.state)
}

/// The reason that a name is no state; `None`: it is one.
pub(super) fn unknown_state(expected: &str) -> Option<Verdict> {
    if state_named(expected).is_some() {
        return None;
    }
    let hint = similar_names(expected, STATES.iter().map(|state| state.name().replace('-', " ")));
    Some(obstacle(format!("unknown state `{expected}`"), hint))
}

/// Whether a wave is in a state of the analysis of hangs.
pub(super) fn state(facts: &Facts<'_>, wave: &Wave<'_>, expected: &str) -> Fit {
    let expected = state_named(expected);
    // Needs no analysis.
    if expected == Some(WaveState::Faulted) {
        return known(has_faulted(&wave.info));
    }
    match state_of(facts, wave) {
        Some(own) if Some(own) == expected => Fit::Holds,
        Some(WaveState::Unknown) | None => {
            Fit::Unknown("the state is unknown: the code at the PC cannot be decoded".to_owned())
        }
        Some(_) => Fit::Differs,
    }
}

/// The state of a wave in the notation of the file.
pub(super) fn state_text(facts: &Facts<'_>, wave: &Wave<'_>) -> Option<String> {
    state_of(facts, wave).map(|state| state.name().replace('-', " "))
}

/// `hang none`, `hang deadlock`, `hang spinning 3`
pub(super) fn hang(facts: &Facts<'_>, expected: &HangLine, line: &Numbered<'_>) -> Verdict {
    let Some(hang) = &facts.hang().hang else { return obstacle("the dump has no waves", None) };
    let unknown = hang.waves.iter().filter(|wave| wave.state == WaveState::Unknown).count();
    let of_unknown =
        || obstacle(format!("the states of {unknown} waves are unknown: their code cannot be decoded"), None);
    let (got, found) = match (hang.is_hang, hang.is_deadlock) {
        (_, true) => ("deadlock", "a deadlock"),
        (true, false) => ("", "a hang"),
        (false, false) => ("none", "no hang"),
    };
    let fits = match expected {
        HangLine::None => !hang.is_hang && !hang.is_deadlock,
        HangLine::Hang => hang.is_hang || hang.is_deadlock,
        HangLine::Deadlock => hang.is_deadlock,
        HangLine::State(name, comparator, number) => {
            let Some(state) = state_named(name) else {
                return unknown_state(name).unwrap_or(Verdict::Holds);
            };
            let count = hang.waves.iter().filter(|wave| wave.state == state).count() as u64;
            // Waves of unknown states may be in this one.
            let fits = |count: u64| ordering_fits(*comparator, count.cmp(number));
            return match (fits(count), fits(count.saturating_add(unknown as u64))) {
                (true, true) => Verdict::Holds,
                (false, false) if unknown == 0 || *comparator != Comparator::Equal => {
                    line.differs(Some(format!("{name} {count}")), format!("{name} {count}"))
                }
                _ => of_unknown(),
            };
        }
    };
    match fits {
        true if unknown > 0 && matches!(expected, HangLine::None) => of_unknown(),
        true => Verdict::Holds,
        false if unknown > 0 && !matches!(expected, HangLine::None) => of_unknown(),
        false => line.differs(Some(got.to_owned()), found.to_owned()),
    }
}

/// `signature ls1:3f9c2a71`
pub(super) fn signature(_facts: &Facts<'_>, _expected: &str) -> Verdict {
    obstacle("signatures are not evaluated", None)
}

/// `access lane 24 x[i] not captured`
pub(super) fn access(facts: &Facts<'_>, expected: &AccessLine, line: &Numbered<'_>) -> Verdict {
    let triage = facts.triage();
    let Some(suspect) = triage.suspects.first() else { return no_access(triage, line) };
    let Some(session) = facts.subject.sessions.iter().copied().find(|session| session.has_wave(suspect.wave))
    else {
        return obstacle("the wave of the access cannot be read", None);
    };
    let mut wrong = Vec::new();
    match lanes(session, suspect, expected.lanes.as_ref()) {
        Ok(Some(wanted)) if wanted.0 != suspect.lanes.0 => wrong.push(lanes_text(suspect)),
        Ok(_) => {}
        Err(why) => return obstacle(why, None),
    }
    if expected.kind.as_ref().is_some_and(|kind| !is_named(kind, [kind_name(suspect)])) {
        wrong.push(format!("a {}", kind_name(suspect)));
    }
    if let Some(expression) = &expected.expression {
        let Some(term) = &suspect.term else {
            return obstacle("no variable is known to lead to the address", None);
        };
        let plain = |text: &str| text.replace(' ', "");
        let terms = expressions(suspect);
        if !terms.iter().any(|known| plain(known) == plain(expression)) {
            wrong.push(format!("`{}`", term.expression));
        }
    }
    if let Some(state) = &expected.state {
        let states = states(session, suspect);
        if !is_named(state, states.iter().copied()) {
            wrong.push(states.first().map_or("of no known state".to_owned(), |state| (*state).to_owned()));
        }
    }
    match wrong.is_empty() {
        true => Verdict::Holds,
        false => line.differs(access_text(session, suspect, expected), wrong.join(", ")),
    }
}

fn no_access(triage: &Triage, line: &Numbered<'_>) -> Verdict {
    match (&triage.cause, triage.missing.first()) {
        (Some(Cause::Memory), Some(missing)) => {
            obstacle(format!("no access is known; missing: {missing}"), None)
        }
        (Some(Cause::Memory), None) => obstacle("no access is known", None),
        (Some(cause), _) => {
            let name = cause_names(cause).first().copied().unwrap_or_default();
            line.differs(None, format!("no access: the cause is {name}"))
        }
        (None, _) => line.differs(None, "no access: no wave faulted".to_owned()),
    }
}

fn lanes(
    session: &dyn Inspect,
    suspect: &Suspect,
    expected: Option<&Lanes>,
) -> Result<Option<LaneSet>, String> {
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
    if let crate::triage::IndexRule::Constant(index) | crate::triage::IndexRule::Scalar(index) = term.index {
        all.push(format!("{pointer}[{index}]"));
    }
    all.extend(term.alternatives.iter().cloned());
    all
}

/// The states and patterns of a suspect's addresses, the preferred one first.
fn states(session: &dyn Inspect, suspect: &Suspect) -> Vec<&'static str> {
    let mut states: Vec<&'static str> = suspect.patterns.iter().map(|of| pattern_name(&of.pattern)).collect();
    let evidence = suspect.evidence.iter().find_map(|evidence| match evidence {
        Evidence::Unmapped | Evidence::NotCaptured => Some("not captured"),
        Evidence::Null => Some("null"),
        Evidence::Misaligned => Some("misaligned"),
        _ => None,
    });
    states.extend(evidence);
    states.extend(suspect.unknown.as_ref().map(|_| "unknown"));
    let is_missing = |of: &crate::triage::AddressOf| {
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
        Pattern::HostPointer => "host pointer",
        Pattern::FlippedBit { .. } => "flipped bit",
        Pattern::PastEnd(_) => "past end",
        Pattern::BeforeStart(_) => "before start",
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
