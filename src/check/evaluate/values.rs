//! Values of paths, lane by lane.

use super::error::FactError;
use std::collections::BTreeMap;

use super::facts::{Facts, Wave};
use super::names::similar_member;
use super::tally::{DifferingLane, Tally, brief, expected};
use super::{Numbered, lanes};
use crate::check::compare::{
    Compared, NotComparable, RightPlan, are_all, between, compare, missing, near, negative, one_of,
};
use crate::check::file::{StateName, ValueLine};
use crate::check::outcome::Outcome;
use crate::session::print::{TypedLane, TypedQuery, TypedValue};
use crate::session::{LaneState, ValueState};
use crate::units::LaneSet;

/// Maximum number of lines whose values are in memory at once.
const MAX_LINES: usize = 64;

/// The value lines of a block.
#[derive(Default)]
pub(super) struct ValueBlock<'l> {
    lines: Vec<Prepared<'l>>,
}

/// A line with its paths.
struct Prepared<'l> {
    line: Numbered<'l>,
    value: &'l ValueLine,
    plan: RightPlan,
    /// The left path, then those of the right side.
    paths: Vec<String>,
}

impl<'l> ValueBlock<'l> {
    pub(super) fn add(&mut self, line: &Numbered<'l>, value: &'l ValueLine) {
        let mut paths = vec![value.path.clone()];
        let plan = RightPlan::of(&value.right, &mut paths);
        self.lines.push(Prepared { line: *line, value, plan, paths });
    }
}

/// The outcomes of value lines over waves. A wave's frame is found once for [`MAX_LINES`] of its lines.
pub(super) fn evaluate(facts: &Facts<'_>, waves: &[&Wave<'_>], block: ValueBlock<'_>) -> Vec<Outcome> {
    let lines = block.lines;
    let mut tallies: Vec<Tally<'_>> = lines.iter().map(|line| Tally::new(&line.plan)).collect();
    let mut by_frame: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, line) in lines.iter().enumerate() {
        by_frame.entry(line.value.frame).or_default().push(index);
    }
    for wave in waves {
        for (frame, indexes) in &by_frame {
            for some in indexes.chunks(MAX_LINES) {
                of_frame(facts, wave, *frame, some, &lines, &mut tallies);
            }
        }
    }
    let outcome = |(line, tally): (&Prepared<'_>, Tally<'_>)| {
        let (verdict, columns) = tally.verdict(waves.len(), line.value, &line.line.line.text);
        line.line.outcome_at(verdict, columns)
    };
    lines.iter().zip(tallies).map(outcome).collect()
}

fn of_frame<'w>(
    facts: &Facts<'_>,
    wave: &Wave<'w>,
    frame: usize,
    indexes: &[usize],
    lines: &[Prepared<'_>],
    tallies: &mut [Tally<'w>],
) {
    let mut queries = Vec::new();
    let mut asked: Vec<(usize, usize)> = Vec::new();
    wave.session.next_question();
    for index in indexes {
        let (Some(line), Some(tally)) = (lines.get(*index), tallies.get_mut(*index)) else { continue };
        match lanes_of(facts, wave, line.value) {
            Ok(lanes) => {
                asked.push((*index, queries.len()));
                let wants_text = line.plan.wants_text();
                queries.extend(line.paths.iter().map(|path| TypedQuery {
                    path: path.clone(),
                    lanes,
                    wants_text,
                }));
            }
            Err(why) => tally.unknown(wave, None, because(why.to_string())),
        }
    }
    let mut answers = match wave.session.typed(wave.id(), frame, &queries) {
        Ok(answers) => answers,
        Err(why) => {
            for (index, _) in asked {
                if let Some(tally) = tallies.get_mut(index) {
                    tally.unknown(wave, None, because(why.to_string()));
                }
            }
            return;
        }
    };
    for (query, answer) in queries.iter().zip(&mut answers) {
        if let (Some(value), Ok(values)) = (negative(&query.path), answer) {
            let literal = TypedValue::Integer { value, is_character: false };
            values.lanes.iter_mut().for_each(|lane| lane.value = literal.clone());
        }
    }
    for (index, from) in asked {
        let (Some(line), Some(tally)) = (lines.get(index), tallies.get_mut(index)) else { continue };
        let answers = answers.get(from..from + line.paths.len()).unwrap_or_default();
        let values: Result<Vec<&[TypedLane]>, _> =
            answers.iter().map(|answer| answer.as_ref().map(|values| values.lanes.as_slice())).collect();
        match values {
            Ok(values) => of_lanes(wave, line, &values, tally),
            Err(why) => tally.unknown(wave, None, because(format!("the path is wrong at {why}"))),
        }
    }
}

fn because(problem: String) -> NotComparable {
    NotComparable { problem, hint: None, is_error: false, is_missing: false }
}

/// The lanes of a line in a wave.
fn lanes_of(facts: &Facts<'_>, wave: &Wave<'_>, line: &ValueLine) -> Result<LaneSet, FactError> {
    if let Some(named) = &line.lanes {
        return lanes::of(wave.session, wave.id(), line.frame, named);
    }
    if let Some(lane) = facts.fault_lane(wave)? {
        return Ok(LaneSet::one(lane));
    }
    let active = lanes::of(wave.session, wave.id(), line.frame, &crate::check::file::Lanes::Active)?;
    active.first().map(LaneSet::one).ok_or_else(|| FactError::new("no lane is active in the frame"))
}

/// Adds the results of a wave's lanes.
fn of_lanes<'w>(wave: &Wave<'w>, line: &Prepared<'_>, values: &[&[TypedLane]], tally: &mut Tally<'w>) {
    let Some((left, _)) = values.split_first() else { return };
    let mut differing: Vec<DifferingLane> = Vec::new();
    let (mut differs, mut is_hinted) = (false, false);
    for (at, own) in left.iter().enumerate() {
        let lane_values: Vec<&TypedValue> =
            values.iter().filter_map(|lanes| lanes.get(at)).map(|lane| &lane.value).collect();
        let inferred = values.iter().filter_map(|lanes| lanes.get(at)).map(|lane| lane.inferred);
        inferred.for_each(|inferred| tally.infer(inferred));
        tally.add(own.lane, &own.value, (&line.plan, &lane_values));
        match result(own, &line.plan, &lane_values) {
            Ok(true) => {}
            Ok(false) => {
                differs = true;
                if tally.wants_lanes() {
                    let expected = expected(line.value, &line.plan, &lane_values, &line.line.line.text);
                    differing.push((own.lane, expected, got(own, &line.plan)));
                }
            }
            Err(why) => {
                let why = match &why {
                    NotComparable { hint: None, problem, .. } if !is_hinted => {
                        is_hinted = true;
                        let hint = similar_member(wave, own.lane, line.value.frame, &line.paths, problem);
                        NotComparable { hint, ..why }
                    }
                    _ => why,
                };
                tally.unknown(wave, Some(own.lane), why);
            }
        }
    }
    if differs {
        tally.differs(wave, differing);
    }
}

/// A lane's value, or its state if the line is about that.
fn got(lane: &TypedLane, plan: &RightPlan) -> String {
    match plan {
        RightPlan::Is(StateName::Inactive) => lane.state.map_or("unknown", LaneState::words).to_owned(),
        RightPlan::Is(StateName::Error(_)) => match &lane.value {
            TypedValue::Missing(ValueState::Error(why)) => format!("error: {why}"),
            other => brief(other),
        },
        _ => match lane.state {
            // The lane may have left the scope: foreign data.
            Some(state) if state != LaneState::Active => {
                format!("{} ({})", brief(&lane.value), state.words())
            }
            _ => brief(&lane.value),
        },
    }
}

/// Whether a lane's value is the expected one.
fn result(lane: &TypedLane, plan: &RightPlan, values: &[&TypedValue]) -> Compared {
    let left = &lane.value;
    let right = |query: &usize| values.get(*query).copied().unwrap_or(left);
    match plan {
        RightPlan::Compare(comparator, plan) => compare(left, *comparator, plan, values),
        RightPlan::Near { value, tolerance, is_percent } => near(left, right(value), *tolerance, *is_percent),
        RightPlan::Between(first, last) => between(left, (first, last), values),
        RightPlan::OneOf(plans) => one_of(left, plans, values),
        RightPlan::Is(state) => is(lane, state),
    }
}

/// Whether a lane's value is in a state.
fn is(lane: &TypedLane, state: &StateName) -> Compared {
    let value = &lane.value;
    match state {
        StateName::Available => match value {
            TypedValue::Missing(state @ ValueState::Error(_)) => Err(missing(state)),
            value => Ok(value.is_whole()),
        },
        StateName::Unavailable => known_state(value, &|state| matches!(state, ValueState::Unavailable(_))),
        StateName::OptimizedOut => known_state(value, &|state| matches!(state, ValueState::OptimizedOut(_))),
        StateName::Error(text) => Ok(match value {
            TypedValue::Missing(ValueState::Error(why)) => why.contains(text.as_str()),
            _ => false,
        }),
        StateName::Nan => are_all(value, &f64::is_nan),
        StateName::Infinite => are_all(value, &f64::is_infinite),
        // A path with an error, such as an unknown name, has no lanes.
        StateName::Inactive => match (value, lane.state) {
            (TypedValue::Missing(state @ ValueState::Error(_)), _) => Err(missing(state)),
            (_, Some(state)) => Ok(state != LaneState::Active),
            (_, None) => Err(because("the state of the lane is unknown".to_owned())),
        },
    }
}

/// A value that cannot be formed, for example because a name is wrong, has no state.
fn known_state(value: &TypedValue, of: &impl Fn(&ValueState) -> bool) -> Compared {
    match value {
        TypedValue::Missing(state @ ValueState::Error(_)) => Err(missing(state)),
        value => Ok(value.is_all(of)),
    }
}
