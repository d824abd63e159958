//! Readings of addresses by a pointer: which index has which value.
//!
//! An index past its declared bound has the address of another element: `s[t].a[8]` is that of `s[t].m`, and
//! `tab[0][300]` that of `tab[37][4]`. The evidence is the source line's own indexes and members, and the variables with
//! the values of the indexes. Readings with the same evidence are rivals: the address does not decide.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use super::expression;
use super::fit::Fit;
use super::indexes::integers;
use super::line::{Chain, Line};
use super::rule;
use super::score::NEAR;
use super::slots;
use crate::isa::Direction;
use crate::session::print::{ArrayDimension, PartSort, Parts, VariablePart};
use crate::triage::IndexRule;
use crate::triage::accessed::{Accessed, LaneAt};
use crate::units::LaneId;

/// Maximum number of variables that are tried as an index.
const MAX_TRIED: usize = 6;
/// Maximum number of indexes that are tried together.
const MAX_CHOICES: usize = 512;
/// The largest number that many variables have by chance.
pub(super) const SMALL: u64 = 16;

/// Known numbers that may be indexes, by lane: those of the access, then the others.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Values of integer variables, those of the line first.
    variables: Vec<Vec<Option<i64>>>,
    /// Numbers of work-items and lanes, and 0: only the outermost index.
    outermost: Vec<Vec<Option<i64>>>,
}

impl Known {
    pub(super) fn of(
        accessed: &Accessed<'_>,
        parts: &Parts,
        lanes: &[LaneAt],
        others: &[LaneAt],
        line: &Line<'_>,
    ) -> Self {
        let lanes = || lanes.iter().chain(others).map(|at| at.lane);
        let by_lane = |value: &dyn Fn(Option<LaneId>) -> Option<i64>| lanes().map(value).collect::<Vec<_>>();
        let of_part = |part: &VariablePart| {
            by_lane(&|lane| {
                let mut values = part.values.iter();
                let value = values.find(|value| lane.is_none_or(|lane| lane == value.lane));
                value.map(|value| value.value.cast_signed())
            })
        };
        let is_varying = |part: &VariablePart| {
            part.values.windows(2).any(|pair| matches!(pair, [one, next] if one.value != next.value))
        };
        let mut tried: Vec<&VariablePart> = integers(parts).collect();
        tried.sort_by_key(|part| (!line.has(&part.path), !is_varying(part), part.call));
        let mut found = Self::default();
        for values in tried.into_iter().map(of_part) {
            if found.variables.len() < MAX_TRIED && !found.variables.contains(&values) {
                found.variables.push(values);
            }
        }
        let numbers = slots::work_items(accessed);
        let of_items = numbers.iter().map(|numbers| {
            by_lane(&|lane| numbers.iter().find(|(of, _)| Some(*of) == lane).map(|(_, number)| *number))
        });
        let of_lanes = by_lane(&|lane| Some(i64::from(lane?.0)));
        for values in of_items.chain([of_lanes, by_lane(&|_| Some(0))]) {
            if !found.variables.contains(&values) && !found.outermost.contains(&values) {
                found.outermost.push(values);
            }
        }
        found
    }

    /// The choices of fixed indexes, first that of none.
    pub(super) fn choices(&self, dimensions: usize) -> Vec<Vec<Option<&[Option<i64>]>>> {
        let options = |number: usize| {
            let outermost = self.outermost.iter().filter(move |_| number == 0);
            let values = self.variables.iter().chain(outermost).map(|values| Some(values.as_slice()));
            std::iter::once(None).chain(values)
        };
        let mut all: Vec<Vec<Option<&[Option<i64>]>>> = vec![Vec::new()];
        for number in 0..dimensions {
            let next = options(number).flat_map(|option| {
                all.iter().map(move |choice| choice.iter().copied().chain([option]).collect::<Vec<_>>())
            });
            let next: Vec<_> = next.take(MAX_CHOICES).collect();
            all = next;
        }
        all
    }
}

/// The evidence of a reading, the best greatest.
type Weight = (bool, bool, Reverse<usize>);

/// The reading with the most evidence, with its rivals.
pub(super) fn best<'p>(
    parts: &Parts,
    readings: Vec<Fit<'p>>,
    line: &Line<'_>,
    direction: Direction,
) -> Option<Fit<'p>> {
    let chains = readings.first().map(|fit| line.chains(&fit.part.path, direction)).unwrap_or_default();
    let near = readings.into_iter().filter(|fit| is_plausible(parts, fit, line, &chains));
    let mut weighed: Vec<(Weight, Fit<'p>)> =
        near.map(|fit| (weight(parts, &fit, line, &chains), fit)).collect();
    // Of several members of the line, one whose inner indexes are within their bounds.
    let is_sound = |(weight, fit): &(Weight, Fit<'p>)| *weight == of(true, 1, 1) || is_within(fit);
    let sound: Vec<Vec<String>> = weighed
        .iter()
        .filter(|weighed| weighed.0.0 && is_sound(weighed))
        .map(|(_, fit)| fit.members.clone())
        .collect();
    if !sound.is_empty() {
        weighed.retain(|((is_chain, ..), fit)| !is_chain || sound.contains(&fit.members));
    }
    let mut best: Option<(Weight, Fit<'p>)> = None;
    for (weight, fit) in weighed {
        match &mut best {
            Some((greatest, first)) if *greatest == weight => first.rivals.push(fit),
            Some((greatest, _)) if *greatest > weight => {}
            _ => best = Some((weight, fit)),
        }
    }
    best.map(|(_, fit)| fit)
}

/// Whether an index has a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    None,
    /// A variable has it as a small constant.
    Chance,
    Good,
}

fn weight(parts: &Parts, fit: &Fit<'_>, line: &Line<'_>, chains: &[Chain]) -> Weight {
    let count = fit.dimensions.len();
    let own = chains.iter().filter(|chain| chain.leads_to(&fit.members) && !contradicts(fit, chain));
    let explained = own.map(|chain| {
        let named = |(number, text): (usize, &String)| is_index_text(parts, fit, number, text);
        chain.indexes.iter().take(count).enumerate().filter(|of| named(*of)).count()
    });
    if let Some(explained) = explained.max() {
        return of(true, explained, count);
    }
    // `p->m` needs no reason: no index of it is out of its bounds.
    if is_first(fit) {
        return (false, true, Reverse(0));
    }
    let reasons: Vec<Reason> = (0..count).map(|number| reason(parts, fit, number, line)).collect();
    let good = reasons.iter().filter(|reason| **reason == Reason::Good).count();
    let chance = reasons.iter().filter(|reason| **reason == Reason::Chance).count();
    let is_varying_for_none =
        reasons.iter().enumerate().any(|(number, of)| *of == Reason::None && is_varying(fit, number));
    // An index past its bound takes what others leave over.
    if is_varying_for_none && !is_within(fit) {
        return of(false, 0, count);
    }
    of(false, if good + chance == count { count } else { good }, count)
}

fn of(is_chain: bool, explained: usize, count: usize) -> Weight {
    let unexplained = if explained == 0 { 0 } else { count - explained };
    (is_chain, explained > 0, Reverse(unexplained))
}

/// Whether a variable or number of the source is the index in all lanes.
fn is_index_text(parts: &Parts, fit: &Fit<'_>, number: usize, text: &str) -> bool {
    if let Ok(value) = text.parse::<i64>() {
        return expression::values(fit, number).iter().all(|(_, index)| *index == value);
    }
    let mut named = integers(parts).filter(|part| part.path == text);
    named.any(|part| {
        expression::is_index(part, fit, number)
            && expression::is_index_elsewhere(part, fit, number) != Some(false)
    })
}

/// Whether an index of the line cannot have the value of the reading: `i & 3` is at most 3, and `i % 6` less than 6.
fn contradicts(fit: &Fit<'_>, chain: &Chain) -> bool {
    chain.indexes.iter().enumerate().any(|(number, text)| {
        let range = range(text);
        let values = expression::values(fit, number);
        range.is_some_and(|range| values.iter().any(|(_, index)| !range.contains(index)))
    })
}

/// The range of a masked or reduced number, text without spaces.
fn range(text: &str) -> Option<RangeInclusive<i64>> {
    let at = text.rfind(['&', '%'])?;
    let (left, number) = (text.get(..at)?, text.get(at + 1..)?);
    let number: i64 = number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?;
    let is_name = left.chars().all(|symbol| symbol.is_alphanumeric() || "_.".contains(symbol));
    let is_bracketed = left.starts_with('(') && left.find(')') == Some(left.len().checked_sub(1)?);
    if !is_name && !is_bracketed {
        return None;
    }
    match text.get(at..at + 1)? {
        "&" => Some(0..=number),
        _ => Some(number.checked_neg()?.checked_add(1)?..=number.checked_sub(1)?),
    }
}

fn reason(parts: &Parts, fit: &Fit<'_>, number: usize, line: &Line<'_>) -> Reason {
    let is_index = |part: &&VariablePart| {
        expression::is_index(part, fit, number)
            && expression::is_index_elsewhere(part, fit, number) != Some(false)
    };
    let values = expression::values(fit, number);
    let is_small = values.iter().all(|(_, index)| index.unsigned_abs() <= SMALL);
    let is_good = |part: &VariablePart| line.has(&part.path) || is_varying(fit, number) || !is_small;
    let reasons = integers(parts).filter(is_index).map(is_good);
    match reasons.max() {
        Some(true) => Reason::Good,
        Some(false) => Reason::Chance,
        None => Reason::None,
    }
}

fn is_varying(fit: &Fit<'_>, number: usize) -> bool {
    !matches!(rule::rule(&expression::values(fit, number)), IndexRule::Constant(_) | IndexRule::Scalar(_))
}

/// Whether all but the outermost index are within their bounds.
fn is_within(fit: &Fit<'_>) -> bool {
    fit.dimensions.iter().enumerate().skip(1).all(|of| excess(fit, of) == 0)
}

/// Whether the access is within the target of a pointer: each index is the first, or within its bounds.
fn is_first(fit: &Fit<'_>) -> bool {
    let is_pointer = matches!(fit.part.sort, PartSort::Pointer(_));
    is_pointer && fit.is_inner() && fit.lanes.iter().all(|lane| lane.index() == 0) && is_within(fit)
}

/// The largest number of bytes by which an index is outside of its bounds.
fn excess(fit: &Fit<'_>, (number, dimension): (usize, &ArrayDimension)) -> u64 {
    let last = dimension.count.map(|count| dimension.first.saturating_add_unsigned(count).saturating_sub(1));
    // An index that fits the suspected lanes alone is one of chance.
    let indexes = fit.lanes.iter().chain(&fit.others).filter_map(|lane| lane.indexes.get(number).copied());
    let outside = indexes.map(|index| {
        let nearest = index.max(dimension.first).min(last.unwrap_or(i64::MAX));
        index.abs_diff(nearest).saturating_mul(dimension.stride.unsigned_abs())
    });
    outside.max().unwrap_or_default()
}

/// Whether the line or a variable has each index that is far outside of its bounds: without a reason any address has such
/// a reading, as one of a pointer with a wrong bit.
fn is_plausible(parts: &Parts, fit: &Fit<'_>, line: &Line<'_>, chains: &[Chain]) -> bool {
    let has_chain = || chains.iter().any(|chain| chain.leads_to(&fit.members));
    let mut inner = fit.dimensions.iter().enumerate().skip(1);
    inner.all(|of| excess(fit, of) < NEAR || reason(parts, fit, of.0, line) != Reason::None) || has_chain()
}
