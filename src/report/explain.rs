//! Explanations of variables as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::Style;
use super::schema::{Lanes, Schema};
use super::text::lane_list;
use crate::session::Explained;
use crate::session::print::Explanation;

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

/// Explanations of the variables of a path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PathExplanation {
    /// The frame's number in the wave's stack, 0 innermost.
    pub(crate) frame: usize,
    /// The path.
    pub(crate) path: String,
    /// The names of the path.
    pub(crate) names: Vec<ExplainedName>,
}

impl Schema for PathExplanation {
    const NAME: &'static str = "explain";
}

/// A variable of a path.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ExplainedName {
    /// Its name.
    name: String,
    /// The source of its location.
    says: String,
    /// The evaluation of the location, for each set of lanes with the same one.
    explained: Vec<Trace>,
}

/// The evaluation of a location.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Trace {
    /// The lanes.
    lanes: Lanes,
    /// A line for each operation.
    lines: Vec<String>,
}

/// Each name of a path.
#[must_use]
pub(crate) fn names(explanations: &[Explanation]) -> Vec<ExplainedName> {
    let trace = |of: &Explained| Trace { lanes: Lanes(of.lanes), lines: of.lines.clone() };
    let name = |of: &Explanation| ExplainedName {
        name: of.name.clone(),
        says: of.says.clone(),
        explained: of.lanes.iter().map(trace).collect(),
    };
    explanations.iter().map(name).collect()
}
