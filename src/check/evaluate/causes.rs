//! Causes of stops, and hangs.

use std::collections::HashMap;

use super::facts::{Facts, Needed, Wave};
use super::places::Fit;
use super::{Numbered, obstacle};
use crate::check::causes::{
    ARITHMETIC, ASSERTION, BAD_PC, BREAKPOINT, BYSTANDER, ECC, HANG, ILLEGAL, MEMORY, QUEUE, RUNNING, TRAP,
    UnknownName, is_named, names, unknown_name,
};
use crate::check::compare::{bounds_fit, kept};
use crate::check::file::{Comparator, HangLine};
use crate::check::outcome::Verdict;
use crate::session::WaveInfo;
use crate::signature::{Crashes, Signature, SignatureLevel, VERSION};
use crate::triage::{Cause, MissingData, Triage, WaveState};

/// The names of a cause.
pub(super) fn cause_names(cause: &Cause) -> &'static [&'static str] {
    match cause {
        Cause::Memory => MEMORY,
        Cause::BadPc { .. } => BAD_PC,
        Cause::Assertion(_) => ASSERTION,
        Cause::Trap { .. } => TRAP,
        Cause::IllegalInstruction { .. } => ILLEGAL,
        Cause::Arithmetic(_) => ARITHMETIC,
        Cause::Ecc => ECC,
        Cause::Bystander { .. } => BYSTANDER,
        Cause::Queue(_) => QUEUE,
        Cause::Breakpoint { .. } => BREAKPOINT,
        Cause::Hang => HANG,
    }
}

/// The names of a stop reason of the wave's target; of all of them without a name.
pub(super) fn reason_names<'k>(info: &'k WaveInfo, of: &str) -> Vec<&'k str> {
    let reasons = info.kind.target.stop_reasons.iter();
    reasons.filter(|reason| of.is_empty() || reason.name == of).flat_map(names).collect()
}

/// Whether a wave stopped for a reason of that name; `None`: its reasons are unknown.
pub(super) fn stopped_for(info: &WaveInfo, expected: &str) -> Option<bool> {
    let reasons = info.stop.as_ref()?;
    Some(reasons.iter().any(|reason| is_named(expected, reason_names(info, reason))))
}

/// The stop reason of a wave that decides its cause, in the notation of the file.
pub(super) fn stop_text(wave: &Wave<'_>) -> Option<String> {
    wave.info.stop.as_ref()?;
    let Some(main) = wave.info.main_stop() else { return Some(RUNNING.to_owned()) };
    // The words without their explanation in brackets.
    Some((*reason_names(&wave.info, main).last()?).to_owned())
}

/// The first name of a `fault` or `stop` line without a meaning for the dump's target.
pub(super) fn unknown(facts: &Facts<'_>, line: &Numbered<'_>) -> Option<UnknownName> {
    let reasons = facts.waves.first().map(|wave| reason_names(&wave.info, "")).unwrap_or_default();
    unknown_name(line.line, &reasons)
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
    let hang = facts.triage().hang.as_ref()?;
    hang.waves.iter().find(|one| one.wave == wave.id()).map(|one| one.state)
}

/// Whether a wave is in a state of the analysis of hangs.
pub(super) fn state(facts: &Facts<'_>, wave: &Wave<'_>, expected: &str) -> Fit {
    let expected = state_named(expected);
    // Needs no analysis.
    if expected == Some(WaveState::Faulted) {
        return known(wave.info.has_faulted());
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
    let absent = facts.absent(Needed::States);
    let Some(hang) = &facts.triage().hang else {
        return obstacle(absent.unwrap_or_else(|| "the dump has no waves".to_owned()), None);
    };
    let in_state = |state: WaveState| -> usize {
        let counts = hang.counts.iter().filter(|(_, of, _)| *of == state);
        counts.map(|(.., count)| count).sum()
    };
    let unknown = in_state(WaveState::Unknown);
    let why = absent.clone().or_else(|| no_states(unknown)).or_else(|| undecided(facts.triage()));
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
                // The parser has the same names.
                return obstacle(format!("unknown state `{name}`"), None);
            };
            // A wave that a small dump leaves out has the stop reasons of the one that stands for it.
            let (absent, unlike) = match state {
                WaveState::Faulted => (facts.absent(Needed::Numbers), HashMap::new()),
                _ => (absent, facts.unlike()),
            };
            let why = absent.clone().or_else(|| no_states(unknown));
            let of_state = hang.waves.iter().filter(|wave| wave.state == state);
            let unsure: usize = of_state.filter_map(|wave| unlike.get(&wave.wave)).sum();
            let count = in_state(state).saturating_sub(unsure) as u64;
            // Waves of unknown states, and absent waves, may be in this one.
            let unknown = if state == WaveState::Unknown { 0 } else { unknown as u64 };
            let bounds = (count, absent.is_none().then_some(count.saturating_add(unknown)));
            return match (bounds_fit(*comparator, bounds, *number), why) {
                (Some(true), _) => Verdict::Holds,
                (None, Some(why)) => obstacle(why, None),
                (_, why) => {
                    let right = kept(*comparator, count).filter(|_| why.is_none());
                    let got = right.map(|(comparator, number)| match comparator {
                        Comparator::Equal => format!("{name} {number}"),
                        other => format!("{name} {} {number}", other.sign()),
                    });
                    line.differs(got, format!("{name} {count}"))
                }
            };
        }
    };
    // A hang that is found decides; one that is not found may be of unknown waves.
    match (fits, expected, why) {
        (true, HangLine::None, Some(why)) => obstacle(why, None),
        (true, ..) => Verdict::Holds,
        (false, HangLine::Hang | HangLine::Deadlock, Some(why)) => obstacle(why, None),
        (false, ..) => line.differs(Some(got.to_owned()), found.to_owned()),
    }
}

/// The reason that waves that spin may be a hang or none; `None`: they decide.
fn undecided(found: &Triage) -> Option<String> {
    let is_open =
        |one: &&MissingData| matches!(one, MissingData::Dispatch { .. } | MissingData::DispatchWaves { .. });
    found.missing.iter().find(is_open).map(ToString::to_string)
}

/// The reason that states are unknown; `None`: of no wave.
fn no_states(waves: usize) -> Option<String> {
    let what = match waves {
        0 => return None,
        1 => "the state of 1 wave is unknown: its code".to_owned(),
        waves => format!("the states of {waves} waves are unknown: their code"),
    };
    Some(format!("{what} cannot be decoded"))
}

/// `signature ls1:3f9c2a71d0b4`, of any level.
pub(super) fn signature(facts: &Facts<'_>, expected: &str, line: &Numbered<'_>) -> Verdict {
    let version = expected.split(':').next().unwrap_or_default();
    if version != VERSION {
        return obstacle(
            format!("a signature of the rules {version}, expected {VERSION}"),
            Some(
                "write the signature that `lanescope signature` prints, or use the lanescope that printed this one"
                    .to_owned(),
            ),
        );
    }
    let subject = facts.subject;
    let crashes = Crashes::of(&subject.dump, &subject.sessions, &subject.rules);
    let has = |found: &[Signature]| found.iter().any(|one| one.id == expected);
    if SignatureLevel::ALL.iter().any(|level| has(&crashes.signatures(*level))) {
        return Verdict::Holds;
    }
    // A wave that is unknown may have the signature, and one whose code is not decoded. Without a fault the signature
    // is that of a hang, which all waves decide.
    let absent = facts.absent(Needed::States).filter(|_| facts.faulted().next().is_none());
    let unknown = absent.or_else(|| facts.unknown_faults());
    if let Some(why) = unknown.or_else(|| crashes.undecoded()).or_else(|| crashes.left_out()) {
        return obstacle(why, None);
    }
    match crashes.signatures(SignatureLevel::default()).first() {
        Some(first) => line.differs(Some(first.id.clone()), format!("{} {}", first.id, first.text)),
        None => line.differs(None, "no signature: no wave faulted, and no hang is visible".to_owned()),
    }
}
