//! The variables in scope of a frame.

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{FRAME, FULL, LANES, Parameter, Takes, Words};
use super::{Document, Question, Subject};
use crate::report::json::FrameVariables;
use crate::report::lanes::Detail;
use crate::report::text;

const EXPLAIN: Parameter = Parameter::new("explain", Takes::Flag, "")
    .without_key()
    .help("Print each lane on its own, with the location of its value");

/// The variables of a frame, lane by lane.
pub(super) const LOCALS: Question = Question {
    name: "locals",
    packet: Some("qlanescope.Locals"),
    document: Some(Document { packet: "qXfer:lanescope-locals:read", annex: &["lane", "frame"] }),
    summary: "Print the variables of a frame, lane by lane.",
    example: "locals 3 frame 1",
    subject: Subject::Wave,
    parameters: &[LANES.words(Words::Bare), FRAME, FULL, EXPLAIN],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), frame) = (asked.wave()?, asked.frame());
    let locals = session.locals(focus.wave, asked.lanes(frame)?, frame)?;
    match asked.form {
        Form::Text(style) => {
            let detail = if asked.arguments.has(EXPLAIN.name) { Detail::Located } else { asked.detail() };
            Ok(text::locals(&locals, detail, style).into())
        }
        Form::Json => asked.about(FrameVariables::of(locals)),
    }
}
