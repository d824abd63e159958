//! Answers as text for people.

use std::fmt::Write as _;

use super::{Style, Table};
use crate::arch::{Register, RegisterValue, WaveArch};
use crate::notation::{list, plural};
use crate::session::{
    Byte, DispatchArguments, LaneInfo, LanePosition, LaneState, LaneStates, LaneValue, Locals, Scope,
    ValueState, Variable, Waves,
};
use crate::units::{LaneId, LaneSet, WaveId};

/// All served waves: ids, places and stop reasons. `threads`: the numbers of a wave's threads.
#[must_use]
pub fn waves(session: &dyn Waves, threads: &dyn Fn(WaveId) -> String, style: Style) -> String {
    let mut table = Table::new(["Thread", "Wave", "Kernel", "PC", "Lanes", "State"]);
    for wave in session.waves().iter() {
        let Ok(info) = session.wave(*wave) else { continue };
        let lanes = info.kind.wave_size.lanes();
        let active = info.exec.map_or("?".to_owned(), |exec| exec.count().to_string());
        let cells = vec![
            threads(*wave),
            info.name.clone(),
            info.kernel.clone().unwrap_or_else(|| "?".to_owned()),
            info.pc.map_or("not captured".to_owned(), |pc| pc.to_string()),
            format!("{active}/{lanes}"),
            info.cause.clone(),
        ];
        if info.signal == 0 { table.row(cells) } else { table.alarm_row(cells) }
    }
    table.render(style)
}

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

/// Lanes of a wave: the work-item, the state and the position of each; the row of the focused one has a mark.
#[must_use]
pub fn lanes(lanes: &[LaneInfo], focus: LaneId, style: Style) -> String {
    let headings = ["", "Lane", "State", "Work-item in group", "Work-item in grid", "PC", "Where"];
    let mut table = Table::new(headings);
    let id = |id: Option<[u32; 3]>| id.map_or("?".to_owned(), |[x, y, z]| format!("({x},{y},{z})"));
    for lane in lanes {
        let state = lane.state.map_or("not captured", LaneState::words);
        let mark = if lane.lane == focus { "*" } else { "" };
        let mut cells = vec![mark.to_owned(), lane.lane.to_string(), state.to_owned()];
        if lane.state == Some(LaneState::Unused) {
            cells.extend(["-", "-", "-", "-"].map(str::to_owned));
        } else {
            let pc = lane.at.pc.map_or("?".to_owned(), |pc| pc.to_string());
            cells.extend([id(lane.local_id), id(lane.global_id), pc, place(&lane.at)]);
        }
        if lane.state == Some(LaneState::Active) { table.row(cells) } else { table.dim_row(cells) }
    }
    table.render(style)
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
    let kernel = of.kernel.as_deref().map_or_else(|| "an unknown kernel".to_owned(), display);
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

/// A kernel's symbol as source text.
fn display(symbol: &str) -> String {
    crate::debuginfo::demangle(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// Variables of a frame. One lane: a line each. Several: a line for each lane, or one line for neighbours with the
/// same answer.
#[must_use]
pub fn locals(locals: &Locals, style: Style) -> String {
    let mut text = String::new();
    let function = locals.function.as_deref().unwrap_or("an unnamed function");
    let place = match (&locals.file, locals.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    };
    let _ = writeln!(text, "{}", style.heading(&format!("{function} ({}){place}", locals.pc)));
    if locals.variables.is_empty() {
        text.push_str("No variables in scope.\n");
    }
    for variable in &locals.variables {
        variable_lines(&mut text, variable, &locals.states, style);
    }
    for problem in &locals.problems {
        let _ = writeln!(text, "{}", style.alarm(&format!("problem: {problem}")));
    }
    text
}

fn variable_lines(text: &mut String, variable: &Variable, states: &LaneStates, style: Style) {
    let kind = match variable.scope {
        Scope::Argument => "argument ",
        Scope::Static => "static ",
        Scope::Global => "global ",
        Scope::Local => "",
    };
    let head = format!("{kind}{} {}", variable.type_name, variable.name);
    if let [lane] = variable.lanes.as_slice() {
        let (value, mark) = (shown(&lane.state), lane_mark(lane.of, states));
        let _ = writeln!(text, "{head} = {value}{mark}{}", beside(lane, style));
        return;
    }
    let _ = writeln!(text, "{head}:");
    let is_shared = is_shared(variable.lanes.iter());
    let mark = |lane: &LaneValue| Mark::of(lane, states, is_shared);
    let alike = |a: &LaneValue, b: &LaneValue| mark(a) == mark(b) && is_shown_alike(&a.state, &b.state);
    for run in runs(&variable.lanes, alike, |lane| matches!(lane.state, ValueState::Value(_))) {
        let [first, rest @ ..] = run.as_slice() else { continue };
        let lanes = lane_list(run.iter().map(|lane| lane.lane));
        let (mark, behind) = mark(first).words(states);
        let place = if rest.is_empty() { beside(first, style) } else { reason(&first.state, style) };
        let _ = writeln!(text, "  {lanes}{mark}: {}{behind}{place}", shown(&first.state));
    }
}

/// Lanes that share a line: neighbours with the same value, and all lanes without a value for the same reason.
pub(super) fn runs<T>(
    lanes: &[T],
    alike: impl Fn(&T, &T) -> bool,
    has_value: impl Fn(&T) -> bool,
) -> Vec<Vec<&T>> {
    let mut runs: Vec<Vec<&T>> = Vec::new();
    for lane in lanes {
        let is_one = |run: &&mut Vec<&T>| run.first().is_some_and(|first| alike(first, lane));
        let known = match has_value(lane) {
            true => runs.last_mut().filter(is_one),
            false => runs.iter_mut().find(is_one),
        };
        match known {
            Some(run) => run.push(lane),
            None => runs.push(vec![lane]),
        }
    }
    runs
}

/// Whether the text of two lanes is the same.
pub(super) fn is_shown_alike(one: &ValueState, other: &ValueState) -> bool {
    match (one, other) {
        (ValueState::OptimizedOut(one), ValueState::OptimizedOut(other)) => one == other,
        (ValueState::Value(one), ValueState::Value(other)) => one == other,
        _ => shown(one) == shown(other),
    }
}

/// The text after a lane's value: its location, or the reason of its absence.
pub(super) fn beside(lane: &LaneValue, style: Style) -> String {
    match lane.location() {
        Some(place) => style.dim(&format!("  [{place}]")),
        None => reason(&lane.state, style),
    }
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

/// Lanes as text, lowest first: `lane 3`, `lanes 0-31`, `lanes 0-3, 5`.
#[must_use]
pub fn lane_list(lanes: impl Iterator<Item = LaneId>) -> String {
    let lanes: Vec<LaneId> = lanes.collect();
    format!("{} {}", plural(lanes.len(), "lane", "lanes"), list(lanes.iter().map(|lane| lane.0)))
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

/// A register in lines of its own, vectors in lines of 8 lanes and 80 columns; `None` if no part of it was captured.
/// `lanes`: the lanes of a vector, `None` for all.
#[must_use]
pub fn register(
    kind: &WaveArch,
    register: &Register,
    value: &RegisterValue,
    lanes: Option<LaneSet>,
) -> Option<String> {
    if value.known() == 0 {
        return None;
    }
    let mut text = String::new();
    let dword = |index: u16| value.dword(index).map_or("xxxxxxxx".to_owned(), |dword| format!("{dword:08x}"));
    if register.is_vector() {
        let (mut name, mut column, mut before) = (register.name.as_str(), 0, None);
        for lane in (0..register.dwords).filter(|lane| lanes.is_none_or(|lanes| has(lanes, *lane))) {
            // Lanes of a line are neighbours.
            if column % 8 == 0 || before != lane.checked_sub(1) {
                let end = if text.is_empty() { "" } else { "\n" };
                let _ = write!(text, "{end}{name:<4}[{lane:2}]");
                (name, column) = ("", 0);
            }
            let _ = write!(text, " {}", dword(lane));
            (column, before) = (column + 1, Some(lane));
        }
    } else {
        let digits: String = (0..register.dwords).rev().map(dword).collect();
        let _ = write!(text, "{:<14}0x{digits}", register.name);
        if let (Some(fields), Some(bits)) = (kind.fields(register), value.scalar()) {
            let _ = write!(text, "  [ {}]", flags(fields, bits));
        }
        text = Style::Plain.folded(&text);
    }
    text.push('\n');
    Some(text)
}

fn has(lanes: LaneSet, lane: u16) -> bool {
    u8::try_from(lane).is_ok_and(|lane| lanes.contains(LaneId(lane)))
}

/// Set single bits by name, wider fields with their values.
fn flags(fields: &crate::arch::BitFields, bits: u64) -> String {
    let mut text = String::new();
    for field in &fields.fields {
        let width = u32::from(field.high - field.low) + 1;
        let value = bits >> field.low & 1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1);
        if width == 1 && value == 1 {
            let _ = write!(text, "{} ", field.name);
        } else if width > 1 && value != 0 {
            let _ = write!(text, "{}={value} ", field.name);
        }
    }
    text
}
