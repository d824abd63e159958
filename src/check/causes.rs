//! Names of causes and stop reasons in `fault` and `stop`, and the error of an unknown one.

use super::file::{Content, FaultLine, Line, ScopeFile, Span};
use super::similar::{folded, similar};
use super::syntax::SyntaxError;
use crate::arch::StopReason;

/// The names of each cause, the preferred one first.
pub(super) const MEMORY: &[&str] = &["memory violation", "memory"];
pub(super) const BAD_PC: &[&str] = &["bad pc"];
pub(super) const ASSERTION: &[&str] = &["assertion", "assertion failed"];
pub(super) const TRAP: &[&str] = &["trap"];
pub(super) const ILLEGAL: &[&str] = &["illegal instruction"];
pub(super) const ARITHMETIC: &[&str] = &["arithmetic", "arithmetic exception"];
pub(super) const ECC: &[&str] = &["ecc", "ecc error"];
pub(super) const BYSTANDER: &[&str] = &["bystander"];
pub(super) const QUEUE: &[&str] = &["queue", "queue error"];
pub(super) const BREAKPOINT: &[&str] = &["breakpoint"];
pub(super) const HANG: &[&str] = &["hang"];
const CAUSES: [&[&str]; 11] =
    [MEMORY, BAD_PC, ASSERTION, TRAP, ILLEGAL, ARITHMETIC, ECC, BYSTANDER, QUEUE, BREAKPOINT, HANG];

/// The `stop` of a wave without a stop reason.
pub(super) const RUNNING: &str = "running";

/// Names that drivers, runtimes and people use for an access to memory that faulted.
const PAGE_FAULTS: [&str; 6] = [
    "page fault",
    "memory fault",
    "memory access fault",
    "memory access violation",
    "segmentation fault",
    "segfault",
];

/// A name without a meaning.
pub(super) struct UnknownName {
    /// Its columns in the line.
    pub(super) span: Span,
    /// The error.
    pub(super) problem: String,
    /// A similar name, or all names.
    pub(super) hint: String,
}

/// The errors of `fault` and `stop` lines whose names are no cause and none of the stop reasons: those of all targets
/// that a dump may have. One error for each line.
#[must_use]
pub fn unknown_names<'r>(
    file: &ScopeFile,
    reasons: impl IntoIterator<Item = &'r StopReason>,
) -> Vec<SyntaxError> {
    let mut known: Vec<&str> = Vec::new();
    // Targets share most of their reasons.
    for name in reasons.into_iter().flat_map(names) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let of = |(number, line): (usize, &Line)| {
        let UnknownName { span, problem, hint } = unknown_name(line, &known)?;
        Some(SyntaxError { line: number, columns: (span.start, span.end), problem, hint: Some(hint) })
    };
    (1..).zip(&file.lines).filter_map(of).collect()
}

/// The name of a stop reason and its words, also those before a bracket.
pub(super) fn names(reason: &StopReason) -> impl Iterator<Item = &str> {
    let short = reason.words.split_once(" (").map(|(words, _)| words);
    [&*reason.name, &*reason.words].into_iter().chain(short)
}

pub(super) fn is_named<'k>(expected: &str, names: impl IntoIterator<Item = &'k str>) -> bool {
    let expected = folded(expected);
    names.into_iter().any(|name| folded(name) == expected)
}

/// The first name of a `fault` or `stop` line that is no cause and none of the stop reasons.
pub(super) fn unknown_name(line: &Line, reasons: &[&str]) -> Option<UnknownName> {
    let (what, own): (_, Vec<&str>) = match &line.content {
        Content::Fault(FaultLine::Causes(_)) => ("cause", CAUSES.concat()),
        Content::Stop(_) => ("stop reason", vec![RUNNING]),
        _ => return None,
    };
    let known = || own.iter().chain(reasons).copied();
    let (name, span) = listed(line).into_iter().find(|(name, _)| !is_named(name, known()))?;
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let memory = || is_named(&name, PAGE_FAULTS).then_some(MEMORY)?.first().copied();
    let hint = match similar(&name, known()).or_else(memory) {
        Some(found) => format!("did you mean `{}`?", found.replace('_', " ")),
        None => format!("the names are {}", preferred(known())),
    };
    Some(UnknownName { span, problem: format!("unknown {what} `{name}`"), hint })
}

/// The names in words without brackets, each once.
fn preferred<'k>(names: impl Iterator<Item = &'k str>) -> String {
    let mut found: Vec<&str> = Vec::new();
    for name in names.filter(|name| !name.contains(['(', '_'])) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found.join(", ")
}

/// The names of a statement with their columns: the parts between commas behind the keyword.
fn listed(line: &Line) -> Vec<(&str, Span)> {
    let statement = line.text.get(line.span.clone()).unwrap_or_default();
    let keyword = statement.find(char::is_whitespace).unwrap_or(statement.len());
    let mut start = line.span.start + keyword;
    let mut names = Vec::new();
    for part in statement.get(keyword..).unwrap_or_default().split(',') {
        let name = part.trim();
        let from = start + part.len() - part.trim_start().len();
        names.push((name, from..from + name.len()));
        start += part.len() + 1;
    }
    names
}

#[cfg(test)]
#[path = "causes_tests.rs"]
mod tests;
