//! What a path names, as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use super::json::lane_value;
use super::text::shown;
use crate::session::print::{Printed, PrintedLane};

/// One lane: a line, as variables have it. Several: a line for each lane, neighbours with the same answer together.
#[must_use]
pub fn text(printed: &Printed, style: Style) -> String {
    let mut text = String::new();
    let head = match &printed.type_name {
        Some(name) => format!("{name} {}", printed.path),
        None => printed.path.clone(),
    };
    let place = |lane: &PrintedLane| {
        let place = lane.value.location.as_ref();
        place.map_or(String::new(), |place| style.dim(&format!("  [{place}]")))
    };
    let missing =
        |lane: &PrintedLane| lane.missing.as_ref().map_or(String::new(), |why| format!("  ({why})"));
    if let [lane] = printed.lanes.as_slice() {
        let _ = writeln!(text, "{head} = {}{}{}", shown(&lane.value.state), missing(lane), place(lane));
        return text;
    }
    let _ = writeln!(text, "{head}:");
    let same = |a: &PrintedLane, b: &PrintedLane| {
        a.active == b.active && shown(&a.value.state) == shown(&b.value.state) && a.missing == b.missing
    };
    for run in printed.lanes.chunk_by(same) {
        let Some(first) = run.first() else { continue };
        let inactive = if first.active == Some(false) { " (inactive)" } else { "" };
        let (lanes, place) = match run {
            [first, .., last] => (format!("lanes {}-{}", first.value.lane, last.value.lane), String::new()),
            _ => (format!("lane {}", first.value.lane), place(first)),
        };
        let _ = writeln!(text, "  {lanes}{inactive}: {}{}{place}", shown(&first.value.state), missing(first));
    }
    text
}

/// The same for programs, as docs/protocol.md has it.
#[must_use]
pub fn json(printed: &Printed) -> Value {
    let lanes = printed.lanes.iter().map(|lane| {
        let mut value = lane_value(&lane.value);
        value["active"] = json!(lane.active);
        value["tree"] = json!(lane.tree);
        value["missing"] = json!(lane.missing);
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
