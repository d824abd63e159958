//! The value of a path, as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::Style;
use super::explain::ExplainedName;
use super::json::LaneValue;
use super::lanes::{self, Cell, Detail};
use super::schema::{Hex, Schema};
use super::text::{beside, inferred, lane_mark, shown};
use crate::debuginfo::format::{Letter, Value};
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
    let _ = writeln!(text, "{head}{}:", inferred(printed.lanes.iter().map(|lane| &lane.value)));
    let cells: Vec<Cell<'_>> = printed
        .lanes
        .iter()
        .map(|lane| Cell { value: &lane.value, missing: lane.missing.as_deref() })
        .collect();
    lanes::lines(&mut text, &cells, &printed.states, detail, style);
    text
}

/// The value of a path in some lanes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PrintedPath {
    /// The frame's number in the wave's stack, 0 innermost.
    pub frame: usize,
    /// The frame's PC; null: it was not captured.
    pub pc: Option<Hex>,
    /// The path.
    pub path: String,
    /// The type of the value.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The value in each lane.
    pub lanes: Vec<PathValue>,
    /// Explanations of the path's variables, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<ExplainedName>>,
}

impl Schema for PrintedPath {
    const NAME: &'static str = "print";
    const VERSION: u32 = 2;
}

/// The value of a path in a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PathValue {
    /// The value.
    #[serde(flatten)]
    pub value: LaneValue,
    /// Whether the lane is active in the frame; null: unknown.
    pub active: Option<bool>,
    /// The value as a tree.
    pub tree: Option<Value>,
    /// The first part of a partial value that was not captured.
    pub missing: Option<String>,
}

/// The value of a path as JSON; `letter`: the requested number format, if any.
#[must_use]
pub fn json(printed: &Printed, letter: Option<Letter>) -> PrintedPath {
    let lanes = printed.lanes.iter().map(|lane| {
        let mut value = LaneValue::of(&lane.value, &printed.states);
        // `print/o` and `print/t` have digits of another base.
        value.number = value.number.filter(|_| letter.is_none());
        PathValue {
            value,
            active: lane.state.map(|state| state == LaneState::Active),
            tree: lane.tree.clone(),
            missing: lane.missing.clone(),
        }
    });
    PrintedPath {
        frame: printed.frame,
        pc: printed.pc.map(|pc| Hex(pc.0)),
        path: printed.path.clone(),
        type_name: printed.type_name.clone(),
        lanes: lanes.collect(),
        names: None,
    }
}
