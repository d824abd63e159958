//! The cause of a crash or hang.

use super::answer::{Answer, QuestionError};
use super::asked::{Asked, Form};
use super::parameter::{Parameter, Takes};
use super::{Document, Question, Subject};
use crate::triage::{self, Scene, Triage};

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
    let scene = Scene::new(&asked.sessions);
    let question = triage::Question {
        wave: asked.focus.map(|focus| focus.wave),
        wants_hang: asked.arguments.has("hang"),
    };
    let mut found = triage::triage(&asked.sessions, &question);
    if let (true, Some(dump)) = (asked.sessions.is_empty(), asked.dump) {
        // The faults of a dump without waves have no session.
        found = Triage { faults: dump.capture().faults.clone(), ..found };
    }
    Ok(match (asked.form, asked.focus) {
        (Form::Text(style), _) => {
            triage::page::text(&found, &scene, &|step| asked.numbering.command(step), style).into()
        }
        (Form::Json, None) => triage::json::json(&found, &scene).into(),
        (Form::Json, Some(_)) => asked.about(triage::json::json(&found, &scene))?.into(),
    })
}
