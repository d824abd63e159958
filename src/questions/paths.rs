//! Values of paths, and explanations of their variables.

use super::answer::{Answer, QuestionError};
use super::asked::Asked;
use super::parameter::{FRAME, FULL, LANES, Parameter, Takes, Words};
use super::{Document, Question, Subject};
use crate::debuginfo::format::Letter;
use crate::report::lanes::Detail;
use crate::report::{explain as explanation, print as report};
use crate::session::ValueState;
use crate::session::print::{PrintError, Query};

const PATH: Parameter = Parameter::new("path", Takes::Text, "PATH")
    .words(Words::Rest)
    .needed()
    .help("The path: `body.at.x`; the only argument is the path, in the demo");

/// The value at a path, lane by lane.
pub const PRINT: Question = Question {
    name: "print",
    packet: Some("qlanescope.Print"),
    document: Some(Document {
        packet: "qXfer:lanescope-print:read",
        annex: &["lane", "frame", "path", "format"],
    }),
    summary: "Print the value of a path: body.at.x, *p@4, (local int *) 0x10, $v3[17].",
    example: "print lane all body.at.x",
    subject: Subject::Wave,
    parameters: &[
        Parameter::new("format", Takes::Letter, "LETTER")
            .words(Words::Slash)
            .help("Number format: x, z, d, u, o, t, c, f, a or s, like gdb's print/x"),
        LANES,
        FRAME,
        FULL.words(Words::Dashed).help(
            "Print each lane on its own, with its location; without it, lanes share a line where one rule gives their values",
        ),
        PATH,
        Parameter::new("explain", Takes::Flag, "")
            .option_only()
            .help("Print where the variables of the path are and why, operation by operation"),
    ],
    answer: print,
};

/// The source of the location of each variable of a path.
pub(super) const EXPLAIN: Question = Question {
    name: "explain",
    packet: Some("qlanescope.Explain"),
    document: None,
    summary: "Explain the locations of a path's variables, operation by operation.",
    example: "explain lane all x",
    subject: Subject::Wave,
    parameters: &[LANES, FRAME, PATH],
    answer: explain,
};

fn print<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), frame, query) = (asked.wave()?, asked.frame(), query(asked));
    let lanes = asked.lanes(frame)?;
    let wrong = |error| refused(&query, error);
    let printed = session.print(focus.wave, lanes, frame, &query).map_err(wrong)?;
    let explained = match asked.arguments.has("explain") {
        true => Some(session.explain(focus.wave, lanes, frame, &query).map_err(wrong)?),
        false => None,
    };
    // The digits of a binary number would be read as decimal ones.
    let is_binary = query.letter == Some(Letter::Binary);
    let is_full = is_binary || asked.arguments.has(FULL.name);
    let detail = if is_full { Detail::Located } else { Detail::Rules };
    let answer = asked.answer(
        |style| {
            let explained = explained.as_ref().map(|explained| explanation::text(explained, style));
            explained.unwrap_or_default() + &report::text(&printed, detail, style)
        },
        || {
            let names = explained.as_deref().map(explanation::names);
            report::PrintedPath { names, ..report::json(&printed, query.letter) }
        },
    )?;
    let has_value = printed.lanes.iter().any(|lane| matches!(lane.value.state, ValueState::Value(_)));
    Ok(answer.without_value_if(!has_value))
}

fn explain<'a>(asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
    let ((session, focus), frame, query) = (asked.wave()?, asked.frame(), query(asked));
    let explained = session.explain(focus.wave, asked.lanes(frame)?, frame, &query);
    let explained = explained.map_err(|error| refused(&query, error))?;
    let answer = asked.answer(
        |style| explanation::text(&explained, style),
        || explanation::PathExplanation {
            frame,
            path: query.path.clone(),
            names: explanation::names(&explained),
        },
    )?;
    Ok(answer.without_value_if(explained.iter().all(|one| !one.is_known)))
}

fn query(asked: &Asked<'_>) -> Query {
    let path = asked.arguments.text("path").unwrap_or_default().to_owned();
    Query { path, letter: asked.arguments.letter("format") }
}

fn refused(query: &Query, error: PrintError) -> QuestionError {
    match error {
        PrintError::Path(error) => QuestionError::Path { path: query.path.clone(), error },
        PrintError::ReadError(error) => error.into(),
    }
}
