//! Values by lane as lines of text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Style;
use super::text::{Mark, is_shared, lane_list, reason, shown};
use crate::notation::lanes;
use crate::session::{LaneStates, LaneValue, ValueState};
use crate::units::{LaneId, LaneSet};

/// The form of a table of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Lanes with values of one rule in a line: `lanes 0-24: 1000..1024 (+1)`.
    Rules,
    /// A line for each lane, or one line for neighbours with the same value.
    Full,
    /// The same with locations: neighbours share a line if their locations are equal, too.
    Located,
}

impl Detail {
    /// The form by the switch `--full`.
    #[must_use]
    pub fn of(is_full: bool) -> Self {
        if is_full { Self::Full } else { Self::Rules }
    }
}

/// Maximum width of a value in a list of several values in a line, in characters.
const MAX_LISTED: usize = 16;
/// Columns for the values of such a line.
const LISTED_COLUMNS: usize = 50;
/// Maximum number of lines of longer values.
const MAX_LONG: usize = 4;
/// Maximum number of values in such a line.
const MAX_IN_LINE: usize = 16;

/// A value of a lane, with the first missing part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) value: &'a LaneValue,
    pub(super) missing: Option<&'a str>,
}

impl Cell<'_> {
    fn has_value(&self) -> bool {
        matches!(self.value.state, ValueState::Value(_))
    }
}

/// Appends the values of several lanes; `states`: of the lanes.
pub(super) fn lines(
    text: &mut String,
    cells: &[Cell<'_>],
    states: &LaneStates,
    detail: Detail,
    style: Style,
) {
    let is_shared = is_shared(cells.iter().map(|cell| cell.value));
    let mark = |cell: &Cell<'_>| Mark::of(cell.value, states, is_shared);
    let is_alike = |a: &Cell<'_>, b: &Cell<'_>| {
        mark(a) == mark(b) && a.has_value() == b.has_value() && a.missing == b.missing
    };
    let mut classes: Vec<Vec<&Cell<'_>>> = Vec::new();
    for cell in cells {
        match classes.iter_mut().find(|class| class.first().is_some_and(|first| is_alike(first, cell))) {
            Some(class) => class.push(cell),
            None => classes.push(vec![cell]),
        }
    }
    let mut rows: Vec<Row<'_>> = Vec::new();
    for class in &classes {
        let Some(first) = class.first() else { continue };
        let values: Vec<Value<'_>> =
            class.iter().map(|cell| (cell.value.lane, words_of(&cell.value.state, style))).collect();
        let parts = match (first.has_value(), detail) {
            (true, Detail::Rules) => rules(&values, list),
            (false, Detail::Rules) => rules(&values, |values| first_lines(equal(values))),
            (true, Detail::Full) => neighbours(&values),
            (true, Detail::Located) => at_one_place(class, &values),
            (false, Detail::Full | Detail::Located) => equal(&values),
        };
        for (lanes, value) in parts {
            // Lanes without a value may share a line from several places.
            let is_one = first.has_value() || lanes.count() == 1;
            let cell = class.iter().find(|cell| lanes.first() == Some(cell.value.lane));
            let cell = cell.filter(|_| detail == Detail::Located && is_one);
            let place = cell.and_then(|cell| cell.value.location());
            let place = place.map_or(String::new(), |place| style.dim(&format!("  [{place}]")));
            let mut own = values.iter().filter(|(lane, _)| lanes.contains(*lane));
            let is_equal = own.all(|(_, own)| *own == value);
            rows.push(Row { lanes, value, is_equal, mark: mark(first), missing: first.missing, place });
        }
    }
    rows.sort_by_key(|row| row.lanes.first());
    if detail == Detail::Rules {
        rows = with_equal_values_once(rows);
    }
    for row in rows {
        let (mark, behind) = row.mark.words(states);
        let missing = row.missing.map_or(String::new(), |why| format!("  ({why})"));
        let (lanes, value, place) = (lane_list(row.lanes.iter()), row.value, row.place);
        let _ = writeln!(text, "  {lanes}{mark}: {value}{missing}{behind}{place}");
    }
}

/// Rows in which lanes of several states with one value share a row.
fn with_equal_values_once(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut merged: Vec<Row<'_>> = Vec::new();
    // The states of a row that was merged are those of its lanes.
    let is_own = |row: &Row<'_>| matches!(row.mark, Mark::Own(_)) || row.mark == Mark::Of(row.lanes);
    for row in rows {
        let is_same = |known: &&mut Row<'_>| {
            known.is_equal
                && row.is_equal
                && is_own(known)
                && is_own(&row)
                && (&known.value, known.missing) == (&row.value, row.missing)
        };
        match merged.iter_mut().find(is_same) {
            Some(known) => {
                known.lanes.0 |= row.lanes.0;
                known.mark = Mark::Of(known.lanes);
            }
            None => merged.push(row),
        }
    }
    merged
}

/// The text of a lane. Lanes may share a long one.
type Value<'a> = (LaneId, Cow<'a, str>);

/// A value, or the reason of its absence.
fn words_of(state: &ValueState, style: Style) -> Cow<'_, str> {
    match state {
        ValueState::Value(value) => Cow::Borrowed(value),
        absent => Cow::Owned(shown(absent) + &reason(absent, style)),
    }
}

/// A line of a table.
struct Row<'a> {
    lanes: LaneSet,
    value: String,
    /// Whether each of the lanes has this text.
    is_equal: bool,
    mark: Mark,
    /// The first missing part of the value.
    missing: Option<&'a str>,
    place: String,
}

/// Values as rules, or if these are not readable, as `otherwise` has them.
fn rules(
    values: &[Value<'_>],
    otherwise: impl FnOnce(&[Value<'_>]) -> Vec<(LaneSet, String)>,
) -> Vec<(LaneSet, String)> {
    let rules = lanes::texts(values.iter().map(|(lane, text)| (*lane, &**text)));
    match lanes::are_readable(rules.iter().map(|rule| rule.lanes)) {
        true => rules.into_iter().map(|rule| (rule.lanes, rule.text)).collect(),
        false => otherwise(values),
    }
}

/// Short values, those of several lanes in a line; of long ones the first. Values of all lines begin in the same column.
fn list(values: &[Value<'_>]) -> Vec<(LaneSet, String)> {
    let width = values.iter().map(|(_, text)| text.chars().count()).max().unwrap_or_default();
    if width > MAX_LISTED {
        return first_lines(neighbours(values));
    }
    let per_line =
        [MAX_IN_LINE, MAX_IN_LINE / 2].into_iter().find(|count| count * (width + 1) <= LISTED_COLUMNS);
    let line = |part: &[Value<'_>]| {
        let words: Vec<String> = part.iter().map(|(_, text)| format!("{text:>width$}")).collect();
        (part.iter().map(|(lane, _)| *lane).collect::<LaneSet>(), words.join(" "))
    };
    let lines: Vec<_> = values.chunks(per_line.unwrap_or(MAX_IN_LINE / 4)).map(line).collect();
    let label = |lanes: &LaneSet| lane_list(lanes.iter()).len();
    let widest = lines.iter().map(|(lanes, _)| label(lanes)).max().unwrap_or_default();
    let padded = |(lanes, words): (LaneSet, String)| {
        let pad = widest.saturating_sub(label(&lanes));
        (lanes, format!("{:pad$}{words}", ""))
    };
    lines.into_iter().map(padded).collect()
}

/// Neighbours with the same value.
fn neighbours(values: &[Value<'_>]) -> Vec<(LaneSet, String)> {
    let part = |part: &[Value<'_>]| {
        let value = part.first().map_or(String::new(), |(_, text)| text.to_string());
        (part.iter().map(|(lane, _)| *lane).collect(), value)
    };
    values.chunk_by(|(_, one), (_, next)| one == next).map(part).collect()
}

/// Neighbours with the same value at the same location.
fn at_one_place(class: &[&Cell<'_>], values: &[Value<'_>]) -> Vec<(LaneSet, String)> {
    let each: Vec<_> = class.iter().map(|cell| cell.value.location()).zip(values).collect();
    let parts = each.chunk_by(|(at, (_, one)), (other, (_, next))| at == other && one == next);
    let part = |part: &[(Option<String>, &Value<'_>)]| {
        let value = part.first().map_or(String::new(), |(_, (_, text))| text.to_string());
        (part.iter().map(|(_, (lane, _))| *lane).collect(), value)
    };
    parts.map(part).collect()
}

/// All lanes with the same value.
fn equal(values: &[Value<'_>]) -> Vec<(LaneSet, String)> {
    let mut parts: Vec<(LaneSet, String)> = Vec::new();
    for (lanes, text) in neighbours(values) {
        match parts.iter_mut().find(|(_, known)| *known == text) {
            Some((known, _)) => known.0 |= lanes.0,
            None => parts.push((lanes, text)),
        }
    }
    parts
}

/// The first of many long values, and the lanes of the others.
fn first_lines(mut values: Vec<(LaneSet, String)>) -> Vec<(LaneSet, String)> {
    if values.len() > MAX_LONG {
        let others = values.split_off(MAX_LONG - 1);
        let lanes = others.iter().fold(0, |all, (lanes, _)| all | lanes.0);
        values.push((LaneSet(lanes), format!("{} other values (--full prints them)", others.len())));
    }
    values
}
