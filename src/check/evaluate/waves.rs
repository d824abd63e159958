//! Blocks: the lines about some waves.

use std::collections::HashMap;

use super::facts::{Facts, Needed, Wave};
use super::places::{Fit, at, at_text, blessed_at, blessed_stack, similar_places, stack, stack_text};
use super::select::{Selected, select};
use super::values::{self, ValueBlock};
use super::{Numbered, causes, counts, obstacle, parts};
use crate::check::file::{Content, Selector};
use crate::check::outcome::{Difference, Outcome, Verdict};
use crate::notation::counted;
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
        head.map(|head| head.outcome(chosen(head, &selected))).into_iter().collect();
    if selected.waves.is_empty() {
        let why = || format!("no wave to check: {}", why_none(&selected));
        outcomes.extend(lines.iter().map(|line| {
            let verdict = match (head, chosen(line, &selected)) {
                (Some(_), Verdict::Differs(_)) => line.differs(None, why()),
                (Some(_), _) => obstacle(why(), None),
                (None, verdict) => verdict,
            };
            Outcome { selected_by: head.map(|head| head.number), ..line.outcome(verdict) }
        }));
        return outcomes;
    }
    outcomes.extend(match selector {
        Selector::Some => some(facts, &selected, lines),
        _ => all(facts, &selected.waves, lines),
    });
    if *selector == Selector::Every {
        // A known wave that differs decides. A line that holds may differ for an absent wave.
        let mut absent: HashMap<Needed, Option<String>> = HashMap::new();
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.verdict == Verdict::Holds) {
            let line = lines.iter().find(|line| line.number == outcome.line);
            let needed = line.map_or(Needed::Numbers, |line| needed(line));
            if let Some(why) = absent.entry(needed).or_insert_with(|| facts.absent(needed)) {
                outcome.verdict = obstacle(why.clone(), None);
            }
        }
    }
    outcomes
}

/// The facts about a wave that decide a line of a block.
fn needed(line: &Numbered<'_>) -> Needed {
    match &line.line.content {
        Content::Stop(_) => Needed::Numbers,
        Content::State(_) => Needed::States,
        _ => Needed::Own,
    }
}

fn why_none(selected: &Selected) -> String {
    match (&selected.unknown, &selected.absent) {
        (Some((count, why)), _) => {
            let waves = counted(*count as u64, "wave");
            format!("{}, and {why} for {waves}", selected.none.0)
        }
        (None, Some(why)) => format!("{}, and {why}", selected.none.0),
        (None, None) => selected.none.0.clone(),
    }
}

/// The verdict of a `wave` line.
fn chosen(line: &Numbered<'_>, selected: &Selected) -> Verdict {
    if !selected.waves.is_empty() {
        return Verdict::Holds;
    }
    if selected.unknown.is_some() || selected.absent.is_some() {
        return obstacle(why_none(selected), None);
    }
    let (found, hint) = &selected.none;
    let found = hint.as_ref().map_or_else(|| found.clone(), |hint| format!("{found}; {hint}"));
    line.differs(None, found)
}

/// One of the waves satisfies all lines: the outcomes are those of the wave with the most lines that hold. A wave that
/// may satisfy all of them leaves the lines unchecked.
fn some(facts: &Facts<'_>, selected: &Selected, lines: &[&Numbered<'_>]) -> Vec<Outcome> {
    let differs = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Differs(_));
    let holds = |outcomes: &[Outcome]| outcomes.iter().filter(|one| one.verdict == Verdict::Holds).count();
    // A wave without a difference is nearer than one with a difference.
    let rank = |outcomes: &[Outcome]| (!outcomes.iter().any(differs), holds(outcomes));
    let mut best: Vec<Outcome> = Vec::new();
    let wants_states = lines.iter().any(|line| needed(line) == Needed::States);
    let unlike = if wants_states { facts.unlike() } else { HashMap::new() };
    let mut unsure = 0;
    for wave in &selected.waves {
        let outcomes = all(facts, &[*wave], lines);
        if holds(&outcomes) == lines.len() {
            return outcomes;
        }
        if let Some(own) = facts.waves.get(*wave).filter(|wave| wave.info.stands_for > 0) {
            // Each wave that it stands for differs in a line that is about a common fact.
            let is_common = |line: &&Numbered<'_>| match needed(line) {
                Needed::Faults | Needed::Numbers => true,
                Needed::States => !unlike.contains_key(&own.id()),
                Needed::Own => false,
            };
            let decides = |line: &Numbered<'_>| {
                outcomes.iter().any(|outcome| outcome.line == line.number && differs(outcome))
            };
            let is_decided = lines.iter().copied().filter(is_common).any(decides);
            unsure += if is_decided { 0 } else { own.info.stands_for as usize };
        }
        if best.is_empty() || rank(&outcomes) > rank(&best) {
            best = outcomes;
        }
    }
    let left_out = (unsure > 0).then(|| format!("the dump leaves out {}", counted(unsure as u64, "wave")));
    let absent = facts.absent(Needed::Numbers).or(left_out);
    for outcome in &mut best {
        let Verdict::Differs(difference) = &mut outcome.verdict else { continue };
        match &absent {
            Some(why) => {
                let near = &difference.found;
                let known = format!("no known wave fits all lines; the nearest has {near}; {why}");
                outcome.verdict = obstacle(known, None);
            }
            None => {
                difference.found = format!("no wave fits all lines; the nearest has {}", difference.found);
            }
        }
    }
    best
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
                let got = |wave: &Wave<'_>| {
                    let stack = facts.stack(wave.id())?;
                    let frame = stack.frames.first()?;
                    Some(Got { text: at_text(frame, expected)?, right: blessed_at(frame, expected) })
                };
                let verdict = each(line, &waves, |wave| at(facts, wave, expected), got, none, hint);
                let part = || parts::of_place(facts, line, expected, &waves);
                let part = if matches!(verdict, Verdict::Differs(_)) { part() } else { None };
                outcomes.push(line.outcome_at(verdict, part));
                continue;
            }
            Content::Stack(expected) => {
                let got = |wave: &Wave<'_>| {
                    let stack = facts.stack(wave.id())?;
                    Some(Got { text: stack_text(&stack)?, right: blessed_stack(&stack, expected) })
                };
                let inferred =
                    |wave: &Wave<'_>| facts.stack(wave.id()).map_or(Inferred::NONE, |of| of.inferred());
                each(line, &waves, |wave| stack(facts, wave, expected), got, inferred, || None)
            }
            Content::Exec(expected) => {
                let got = |wave: &Wave<'_>| counts::exec_text(wave).map(Got::of);
                each(line, &waves, |wave| counts::exec(wave, *expected), got, none, || None)
            }
            Content::Stop(expected) => match causes::unknown(facts, line) {
                Some(unknown) => {
                    let verdict = obstacle(unknown.problem, Some(unknown.hint));
                    outcomes.push(line.outcome_at(verdict, Some(unknown.span)));
                    continue;
                }
                None => {
                    let got = |wave: &Wave<'_>| causes::stop_text(wave).map(Got::of);
                    each(line, &waves, |wave| causes::stop(wave, expected), got, none, || None)
                }
            },
            Content::State(expected) => {
                let got = |wave: &Wave<'_>| causes::state_text(facts, wave).map(Got::of);
                each(line, &waves, |wave| causes::state(facts, wave, expected), got, none, || None)
            }
            _ => continue,
        };
        outcomes.push(line.outcome(verdict));
    }
    outcomes.extend(values::evaluate(facts, &waves, values));
    outcomes
}

/// The fact of a wave.
struct Got {
    /// The fact for people.
    text: String,
    /// The right side that it satisfies.
    right: Option<String>,
}

impl Got {
    fn of(text: String) -> Self {
        Self { right: Some(text.clone()), text }
    }
}

/// The verdict of a line that one fact of each wave decides. `inferred`: the inferences behind the fact.
fn each<'w>(
    line: &Numbered<'_>,
    waves: &[&Wave<'w>],
    fits: impl Fn(&Wave<'w>) -> Fit,
    got: impl Fn(&Wave<'w>) -> Option<Got>,
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
    let rights: Vec<Option<String>> = waves.iter().map(|wave| got(wave)?.right).collect();
    let (text, right) = got(first).map_or((None, None), |got| (Some(got.text), got.right));
    let is_one = rights.iter().all(|other| *other == right);
    let mut found = text.unwrap_or_else(|| "unknown".to_owned());
    let inferred = inferred(first);
    found += &inferred.suffix();
    found += &count(differing.len(), waves.len(), first.info.id);
    if let Some(hint) = hint() {
        found = format!("{found}; {hint}");
    }
    Verdict::Differs(Box::new(Difference {
        expected: line.expected(),
        got: right.filter(|_| is_one),
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
