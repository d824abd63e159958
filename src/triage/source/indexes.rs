//! The variables with the values of a fit's indexes, and those that bound them.

use super::expression;
use super::fit::Fit;
use super::line::{Line, Use};
use super::score::is_bound;
use super::term::MAX_LISTED;
use crate::session::print::{PartOwner, PartSort, Parts, VariablePart};
use crate::triage::Variable;
use crate::triage::accessed::Accessed;
use crate::units::LaneId;

/// The integers among the variables.
pub(super) fn integers(parts: &Parts) -> impl Iterator<Item = &VariablePart> {
    parts.parts.iter().filter(|part| part.sort == PartSort::Integer)
}

/// The variables of the indexes.
pub(super) struct Indexes<'p> {
    /// The best name for each dimension.
    pub(super) names: Vec<Option<&'p str>>,
    /// Variables with the index, for each dimension.
    pub(super) equal: Vec<Vec<Variable>>,
    /// Variables that bound it.
    pub(super) bounds: Vec<Variable>,
}

impl<'p> Indexes<'p> {
    pub(super) fn of(accessed: &Accessed<'_>, parts: &'p Parts, fit: &Fit<'_>, line: &Line<'_>) -> Self {
        let mut names = Vec::new();
        let mut all: Vec<Vec<&VariablePart>> = Vec::new();
        let chains = line.chains(&fit.part.path, accessed.suspect.access.direction);
        let chain = chains.iter().find(|chain| chain.leads_to(&fit.members));
        let is_followed = line.use_of(&fit.part.path) == Use::Dereferenced;
        for number in 0..fit.dimensions.len() {
            // A number of the source, or none in `*p`, is no variable.
            let text = chain.and_then(|chain| chain.indexes.get(number));
            let is_number = text.map_or(is_followed && number == 0, |text| text.parse::<i64>().is_ok());
            let named = if is_number { Vec::new() } else { named(parts, fit, number, line) };
            names.push(named.first().map(|part| part.path.as_str()));
            all.push(named);
        }
        let outermost = all.first().map(Vec::as_slice).unwrap_or_default();
        let is_equal = |part: &VariablePart| outermost.iter().any(|equal| std::ptr::eq(*equal, part));
        let mut bounds: Vec<&VariablePart> = Vec::new();
        for part in integers(parts).filter(|part| !is_equal(part) && is_bound(accessed, part, fit)) {
            if bounds.iter().all(|known| known.path != part.path) {
                bounds.push(part);
            }
        }
        let lane = fit.lanes.first().and_then(|lane| lane.lane);
        let listed =
            |parts: &[&VariablePart]| parts.iter().take(MAX_LISTED).map(|part| integer(part, lane)).collect();
        let (equal, bounds) = (all.iter().map(|equal| listed(equal)).collect(), listed(&bounds));
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
    Variable { name: part.path.clone(), value, kind: part.owner, inferred: part.inferred }
}
