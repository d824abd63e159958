//! The result of a user's expression, as text and as JSON; docs/evaluator.md documents both.

use std::fmt::Write as _;

use serde::Serialize;

use super::Style;
use super::expression::{self, ExpressionResult};
use super::schema::{Hex, Schema};
use super::text::{lane_list, pointed};
use crate::codeobject::hex;
use crate::dwarf::print;
use crate::dwarf::text::AssembleError;
use crate::session::{Byte, Evaluation, Found, InferredBy, LaneFound};

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
        Found::Location { words, provenance, size, bytes, unread, .. } => {
            let mut line = words.clone() + &provenance.suffix();
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

/// An expression's result in some lanes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evaluated {
    /// The wave's PC.
    pc: Option<Hex>,
    /// The dialect of the expression.
    dialect: &'static str,
    /// The expression as text; null: its bytes are no operations.
    expression: Option<String>,
    /// Its bytes, two digits each.
    expression_bytes: String,
    /// The results, lowest lane first.
    lanes: Vec<LaneResult>,
}

impl Schema for Evaluated {
    const NAME: &'static str = "eval";
}

/// An expression's result in a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LaneResult {
    /// The lane.
    lane: u8,
    /// The result.
    result: ExpressionResult,
    /// The location, if the result is one.
    #[serde(flatten)]
    location: Option<LocationResult>,
    /// The reason for missing bytes or a missing result.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// A location of a lane with its bytes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LocationResult {
    /// The location as text.
    location: String,
    /// Whether the expression was read as a compiler's idiom means it.
    legacy: bool,
    /// The inferences behind the location: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inferred: Vec<InferredBy>,
    /// Number of bits; null: the location has no size.
    bits: Option<u64>,
    /// Two digits a byte, lowest address first; `xx`: not captured.
    bytes: Option<String>,
}

/// The result as JSON.
#[must_use]
pub fn json(evaluation: &Evaluation) -> Evaluated {
    Evaluated {
        pc: evaluation.pc.map(|pc| Hex(pc.0)),
        dialect: evaluation.dialect.name(),
        expression: evaluation.expression.clone(),
        expression_bytes: hex(&evaluation.bytes),
        lanes: evaluation.lanes.iter().map(lane_json).collect(),
    }
}

fn lane_json(lane: &LaneFound) -> LaneResult {
    let (result, location, why) = match &lane.found {
        Found::Value(value) => (expression::number(value, lane.lane), None, None),
        Found::Failed { error, words } => {
            (ExpressionResult::Error(expression::error(error)), None, Some(words.clone()))
        }
        Found::Location { words, place, provenance, size, bytes, unread } => {
            let location = LocationResult {
                location: words.clone(),
                legacy: provenance.idiom.is_some(),
                inferred: provenance.inferred.sources(),
                bits: size.map(|size| size.0),
                bytes: size.filter(|_| unread.is_none()).map(|_| byte_text(bytes)),
            };
            (expression::location(place, lane.lane), Some(location), unread.clone())
        }
    };
    LaneResult { lane: lane.lane.0, result, location, why }
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
