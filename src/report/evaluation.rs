//! The result of a user's expression, as text and as JSON; docs/evaluator.md documents both.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use super::expression;
use super::text::{lane_list, pointed};
use crate::codeobject::hex;
use crate::dwarf::print;
use crate::dwarf::text::AssembleError;
use crate::session::{Byte, Evaluation, Found, LaneFound};

/// A line for each run of lanes with the same answer; a requested trace precedes it.
#[must_use]
pub fn text(evaluation: &Evaluation, style: Style) -> String {
    let mut text = super::explain::steps(&evaluation.explained, style);
    let lines: Vec<(&LaneFound, String)> =
        evaluation.lanes.iter().map(|lane| (lane, line(lane, style))).collect();
    for run in lines.chunk_by(|(_, line), (_, next)| line == next) {
        let lanes = lane_list(run.iter().map(|(lane, _)| lane.lane));
        let words = run.first().map_or("", |(_, line)| line);
        let _ = writeln!(text, "{lanes}: {words}");
    }
    text
}

fn line(lane: &LaneFound, style: Style) -> String {
    match &lane.found {
        Found::Value(number) => print::number(number, lane.lane),
        Found::Failed { error, words } => style.alarm(&format!("{}: {words}", error.class())),
        Found::Location { words, idiom, size, bytes, unread, .. } => {
            let mut line = words.clone();
            if let Some(idiom) = idiom {
                let _ = write!(line, " ({})", idiom.mark());
            }
            if let Some(why) = unread {
                let _ = write!(line, "  cannot be read: {why}");
            } else if let Some(size) = size {
                line.push(' ');
                for byte in bytes {
                    let _ = write!(line, " {byte}");
                }
                if size.0.div_ceil(8) > bytes.len() as u64 {
                    let _ = write!(line, " ({} of {} bytes)", bytes.len(), size.0.div_ceil(8));
                } else if !size.0.is_multiple_of(8) {
                    let _ = write!(line, " ({size} bits)");
                }
            }
            line
        }
    }
}

/// The result as JSON; `result` of each lane has the shape of `lanescope eval --cases --json`.
#[must_use]
pub fn json(evaluation: &Evaluation) -> Value {
    json!({
        "thread": evaluation.wave.0 + 1,
        "pc": evaluation.pc.map(|pc| pc.to_string()),
        "dialect": evaluation.dialect.name(),
        "expression": evaluation.expression,
        "expression_bytes": hex(&evaluation.bytes),
        "lanes": evaluation.lanes.iter().map(lane_json).collect::<Vec<_>>(),
    })
}

fn lane_json(lane: &LaneFound) -> Value {
    let number = lane.lane.0;
    match &lane.found {
        Found::Value(value) => json!({"lane": number, "result": expression::number(value, lane.lane)}),
        Found::Failed { error, words } => {
            json!({"lane": number, "result": expression::error(error), "why": words})
        }
        Found::Location { words, place, idiom, size, bytes, unread } => json!({
            "lane": number,
            "result": expression::location(place, lane.lane),
            "location": words,
            "legacy": idiom.is_some(),
            "bits": size.map(|size| size.0),
            "bytes": size.filter(|_| unread.is_none()).map(|_| byte_text(bytes)),
            "why": unread,
        }),
    }
}

fn byte_text(bytes: &[Byte]) -> String {
    bytes.iter().map(ToString::to_string).collect()
}

/// A syntax error, and below it the line of the expression with a mark.
#[must_use]
pub fn misread(text: &str, error: &AssembleError) -> String {
    let line = text.lines().nth(error.line.saturating_sub(1)).unwrap_or_default();
    let drawing = pointed(line, error.column).replace('\n', "\n    ");
    format!("the expression at {error}\n    {drawing}")
}
