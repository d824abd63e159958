//! `fault`: the causes of the waves that faulted.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::causes::{cause_names, stop_text, stopped_for, unknown};
use super::facts::{Facts, Wave};
use super::{Numbered, obstacle};
use crate::capture::Fault;
use crate::check::causes::is_named;
use crate::check::file::{FaultLine, Span};
use crate::check::outcome::Verdict;
use crate::triage::{self, Question};
use crate::units::WaveId;

/// Maximum number of groups of waves whose causes are analysed one by one.
const MAX_GROUPS: usize = 64;
/// The stop of a wave that an error halted without a reason.
const FATAL: &str = "fatal halt";

/// Waves that faulted at one PC for the same reasons.
struct Group<'f, 'a> {
    first: &'f Wave<'a>,
    waves: Vec<WaveId>,
    /// Their number, with those that the dump leaves out.
    count: usize,
}

/// `fault memory violation`, `fault trap, ecc`: each wave that faulted has one of the causes, and each cause is that of a
/// wave or of the dump. `part`: receives the columns of an unknown name.
pub(super) fn fault(
    facts: &Facts<'_>,
    expected: &FaultLine,
    line: &Numbered<'_>,
    part: &mut Option<Span>,
) -> Verdict {
    let groups = groups(facts);
    let is_reported = facts.subject.dump.capture().faults.iter().any(Fault::is_of_waves);
    let FaultLine::Causes(names) = expected else {
        return match (groups.is_empty() && !is_reported, facts.unknown_faults()) {
            (true, None) => Verdict::Holds,
            (true, Some(why)) => obstacle(why, None),
            (false, _) => differs(facts, &groups, &mut Analysis::default(), line),
        };
    };
    if let Some(unknown) = unknown(facts, line) {
        *part = Some(unknown.span);
        return obstacle(unknown.problem, Some(unknown.hint));
    }
    let mut analysis = Analysis::default();
    let mut met = vec![false; names.len()];
    for group in &groups {
        let mut fits: Vec<bool> =
            names.iter().map(|name| stopped_for(&group.first.info, name) == Some(true)).collect();
        if !fits.contains(&true) {
            let Some(causes) = analysis.causes(facts, group.first, groups.len()) else {
                return obstacle(
                    format!("more than {MAX_GROUPS} places have causes that need an analysis"),
                    Some("name the stop reasons".to_owned()),
                );
            };
            fits = names.iter().map(|name| is_named(name, causes.iter().copied())).collect();
        }
        if !fits.contains(&true) {
            return differs(facts, &groups, &mut analysis, line);
        }
        met.iter_mut().zip(fits).for_each(|(met, fits)| *met |= fits);
    }
    if met.contains(&false) {
        let cause = facts.triage().cause.as_ref().map(cause_names).unwrap_or_default();
        let is_of_dump = |name: &str| is_named(name, cause.iter().copied());
        let mut missing = names.iter().zip(&met).filter(|(name, met)| !**met && !is_of_dump(name));
        if missing.next().is_some() {
            // A wave that is unknown may have the cause.
            return match facts.unknown_faults() {
                Some(why) => obstacle(why, None),
                None => differs(facts, &groups, &mut analysis, line),
            };
        }
    }
    Verdict::Holds
}

/// The waves that faulted, by session, PC and stop reasons, in the dump's order.
fn groups<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Group<'f, 'a>> {
    let mut groups: Vec<Group<'f, 'a>> = Vec::new();
    let mut known = HashMap::new();
    for wave in facts.faulted().filter_map(|index| facts.waves.get(index)) {
        let session = std::ptr::from_ref(wave.session).cast::<()>();
        let index = *known.entry((session, wave.info.pc, wave.info.stop.as_deref())).or_insert_with(|| {
            groups.push(Group { first: wave, waves: Vec::new(), count: 0 });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(index) {
            group.waves.push(wave.id());
            group.count += wave.info.count();
        }
    }
    groups
}

/// Causes of single waves.
#[derive(Default)]
struct Analysis {
    done: usize,
}

impl Analysis {
    /// The names of a wave's cause; empty: it has none. `None`: too many waves are analysed. `groups`: their number.
    fn causes(
        &mut self,
        facts: &Facts<'_>,
        wave: &Wave<'_>,
        groups: usize,
    ) -> Option<&'static [&'static str]> {
        let names = |found: &triage::Triage| found.cause.as_ref().map(cause_names).unwrap_or_default();
        if groups == 1 {
            // Reports count, too.
            return Some(names(facts.triage()));
        }
        self.done += 1;
        if self.done > MAX_GROUPS {
            return None;
        }
        wave.session.next_question();
        let question = Question { wave: Some(wave.id()), wants_hang: false };
        Some(names(&triage::triage(&[wave.session], &question)))
    }
}

/// The difference between the expected causes and the dump's.
fn differs(
    facts: &Facts<'_>,
    groups: &[Group<'_, '_>],
    analysis: &mut Analysis,
    line: &Numbered<'_>,
) -> Verdict {
    let mut causes: Vec<(String, usize)> = Vec::new();
    let mut of_sentence = None;
    let chosen = facts.triage().waves.chosen;
    for group in groups {
        let stop = stop_text(group.first);
        let mut analysed = || {
            let names = analysis.causes(facts, group.first, groups.len())?;
            names.first().map(|name| (*name).to_owned())
        };
        // A halt has no reason of its own.
        let is_of_sentence = chosen.is_some_and(|wave| group.waves.contains(&wave));
        // A jump to no code stops with the reason of an access.
        let is_jump = is_of_sentence && matches!(facts.triage().cause, Some(triage::Cause::BadPc { .. }));
        let name = match stop.as_deref() {
            Some(FATAL) => analysed().or(stop),
            Some(_) if is_jump => analysed().or(stop),
            Some(_) => stop,
            None => analysed(),
        };
        let name = name.unwrap_or_else(|| "an unknown cause".to_owned());
        if is_of_sentence {
            of_sentence = Some(name.clone());
        }
        match causes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, waves)) => *waves += group.count,
            None => causes.push((name, group.count)),
        }
    }
    // The cause in the sentence of the analysis is the first.
    let is_other = |name: &str| of_sentence.as_deref() != Some(name);
    causes.sort_by_key(|(name, waves)| (is_other(name), Reverse(*waves), name.clone()));
    if causes.is_empty() {
        let cause = facts.triage().cause.as_ref().and_then(|cause| cause_names(cause).first());
        let got = cause.map(|name| (*name).to_owned());
        let is_reported = facts.subject.dump.capture().faults.iter().any(Fault::is_of_waves);
        return match (got, is_reported) {
            (Some(got), _) => line.differs(Some(got.clone()), got),
            (None, true) => line.differs(None, "a reported fault of another kind".to_owned()),
            (None, false) => {
                line.differs(Some("none".to_owned()), "no wave faulted, and no fault is reported".to_owned())
            }
        };
    }
    let got: Vec<&str> = causes.iter().map(|(name, _)| name.as_str()).collect();
    let got = got.join(", ");
    let found = match &causes[..] {
        [_] => got.clone(),
        _ => {
            let each = causes.iter().map(|(name, waves)| format!("{name} ({})", waves_text(*waves)));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    line.differs(Some(got), found)
}

fn waves_text(waves: usize) -> String {
    crate::notation::counted(waves as u64, "wave")
}
