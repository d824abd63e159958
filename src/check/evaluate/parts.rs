//! The part of a statement that does not hold, where the other parts do.

use super::facts::{Facts, Wave};
use super::places::{Fit, at};
use super::{Numbered, counts};
use crate::check::file::{At, Content, Span};
use crate::check::outcome::Verdict;
use crate::check::similar::folded;

/// The columns of the only wrong part of a statement about the dump; `None`: all of it.
pub(super) fn of_dump(facts: &Facts<'_>, line: &Numbered<'_>, verdict: &Verdict) -> Option<Span> {
    match (&line.line.content, verdict) {
        (_, Verdict::Holds) => None,
        (Content::Waves(expected), Verdict::Differs(_)) => listed(line, counts::wrong(facts, expected)?),
        _ => None,
    }
}

/// The columns of a part of a list with commas.
fn listed(line: &Numbered<'_>, index: usize) -> Option<Span> {
    let Numbered { line, .. } = line;
    let mut start = line.span.start;
    for (number, part) in line.text.get(line.span.clone())?.split(',').enumerate() {
        if number == index {
            let from = start + part.len() - part.trim_start().len();
            return Some(from..from + part.trim().len());
        }
        start += part.len() + 1;
    }
    None
}

/// The columns of the function or of the source of `at`, if the other one is that of all waves.
pub(super) fn of_place(
    facts: &Facts<'_>,
    line: &Numbered<'_>,
    expected: &At,
    waves: &[&Wave<'_>],
) -> Option<Span> {
    let (Some(function), Some(source)) = (&expected.function, &expected.source) else { return None };
    let is_right = |part: &At| waves.iter().all(|wave| matches!(at(facts, wave, part), Fit::Holds));
    let span = &line.line.span;
    let text = line.line.text.get(span.clone())?;
    let file = text.rfind(&source.file)?;
    let file = file - usize::from(text.get(..file)?.ends_with('"'));
    if is_right(&At { function: Some(function.clone()), source: None }) {
        return Some(span.start + file..span.end);
    }
    let before = text.get(..file)?.strip_prefix("at")?;
    let start = text.get(..file)?.len() - before.trim_start().len();
    let is_source = is_right(&At { function: None, source: Some(source.clone()) });
    is_source.then(|| span.start + start..span.start + start + before.trim().len())
}

/// A part of an access.
pub(super) enum AccessPart<'e> {
    /// `lane 24`
    Lanes,
    /// `load`
    Kind(&'e str),
    /// `x[i]`
    Expression(&'e str),
    /// `not captured`
    State(&'e str),
}

/// The columns of a part of an access; `None`: its spaces differ from those of the parsed text.
pub(super) fn of_access(line: &Numbered<'_>, part: &AccessPart<'_>) -> Option<Span> {
    let span = &line.line.span;
    let text = line.line.text.get(span.clone())?;
    let rest = text.strip_prefix("access")?;
    let offset = span.start + text.len() - rest.len();
    let named = |name: &str| rest.find(name).map(|at| offset + at..offset + at + name.len());
    match part {
        AccessPart::Lanes => {
            let at = rest.find("lane")?;
            let after = rest.get(at + "lane".len()..)?;
            let spaces = after.len() - after.trim_start().len();
            let word = after.trim_start().find(char::is_whitespace).unwrap_or(after.trim_start().len());
            Some(offset + at..offset + at + "lane".len() + spaces + word)
        }
        AccessPart::Kind(name) | AccessPart::Expression(name) => named(name),
        AccessPart::State(name) => {
            let starts = rest.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at + 1);
            let at =
                starts.rev().find(|at| rest.get(*at..).is_some_and(|end| folded(end) == folded(name)))?;
            Some(offset + at..span.end)
        }
    }
}
