//! The loaded code objects.

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form};
use super::{Document, Question, Subject};
use crate::report::objects;

/// The loaded code objects, each with the reason if it provides no variables.
pub(super) const OBJECTS: Question = Question {
    name: "objects",
    packet: Some("qlanescope.CodeObjects"),
    document: Some(Document { packet: "qXfer:lanescope-code-objects:read", annex: &[] }),
    summary: "List the loaded code objects, and the reason why one gives no variables.",
    example: "",
    subject: Subject::Dump,
    parameters: &[],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let found = match asked.dump {
        Some(dump) => dump.code_objects(),
        None => asked.session()?.code_objects(),
    };
    Ok(match asked.form {
        Form::Text(_) => objects::text(&found).into(),
        Form::Json => Body::json(objects::json(&found)).into(),
    })
}
