//! Variables of a frame as strips: the state of each lane's value, and rules of the values.

use std::collections::BTreeMap;

use super::{Source, cut};
use crate::dwarf::{Location, Storage};
use crate::notation::counted;
use crate::notation::lanes::{Texts, are_readable, ranges, texts};
use crate::postmortem::{ShownWave, ValueCell, ValueMark, ValueRule, VariableStrip};
use crate::report::fold::shortened;
use crate::session::address::GLOBAL;
use crate::session::{Inferred, Inspect, LaneState, LaneStates, LaneValue, ValueState, Variable};
use crate::units::{LaneId, LaneSet, WaveId};

/// Maximum number of variables, and bytes of their values.
const MAX_VARIABLES: usize = 48;
const MAX_BYTES: usize = 96 << 10;
/// Maximum number of values in a list of values without a rule, and of their characters.
const MAX_LISTED: usize = 4;
const MAX_LISTED_WIDTH: usize = 36;

impl Source<'_> {
    /// Adds the variables of a wave's frame; `line`: the source line of the frame, empty if unknown.
    pub(super) fn add_variables(
        &self,
        session: &dyn Inspect,
        wave: WaveId,
        line: &str,
        shown: &mut ShownWave,
    ) {
        session.next_question();
        let all = session.kind().wave_size.all();
        let found = match session.locals(wave, all, shown.frame) {
            Ok(found) => found,
            Err(error) => {
                shown.variables_problem = Some(self.paths.text(&error.to_string()));
                return;
            }
        };
        if let Some(note) = found.note {
            shown.variables_problem = Some(note.to_owned());
            return;
        }
        let term = self.triage.suspects.first().filter(|suspect| suspect.wave == wave);
        let term = term.and_then(|suspect| suspect.term.as_ref());
        let named = |name: &str| {
            let of_term = term.is_some_and(|term| {
                let variables = term.equal.iter().chain(&term.bounds).chain([&term.pointer]);
                variables.into_iter().any(|variable| variable.name == name)
            });
            of_term || has_word(line, name)
        };
        let mut strips: Vec<VariableStrip> = Vec::new();
        let mut bytes = 0usize;
        let mut left_out = found.left_out;
        // Variables of the line, then the innermost scopes.
        let mut order: Vec<&Variable> = found.variables.iter().collect();
        order.sort_by_key(|variable| !named(&variable.name));
        for variable in order {
            let strip = self.strip(variable, &found.states, named(&variable.name));
            bytes = bytes
                .saturating_add(strip.lanes.iter().filter_map(|cell| Some(cell.value.as_ref()?.len())).sum());
            if strips.len() >= MAX_VARIABLES || bytes > MAX_BYTES && !strips.is_empty() {
                left_out += 1;
            } else {
                strips.push(strip);
            }
        }
        (shown.variables, shown.variables_left_out) = (strips, left_out);
        shown.variables_problem = found.problems.first().map(|problem| self.paths.text(problem));
    }

    fn strip(&self, of: &Variable, states: &LaneStates, is_on_line: bool) -> VariableStrip {
        let mut lanes: Vec<Lane<'_>> = of.lanes.iter().map(|value| self.lane(value, states)).collect();
        let rules = classify(&mut lanes);
        let inferred = of.lanes.iter().fold(Inferred::NONE, |all, value| all.or(value.inferred));
        let value = |lane: &Lane<'_>| lane.text.filter(|_| lane.has_value).map(cut);
        let cell = |lane: &Lane<'_>| ValueCell { state: lane.mark, shade: lane.shade, value: value(lane) };
        VariableStrip {
            name: cut(&of.name),
            type_name: cut(&of.type_name),
            inferred: Some(inferred.to_string()).filter(|_| !inferred.is_none()),
            scope: of.scope,
            is_on_line,
            rules,
            lanes: lanes.iter().map(cell).collect(),
        }
    }

    /// The state of a value before it is compared with those of other lanes.
    fn lane<'v>(&self, value: &'v LaneValue, states: &LaneStates) -> Lane<'v> {
        let state = states.of(value.lane);
        let is_left_out = self.options.no_values || self.options.no_global && is_global(value);
        let has_value = matches!(value.state, ValueState::Value(_)) && !is_left_out;
        let is_active = !matches!(state, Some(LaneState::Inactive | LaneState::NotEntered));
        let mark = match &value.state {
            _ if state == Some(LaneState::Unused) => ValueMark::Unused,
            ValueState::Value(_) if is_left_out => ValueMark::LeftOut,
            ValueState::Value(_) if is_active => ValueMark::Varied,
            ValueState::Value(_) => ValueMark::Inactive,
            ValueState::OptimizedOut(_) => ValueMark::OptimizedOut,
            ValueState::Unavailable(_) => ValueMark::NotCaptured,
            ValueState::Error(_) => ValueMark::Error,
        };
        let has_value = has_value && mark != ValueMark::Unused;
        let text = (mark != ValueMark::Unused && mark != ValueMark::LeftOut).then(|| value.state.words());
        Lane { lane: value.lane, mark, shade: 0, text, has_value }
    }
}

/// Lanes with their texts.
type LaneTexts<'v> = Vec<(LaneId, &'v str)>;

/// A lane of a strip.
struct Lane<'v> {
    lane: LaneId,
    mark: ValueMark,
    shade: u8,
    /// The value, or the reason for its absence.
    text: Option<&'v str>,
    has_value: bool,
}

/// Finds the rule of most active lanes, and marks the lanes by it; returns the rules of all lanes.
fn classify(lanes: &mut [Lane<'_>]) -> Vec<ValueRule> {
    let active: Vec<(LaneId, &str)> = lanes
        .iter()
        .filter(|lane| lane.mark == ValueMark::Varied)
        .filter_map(|lane| Some((lane.lane, lane.text?)))
        .collect();
    let found = texts(active.iter().copied());
    let main = found.iter().max_by_key(|rule| rule.lanes.count()).map(|rule| rule.lanes);
    // Three of four lanes: fewer have no rule in common.
    let main = main.filter(|main| main.count() as usize * 4 >= active.len() * 3).unwrap_or_default();
    let texts_of =
        |set: LaneSet| active.iter().filter(move |(lane, _)| set.contains(*lane)).map(|(_, text)| *text);
    let is_constant = texts_of(main).all(|text| Some(text) == texts_of(main).next());
    let shades = shades(&active);
    let mark = |lane: LaneId| match (main.contains(lane), is_constant) {
        (true, true) => ValueMark::Constant,
        (true, false) => ValueMark::Linear,
        (false, _) if main.is_empty() => ValueMark::Varied,
        (false, _) => ValueMark::Outlier,
    };
    let mut rules: Vec<(LaneSet, ValueRule)> = Vec::new();
    let mut add = |part: Texts, state: ValueMark| {
        let rule = ValueRule { lanes: ranges(part.lanes), state, text: Some(cut(&part.text)) };
        rules.push((part.lanes, rule));
    };
    for part in readable(found, &active) {
        let first = part.lanes.first().unwrap_or_default();
        add(part, mark(first));
    }
    let mut others: BTreeMap<u8, (ValueMark, LaneTexts<'_>)> = BTreeMap::new();
    for lane in lanes.iter().filter(|lane| lane.mark != ValueMark::Varied) {
        let entry = others.entry(lane.mark as u8).or_insert_with(|| (lane.mark, Vec::new()));
        entry.1.push((lane.lane, lane.text.unwrap_or_default()));
    }
    for (state, values) in others.into_values() {
        match state {
            ValueMark::Unused => {}
            ValueMark::Inactive => {
                readable(texts(values.iter().copied()), &values).into_iter().for_each(|part| add(part, state))
            }
            // Reasons differ by lane: the first one is an example.
            _ => {
                let lanes = values.iter().map(|(lane, _)| *lane).collect();
                add(Texts { lanes, text: values.first().map_or("", |(_, text)| *text).to_owned() }, state);
            }
        }
    }
    rules.sort_by_key(|(lanes, _)| lanes.first());
    for lane in lanes.iter_mut().filter(|lane| lane.mark == ValueMark::Varied) {
        lane.mark = mark(lane.lane);
        lane.shade = lane.text.and_then(|text| shades.get(text)).copied().unwrap_or_default();
    }
    let mut rules: Vec<ValueRule> = rules.into_iter().map(|(_, rule)| rule).collect();
    for rule in rules.iter_mut().filter(|rule| rule.state == ValueMark::LeftOut) {
        rule.text = None;
    }
    rules
}

/// Rules that are easier to read than the values; else one text with the first distinct values.
fn readable(rules: Vec<Texts>, values: &[(LaneId, &str)]) -> Vec<Texts> {
    if rules.is_empty() || are_readable(rules.iter().map(|rule| rule.lanes)) {
        return rules;
    }
    let mut distinct: Vec<&str> = Vec::new();
    for (_, text) in values {
        if !distinct.contains(text) {
            distinct.push(text);
        }
    }
    let mut text = String::new();
    let mut listed = 0;
    for next in distinct.iter().take(MAX_LISTED).map(|value| shortened(value, MAX_LISTED_WIDTH)) {
        if listed > 0 && text.chars().count() + next.chars().count() + 2 > MAX_LISTED_WIDTH {
            break;
        }
        text += if listed > 0 { ", " } else { "" };
        text += &next;
        listed += 1;
    }
    let more = if listed < distinct.len() { " ..." } else { "" };
    let text = format!("{text}{more} ({})", counted(distinct.len(), "value"));
    vec![Texts { lanes: values.iter().map(|(lane, _)| *lane).collect(), text }]
}

/// The quarter of each text among the distinct ones: by number, if all are numbers, else by first lane.
fn shades<'t>(values: &[(LaneId, &'t str)]) -> BTreeMap<&'t str, u8> {
    let mut distinct: Vec<&str> = Vec::new();
    for (_, text) in values {
        if !distinct.contains(text) {
            distinct.push(text);
        }
    }
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|number| number as f64),
        None => text.parse::<f64>().ok(),
    };
    if distinct.iter().all(|text| number(text).is_some_and(f64::is_finite)) {
        distinct.sort_by(|one, next| {
            number(one).unwrap_or_default().total_cmp(&number(next).unwrap_or_default())
        });
    }
    let count = distinct.len();
    let shade = |index: usize| u8::try_from(index * 4 / count.max(1)).unwrap_or_default();
    distinct.into_iter().enumerate().map(|(index, text)| (text, shade(index))).collect()
}

/// Whether a line has a name as a word.
fn has_word(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && line.match_indices(name).any(|(at, _)| {
            let before = line.get(..at).and_then(|text| text.chars().next_back());
            let after = line.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// Whether a part of a value is in global memory.
fn is_global(value: &LaneValue) -> bool {
    let is_there = |at: &Location| matches!(at.storage, Storage::Memory { space: GLOBAL, .. });
    value.place().is_some_and(|at| match &at.storage {
        // The parts are no composites themselves.
        Storage::Composite(of) => of.parts().iter().any(|part| is_there(&part.location)),
        _ => is_there(&at),
    })
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
