//! The results of a value line over waves and lanes.

use super::facts::Wave;
use super::names::similar_names;
use super::obstacle;
use super::waves::{count, ids};
use crate::check::compare::{NotComparable, RightPlan, Summary, shown, sign};
use crate::check::file::{Right, ValueLine};
use crate::check::outcome::{Difference, LaneDifference, NamedValue, Verdict};
use crate::notation::lanes::{ranges, texts};
use crate::session::print::{Node, Path, Query, TypedQuery, TypedValue, parse};
use crate::session::{Inferred, ValueState};
use crate::units::{LaneId, LaneSet};

/// Maximum number of names with values.
const MAX_NAMES: usize = 8;
/// Maximum number of bytes of a value for people.
const MAX_SHOWN: usize = 240;

/// A lane that differs, with the expected value and its own for people.
pub(super) type DifferingLane = (LaneId, String, String);

/// The results of a line so far.
pub(super) struct Tally<'w> {
    /// Ids of the waves that differ.
    differing: Vec<u32>,
    /// The first of them with its lanes: expected and own value.
    first: Option<(Wave<'w>, Vec<DifferingLane>)>,
    /// The first reason that a result is unknown, with the lane.
    unknown: Option<(Wave<'w>, Option<LaneId>, NotComparable)>,
    summary: Summary,
    /// The inferences behind the values.
    inferred: Inferred,
}

impl<'w> Tally<'w> {
    pub(super) fn new(plan: &RightPlan) -> Self {
        Self {
            differing: Vec::new(),
            first: None,
            unknown: None,
            summary: Summary::new(plan),
            inferred: Inferred::NONE,
        }
    }

    /// Adds a value of a lane.
    pub(super) fn add(&mut self, lane: LaneId, value: &TypedValue) {
        self.summary.add(lane, value);
    }

    /// Adds the inferences behind a value.
    pub(super) fn infer(&mut self, inferred: Inferred) {
        self.inferred = self.inferred.or(inferred);
    }

    /// Adds the lanes of a wave that differ.
    pub(super) fn differs(&mut self, wave: &Wave<'w>, lanes: Vec<DifferingLane>) {
        self.differing.push(wave.info.id);
        self.first.get_or_insert_with(|| (wave.clone(), lanes));
    }

    /// Whether the lanes of the next wave that differs are kept.
    pub(super) fn wants_lanes(&self) -> bool {
        self.first.is_none()
    }

    /// Adds a result that is unknown.
    pub(super) fn unknown(&mut self, wave: &Wave<'w>, lane: Option<LaneId>, why: NotComparable) {
        self.unknown.get_or_insert_with(|| (wave.clone(), lane, why));
    }

    /// The verdict over that number of waves. `text`: the line's.
    pub(super) fn verdict(self, waves: usize, line: &ValueLine, plan: &RightPlan, text: &str) -> Verdict {
        let Some((wave, lanes)) = self.first else {
            return match self.unknown {
                None => Verdict::Holds,
                Some((wave, lane, why)) => {
                    let lane_text = lane.map_or_else(String::new, |lane| format!(", lane {lane}"));
                    let hint = match why.is_error {
                        true => unknown_name(&wave, lane, line).or(why.hint),
                        false => why.hint,
                    };
                    obstacle(format!("wave {}{lane_text}: {}", wave.info.id, why.problem), hint)
                }
            };
        };
        let got = self.summary.right(plan);
        let first_lane = lanes.first().map(|(lane, _, _)| *lane);
        let lanes = grouped(&lanes);
        let parts: Vec<String> =
            lanes.iter().map(|part| format!("lane {}: {}", part.lanes, part.got)).collect();
        let mut found =
            parts.join("; ") + &self.inferred.suffix() + &count(self.differing.len(), waves, wave.info.id);
        if let Some((_, lane, why)) = &self.unknown {
            let lane = lane.map_or_else(String::new, |lane| format!(" lane {lane}:"));
            found += &format!(";{lane} {}", why.problem);
        }
        Verdict::Differs(Box::new(Difference {
            expected: text.get(line.right_span.clone()).unwrap_or_default().to_owned(),
            got,
            found,
            waves: ids(self.differing.into_iter()),
            lanes,
            names: first_lane.map(|lane| names(&wave, lane, line)).unwrap_or_default(),
            inferred: self.inferred.by().collect(),
        }))
    }
}

/// Lanes with one rule together.
fn grouped(lanes: &[DifferingLane]) -> Vec<LaneDifference> {
    // No value has this character.
    const BETWEEN: char = '\u{0}';
    let both: Vec<(LaneId, String)> =
        lanes.iter().map(|(lane, expected, got)| (*lane, format!("{expected}{BETWEEN}{got}"))).collect();
    let parts = texts(both.iter().map(|(lane, text)| (*lane, text.as_str())));
    let part = |part: crate::notation::lanes::Texts| {
        let (expected, got) = part.text.split_once(BETWEEN).unwrap_or((&part.text, ""));
        LaneDifference { lanes: ranges(part.lanes), expected: expected.to_owned(), got: got.to_owned() }
    };
    parts.into_iter().map(part).collect()
}

/// A value for people, cut at a limit.
pub(super) fn brief(value: &TypedValue) -> String {
    cut(shown(value))
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_SHOWN {
        text.truncate(text.floor_char_boundary(MAX_SHOWN));
        text.push_str("...");
    }
    text
}

/// The expected value of a lane, for people.
pub(super) fn expected(line: &ValueLine, plan: &RightPlan, values: &[&TypedValue], text: &str) -> String {
    match plan {
        RightPlan::Compare(comparator, crate::check::compare::Plan::Path { query, .. }) => {
            let value = values.get(*query).map_or_else(String::new, |value| brief(value));
            match comparator {
                crate::check::file::Comparator::Equal => value,
                other => format!("{} {value}", sign(*other)),
            }
        }
        _ => {
            let text = text.get(line.right_span.clone()).unwrap_or_default();
            cut(text.strip_prefix("==").or(text.strip_prefix("is ")).unwrap_or(text).trim().to_owned())
        }
    }
}

/// The values of the names in a line, in a lane.
fn names(wave: &Wave<'_>, lane: LaneId, line: &ValueLine) -> Vec<NamedValue> {
    let mut found: Vec<String> = Vec::new();
    for path in std::iter::once(&line.path).chain(right_paths(&line.right)) {
        let Ok(path) = parse(path, &|_| false) else { continue };
        if !matches!(path.node, Node::Name(_)) {
            collect(&path, &mut found);
        }
    }
    let value = |name: String| {
        wave.session.next_question();
        let query = Query { path: name.clone(), letter: None };
        let printed = wave.session.print(wave.id(), LaneSet::one(lane), line.frame, &query).ok()?;
        let found = &printed.lanes.first()?.value;
        let value = match &found.state {
            ValueState::Value(text) => text.to_string(),
            ValueState::Unavailable(_) => "unavailable".to_owned(),
            ValueState::OptimizedOut(_) => "optimized out".to_owned(),
            ValueState::Error(_) => return None,
        };
        Some(NamedValue { name, value: cut(value), inferred: found.inferred.by().collect() })
    };
    found.into_iter().take(MAX_NAMES).filter_map(value).collect()
}

fn right_paths(right: &Right) -> Vec<&String> {
    match right {
        Right::Compare(_, crate::check::file::Operand::Path(path)) => vec![path],
        Right::Near { value, .. } => vec![value],
        Right::Between(first, last) => vec![first, last],
        _ => Vec::new(),
    }
}

/// The names of a path, each once. The parser bounds the nesting.
fn collect(path: &Path, names: &mut Vec<String>) {
    match &path.node {
        Node::Name(name) if names.contains(name) => {}
        Node::Name(name) => names.push(name.clone()),
        Node::Unary(_, of) | Node::Cast(_, of) | Node::Member { object: of, .. } => collect(of, names),
        Node::Binary(_, one, other)
        | Node::Index(one, other)
        | Node::Repeat(one, other)
        | Node::MemberPointer { object: one, member: other, .. } => {
            collect(one, names);
            collect(other, names);
        }
        _ => {}
    }
}

/// `did you mean ...` for the first name of a line without a meaning in the frame.
fn unknown_name(wave: &Wave<'_>, lane: Option<LaneId>, line: &ValueLine) -> Option<String> {
    let lanes = LaneSet::one(lane?);
    let mut used = Vec::new();
    for path in std::iter::once(&line.path).chain(right_paths(&line.right)) {
        collect(&parse(path, &|_| false).ok()?, &mut used);
    }
    wave.session.next_question();
    let locals = wave.session.locals(wave.id(), lanes, line.frame).ok()?;
    let known: Vec<String> = locals.variables.iter().map(|variable| variable.name.clone()).collect();
    used.retain(|name| !known.contains(name));
    wave.session.next_question();
    let asked: Vec<TypedQuery> =
        used.iter().map(|name| TypedQuery { path: name.clone(), lanes, wants_text: false }).collect();
    let typed = wave.session.typed(wave.id(), line.frame, &asked).ok()?;
    let is_unknown = |values: &Result<crate::session::print::TypedValues, _>| {
        let lane = values.as_ref().ok().and_then(|values| values.lanes.first());
        lane.is_some_and(|lane| matches!(lane.value, TypedValue::Missing(ValueState::Error(_))))
    };
    let mut unknown = used.iter().zip(&typed).filter(|(_, values)| is_unknown(values)).map(|(name, _)| name);
    unknown.find_map(|name| similar_names(name, known.iter().cloned()))
}
