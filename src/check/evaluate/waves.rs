//! Blocks: the lines about some waves.

use super::facts::{Facts, Wave};
use super::places::{Fit, at, at_text, similar_places, stack, stack_text};
use super::select::{Selected, select};
use super::values::{self, ValueBlock};
use super::{Numbered, causes, counts, obstacle};
use crate::check::file::{Content, Selector};
use crate::check::outcome::{Difference, Outcome, Verdict};
use crate::session::Inferred;

/// Maximum number of waves that a difference names.
const MAX_WAVES: usize = 1000;

/// The outcomes of the lines of a block.
pub(super) fn block(
    facts: &Facts<'_>,
    head: Option<&Numbered<'_>>,
    selector: &Selector,
    lines: &[&Numbered<'_>],
) -> Vec<Outcome> {
    if head.is_none() && lines.is_empty() {
        return Vec::new();
    }
    let selected = select(facts, selector);
    let mut outcomes: Vec<Outcome> =
        head.map(|head| head.outcome(chosen(facts, head, &selected))).into_iter().collect();
    if selected.waves.is_empty() {
        let verdict = |line: &Numbered<'_>| match head {
            Some(_) => obstacle(format!("no wave to check: {}", why_none(facts, &selected)), None),
            None => chosen(facts, line, &selected),
        };
        outcomes.extend(lines.iter().map(|line| line.outcome(verdict(line))));
        return outcomes;
    }
    outcomes.extend(match selector {
        Selector::Some => some(facts, &selected, lines),
        _ => all(facts, &selected.waves, lines),
    });
    outcomes
}

fn why_none(facts: &Facts<'_>, selected: &Selected) -> String {
    match (&selected.unknown, &facts.unread) {
        (Some((count, why)), _) => format!("{}, and {why} for {count} of them", selected.none.0),
        (None, Some(why)) => format!("{}, and not all waves can be read: {why}", selected.none.0),
        (None, None) => selected.none.0.clone(),
    }
}

/// The verdict of a `wave` line.
fn chosen(facts: &Facts<'_>, line: &Numbered<'_>, selected: &Selected) -> Verdict {
    if !selected.waves.is_empty() {
        return Verdict::Holds;
    }
    if selected.unknown.is_some() || facts.unread.is_some() {
        return obstacle(why_none(facts, selected), None);
    }
    let (found, hint) = &selected.none;
    let found = hint.as_ref().map_or_else(|| found.clone(), |hint| format!("{found}; {hint}"));
    line.differs(None, found)
}

/// One of the waves satisfies all lines: the outcomes are those of the wave with the most lines that hold.
fn some(facts: &Facts<'_>, selected: &Selected, lines: &[&Numbered<'_>]) -> Vec<Outcome> {
    let mut best: (usize, Vec<Outcome>) = (0, Vec::new());
    for wave in &selected.waves {
        let outcomes = all(facts, &[*wave], lines);
        let holding = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Holds).count();
        if holding == lines.len() {
            return outcomes;
        }
        if best.1.is_empty() || holding > best.0 {
            best = (holding, outcomes);
        }
    }
    for outcome in &mut best.1 {
        if let Verdict::Differs(difference) = &mut outcome.verdict {
            difference.found = format!("no wave fits all lines; the nearest has {}", difference.found);
        }
    }
    best.1
}

/// Each of the waves satisfies the lines.
fn all(facts: &Facts<'_>, waves: &[usize], lines: &[&Numbered<'_>]) -> Vec<Outcome> {
    let waves: Vec<&Wave<'_>> = waves.iter().filter_map(|index| facts.waves.get(*index)).collect();
    let mut outcomes = Vec::new();
    let mut values = ValueBlock::default();
    let none = |_: &Wave<'_>| Inferred::NONE;
    for line in lines {
        let verdict = match &line.line.content {
            Content::Value(value) => {
                values.add(line, value);
                continue;
            }
            Content::At(expected) => {
                let hint = || similar_places(facts, expected);
                let got = |wave: &Wave<'_>| at_text(facts.stack(wave.id())?.frames.first()?);
                each(line, &waves, |wave| at(facts, wave, expected), got, none, hint)
            }
            Content::Stack(expected) => {
                let got = |wave: &Wave<'_>| stack_text(&*facts.stack(wave.id())?);
                let inferred =
                    |wave: &Wave<'_>| facts.stack(wave.id()).map_or(Inferred::NONE, |of| of.inferred());
                each(line, &waves, |wave| stack(facts, wave, expected), got, inferred, || None)
            }
            Content::Exec(expected) => {
                each(line, &waves, |wave| counts::exec(wave, *expected), counts::exec_text, none, || None)
            }
            Content::Stop(expected) => match causes::unknown_stop(facts, expected) {
                Some(unknown) => unknown,
                None => {
                    each(line, &waves, |wave| causes::stop(wave, expected), causes::stop_text, none, || None)
                }
            },
            Content::State(expected) => match causes::unknown_state(expected) {
                Some(unknown) => unknown,
                None => {
                    let got = |wave: &Wave<'_>| causes::state_text(facts, wave);
                    each(line, &waves, |wave| causes::state(facts, wave, expected), got, none, || None)
                }
            },
            _ => continue,
        };
        outcomes.push(line.outcome(verdict));
    }
    outcomes.extend(values::evaluate(facts, &waves, values));
    outcomes
}

/// The verdict of a line that one fact of each wave decides. `inferred`: the inferences behind the fact.
fn each<'w>(
    line: &Numbered<'_>,
    waves: &[&Wave<'w>],
    fits: impl Fn(&Wave<'w>) -> Fit,
    got: impl Fn(&Wave<'w>) -> Option<String>,
    inferred: impl Fn(&Wave<'w>) -> Inferred,
    hint: impl Fn() -> Option<String>,
) -> Verdict {
    let (mut differing, mut unknown) = (Vec::new(), None);
    for wave in waves {
        match fits(wave) {
            Fit::Holds => {}
            Fit::Differs => differing.push(*wave),
            Fit::Unknown(why) => drop(unknown.get_or_insert((wave.info.id, why))),
        }
    }
    let Some(first) = differing.first() else {
        return match unknown {
            None => Verdict::Holds,
            Some((id, why)) => obstacle(format!("wave {id}: {why}"), None),
        };
    };
    let texts: Vec<Option<String>> = waves.iter().map(|wave| got(wave)).collect();
    let first_text = got(first);
    let is_one = texts.iter().all(|text| *text == first_text);
    let mut found = first_text.clone().unwrap_or_else(|| "unknown".to_owned());
    let inferred = inferred(first);
    found += &inferred.suffix();
    found += &count(differing.len(), waves.len(), first.info.id);
    if let Some(hint) = hint() {
        found = format!("{found}; {hint}");
    }
    Verdict::Differs(Box::new(Difference {
        expected: line.expected(),
        got: first_text.filter(|_| is_one),
        found,
        waves: ids(differing.iter().map(|wave| wave.info.id)),
        inferred: inferred.by().collect(),
        ..Difference::default()
    }))
}

/// The number of waves that differ, behind the value of the first one.
pub(super) fn count(differing: usize, all: usize, first: u32) -> String {
    match (differing, all) {
        (_, 1) => format!(" (wave {first})"),
        _ => format!(" (wave {first}; {differing} of {all} waves differ)"),
    }
}

pub(super) fn ids(waves: impl Iterator<Item = u32>) -> Vec<u32> {
    waves.take(MAX_WAVES).collect()
}
