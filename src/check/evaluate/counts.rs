//! Numbers of waves, stacks and launches, and execution masks.

use super::error::FactError;
use super::facts::{Facts, Needed, Wave};
use super::places::Fit;
use super::{Numbered, obstacle};
use crate::check::compare::{bounds_fit, kept};
use crate::check::file::{Comparator, Count, Counted};
use crate::check::outcome::Verdict;
use crate::session::{GroupBy, Grouping};
use crate::triage::no_stop_reasons;

/// `waves 8, faulted 1, stacks 8`
pub(super) fn waves(facts: &Facts<'_>, expected: &[Count], line: &Numbered<'_>) -> Verdict {
    let (mut wrong, mut got, mut unknown) = (Vec::new(), Vec::new(), None);
    for count in expected {
        let number = match number(facts, count.of) {
            Ok(number) => number,
            Err(why) => return obstacle(why.to_string(), None),
        };
        match bounds_fit(count.comparator, (number.low, number.high), count.number) {
            Some(true) => got.push(Some(written(count.of, count.comparator, count.number))),
            Some(false) => {
                let least = if number.why.is_some() { "at least " } else { "" };
                wrong.push(format!("{} {least}{}", name(count.of), number.low));
                let right = kept(count.comparator, number.low).filter(|_| number.why.is_none());
                got.push(right.map(|(comparator, number)| written(count.of, comparator, number)));
            }
            None => unknown = unknown.or(number.why),
        }
    }
    if !wrong.is_empty() {
        let got: Option<Vec<String>> = got.into_iter().collect();
        let got = got.filter(|got| got.len() == expected.len()).map(|got| got.join(", "));
        // The first name is the keyword.
        let got = got.and_then(|got| got.split_once(' ').map(|(_, rest)| rest.to_owned()));
        return line.differs(got, wrong.join(", "));
    }
    unknown.map_or(Verdict::Holds, |why| obstacle(why, None))
}

/// The index of the only count that differs.
pub(super) fn wrong(facts: &Facts<'_>, expected: &[Count]) -> Option<usize> {
    let differs = |count: &Count| {
        let found = number(facts, count.of).ok();
        found.and_then(|found| bounds_fit(count.comparator, (found.low, found.high), count.number))
            == Some(false)
    };
    let mut wrong = expected.iter().enumerate().filter(|(_, count)| differs(count));
    let first = wrong.next().filter(|_| expected.len() > 1);
    first.filter(|_| wrong.next().is_none()).map(|(index, _)| index)
}

/// A number, as far as it is known.
struct Number {
    low: u64,
    /// `None`: no upper bound.
    high: Option<u64>,
    /// The reason that the bounds differ. `None`: they are equal.
    why: Option<String>,
}

/// A count in the notation of the line.
fn written(of: Counted, comparator: Comparator, number: u64) -> String {
    let sign = match comparator {
        Comparator::Equal => "",
        other => other.sign(),
    };
    let space = if sign.is_empty() { "" } else { " " };
    format!("{} {sign}{space}{number}", name(of))
}

fn name(of: Counted) -> &'static str {
    match of {
        Counted::Waves => "waves",
        Counted::Faulted => "faulted",
        Counted::Stacks => "stacks",
        Counted::Dispatches => "dispatches",
        Counted::WorkGroups => "work-groups",
    }
}

fn number(facts: &Facts<'_>, of: Counted) -> Result<Number, FactError> {
    let sessions = &facts.subject.sessions;
    let absent = facts.absent(match of {
        Counted::Faulted => Needed::Faults,
        Counted::Waves => Needed::Numbers,
        // A small dump has those of its own waves alone.
        Counted::Stacks | Counted::Dispatches | Counted::WorkGroups => Needed::Own,
    });
    let count = match of {
        Counted::Waves => facts.waves.iter().map(|wave| wave.info.count()).sum(),
        Counted::Faulted => {
            let faulted = facts.faulted().filter_map(|index| facts.waves.get(index));
            faulted.map(|wave| wave.info.count()).sum()
        }
        Counted::Stacks => facts.distinct.get_or_init(|| stacks(facts)).clone()?,
        Counted::Dispatches => sessions.first().map_or(0, |session| session.dispatches().len()),
        Counted::WorkGroups => sessions.iter().map(|session| session.work_groups().len()).sum(),
    };
    let unknown = if of == Counted::Faulted { facts.unknown_stops() } else { 0 };
    Ok(Number {
        low: count as u64,
        high: absent.is_none().then_some((count + unknown) as u64),
        why: absent.or_else(|| no_stop_reasons(unknown)),
    })
}

fn stacks(facts: &Facts<'_>) -> Result<usize, FactError> {
    let mut count = 0;
    for session in &facts.subject.sessions {
        session.next_question();
        let groups = session.groups(Grouping { by: GroupBy::Line, lanes: false });
        count += groups.map_err(|why| FactError::new(why.to_string()))?.groups.len();
    }
    Ok(count)
}

/// Whether a wave has that execution mask.
pub(super) fn exec(wave: &Wave<'_>, expected: u64) -> Fit {
    match wave.info.exec {
        Some(exec) if exec.0 == expected => Fit::Holds,
        Some(_) => Fit::Differs,
        None => Fit::Unknown("EXEC was not captured".to_owned()),
    }
}

pub(super) fn exec_text(wave: &Wave<'_>) -> Option<String> {
    wave.info.exec.map(|exec| format!("{:#x}", exec.0))
}
