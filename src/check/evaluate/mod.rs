//! Evaluation of the expectations of a file over one dump.
//!
//! Each line with an expectation has one outcome. Lines about waves belong to the block of the `wave` line before them,
//! and without one to the faulted waves.

mod access;
mod causes;
mod counts;
mod error;
mod facts;
mod faults;
mod lanes;
mod names;
mod parts;
mod places;
mod select;
mod tally;
mod values;
mod waves;

pub use error::FactError;
use places::function_matches;

use std::sync::Arc;

use facts::Facts;

use super::file::{Content, Line, ScopeFile, Selector, Span};
use super::outcome::{Difference, Obstacle, Outcome, Verdict};
use crate::session::{Dump, Inspect};
use crate::signature::Rules;

/// An opened dump.
pub struct Subject<'a> {
    /// The dump's name.
    pub name: String,
    /// The sessions, one for each kind of waves; none: the dump has no waves.
    pub sessions: Vec<&'a dyn Inspect>,
    /// The dump.
    pub dump: Arc<Dump>,
    /// The rules of signatures.
    pub rules: Rules,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("name", &self.name)
            .field("sessions", &self.sessions.len())
            .finish_non_exhaustive()
    }
}

/// Evaluates the expectations of a file over a dump. One outcome for each line with an expectation, in the order of
/// the lines: not for blank lines, comments, `dump` and settings.
#[must_use]
pub fn evaluate(file: &ScopeFile, subject: &Subject<'_>) -> Vec<Outcome> {
    let is_state = |line: &Line| matches!(line.content, Content::Hang(_) | Content::State(_));
    let facts = Facts::of(subject, file.lines.iter().any(is_state));
    let mut outcomes = Vec::new();
    let numbered: Vec<Numbered<'_>> =
        (1..).zip(&file.lines).map(|(number, line)| Numbered { number, line }).collect();
    for (head, selector, rest) in blocks(&numbered) {
        let of_waves = |line: &&Numbered<'_>| {
            let content = &line.line.content;
            let is_place = matches!(content, Content::At(_) | Content::Stack(_));
            is_place
                || matches!(
                    content,
                    Content::Exec(_) | Content::State(_) | Content::Stop(_) | Content::Value(_)
                )
        };
        for line in rest.iter().filter(|line| !of_waves(line)) {
            let mut part = None;
            let verdict = match &line.line.content {
                Content::Fault(expected) => faults::fault(&facts, expected, line, &mut part),
                Content::Access(expected) => access::access(&facts, expected, line, &mut part),
                Content::Hang(expected) => causes::hang(&facts, expected, line),
                Content::Waves(expected) => counts::waves(&facts, expected, line),
                Content::Signature(expected) => causes::signature(&facts, expected, line),
                _ => continue,
            };
            let part = part.or_else(|| parts::of_dump(&facts, line, &verdict));
            outcomes.push(line.outcome_at(verdict, part));
        }
        let lines: Vec<&Numbered<'_>> = rest.iter().filter(of_waves).collect();
        outcomes.extend(waves::block(&facts, head, selector, &lines));
    }
    outcomes.sort_by_key(|outcome| outcome.line);
    with_missing(outcomes, &numbered)
}

/// Adds an outcome for each expectation without one, so that no line is skipped silently.
fn with_missing(mut outcomes: Vec<Outcome>, lines: &[Numbered<'_>]) -> Vec<Outcome> {
    let is_expectation = |line: &&Numbered<'_>| {
        !matches!(line.line.content, Content::Empty | Content::Dump(_) | Content::Setting(_))
    };
    let is_missing =
        |line: &&Numbered<'_>| outcomes.binary_search_by_key(&line.number, |outcome| outcome.line).is_err();
    let verdict = || obstacle("the statement has no meaning at this place", None);
    let missing: Vec<Outcome> =
        lines.iter().filter(is_expectation).filter(is_missing).map(|line| line.outcome(verdict())).collect();
    if !missing.is_empty() {
        outcomes.extend(missing);
        outcomes.sort_by_key(|outcome| outcome.line);
    }
    outcomes
}

/// The blocks: the `wave` line, its selector, and the lines after it.
fn blocks<'n, 'l>(
    lines: &'n [Numbered<'l>],
) -> impl Iterator<Item = (Option<&'n Numbered<'l>>, &'l Selector, &'n [Numbered<'l>])> {
    let blocks = lines.chunk_by(|_, next| !matches!(next.line.content, Content::Wave(_)));
    blocks.map(|block| match block.split_first() {
        Some((head, rest)) => match &head.line.content {
            Content::Wave(selector) => (Some(head), selector, rest),
            _ => (None, &Selector::Faulted, block),
        },
        None => (None, &Selector::Faulted, block),
    })
}

/// A line with its number, from 1.
#[derive(Clone, Copy)]
struct Numbered<'a> {
    number: usize,
    line: &'a Line,
}

impl Numbered<'_> {
    /// The text behind the keyword, if there is one.
    fn expected(&self) -> String {
        let text = self.line.text.get(self.line.span.clone()).unwrap_or_default();
        match (&self.line.content, text.split_once(char::is_whitespace)) {
            // `hang` has no text behind it.
            (Content::Value(_), _) | (_, None) => text.to_owned(),
            (_, Some((_, rest))) => rest.trim().to_owned(),
        }
    }

    fn outcome(&self, verdict: Verdict) -> Outcome {
        self.outcome_at(verdict, None)
    }

    /// The outcome about a part of the line; `None`: about the line, or the left or right side of a value.
    fn outcome_at(&self, verdict: Verdict, part: Option<Span>) -> Outcome {
        let columns = match (&self.line.content, &verdict) {
            (Content::Value(value), Verdict::Differs(_)) => &value.right_span,
            (Content::Value(value), Verdict::NotChecked(_)) => &value.path_span,
            _ => &self.line.span,
        };
        let columns = part.as_ref().unwrap_or(columns);
        Outcome { line: self.number, columns: (columns.start, columns.end), verdict, selected_by: None }
    }

    /// The difference of an expectation about the dump as a whole.
    fn differs(&self, got: Option<String>, found: String) -> Verdict {
        Verdict::Differs(Box::new(Difference {
            expected: self.expected(),
            got,
            found,
            ..Difference::default()
        }))
    }
}

/// The verdict of an expectation that cannot be checked.
fn obstacle(problem: impl Into<String>, hint: Option<String>) -> Verdict {
    Verdict::NotChecked(Obstacle { problem: problem.into(), hint })
}
