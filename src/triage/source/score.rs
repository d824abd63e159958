//! Fits by their reasons: the line of the source, the base register, variables with the index, the allocation.

use super::expression;
use super::fit::{self, Fit, LaneFit};
use super::indexes::integers;
use super::line::{Line, Use};
use super::readings::{self, Known, SMALL};
use super::rule;
use crate::isa::Form;
use crate::session::print::{PartOwner, PartSort, Parts, VariablePart};
use crate::triage::IndexRule;
use crate::triage::accessed::{Accessed, LaneAt};
use crate::triage::map::Span;

/// The distance in bytes within which an address belongs to a neighbouring allocation.
pub(super) const NEAR: u64 = 0x1_0000;

/// The number of elements that a 32-bit index reaches.
const REACH: u64 = 1 << 32;
/// The first page: its addresses are those of null pointers.
const PAGE: u64 = 0x1000;

/// Fits with a reason, the best first.
pub(super) fn ranked<'p>(
    accessed: &Accessed<'_>,
    parts: &'p Parts,
    lanes: &[LaneAt],
    others: &[LaneAt],
    line: &Line<'_>,
) -> Vec<(u32, Fit<'p>)> {
    let known = Known::of(accessed, parts, lanes, others, line);
    let readings = fit::all(accessed.session, &accessed.suspect.access, parts, lanes, others, &known);
    let fits = readings
        .into_iter()
        .filter_map(|readings| readings::best(parts, readings, line, accessed.suspect.access.direction));
    let scored = fits.filter_map(|fit| Some((score(accessed, parts, &fit, lanes, line)?, fit)));
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
    // A load of `x[i] = y[i]` is that of y.
    if line_use > Use::Absent && line.has_side(&fit.part.path, accessed.suspect.access.direction) {
        score += 12;
    }
    let mut is_exact = false;
    // The register that the index is added to, unless all its lanes have one value by chance: 0 is common. The code has
    // this pointer; nearness to an allocation is chance.
    let is_register =
        |(at, lane): (&LaneAt, &LaneFit)| [at.parts.base, at.parts.origin].contains(&Some(lane.base));
    let has_register = lanes.iter().zip(&fit.lanes).all(is_register);
    if has_register && fit.lanes.iter().any(|lane| lane.base != 0) {
        is_exact = true;
        score += 64;
    }
    if let Some(weight) = (0..fit.dimensions.len()).filter_map(|of| index_weight(parts, fit, line, of)).max()
    {
        is_founded |= weight > 4;
        score += weight;
    }
    is_founded |= is_exact;
    is_exact |= index_weight(parts, fit, line, 0).is_some_and(|weight| weight > 4);
    let first = fit.lanes.first()?;
    let distance = first.distance.unsigned_abs();
    let is_global = lanes.first()?.is_global();
    let span = is_global.then(|| accessed.map.at(first.base)).flatten();
    let outside = outside(first, span.as_ref());
    // The name alone is no reason for an index that 32 bits do not hold, nor for one from memory to a null pointer.
    let address = first.base.wrapping_add_signed(first.distance);
    let is_null = address < PAGE && span.is_some();
    // Many pointers are null by chance: the line names the one that the code follows, or it is null in these lanes alone.
    // The line of a buffer access has the descriptor.
    let is_zero = fit.part.values.iter().all(|value| value.value == 0);
    let has_descriptor = matches!(accessed.suspect.access.form, Form::Buffer { .. });
    if is_zero && !has_descriptor && accessed.suspect.at.text.is_some() && line_use == Use::Absent {
        return None;
    }
    let is_far = |lane: &LaneFit| lane.distance.unsigned_abs() / REACH >= fit.element.max(1);
    let is_far = !is_exact && fit.lanes.iter().any(is_far);
    // Nor for an address beside another allocation: the line may hide the pointer to that one behind a variable.
    let is_beside = || {
        let distance = accessed.map.distance(address);
        outside >= NEAR && (accessed.map.lists(address) || distance.is_some_and(|distance| distance < NEAR))
    };
    if is_global && (is_null || is_far || !is_exact && span.is_some() && is_beside()) {
        return None;
    }
    // The nearest of pointers with the same reasons.
    score += outside.leading_zeros() / 8;
    match &span {
        // LDS and private memory are small: an address of them is near all their pointers.
        _ if !is_global => is_founded = true,
        Some(span) => {
            if outside < NEAR {
                is_founded = true;
                score += 10;
            }
            score += if span.start == first.base { 3 } else { 0 };
        }
        // A bad pointer with a small index: the pointer is the cause.
        None if distance < NEAR => {
            is_founded = true;
            score += if distance == 0 || fit.is_inner() { 12 } else { 6 };
        }
        None => {}
    }
    let bytes = lanes.first()?.bytes;
    score += if fit.is_inner() || fit.element == bytes { 6 } else { 0 };
    score += match &fit.part.sort {
        PartSort::Pointer(pointee) if pointee.size.is_none() => 0,
        _ => 2,
    };
    score += u32::from(fit.part.owner != PartOwner::Global) + u32::from(fit.part.call == 0);
    is_founded.then_some(score)
}

/// The bytes from the allocation of the pointer to the address; without one from the pointer.
fn outside(lane: &LaneFit, span: Option<&Span>) -> u64 {
    let Some(span) = span else { return lane.distance.unsigned_abs() };
    let address = lane.base.wrapping_add_signed(lane.distance);
    address.saturating_sub(span.last.saturating_add(1)).max(span.start.saturating_sub(address))
}

/// The weight of variables with the values of an index. A constant small index fits by chance.
fn index_weight(parts: &Parts, fit: &Fit<'_>, line: &Line<'_>, number: usize) -> Option<u32> {
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
            (None, false) if index.unsigned_abs() > SMALL => 12,
            (None, false) => 4,
        }
    });
    each.max()
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
