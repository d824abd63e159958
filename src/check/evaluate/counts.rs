//! Numbers of waves, stacks and launches, and execution masks.

use super::error::FactError;
use super::facts::{Facts, Wave};
use super::places::Fit;
use super::{Numbered, obstacle};
use crate::check::compare::{ordering_fits, sign};
use crate::check::file::{Comparator, Count, Counted};
use crate::check::outcome::Verdict;
use crate::session::{GroupBy, Grouping};

/// `waves 8, faulted 1, stacks 8`
pub(super) fn waves(facts: &Facts<'_>, expected: &[Count], line: &Numbered<'_>) -> Verdict {
    let (mut wrong, mut got) = (Vec::new(), Vec::new());
    for count in expected {
        let number = match number(facts, count.of) {
            Ok(number) => number,
            Err(why) => return obstacle(why.to_string(), None),
        };
        let fits = ordering_fits(count.comparator, number.cmp(&count.number));
        if !fits {
            wrong.push(format!("{} {number}", name(count.of)));
        }
        got.push(match fits {
            true => written(count.of, count.comparator, count.number),
            false => written(count.of, Comparator::Equal, number),
        });
    }
    match wrong.is_empty() {
        true => Verdict::Holds,
        false => {
            let got = got.join(", ");
            // The first name is the keyword.
            let got = got.split_once(' ').map(|(_, rest)| rest.to_owned());
            line.differs(got, wrong.join(", "))
        }
    }
}

/// A count in the notation of the line.
fn written(of: Counted, comparator: Comparator, number: u64) -> String {
    let sign = match comparator {
        Comparator::Equal => "",
        other => sign(other),
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

fn number(facts: &Facts<'_>, of: Counted) -> Result<u64, FactError> {
    let sessions = &facts.subject.sessions;
    let count = match of {
        Counted::Waves => sessions.iter().map(|session| session.waves().len()).sum(),
        Counted::Faulted => match facts.unknown_stops() {
            0 => facts.faulted().count(),
            unknown => {
                return Err(FactError::new(format!("the stop reasons of {unknown} waves were not captured")));
            }
        },
        Counted::Stacks => facts.distinct.get_or_init(|| stacks(facts)).clone()?,
        Counted::Dispatches => sessions.first().map_or(0, |session| session.dispatches().len()),
        Counted::WorkGroups => sessions.iter().map(|session| session.work_groups().len()).sum(),
    };
    Ok(count as u64)
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
