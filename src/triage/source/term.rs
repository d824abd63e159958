//! The pointer, the index and the variables of an access.
//!
//! Several pointers can give one address: `p + index * size` has a solution for each. A fit needs a reason: the line of
//! the source names it, a register holds the pointer, a variable has the index, or the address is near. The one with
//! the most reasons is the term. Without its name in the line the term is inferred.

use super::super::{DeclaredBounds, Neighbour, Term, Variable};
use super::expression::{self, Notation};
use super::fit::Fit;
use super::indexes::{Indexes, integers, kind};
use super::line::{Line, Use};
use super::score::{is_bound, ranked};
use super::{rule, slots};
use crate::session::print::{PartSort, Parts, PartsQuery};
use crate::triage::accessed::{Accessed, LaneAt, lane_set};
use crate::units::{LaneId, LaneSet, Pc};

/// Number of lanes that decide which variables matter; all lanes check those.
const WITNESSES: usize = 4;
/// Maximum number of variables that all lanes check.
const MAX_CHECKED: usize = 24;
/// Maximum number of pointers to listed memory.
const MAX_POINTERS: usize = 32;
/// Maximum number of variables in a list of a term.
pub(super) const MAX_LISTED: usize = 3;
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
        inferred: fit.part.inferred,
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
