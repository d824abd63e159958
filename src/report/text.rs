//! Answers as text for people.

use std::fmt::Write as _;

use super::lanes::{self, Cell, Detail};
use super::{Style, Table};
use crate::debuginfo::source_name;
use crate::notation::lanes::ranges;
use crate::notation::plural;
use crate::session::{
    Byte, DispatchArguments, Inferred, LaneInfo, LanePosition, LaneState, LaneStates, LaneValue, Locals,
    Scope, ValueState, Variable, Waves,
};
use crate::units::{LaneId, LaneSet, WaveId};

/// The warnings about a wave whose values may be wrong, and about values that nothing confirms; empty for other waves.
#[must_use]
pub fn mark(session: &dyn Waves, wave: WaveId, style: Style) -> String {
    let Ok(info) = session.wave(wave) else { return String::new() };
    let mut lines = String::new();
    if let Some(reason) = info.unconfirmed {
        lines += &(style.alarm(&format!("wave {} is unconfirmed: {reason}", info.id)) + "\n");
    }
    if let Some(values) = info.unchecked {
        lines += &(style.dim(&format!("wave {} has unchecked values: {values}", info.id)) + "\n");
    }
    lines
}

/// The position of a lane, and the source of its PC.
#[must_use]
pub fn lane_pc(of: &LaneInfo) -> String {
    let state = of.state.map_or("EXEC was not captured", LaneState::words);
    let pc = of.at.pc.map_or_else(String::new, |pc| format!(", at {pc}"));
    format!("lane {}: {state}{pc}, {}\n    {}\n", of.lane, place(&of.at), of.at.from)
}

/// `scale at saxpy.hip:4`; only the function if the PC is unknown.
pub(crate) fn place(at: &LanePosition) -> String {
    let function = at.function.as_deref().unwrap_or("?");
    match (&at.file, at.line) {
        (Some(file), Some(line)) => format!("{function} at {file}:{line}"),
        (None, Some(line)) => format!("{function} at line {line}"),
        _ => function.to_owned(),
    }
}

/// The kernel arguments of a dispatch below a heading; hidden ones are dim.
#[must_use]
pub fn arguments(of: &DispatchArguments, style: Style) -> String {
    let kernel = of.kernel.as_deref().map_or_else(|| "an unknown kernel".to_owned(), source_name);
    let place = of.kernarg.map_or_else(|| "not captured".to_owned(), |address| format!("at {address}"));
    let size = of.size.map_or_else(String::new, |size| format!(", {size} bytes"));
    let heading = format!("dispatch {}: {kernel}, kernel arguments {place}{size}", of.dispatch);
    let mut text = style.heading(&heading) + "\n";
    if !of.arguments.is_empty() {
        let mut table = Table::new(["Offset", "Size", "Kind", "Type", "Name", "Value"]);
        for argument in &of.arguments {
            let absent = || {
                let hex: Vec<String> = argument.bytes.iter().map(ToString::to_string).collect();
                match argument.bytes.iter().all(|byte| *byte == Byte::NotCaptured) {
                    true => "<unavailable: not captured>".to_owned(),
                    false => hex.join(" "),
                }
            };
            let cells = vec![
                argument.offset.to_string(),
                argument.size.to_string(),
                argument.kind.clone(),
                argument.type_name.clone().unwrap_or_default(),
                argument.name.clone().unwrap_or_default(),
                argument.value.clone().unwrap_or_else(absent),
            ];
            if argument.hidden { table.dim_row(cells) } else { table.row(cells) }
        }
        text.push_str(&table.render(style));
    }
    if let Some(problem) = &of.problem {
        let _ = writeln!(text, "{}", style.alarm(&problem.to_string()));
    }
    text
}

/// Variables of a frame. One lane: a line each. Several: lines of lanes below the name.
#[must_use]
pub fn locals(locals: &Locals, detail: Detail, style: Style) -> String {
    let mut text = String::new();
    let function = locals.function.as_deref().unwrap_or("an unnamed function");
    let place = match (&locals.file, locals.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "{}",
        style.heading(&format!("{function} ({}){place}{}", locals.pc, locals.inferred.suffix()))
    );
    match locals.note {
        Some(note) => text += &(style.folded(&format!("No variables: {note}.")) + "\n"),
        None if locals.variables.is_empty() => text.push_str("No variables in scope.\n"),
        None => {}
    }
    for variable in &locals.variables {
        variable_lines(&mut text, variable, &locals.states, detail, style);
    }
    for problem in &locals.problems {
        let _ = writeln!(text, "{}", style.alarm(&format!("problem: {problem}")));
    }
    text
}

fn variable_lines(text: &mut String, variable: &Variable, states: &LaneStates, detail: Detail, style: Style) {
    let kind = match variable.scope {
        Scope::Argument => "argument ",
        Scope::Static => "static ",
        Scope::Global => "global ",
        Scope::Local => "",
    };
    let head = format!("{kind}{} {}", variable.type_name, variable.name);
    if let [lane] = variable.lanes.as_slice() {
        let (value, mark) = (shown(&lane.state), lane_mark(lane.of, states));
        let behind = match detail {
            Detail::Located => beside(lane, style),
            Detail::Rules | Detail::Full => inferred(std::iter::once(lane)) + &reason(&lane.state, style),
        };
        let _ = writeln!(text, "{head} = {value}{mark}{behind}");
        return;
    }
    let _ = writeln!(text, "{head}{}:", inferred(variable.lanes.iter()));
    let cells: Vec<Cell<'_>> = variable.lanes.iter().map(|value| Cell { value, missing: None }).collect();
    lanes::lines(text, &cells, states, detail, style);
}

/// The text after a lane's value: its location, or the reason of its absence; and the inferences behind it that the
/// location's text does not have.
pub(super) fn beside(lane: &LaneValue, style: Style) -> String {
    let inferred = match lane.provenance().inferred == lane.inferred {
        true => String::new(),
        false => lane.inferred.suffix(),
    };
    let place = match lane.location() {
        Some(place) => style.dim(&format!("  [{place}]")),
        None => reason(&lane.state, style),
    };
    inferred + &place
}

/// The inferences behind the values of several lanes: ` (inferred: kernel's frame at 0)`.
pub(super) fn inferred<'a>(values: impl Iterator<Item = &'a LaneValue>) -> String {
    let values = values.filter(|value| matches!(value.state, ValueState::Value(_)));
    values.fold(Inferred::NONE, |all, value| all.or(value.inferred)).suffix()
}

/// The reason of a missing location, unless its value has it.
pub(super) fn reason(state: &ValueState, style: Style) -> String {
    match state {
        ValueState::OptimizedOut(why) => style.dim(&format!("  [{why}]")),
        _ => String::new(),
    }
}

/// Marks of inactive lanes in a line of several lanes: their registers and memory may differ from the source's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Each lane has its own value: the state of the line's lanes.
    Own(Option<LaneState>),
    /// The value belongs to these lanes, for any lane of the line.
    Of(LaneSet),
}

impl Mark {
    /// `is_shared`: the values of all lanes belong to the same lanes.
    pub(super) fn of(value: &LaneValue, states: &LaneStates, is_shared: bool) -> Self {
        match !is_shared && value.of == LaneSet::one(value.lane) {
            true => Self::Own(states.of(value.lane)),
            false => Self::Of(value.of),
        }
    }

    /// The words after the numbers of the lanes, ` (inactive)`, and after the value, `  (lane 17: inactive)`.
    pub(super) fn words(self, states: &LaneStates) -> (String, String) {
        match self {
            Self::Own(None | Some(LaneState::Active)) => (String::new(), String::new()),
            Self::Own(Some(state)) => (format!(" ({})", state.words()), String::new()),
            Self::Of(lanes) => (String::new(), lane_mark(lanes, states)),
        }
    }
}

/// Whether values of several lanes consist of the same lanes, `$v3[17]`.
pub(super) fn is_shared<'a>(mut values: impl Iterator<Item = &'a LaneValue>) -> bool {
    let first = values.next().map(|value| value.of);
    values.all(|value| Some(value.of) == first)
}

/// `  (lane 17: inactive)`, after a value: the inactive ones among the value's lanes.
pub(super) fn lane_mark(of: LaneSet, states: &LaneStates) -> String {
    let marks = marks(of, states);
    let words = marks.iter().map(|(lanes, state)| format!("{}: {}", lane_list(lanes.iter()), state.words()));
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!("  ({})", words.join("; ")) }
}

/// The inactive lanes of a set, by state; without lanes of unknown state.
pub(super) fn marks(of: LaneSet, states: &LaneStates) -> Vec<(LaneSet, LaneState)> {
    let is = |state| (of.iter().filter(|lane| states.of(*lane) == Some(state)).collect::<LaneSet>(), state);
    let each = [LaneState::Inactive, LaneState::NotEntered, LaneState::Unused].map(is);
    each.into_iter().filter(|(lanes, _)| !lanes.is_empty()).collect()
}

/// Lanes as text, lowest first: `lane 3`, `lanes 0-31`, `lanes 0-3, 5`, `lanes 0, 2, ..., 62`.
#[must_use]
pub fn lane_list(lanes: impl Iterator<Item = LaneId>) -> String {
    let lanes: LaneSet = lanes.collect();
    format!("{} {}", plural(lanes.count(), "lane", "lanes"), ranges(lanes))
}

/// A value as text, or the reason of its absence.
#[must_use]
pub fn value(state: &ValueState) -> String {
    shown(state)
}

pub(super) fn shown(state: &ValueState) -> String {
    match state {
        ValueState::Value(value) => value.to_string(),
        ValueState::OptimizedOut(_) => "<optimized out>".to_owned(),
        ValueState::Unavailable(why) => format!("<unavailable: {why}>"),
        ValueState::Error(why) => format!("<error: {why}>"),
    }
}

/// Bytes as lines of 16 under their addresses; `prefix` is the space: `private_lane#`, or nothing.
#[must_use]
pub fn memory(prefix: &str, start: u64, bytes: &[u8]) -> String {
    let mut text = String::new();
    for (row, line) in (0u64..).zip(bytes.chunks(16)) {
        let _ = write!(text, "{prefix}{:#010x}:", start.wrapping_add(row * 16));
        for byte in line {
            let _ = write!(text, " {byte:02x}");
        }
        text.push('\n');
    }
    text
}

/// A line of source text with a mark below one of its columns, which count from 1. A long line is cut on either side.
#[must_use]
pub fn pointed(line: &str, column: usize) -> String {
    /// Characters on either side of the mark: both, with dots and an indent, fit into a debugger's line.
    const AROUND: usize = 34;
    let at = column.saturating_sub(1);
    let skipped = if line.chars().count() > 2 * AROUND { at.saturating_sub(AROUND) } else { 0 };
    // Each character before the mark takes one column: tabs and control characters are printed as blanks.
    let shown = line.chars().skip(skipped).take(2 * AROUND);
    let mut shown: String = shown.map(|char| if char.is_control() { ' ' } else { char }).collect();
    let is_cut = skipped + shown.chars().count() < line.chars().count();
    let before = if skipped > 0 { "..." } else { "" };
    shown.push_str(if is_cut { "..." } else { "" });
    format!("{before}{shown}\n{}^", " ".repeat(at - skipped + before.len()))
}
