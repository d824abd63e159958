//! The reported faults.

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form};
use super::{Document, Question, Subject};
use crate::report::fault::{self, Faults};

/// The faults that the capture, logs and the user report.
pub(super) const FAULTS: Question = Question {
    name: "faults",
    packet: Some("qlanescope.Faults"),
    document: Some(Document { packet: "qXfer:lanescope-faults:read", annex: &[] }),
    summary: "List the reported faults: address, access, reasons, GPU, and the reporters.",
    example: "",
    subject: Subject::Dump,
    parameters: &[],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let found = match asked.dump {
        Some(dump) => dump.capture().faults.clone(),
        None => asked.session()?.faults(),
    };
    Ok(match asked.form {
        Form::Text(_) => fault::text(&found).into(),
        Form::Json => Body::json(Faults { faults: fault::json(&found) }).into(),
    })
}
