//! The results of a value line over waves and lanes.

use super::facts::Wave;
use super::names::similar_names;
use super::obstacle;
use super::waves::{count, ids};
use crate::check::compare::{NotComparable, RightPlan, Summary, shown};
use crate::check::file::{Operand, Right, Span, ValueLine};
use crate::check::outcome::{Difference, LaneDifference, NamedValue, Verdict};
use crate::notation::lanes::{ranges, texts};
use crate::session::print::{IN_SCOPE_AT, Node, Path, Query, TypedQuery, TypedValue, parse};
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

    /// Adds a value of a lane. `values`: those of the plan's paths.
    pub(super) fn add(
        &mut self,
        lane: LaneId,
        value: &TypedValue,
        (plan, values): (&RightPlan, &[&TypedValue]),
    ) {
        self.summary.add(lane, value, plan, values);
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

    /// The verdict over that number of waves, and the columns of an unknown name behind it. `text`: the line's.
    pub(super) fn verdict(self, waves: usize, line: &ValueLine, text: &str) -> (Verdict, Option<Span>) {
        let Some((wave, lanes)) = self.first else {
            return match self.unknown {
                None => (Verdict::Holds, None),
                Some((wave, lane, why)) => {
                    let lane_text = lane.map_or_else(String::new, |lane| format!(", lane {lane}"));
                    let unknown = why.is_error.then(|| unknown_name(&wave, lane, line)).flatten();
                    let columns = unknown.as_ref().and_then(|(name, _)| columns_of(name, line, text));
                    let is_right = why.problem.contains(IN_SCOPE_AT);
                    let hint = unknown.and_then(|(_, hint)| hint).or(why.hint).filter(|_| !is_right);
                    (obstacle(format!("wave {}{lane_text}: {}", wave.info.id, why.problem), hint), columns)
                }
            };
        };
        let got = self.summary.right(&line.right);
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let has_infinity = |got: &str| got.split(|c| !is_of_name(c)).any(|word| word == INFINITY);
        let hides = got.as_deref().is_some_and(|got| has_infinity(got) && !got.starts_with("is "));
        let is_hidden = hides && lanes.first().is_some_and(|(lane, ..)| has_variable(&wave, *lane, line));
        let got = got.filter(|_| !is_hidden);
        let first_lane = lanes.first().map(|(lane, _, _)| *lane);
        let lanes = grouped(&lanes);
        let parts: Vec<String> =
            lanes.iter().map(|part| format!("lane {}: {}", part.lanes, part.got)).collect();
        let mut found =
            parts.join("; ") + &self.inferred.suffix() + &count(self.differing.len(), waves, wave.info.id);
        if is_hidden {
            found += &format!("; `{INFINITY}` is a variable here");
        }
        if let Some((_, lane, why)) = &self.unknown {
            let lane = lane.map_or_else(String::new, |lane| format!(" lane {lane}:"));
            found += &format!(";{lane} {}", why.problem);
        }
        let difference = Difference {
            expected: text.get(line.right_span.clone()).unwrap_or_default().to_owned(),
            got,
            found,
            waves: ids(self.differing.into_iter()),
            lanes,
            names: first_lane.map(|lane| names(&wave, lane, line)).unwrap_or_default(),
            inferred: self.inferred.by().collect(),
        };
        (Verdict::Differs(Box::new(difference)), None)
    }
}

/// The name of a number that a variable can hide.
const INFINITY: &str = "inf";

/// Whether a variable hides the number of that name.
fn has_variable(wave: &Wave<'_>, lane: LaneId, line: &ValueLine) -> bool {
    wave.session.next_question();
    let query = TypedQuery { path: INFINITY.to_owned(), lanes: LaneSet::one(lane), wants_text: false };
    let found = wave.session.typed(wave.id(), line.frame, &[query]).ok().and_then(|mut found| found.pop());
    let value = found.and_then(Result::ok).and_then(|found| found.lanes.into_iter().next());
    !matches!(value.map(|lane| lane.value), Some(TypedValue::Float { value, .. }) if value == f64::INFINITY)
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
                other => format!("{} {value}", other.sign()),
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
    for (side, path) in std::iter::once(&line.path).chain(right_paths(&line.right)).enumerate() {
        let Ok(path) = parse(path, &|_| false) else { continue };
        // The value of the left side is the result itself.
        if side > 0 || !matches!(path.node, Node::Name(_)) {
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
        // An enumerator is its own value.
        let is_own = value == name;
        (!is_own).then(|| NamedValue { name, value: cut(value), inferred: found.inferred.by().collect() })
    };
    found.into_iter().take(MAX_NAMES).filter_map(value).collect()
}

fn right_paths(right: &Right) -> Vec<&String> {
    match right {
        Right::Compare(_, operand) => operand_paths(operand),
        Right::Near { value, .. } => vec![value],
        Right::Between(first, last) => vec![first, last],
        Right::OneOf(operands) => operands.iter().flat_map(operand_paths).collect(),
        Right::Is(_) => Vec::new(),
    }
}

/// The parser bounds the nesting.
fn operand_paths(operand: &Operand) -> Vec<&String> {
    match operand {
        Operand::Path(path) => vec![path],
        Operand::Text(_) => Vec::new(),
        Operand::List { elements, .. } => {
            elements.iter().flat_map(|element| operand_paths(&element.value)).collect()
        }
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

/// A name of a line without a meaning in the frame, and `did you mean ...`: the first with a proposal, else the first.
fn unknown_name(wave: &Wave<'_>, lane: Option<LaneId>, line: &ValueLine) -> Option<(String, Option<String>)> {
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
    let unknown = used.iter().zip(&typed).filter(|(_, values)| is_unknown(values)).map(|(name, _)| name);
    let found: Vec<(&String, Option<String>)> =
        unknown.map(|name| (name, similar_names(name, known.iter().cloned()))).collect();
    let first = found.iter().find(|(_, hint)| hint.is_some()).or(found.first())?;
    Some((first.0.clone(), first.1.clone()))
}

/// The columns of a name in the sides of a line, where no other character of a name is beside it.
fn columns_of(name: &str, line: &ValueLine, text: &str) -> Option<Span> {
    let is_of_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    [&line.path_span, &line.right_span].into_iter().find_map(|span| {
        let side = text.get(span.clone())?;
        let (at, _) = side.match_indices(name).find(|(at, _)| {
            let before = side.get(..*at).and_then(|before| before.chars().next_back());
            let behind = side.get(at + name.len()..).and_then(|behind| behind.chars().next());
            !before.is_some_and(is_of_name) && !behind.is_some_and(is_of_name)
        })?;
        Some(span.start + at..span.start + at + name.len())
    })
}
