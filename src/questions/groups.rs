//! Waves and lanes by call stack.

use super::answer::{Answer, Body, QuestionError};
use super::asked::{Asked, Form, kind_name};
use super::parameter::{Parameter, Takes, Words};
use super::{Document, Question, Subject};
use crate::report::absent::AbsentWaves;
use crate::report::groups::{self, GroupsByKind, WaveNumbers};
use crate::session::{GroupBy, Grouping};

/// All waves, or their lanes, by call stack.
pub(super) const GROUPS: Question = Question {
    name: "groups",
    packet: Some("qlanescope.Groups"),
    document: Some(Document { packet: "qXfer:lanescope-groups:read", annex: &["lanes", "by"] }),
    summary: "Group all waves, or their lanes, by call stack: faults first, then the most common.",
    example: "groups lanes function",
    subject: Subject::Waves,
    parameters: &[
        Parameter::new("lanes", Takes::Flag, "").help("Group lanes instead of waves"),
        Parameter::new("by", Takes::Choice(&["function", "line", "pc"]), "WHAT")
            .words(Words::Bare)
            .help("Criterion for equal stacks: their functions, their functions and lines, or their PCs [default: line]"),
    ],
    answer,
};

fn answer<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    // A dump without waves has no session.
    asked.session()?;
    let by = asked.arguments.text("by").and_then(GroupBy::named).unwrap_or_default();
    let (numbering, grouping) = (asked.numbering, Grouping { by, lanes: asked.arguments.has("lanes") });
    let absent = AbsentWaves::of(&asked.sessions);
    if let Form::Text(style) = asked.form {
        let numbers = WaveNumbers { of: &|member| numbering.wave(member), noun: numbering.noun() };
        let text = asked.by_kind(|session| Ok(groups::text(&session.groups(grouping)?, &numbers, style)));
        let absent = absent.text("stack", style);
        let gap = if absent.is_empty() { "" } else { "\n" };
        return Ok((text? + gap + &absent).into());
    }
    let mut kinds = Vec::new();
    for session in &asked.sessions {
        let found = session.groups(grouping)?;
        kinds.push(groups::json(&found, kind_name(*session), &|member| numbering.members(member)));
    }
    let of = if grouping.lanes { "lanes" } else { "waves" };
    Ok(Body::json(GroupsByKind { of, by: by.name(), kinds, absent }).into())
}
