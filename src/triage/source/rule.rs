//! Rules of indexes over lanes, and their text.

use super::super::IndexRule;
use crate::notation::lanes;
use crate::units::{LaneId, LaneSet};

/// The rule of values by lane, lowest lane first.
pub(super) fn rule(values: &[(Option<LaneId>, i64)]) -> IndexRule {
    let mut by_lane = Vec::with_capacity(values.len());
    for (lane, value) in values {
        match lane {
            None => return IndexRule::Scalar(*value),
            Some(lane) => by_lane.push((*lane, *value)),
        }
    }
    let Some((from, first)) = by_lane.first().copied() else { return IndexRule::Listed(Vec::new()) };
    if by_lane.iter().all(|(_, value)| *value == first) {
        return IndexRule::Constant(first);
    }
    let Some((lane, second)) = by_lane.get(1).copied() else { return IndexRule::Constant(first) };
    let distance = i128::from(lane.0) - i128::from(from.0);
    let step = (i128::from(second) - i128::from(first))
        .checked_div(distance)
        .and_then(|step| i64::try_from(step).ok());
    let follows = |step: i64| {
        by_lane.iter().all(|(lane, value)| {
            let lanes = i128::from(lane.0) - i128::from(from.0);
            i128::from(*value) == i128::from(first) + i128::from(step) * lanes
        })
    };
    match step.filter(|step| *step != 0 && follows(*step)) {
        Some(step) => IndexRule::Linear { first, from, step },
        None => IndexRule::Listed(by_lane),
    }
}

/// A rule as an index of the source: `1024`, `1000 + lane`; without a rule the least and the greatest value: `-4..17`.
pub(super) fn text(rule: &IndexRule) -> String {
    match rule {
        IndexRule::Constant(value) | IndexRule::Scalar(value) => value.to_string(),
        IndexRule::Linear { first, from, step } => {
            let step = i128::from(*step);
            let base = i128::from(*first) - step * i128::from(from.0);
            lanes::Rule { lanes: LaneSet::one(*from), base, step }.term()
        }
        IndexRule::Listed(values) => {
            let all = || values.iter().map(|(_, value)| *value);
            match (all().min(), all().max()) {
                (Some(least), Some(most)) => format!("{least}..{most}"),
                _ => "?".to_owned(),
            }
        }
    }
}
