//! `fault`: the causes of the waves that faulted.

use std::collections::HashMap;

use super::causes::{CAUSES, cause_names, is_named, reason_names, stop_text, stopped_for};
use super::facts::{Facts, Wave};
use super::names::similar_names;
use super::{Numbered, obstacle};
use crate::check::file::FaultLine;
use crate::check::outcome::Verdict;
use crate::triage::{self, Question};

/// Maximum number of groups of waves whose causes are analysed one by one.
const MAX_GROUPS: usize = 64;

/// Names that drivers, runtimes and people use for an access to memory that faulted.
const PAGE_FAULTS: [&str; 6] = [
    "page fault",
    "memory fault",
    "memory access fault",
    "memory access violation",
    "segmentation fault",
    "segfault",
];

/// Waves that faulted at one PC for the same reasons.
struct Group<'f, 'a> {
    first: &'f Wave<'a>,
    waves: usize,
}

/// `fault memory violation`, `fault trap, ecc`: each wave that faulted has one of the causes, and each cause is that of a
/// wave or of the dump.
pub(super) fn fault(facts: &Facts<'_>, expected: &FaultLine, line: &Numbered<'_>) -> Verdict {
    let groups = groups(facts);
    let is_reported = !facts.subject.dump.capture().faults.is_empty();
    let FaultLine::Causes(names) = expected else {
        return match (groups.is_empty() && !is_reported, facts.unknown_faults()) {
            (true, None) => Verdict::Holds,
            (true, Some(why)) => obstacle(why, None),
            (false, _) => differs(facts, &groups, &mut Analysis::default(), line),
        };
    };
    if let Some(name) = unknown(facts, names).and_then(|index| names.get(index)) {
        let all = stop_reasons(facts).into_iter().chain(CAUSES.concat()).map(str::to_owned);
        let hint = similar_names(name, all);
        let hint = hint
            .or_else(|| is_named(name, PAGE_FAULTS).then(|| "did you mean `memory violation`?".to_owned()));
        return obstacle(format!("unknown cause `{name}`"), hint);
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

/// The names of the stop reasons of the first wave's target.
fn stop_reasons<'f>(facts: &'f Facts<'_>) -> Vec<&'f str> {
    facts.waves.first().map(|wave| reason_names(&wave.info, "")).unwrap_or_default()
}

/// The index of the first name that is no cause.
pub(super) fn unknown(facts: &Facts<'_>, names: &[String]) -> Option<usize> {
    let known = stop_reasons(facts);
    let is_known = |name: &str| is_named(name, CAUSES.concat().into_iter().chain(known.iter().copied()));
    names.iter().position(|name| !is_known(name))
}

/// The waves that faulted, by session, PC and stop reasons, in the dump's order.
fn groups<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Group<'f, 'a>> {
    let mut groups: Vec<Group<'f, 'a>> = Vec::new();
    let mut known = HashMap::new();
    for wave in facts.faulted().filter_map(|index| facts.waves.get(index)) {
        let session = std::ptr::from_ref(wave.session).cast::<()>();
        let index = *known.entry((session, wave.info.pc, wave.info.stop.as_deref())).or_insert_with(|| {
            groups.push(Group { first: wave, waves: 0 });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(index) {
            group.waves += 1;
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
    for group in groups {
        let name = stop_text(group.first).or_else(|| {
            let names = analysis.causes(facts, group.first, groups.len())?;
            names.first().map(|name| (*name).to_owned())
        });
        let name = name.unwrap_or_else(|| "an unknown cause".to_owned());
        match causes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, waves)) => *waves += group.waves,
            None => causes.push((name, group.waves)),
        }
    }
    causes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if causes.is_empty() {
        let cause = facts.triage().cause.as_ref().and_then(|cause| cause_names(cause).first());
        let got = cause.map(|name| (*name).to_owned());
        let is_reported = !facts.subject.dump.capture().faults.is_empty();
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
