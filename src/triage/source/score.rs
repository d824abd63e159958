//! Fits by their reasons: the line of the source, the base register, variables with the index, the allocation.

use super::expression;
use super::fit::{self, Fit};
use super::indexes::integers;
use super::line::{Line, Use};
use super::rule;
use crate::session::print::{PartOwner, PartSort, Parts, VariablePart};
use crate::triage::IndexRule;
use crate::triage::accessed::{Accessed, LaneAt};

/// The distance in bytes within which an address belongs to a neighbouring allocation.
const NEAR: u64 = 0x1_0000;

/// Fits with a reason, the best first.
pub(super) fn ranked<'p>(
    accessed: &Accessed<'_>,
    parts: &'p Parts,
    lanes: &[LaneAt],
    others: &[LaneAt],
    line: &Line<'_>,
) -> Vec<(u32, Fit<'p>)> {
    let fits = fit::all(accessed.session, &accessed.suspect.access, parts, lanes, others);
    let scored = fits.into_iter().filter_map(|fit| Some((score(accessed, parts, &fit, lanes, line)?, fit)));
    let mut scored: Vec<(u32, Fit<'p>)> = scored.collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored
}

/// The reasons for a fit as a number; `None`: there is none.
fn score(
    accessed: &Accessed<'_>,
    parts: &Parts,
    fit: &Fit<'_>,
    lanes: &[LaneAt],
    line: &Line<'_>,
) -> Option<u32> {
    let mut score = 0;
    let mut is_founded = false;
    let line_use = line.use_of(&fit.part.path);
    is_founded |= line_use > Use::Absent;
    score += match line_use {
        Use::Absent => 0,
        Use::Named => 40,
        Use::Dereferenced => 60,
        Use::Indexed => 80,
    };
    // The base register of the instruction, unless all its lanes have one value by chance: 0 is common.
    let has_register = lanes.iter().zip(&fit.lanes).all(|(at, lane)| at.parts.base == Some(lane.base));
    if has_register && fit.lanes.iter().any(|lane| lane.base != 0) {
        is_founded = true;
        score += 24;
    }
    if let Some(weight) = index_weight(parts, fit, line) {
        is_founded |= weight > 4;
        score += weight;
    }
    let first = fit.lanes.first()?;
    let distance = first.distance.unsigned_abs();
    let is_global = lanes.first()?.is_global();
    let span = is_global.then(|| accessed.map.at(first.base)).flatten();
    match &span {
        // LDS and private memory are small: an address of them is near all their pointers.
        _ if !is_global => is_founded = true,
        Some(span) => {
            let address = first.base.wrapping_add_signed(first.distance);
            let past = address.saturating_sub(span.last.saturating_add(1));
            let before = span.start.saturating_sub(address);
            if past.max(before) < NEAR {
                is_founded = true;
                score += 10;
            }
            score += if span.start == first.base { 3 } else { 0 };
        }
        // A bad pointer with a small index: the pointer is the cause.
        None if distance < NEAR => {
            is_founded = true;
            score += if distance == 0 || !fit.member.is_empty() { 12 } else { 6 };
        }
        None => {}
    }
    let is_member = !fit.member.is_empty();
    let bytes = lanes.first()?.bytes;
    score += if is_member || fit.element == bytes { 6 } else { 0 };
    score += match &fit.part.sort {
        PartSort::Pointer(pointee) if pointee.size.is_none() => 0,
        _ => 2,
    };
    score += u32::from(fit.part.owner != PartOwner::Global) + u32::from(fit.part.call == 0);
    is_founded.then_some(score)
}

/// The weight of variables with the values of the indexes. A constant small index fits by chance.
fn index_weight(parts: &Parts, fit: &Fit<'_>, line: &Line<'_>) -> Option<u32> {
    let weight = |number: usize| {
        let candidates = integers(parts).filter(|part| expression::is_index(part, fit, number));
        let each = candidates.map(|part| {
            let index = fit.lanes.first().and_then(|lane| lane.indexes.get(number)).copied().unwrap_or(0);
            let is_varying = !matches!(
                rule::rule(&expression::values(fit, number)),
                IndexRule::Constant(_) | IndexRule::Scalar(_)
            );
            let is_elsewhere = expression::is_index_elsewhere(part, fit, number);
            match (is_elsewhere, is_varying || line.has(&part.path)) {
                (Some(false), _) => 2,
                (_, true) | (Some(true), _) => 20,
                (None, false) if index.unsigned_abs() > 16 => 12,
                (None, false) => 4,
            }
        });
        each.max()
    };
    (0..fit.dimensions.len()).filter_map(weight).max()
}

/// Whether an integer is a bound of the outermost index: the index itself, or the number of elements of the
/// allocation. It has one value in all lanes.
pub(super) fn is_bound(accessed: &Accessed<'_>, part: &VariablePart, fit: &Fit<'_>) -> bool {
    let Some(first) = part.values.first().map(|value| value.value.cast_signed()) else { return false };
    if first < 2 || part.values.iter().any(|value| value.value.cast_signed() != first) {
        return false;
    }
    let indexes = || fit.lanes.iter().map(fit::LaneFit::index);
    let is_global = accessed.lanes.first().is_some_and(LaneAt::is_global);
    let count = fit.lanes.first().filter(|_| is_global).and_then(|lane| {
        let span = accessed.map.at(lane.base)?;
        i64::try_from((span.last - lane.base).saturating_add(1).checked_div(fit.element)?).ok()
    });
    indexes().min() == Some(first) || indexes().max() == Some(first) || count == Some(first)
}
