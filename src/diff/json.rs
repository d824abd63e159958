//! Differences as JSON, all of them; docs/slim.md says the keys.

use serde_json::{Value, json};

use super::wave::{FrameDifference, LaneDifference, WaveDifference};
use super::{Alone, Diff, Lacks};
use crate::report::stack;

/// What differs, without bounds.
#[must_use]
pub fn json(diff: &Diff) -> Value {
    json!({
        "dumps": diff.names,
        "same": diff.is_same(),
        "compared": diff.compared,
        "alone": diff.alone.each_ref().map(|alone| alone.iter().map(lonely).collect::<Vec<_>>()),
        "pairs": diff.pairs.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn lonely(alone: &Alone) -> Value {
    json!({
        "waves": alone.waves,
        "shared": alone.lacks == Lacks::Counterpart,
        "lacks": match &alone.lacks {
            Lacks::Kind(_) => "kind",
            Lacks::Stack => "stack",
            Lacks::Counterpart => "counterpart",
        },
        "stack": stack::json(&alone.stack),
    })
}

fn pair(pair: &WaveDifference) -> Value {
    let registers = pair.registers.iter().map(|register| {
        let lanes = register.is_vector.then(|| lanes(&register.lanes));
        let values = register.lanes.first().filter(|_| !register.is_vector).map(|only| &only.values);
        json!({ "name": register.name, "lanes": lanes, "values": values })
    });
    json!({
        "waves": pair.ids,
        "function": pair.function,
        "stop_reasons": pair.stop,
        "registers": registers.collect::<Vec<_>>(),
        "frames": pair.frames.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn frame(frame: &FrameDifference) -> Value {
    let variables = frame.variables.iter().map(|variable| {
        json!({ "name": variable.name, "type": variable.type_name, "lanes": lanes(&variable.lanes) })
    });
    json!({
        "frame": frame.frame,
        "functions": frame.functions,
        "lines": frame.lines,
        "problems": frame.problems,
        "variables": variables.collect::<Vec<_>>(),
    })
}

fn lanes(lanes: &[LaneDifference<Option<String>>]) -> Value {
    lanes.iter().map(|lane| json!({ "lane": lane.lane.0, "values": lane.values })).collect()
}
