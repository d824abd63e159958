//! The pointer, the index and the variables of an access.
//!
//! Several pointers can give one address: `p + index * size` has a solution for each. A fit needs a reason: the line of
//! the source names it, a register holds the pointer, a variable has the index, or the address is near. The one with
//! the most reasons is the term. Without its name in the line the term is inferred.

use super::super::{DeclaredBounds, IndexRule, InnerIndex, Neighbour, Term, Variable};
use super::expression::{self, Notation};
use super::fit::{Fit, LaneFit};
use super::indexes::{Indexes, integers};
use super::line::{Line, Use};
use super::score::{is_bound, ranked};
use super::{rule, slots};
use crate::session::print::{PartOwner, PartSort, Parts, PartsQuery};
use crate::triage::accessed::{Accessed, LaneAt, lane_set};
use crate::triage::map::Span;
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
    /// The variable with its bounds, if it is an array with a place of its own in global memory.
    pub(in crate::triage) object: Option<Span>,
}

/// A lane of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::triage) struct TermLane {
    pub(in crate::triage) lane: Option<LaneId>,
    /// The pointer's value.
    pub(in crate::triage) base: u64,
    /// Elements from the pointer to the address. With indexes of inner arrays the first negative one; `None`: none is, or
    /// several readings fit.
    pub(in crate::triage) index: Option<i64>,
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
        let of_witnesses = |names, has_globals| ask(accessed, &witnesses, &others, names, has_globals);
        let mut parts = of_witnesses(Vec::new(), has_globals)?;
        if !has_globals {
            // Those that the line names compete with its own pointers.
            let is_known = |name: &str| parts.parts.iter().any(|part| part.variable == name);
            let named: Vec<String> = line.further(is_known).map(str::to_owned).collect();
            add_globals(&mut parts, named, &of_witnesses);
        }
        add_pointers(accessed, &parts, pointers);
        slots::add(accessed, &mut parts, &line);
        let names = names(accessed, &parts, &witnesses, &others, &line);
        let is_global = |name: &String| {
            parts.parts.iter().any(|part| part.variable == *name && part.owner == PartOwner::Global)
        };
        let (globals, own): (Vec<String>, Vec<String>) = names.into_iter().partition(is_global);
        let of_all =
            |names, has_globals| ask(accessed, &accessed.lanes, &accessed.others, names, has_globals);
        let mut parts = match (globals.is_empty(), own.is_empty()) {
            (true, true) => return None,
            (false, true) => of_all(globals, true)?,
            (_, false) => {
                let mut parts = of_all(own, false)?;
                add_globals(&mut parts, globals, &of_all);
                parts
            }
        };
        slots::add(accessed, &mut parts, &line);
        let fits = ranked(accessed, &parts, &accessed.lanes, &accessed.others, &line);
        best(accessed, &parts, fits, &line)
    })
}

/// Adds variables outside of functions by their names.
fn add_globals(parts: &mut Parts, names: Vec<String>, ask: &dyn Fn(Vec<String>, bool) -> Option<Parts>) {
    let found = Some(names).filter(|names| !names.is_empty()).and_then(|names| ask(names, true));
    let found = found.into_iter().flat_map(|found| found.parts);
    parts.parts.extend(found.filter(|part| part.owner == PartOwner::Global));
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
    let asked = PartsQuery {
        wave: accessed.suspect.wave,
        lanes: set,
        at,
        names,
        has_globals,
        has_places: false,
        written: accessed.suspect.written.clone(),
    };
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
        for part in integers(parts).filter(|part| line.has(&part.path)) {
            add(&part.variable);
        }
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
    let mut expression = text(&fit, &indexes.names);
    let own = |other: &Fit<'_>| text(other, &Indexes::of(accessed, parts, other, line).names);
    let mut rivals: Vec<String> = Vec::new();
    for rival in fit.rivals.iter().map(own) {
        if rival != expression && !rivals.contains(&rival) && rivals.len() < MAX_LISTED {
            rivals.push(rival);
        }
    }
    let is_ambiguous = !rivals.is_empty();
    let inner = if is_ambiguous { Vec::new() } else { inner(&fit, &indexes, parts.is_fortran, &text) };
    let mut rivals = rivals.into_iter();
    if let Some(rival) = rivals.next() {
        expression = format!("{expression} or {rival}");
    }
    let close = fits.take_while(|(other, _)| other + CLOSE > score);
    let mut alternatives: Vec<String> = rivals.collect();
    for (_, other) in close {
        let text = own(&other);
        if text != expression && !alternatives.contains(&text) && alternatives.len() < MAX_LISTED {
            alternatives.push(text);
        }
    }
    let pointer = Variable {
        name: fit.part.path.clone(),
        value: format!("{:#x}", fit.lanes.first()?.base),
        kind: fit.part.owner,
        inferred: fit.part.inferred,
    };
    let index = |lane: &LaneFit| match fit.dimensions.len() {
        _ if is_ambiguous => None,
        1 => lane.distance.checked_div(i64::try_from(fit.element).ok()?),
        _ => lane.indexes.iter().copied().find(|index| *index < 0),
    };
    let lane = |lane: &LaneFit| TermLane { lane: lane.lane, base: lane.base, index: index(lane) };
    let lanes: Vec<TermLane> = fit.lanes.iter().map(lane).collect();
    let term = Term {
        expression,
        pointer,
        element: fit.element,
        index: match is_ambiguous {
            true => IndexRule::Listed(Vec::new()),
            false => rule::rule(&expression::values(&fit, 0)),
        },
        equal: indexes.equal.into_iter().next().filter(|_| !is_ambiguous).unwrap_or_default(),
        bounds: indexes.bounds,
        declared: declared(&fit, 0),
        inner,
        is_ambiguous,
        allocation: allocation(accessed, &fit),
        alternatives,
        is_inferred: !line.has(&fit.part.path),
    };
    Some(FoundTerm { term, lanes, object: object(accessed, &fit) })
}

/// The variable of a fit with its bounds, if it is an array outside of functions or a static one: an allocation in
/// itself.
fn object(accessed: &Accessed<'_>, fit: &Fit<'_>) -> Option<Span> {
    let is_own = matches!(fit.part.sort, PartSort::Array { .. }) && fit.part.path == fit.part.variable;
    let (lane, dimension) = (fit.lanes.first()?, fit.dimensions.first()?);
    let start =
        Some(lane.base).filter(|_| is_own && accessed.lanes.first().is_some_and(LaneAt::is_global))?;
    let size = dimension.count?.checked_mul(u64::try_from(dimension.stride).ok()?)?;
    let last = start.checked_add(size.checked_sub(1)?)?;
    Some(Span { start, last, name: Some(fit.part.path.clone()), is_code: false })
}

/// The indexes after the outermost one.
fn inner(
    fit: &Fit<'_>,
    indexes: &Indexes<'_>,
    is_fortran: bool,
    text: &dyn Fn(&Fit<'_>, &[Option<&str>]) -> String,
) -> Vec<InnerIndex> {
    let of = |number: usize| {
        let mut array = fit.clone();
        array.members.truncate(number);
        array.dimensions.truncate(number);
        InnerIndex {
            array: if is_fortran { fit.part.path.clone() } else { text(&array, &indexes.names) },
            index: rule::rule(&expression::values(fit, number)),
            equal: indexes.equal.get(number).cloned().unwrap_or_default(),
            declared: declared(fit, number),
        }
    };
    (1..fit.dimensions.len()).map(of).collect()
}

/// The bounds of an index by the array's type.
fn declared(fit: &Fit<'_>, number: usize) -> Option<DeclaredBounds> {
    let dimension = fit.dimensions.get(number)?;
    Some(DeclaredBounds { first: dimension.first, count: dimension.count? })
}

/// The allocation that the pointer leads to, with the distance of the first lane's address.
fn allocation(accessed: &Accessed<'_>, fit: &Fit<'_>) -> Option<Neighbour> {
    let lane = fit.lanes.first()?;
    let at = accessed.lanes.first().filter(|at| at.is_global())?;
    let global = at.address;
    let span = object(accessed, fit).or_else(|| accessed.map.at(lane.base))?;
    let past = global.saturating_sub(span.last.saturating_add(1));
    let before = span.start.saturating_sub(global);
    let is_outside = global > span.last || global < span.start;
    let distance = if is_outside { past.max(before) } else { 0 };
    Some(accessed.map.neighbour(&span, distance))
}
