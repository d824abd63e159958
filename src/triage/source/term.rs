//! The pointer, the index and the variables of an access.
//!
//! Several pointers can give one address: `p + index * size` has a solution for each. A fit needs a reason: the line of
//! the source names it, a register holds the pointer, a variable has the index, or the address is near. The one with
//! the most reasons is the term. Without its name in the line the term is inferred.

use super::super::{DeclaredBounds, Neighbour, Term, Variable};
use super::expression::{self, Notation};
use super::fit::{self, Fit};
use super::line::{Line, Use};
use super::{rule, slots};
use crate::session::print::{PartOwner, PartSort, Parts, PartsQuery, VariablePart};
use crate::triage::accessed::{Accessed, LaneAt, lane_set};
use crate::units::{LaneId, LaneSet, Pc};

/// Number of lanes that decide which variables matter; all lanes check those.
const WITNESSES: usize = 4;
/// Maximum number of variables that all lanes check.
const MAX_CHECKED: usize = 24;
/// The distance in bytes within which an address belongs to a neighbouring allocation.
pub(super) const NEAR: u64 = 0x1_0000;
/// Maximum number of pointers to listed memory.
const MAX_POINTERS: usize = 32;
/// Maximum number of variables in a list of a term.
const MAX_LISTED: usize = 3;
/// The difference of scores below which a fit is an alternative.
const CLOSE: u32 = 8;

/// The result.
#[derive(Clone, Debug, Default)]
pub(in crate::triage) struct Found {
    pub(in crate::triage) term: Option<FoundTerm>,
    /// Values of pointer variables in the first lane that lead to listed memory.
    pub(in crate::triage) pointers: Vec<u64>,
}

/// A term, and the numbers of lanes for patterns.
#[derive(Clone, Debug)]
pub(in crate::triage) struct FoundTerm {
    pub(in crate::triage) term: Term,
    pub(in crate::triage) lanes: Vec<TermLane>,
}

/// A lane of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::triage) struct TermLane {
    pub(in crate::triage) lane: Option<LaneId>,
    /// The pointer's value.
    pub(in crate::triage) base: u64,
    /// Elements from the pointer to the address.
    pub(in crate::triage) index: i64,
}

/// The term of an access, if a pointer has a reason, and the pointers to listed memory.
pub(super) fn find(accessed: &Accessed<'_>) -> Found {
    let mut pointers = Vec::new();
    let term = term(accessed, &mut pointers);
    Found { term, pointers }
}

fn term(accessed: &Accessed<'_>, pointers: &mut Vec<u64>) -> Option<FoundTerm> {
    let witnesses = witnesses(&accessed.lanes);
    let others = witnesses_of(&accessed.others);
    let line = accessed.suspect.at.text.as_deref().map(Line::new).unwrap_or_default();
    [false, true].into_iter().find_map(|has_globals| {
        let mut parts = ask(accessed, &witnesses, &others, Vec::new(), has_globals)?;
        add_pointers(accessed, &parts, pointers);
        slots::add(accessed, &mut parts, &line);
        let names = names(accessed, &parts, &witnesses, &others, &line);
        if names.is_empty() {
            return None;
        }
        let mut parts = ask(accessed, &accessed.lanes, &accessed.others, names, has_globals)?;
        slots::add(accessed, &mut parts, &line);
        let fits = ranked(accessed, &parts, &accessed.lanes, &accessed.others, &line);
        best(accessed, &parts, fits, &line)
    })
}

/// Adds the pointers of a lane to listed memory.
fn add_pointers(accessed: &Accessed<'_>, parts: &Parts, pointers: &mut Vec<u64>) {
    for part in parts.parts.iter().filter(|part| matches!(part.sort, PartSort::Pointer(_))) {
        let Some(value) = part.values.first().map(|value| value.value) else { continue };
        if pointers.len() < MAX_POINTERS && !pointers.contains(&value) && accessed.map.lists(value) {
            pointers.push(value);
        }
    }
}

/// The lanes that decide: the first, the last, and those between at equal distances.
fn witnesses(lanes: &[LaneAt]) -> Vec<LaneAt> {
    let last = lanes.len().saturating_sub(1);
    let step = |number: usize| (last * number).checked_div(WITNESSES - 1).unwrap_or(0);
    let mut chosen: Vec<usize> = (0..WITNESSES).map(step).collect();
    chosen.dedup();
    chosen.into_iter().filter_map(|index| lanes.get(index).copied()).collect()
}

fn witnesses_of(others: &[LaneAt]) -> Vec<LaneAt> {
    let ends = [others.first(), others.last().filter(|_| others.len() > 1)];
    ends.into_iter().flatten().copied().collect()
}

fn ask(
    accessed: &Accessed<'_>,
    lanes: &[LaneAt],
    others: &[LaneAt],
    names: Vec<String>,
    has_globals: bool,
) -> Option<Parts> {
    let set = lane_set(lanes.iter().chain(others));
    // A scalar access has the same address in all lanes.
    let active = || accessed.session.wave(accessed.suspect.wave).ok()?.exec?.first();
    let set = if set == LaneSet::EMPTY { LaneSet::one(active().unwrap_or_default()) } else { set };
    let at = Pc(accessed.suspect.instruction);
    let asked =
        PartsQuery { wave: accessed.suspect.wave, lanes: set, at, names, has_globals, has_places: false };
    accessed.session.parts(&asked).ok()
}

/// The variables that matter: those of fits, and the integers with an index or a bound of one.
fn names(
    accessed: &Accessed<'_>,
    parts: &Parts,
    lanes: &[LaneAt],
    others: &[LaneAt],
    line: &Line<'_>,
) -> Vec<String> {
    let fits = ranked(accessed, parts, lanes, others, line);
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if names.len() < MAX_CHECKED && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for (_, fit) in fits.iter().take(MAX_LISTED + 1) {
        add(&fit.part.variable);
        // An index within the path: `bodies[i]`.
        for (_, index) in fit.part.path.split('[').enumerate().skip(1) {
            add(index.split(|end| "].->+ ".contains(end)).next().unwrap_or_default());
        }
    }
    for (_, fit) in fits.iter().take(MAX_LISTED + 1) {
        for part in integers(parts) {
            let is_index = (0..fit.dimensions.len()).any(|number| expression::is_index(part, fit, number));
            if is_index || is_bound(accessed, part, fit) {
                add(&part.variable);
            }
        }
    }
    names
}

fn integers(parts: &Parts) -> impl Iterator<Item = &VariablePart> {
    parts.parts.iter().filter(|part| part.sort == PartSort::Integer)
}

/// Fits with a reason, the best first.
fn ranked<'p>(
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
                super::super::IndexRule::Constant(_) | super::super::IndexRule::Scalar(_)
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
fn is_bound(accessed: &Accessed<'_>, part: &VariablePart, fit: &Fit<'_>) -> bool {
    let Some(first) = part.values.first().map(|value| value.value.cast_signed()) else { return false };
    if first < 2 || part.values.iter().any(|value| value.value.cast_signed() != first) {
        return false;
    }
    let indexes = || fit.lanes.iter().map(super::fit::LaneFit::index);
    let is_global = accessed.lanes.first().is_some_and(LaneAt::is_global);
    let count = fit.lanes.first().filter(|_| is_global).and_then(|lane| {
        let span = accessed.map.at(lane.base)?;
        i64::try_from((span.last - lane.base).saturating_add(1).checked_div(fit.element)?).ok()
    });
    indexes().min() == Some(first) || indexes().max() == Some(first) || count == Some(first)
}

fn best(
    accessed: &Accessed<'_>,
    parts: &Parts,
    fits: Vec<(u32, Fit<'_>)>,
    line: &Line<'_>,
) -> Option<FoundTerm> {
    let notation = if parts.is_fortran { Notation::Fortran } else { Notation::C };
    let mut fits = fits.into_iter();
    let (score, fit) = fits.next()?;
    let indexes = Indexes::of(accessed, parts, &fit, line);
    let text = |fit: &Fit<'_>, names: &[Option<&str>]| {
        expression::text(fit, names, notation, line.use_of(&fit.part.path) == Use::Indexed)
    };
    let expression = text(&fit, &indexes.names);
    let close = fits.take_while(|(other, _)| other + CLOSE > score);
    let mut alternatives: Vec<String> = Vec::new();
    for (_, other) in close {
        let names = Indexes::of(accessed, parts, &other, line).names;
        let text = text(&other, &names);
        if text != expression && !alternatives.contains(&text) && alternatives.len() < MAX_LISTED {
            alternatives.push(text);
        }
    }
    let pointer = Variable {
        name: fit.part.path.clone(),
        value: format!("{:#x}", fit.lanes.first()?.base),
        kind: kind(fit.part.owner),
    };
    let is_known = |lane: &super::fit::LaneFit| lane.distance.checked_div(i64::try_from(fit.element).ok()?);
    let lanes = fit
        .lanes
        .iter()
        .filter_map(|lane| Some(TermLane { lane: lane.lane, base: lane.base, index: is_known(lane)? }));
    let term = Term {
        expression,
        pointer,
        element: fit.element,
        index: rule::rule(&expression::values(&fit, 0)),
        equal: indexes.equal,
        bounds: indexes.bounds,
        declared: declared(&fit),
        allocation: allocation(accessed, &fit),
        alternatives,
        is_inferred: !line.has(&fit.part.path),
    };
    Some(FoundTerm { term, lanes: lanes.collect() })
}

/// The variables of the indexes.
struct Indexes<'p> {
    /// The best name for each dimension.
    names: Vec<Option<&'p str>>,
    /// Variables with the outermost index.
    equal: Vec<Variable>,
    bounds: Vec<Variable>,
}

impl<'p> Indexes<'p> {
    fn of(accessed: &Accessed<'_>, parts: &'p Parts, fit: &Fit<'_>, line: &Line<'_>) -> Self {
        let mut names = Vec::new();
        let mut equal: Vec<&VariablePart> = Vec::new();
        for number in 0..fit.dimensions.len() {
            let mut named = named(parts, fit, number, line);
            names.push(named.first().map(|part| part.path.as_str()));
            if number == 0 {
                equal.append(&mut named);
            }
        }
        let is_equal = |part: &VariablePart| equal.iter().any(|equal| std::ptr::eq(*equal, part));
        let mut bounds: Vec<&VariablePart> = Vec::new();
        for part in integers(parts).filter(|part| !is_equal(part) && is_bound(accessed, part, fit)) {
            if bounds.iter().all(|known| known.path != part.path) {
                bounds.push(part);
            }
        }
        let lane = fit.lanes.first().and_then(|lane| lane.lane);
        let listed =
            |parts: &[&VariablePart]| parts.iter().take(MAX_LISTED).map(|part| integer(part, lane)).collect();
        let (equal, bounds) = (listed(&equal), listed(&bounds));
        Self { names, equal, bounds }
    }
}

/// The integers with the index of a dimension, the likeliest name first.
fn named<'p>(parts: &'p Parts, fit: &Fit<'_>, number: usize, line: &Line<'_>) -> Vec<&'p VariablePart> {
    let is_index = |part: &&VariablePart| {
        expression::is_index(part, fit, number)
            && expression::is_index_elsewhere(part, fit, number) != Some(false)
    };
    let mut found: Vec<&VariablePart> = integers(parts).filter(is_index).collect();
    // A name in the line excludes those of other lines: `i` of `x[i]` and not the bound `n` of the same value.
    if found.iter().any(|part| line.has(&part.path)) {
        found.retain(|part| line.has(&part.path));
    }
    let is_small =
        fit.lanes.iter().all(|lane| lane.indexes.get(number).is_some_and(|index| index.unsigned_abs() <= 16));
    let is_one = fit.lanes.len() == 1 && fit.others.is_empty();
    // Small numbers of one lane equal many variables.
    if is_small && is_one {
        found.retain(|part| line.has(&part.path));
    }
    // `stride` before `sample.range.step`, locals before the bounds in arguments.
    let is_part = |part: &VariablePart| part.path.contains(['.', '>', '[']);
    found.sort_by_key(|part| (part.call, is_part(part), part.owner != PartOwner::Local));
    found
}

/// An integer with its value in a lane; of a scalar access in any.
fn integer(part: &VariablePart, lane: Option<LaneId>) -> Variable {
    let value = part.values.iter().find(|value| lane.is_none_or(|lane| lane == value.lane));
    let value = value.map_or_else(String::new, |value| value.value.cast_signed().to_string());
    Variable { name: part.path.clone(), value, kind: kind(part.owner) }
}

fn kind(owner: PartOwner) -> &'static str {
    match owner {
        PartOwner::Argument => "argument",
        PartOwner::Local => "local",
        PartOwner::Global => "global",
        PartOwner::KernelArgument => "kernel argument",
    }
}

/// The bounds of the outermost index by the array's type.
fn declared(fit: &Fit<'_>) -> Option<DeclaredBounds> {
    let PartSort::Array { .. } = fit.part.sort else { return None };
    let dimension = fit.dimensions.first()?;
    Some(DeclaredBounds { first: dimension.first, count: dimension.count? })
}

/// The allocation that the pointer leads to, with the distance of the first lane's address.
fn allocation(accessed: &Accessed<'_>, fit: &Fit<'_>) -> Option<Neighbour> {
    let lane = fit.lanes.first()?;
    let at = accessed.lanes.first().filter(|at| at.is_global())?;
    let global = at.address;
    let span = accessed.map.at(lane.base)?;
    let past = global.saturating_sub(span.last.saturating_add(1));
    let before = span.start.saturating_sub(global);
    let is_outside = global > span.last || global < span.start;
    let distance = if is_outside { past.max(before) } else { 0 };
    Some(accessed.map.neighbour(&span, distance))
}
