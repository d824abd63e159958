//! The value of a path, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use super::json::{lane_value, set};
use super::text::{Mark, beside, is_shared, is_shown_alike, lane_list, lane_mark, reason, runs, shown};
use crate::session::print::{Printed, PrintedLane};
use crate::session::{LaneState, ValueState};

/// One lane: a line, in the form of variables. Several: a line for each lane, or one line for neighbours with the
/// same answer.
#[must_use]
pub fn text(printed: &Printed, style: Style) -> String {
    let mut text = String::new();
    let head = match &printed.type_name {
        Some(name) => format!("{name} {}", printed.path),
        None => printed.path.clone(),
    };
    let missing =
        |lane: &PrintedLane| lane.missing.as_ref().map_or(String::new(), |why| format!("  ({why})"));
    if let [lane] = printed.lanes.as_slice() {
        let (value, mark) = (shown(&lane.value.state), lane_mark(lane.value.of, &printed.states));
        let _ = writeln!(text, "{head} = {value}{}{mark}{}", missing(lane), beside(&lane.value, style));
        return text;
    }
    let _ = writeln!(text, "{head}:");
    let is_shared = is_shared(printed.lanes.iter().map(|lane| &lane.value));
    let mark = |lane: &PrintedLane| Mark::of(&lane.value, &printed.states, is_shared);
    let same = |a: &PrintedLane, b: &PrintedLane| {
        mark(a) == mark(b) && is_shown_alike(&a.value.state, &b.value.state) && a.missing == b.missing
    };
    for run in runs(&printed.lanes, same, |lane| matches!(lane.value.state, ValueState::Value(_))) {
        let [first, rest @ ..] = run.as_slice() else { continue };
        let lanes = lane_list(run.iter().map(|lane| lane.value.lane));
        let (mark, behind) = mark(first).words(&printed.states);
        let (value, missing) = (shown(&first.value.state), missing(first));
        let place = match rest {
            [] => beside(&first.value, style),
            _ => reason(&first.value.state, style),
        };
        let _ = writeln!(text, "  {lanes}{mark}: {value}{missing}{behind}{place}");
    }
    text
}

/// The value of a path as JSON; docs/protocol.md documents the shape.
#[must_use]
pub fn json(printed: &Printed) -> Value {
    let lanes = printed.lanes.iter().map(|lane| {
        let mut value = lane_value(&lane.value, &printed.states);
        set(&mut value, "active", lane.state.map(|state| state == LaneState::Active));
        set(&mut value, "tree", json!(lane.tree));
        set(&mut value, "missing", json!(lane.missing));
        value
    });
    json!({
        "thread": printed.wave.0 + 1,
        "frame": printed.frame,
        "pc": printed.pc.to_string(),
        "path": printed.path,
        "type": printed.type_name,
        "lanes": lanes.collect::<Vec<_>>(),
    })
}
