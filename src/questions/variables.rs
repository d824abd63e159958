//! The variables in scope of a frame.

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{FRAME, FULL, LANES, Words};
use super::{Document, Question, Subject};
use crate::report::json::FrameVariables;
use crate::report::text;

/// The variables of a frame, lane by lane.
pub(super) const LOCALS: Question = Question {
    name: "locals",
    packet: Some("qlanescope.Locals"),
    document: Some(Document { packet: "qXfer:lanescope-locals:read", annex: &["lane", "frame"] }),
    summary: "Print the variables of a frame, lane by lane.",
    example: "locals 3 frame 1",
    subject: Subject::Wave,
    parameters: &[LANES.words(Words::Bare), FRAME, FULL],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), frame) = (asked.wave()?, asked.frame());
    let locals = session.locals(focus.wave, asked.lanes(frame)?, frame)?;
    match asked.form {
        Form::Text(style) => Ok(text::locals(&locals, asked.detail(), style).into()),
        Form::Json => asked.about(FrameVariables::of(locals)),
    }
}
