//! The cause of a crash or hang.

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{Parameter, Takes};
use super::{Document, Question, Subject};
use crate::triage::{self, MissingData, Scene, Triage};

/// The cause, with the access, its lanes, the line and the evidence.
pub(super) const TRIAGE: Question = Question {
    name: "triage",
    packet: Some("qlanescope.Triage"),
    document: Some(Document { packet: "qXfer:lanescope-triage:read", annex: &["hang"] }),
    summary: "Name the cause of a crash or hang: the access, its lanes, the line and the evidence.",
    example: "triage hang",
    subject: Subject::NamedWave,
    parameters: &[
        Parameter::new("hang", Takes::Flag, "").help("Print the states of all waves even if a wave faulted")
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let question = triage::Question {
        wave: asked.focus.map(|focus| focus.wave),
        wants_hang: asked.arguments.has("hang"),
    };
    let mut found = triage::triage(&asked.sessions, &question);
    if let (true, Some(dump)) = (asked.sessions.is_empty(), asked.dump) {
        // The faults of a dump without waves have no session.
        found = Triage { faults: dump.capture().faults.clone(), ..found };
        found = found.of_truncated(dump.truncated().map(str::to_owned));
        found.missing.extend(dump.capture().has_reports_alone().then_some(MissingData::Waves));
    }
    let is_truncated = found.is_truncated();
    let answer = match asked.form {
        Form::Text(style) => {
            let command = |step: &_| asked.numbering.command(step);
            triage::page::text(&found, &Scene::new(&asked.sessions), &command, style).into()
        }
        Form::Json => {
            let answer = triage::json::json(found, &asked.sessions);
            if asked.focus.is_some() { asked.about(answer)? } else { Body::json(answer).into() }
        }
    };
    Ok(Answer { is_truncated, ..answer })
}
