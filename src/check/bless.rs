//! Rewriting of expectations to the values of dumps.

use super::file::{Content, Line, ScopeFile, ValueLine};
use super::format::format;
use super::outcome::{Outcome, Verdict};
use super::syntax::{MAX_LINE, line};

/// A file with new right sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blessing {
    /// The text of the file.
    pub text: String,
    /// The changed lines, from 1, with their old and new text.
    pub changed: Vec<Changed>,
    /// The lines that do not hold and stay as they are.
    pub unblessed: Vec<Unblessed>,
}

/// A changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The line, from 1.
    pub line: usize,
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
}

/// A line that does not hold and has no new right side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblessed {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Replaces the right sides of lines that differ by the values of the dumps. `text`: the file that `file` was parsed
/// from; `dumps`: the outcomes of each dump.
///
/// A file in canonical form stays in it; in other files the comments stay in their columns where possible. Line ends,
/// comments and the order of lines never change. A line whose dumps have different values stays as it is.
#[must_use]
pub fn bless(text: &str, file: &ScopeFile, dumps: &[&[Outcome]]) -> Blessing {
    let mut blessed = file.clone();
    let mut found = Blessing::default();
    let mut is_block = false;
    let mut outcomes: Vec<std::iter::Peekable<_>> = dumps.iter().map(|dump| dump.iter().peekable()).collect();
    for (number, slot) in (1..).zip(&mut blessed.lines) {
        let mut verdicts = Vec::new();
        for dump in &mut outcomes {
            while let Some(outcome) = dump.next_if(|outcome| outcome.line <= number) {
                if outcome.line == number {
                    verdicts.push(&outcome.verdict);
                }
            }
        }
        match wanted(&verdicts) {
            Wanted::Nothing => {}
            Wanted::Refused(reason) => found.unblessed.push(Unblessed { line: number, reason }),
            Wanted::Value(got) => match rewritten(slot, got, is_block) {
                Some(new) => *slot = new,
                None => found.unblessed.push(Unblessed {
                    line: number,
                    reason: format!("the line cannot express the value `{got}`"),
                }),
            },
        }
        is_block |= matches!(slot.content, Content::Wave(_));
    }
    let canonical = format(file);
    let mut lines: Vec<String> = blessed.lines.iter().map(|line| line.text.clone()).collect();
    if canonical.lines().eq(file.lines.iter().map(|line| line.text.as_str())) {
        lines = format(&blessed).lines().map(str::to_owned).collect();
    }
    let mut old = text.split_inclusive('\n');
    for (number, (new, line)) in (1..).zip(lines.into_iter().zip(&file.lines)) {
        let end = old.next().and_then(|old| old.get(line.text.len()..)).unwrap_or_default();
        found.text.push_str(&new);
        found.text.push_str(end);
        if new != line.text {
            found.changed.push(Changed { line: number, old: line.text.clone(), new });
        }
    }
    found
}

/// The wish of a line's outcomes.
enum Wanted<'o> {
    /// It holds in all dumps.
    Nothing,
    /// One value in all dumps.
    Value(&'o str),
    /// It cannot be rewritten, with the reason.
    Refused(String),
}

fn wanted<'o>(verdicts: &[&'o Verdict]) -> Wanted<'o> {
    let mut values: Vec<Option<&str>> = Vec::new();
    for verdict in verdicts {
        match verdict {
            Verdict::Holds => values.push(None),
            Verdict::NotChecked(obstacle) => return Wanted::Refused(obstacle.problem.clone()),
            Verdict::Differs(difference) => match &difference.got {
                Some(got) => values.push(Some(got)),
                None => {
                    return Wanted::Refused(format!("no right side expresses it: {}", difference.found));
                }
            },
        }
    }
    let first = values.first().copied().flatten();
    match first {
        _ if values.iter().all(Option::is_none) => Wanted::Nothing,
        Some(got) if values.iter().all(|value| *value == Some(got)) => Wanted::Value(got),
        _ => Wanted::Refused("the dumps have different values".to_owned()),
    }
}

/// The line with another right side; `None`: the result is not the same statement.
fn rewritten(line_before: &Line, got: &str, is_block: bool) -> Option<Line> {
    let text = &line_before.text;
    let span = line_before.span.clone();
    let (start, end) = match &line_before.content {
        Content::Value(value) => (value.right_span.start, value.right_span.end),
        _ => {
            let statement = text.get(span.clone())?;
            let keyword = statement.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
            (span.start + keyword.unwrap_or(statement.len()), span.end)
        }
    };
    let before = text.get(..start)?;
    let between = text.get(start..end)?;
    let spaces = between.len() - between.trim_start().len();
    let space = between.get(..spaces).filter(|space| !space.is_empty() || got.is_empty()).unwrap_or(" ");
    let space = if got.is_empty() || matches!(line_before.content, Content::Value(_)) { "" } else { space };
    let mut new = format!("{before}{space}{got}");
    if let Some(column) = line_before.comment {
        let width = |text: &str| text.chars().count();
        let gap = width(text.get(..column)?).saturating_sub(width(&new)).max(2);
        new.extend(std::iter::repeat_n(' ', gap));
        new.push_str(text.get(column..)?);
    }
    let parsed = line(&new, is_block).filter(|_| new.len() <= MAX_LINE)?;
    let same_kind = std::mem::discriminant(&parsed.content) == std::mem::discriminant(&line_before.content);
    let comment = |line: &Line| line.comment.and_then(|at| line.text.get(at..)).map(str::to_owned);
    let is_same = match (&parsed.content, &line_before.content) {
        (Content::Value(new), Content::Value(old)) => left(new) == left(old),
        _ => same_kind,
    };
    (is_same && comment(&parsed) == comment(line_before)).then_some(parsed)
}

/// The parts of a line that stay.
fn left(line: &ValueLine) -> (usize, &Option<super::file::Lanes>, &str) {
    (line.frame, &line.lanes, &line.path)
}

#[cfg(test)]
#[path = "bless_tests.rs"]
mod tests;
