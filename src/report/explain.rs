//! Explanations of variables as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use super::text::lane_list;
use crate::session::Explained;
use crate::session::print::Explanation;
use crate::units::WaveId;

/// Each name with the source of its location, and the effect of that source.
#[must_use]
pub(crate) fn text(explanations: &[Explanation], style: Style) -> String {
    let mut text = String::new();
    if explanations.is_empty() {
        text.push_str("The path names no variable: there is nothing to explain.\n");
    }
    for of in explanations {
        let _ = writeln!(text, "{} {}", style.heading(&format!("{}:", of.name)), of.says);
        text.push_str(&steps(&of.lanes, style));
    }
    text
}

/// The trace of operations, for each set of lanes with the same control flow.
pub(super) fn steps(explained: &[Explained], style: Style) -> String {
    let mut text = String::new();
    for explained in explained {
        let lanes = lane_list(explained.lanes.iter());
        let shown = explained.lanes.first().filter(|_| explained.lanes.count() > 1);
        let shown = shown.map_or(String::new(), |lane| format!(", stacks as lane {lane} has them"));
        let _ = writeln!(text, "{}", style.heading(&format!("{lanes}{shown}:")));
        for line in &explained.lines {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// Explanations as JSON.
#[must_use]
pub(crate) fn json(wave: WaveId, frame: usize, path: &str, explanations: &[Explanation]) -> Value {
    json!({ "thread": wave.0 + 1, "frame": frame, "path": path, "names": names(explanations) })
}

/// Each name of a path.
#[must_use]
pub(crate) fn names(explanations: &[Explanation]) -> Value {
    let lanes = |explained: &Explained| {
        let lanes: Vec<u8> = explained.lanes.iter().map(|lane| lane.0).collect();
        json!({ "lanes": lanes, "lines": explained.lines })
    };
    let names = explanations.iter().map(|of| {
        json!({ "name": of.name, "says": of.says, "explained": of.lanes.iter().map(lanes).collect::<Vec<_>>() })
    });
    names.collect()
}
