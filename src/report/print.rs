//! The value of a path, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use super::json::{lane_value, set};
use super::lanes::{self, Cell, Detail};
use super::text::{beside, lane_mark, shown};
use crate::session::LaneState;
use crate::session::print::{Printed, PrintedLane};

/// One lane: a line, in the form of variables. Several: lines of lanes below the path.
#[must_use]
pub fn text(printed: &Printed, detail: Detail, style: Style) -> String {
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
    let cells: Vec<Cell<'_>> = printed
        .lanes
        .iter()
        .map(|lane| Cell { value: &lane.value, missing: lane.missing.as_deref() })
        .collect();
    lanes::lines(&mut text, &cells, &printed.states, detail, style);
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
