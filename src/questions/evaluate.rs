//! A user's DWARF expression in frame 0 of a wave.

use super::answer::{Answer, QuestionError};
use super::arguments::ArgumentError;
use super::asked::Asked;
use super::parameter::{LANES, Parameter, Takes, Words};
use super::{Question, Subject};
use crate::dwarf::Dialect;
use crate::report::evaluation;
use crate::session::{EvaluateError, Expression, Question as Evaluated, Want};

/// The location or the value that an expression gives, lane by lane.
pub(super) const EVAL: Question = Question {
    name: "eval",
    packet: Some("qlanescope.Evaluate"),
    document: None,
    summary: "Evaluate a DWARF expression, lane by lane: a location with its bytes, or a value.",
    example: "eval DW_OP_regx VGPR3",
    subject: Subject::Wave,
    parameters: &[
        Parameter::new("value", Takes::Flag, "")
            .without_key()
            .excludes(&["size", "legacy"])
            .help("Compute a value, not a location"),
        Parameter::new("as", Takes::Choice(&["location", "value"]), "").key_only(),
        Parameter::new("size", Takes::Number, "BYTES").help("Number of bytes to read at the location"),
        LANES,
        Parameter::new("expression", Takes::Text, "EXPRESSION")
            .words(Words::Rest)
            .help("The expression: 'DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset'"),
        Parameter::new("bytes", Takes::Bytes, "HEX")
            .words(Words::Absent)
            .help("The bytes of the expression in hexadecimal: '90 83 14'"),
        Parameter::new("legacy", Takes::Flag, "")
            .option_only()
            .help("Read clang's xderef idiom as clang means it"),
        Parameter::new("explain", Takes::Flag, "")
            .option_only()
            .help("Report the effect of every operation, and the reason of the result"),
        Parameter::new("dialect", Takes::Word, "DIALECT").key_only(),
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), arguments) = (asked.wave()?, &asked.arguments);
    let expression = match (arguments.text("expression"), arguments.bytes("bytes")) {
        (Some(text), None) => Expression::Text(text.to_owned()),
        (None, Some(bytes)) => Expression::Bytes(bytes.to_owned()),
        _ => return Err(QuestionError::NoExpression),
    };
    let dialect = arguments
        .text("dialect")
        .map(|name| Dialect::named(name).ok_or_else(|| QuestionError::Other(format!("no dialect {name}"))));
    let want = match arguments.has("value") || arguments.text("as") == Some("value") {
        true if arguments.has("size") => return Err(ArgumentError::Either("as:value", "size").into()),
        true => Want::Value,
        false => Want::Location { size: arguments.number("size"), legacy: arguments.has("legacy") },
    };
    let explain = arguments.has("explain");
    let question = Evaluated { expression, dialect: dialect.transpose()?, want, explain };
    let found = session.evaluate(focus.wave, asked.lanes(0)?, &question).map_err(|error| match error {
        EvaluateError::ReadError(error) => error.into(),
        EvaluateError::Text(error) => QuestionError::Expression {
            text: arguments.text("expression").unwrap_or_default().to_owned(),
            error,
        },
        error => QuestionError::Evaluate(error),
    })?;
    asked.answer(|style| evaluation::text(&found, style), || evaluation::json(&found))
}
