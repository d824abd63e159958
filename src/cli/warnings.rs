//! Problems of a dump on standard error: their number in a line, or each of them whole.

use std::collections::HashSet;

use super::{Failure, shell, standard_error};
use crate::capture::{Problem, Severity};
use crate::clean::clean_lines;
use crate::notation::counted;
use crate::report::fold::{columns_of, folded_message};

/// Maximum number of listed problems without `--verbose`.
const MAX_LISTED: usize = 8;

/// Prints the number of problems. Problems of the user's options, which `info` without them does not have, and reasons
/// for a dump without waves are listed. `typed`: the words of the dump. `is_verbose`: all problems are.
///
/// # Errors
/// The error of standard error.
pub(super) fn count(problems: &[Problem], typed: &str, is_verbose: bool) -> Result<(), Failure> {
    print(problems, typed, is_verbose, is_urgent)
}

/// Lists the first [`MAX_LISTED`] problems. `is_verbose`: all of them, each in a line.
///
/// # Errors
/// The error of standard error.
pub(super) fn list(problems: &[Problem], typed: &str, is_verbose: bool) -> Result<(), Failure> {
    print(problems, typed, is_verbose, |_| true)
}

fn is_urgent(problem: &Problem) -> bool {
    problem.severity == Severity::Error || problem.is_of_option()
}

fn print(
    problems: &[Problem],
    typed: &str,
    is_verbose: bool,
    is_listed: fn(&Problem) -> bool,
) -> Result<(), Failure> {
    let width = columns_of(std::io::stderr());
    for text in lines(problems, (typed, width), is_verbose, is_listed) {
        standard_error::folded(text)?;
    }
    Ok(())
}

/// The texts for problems: the listed ones, folded between words, and the number of the others with the command that lists
/// all.
fn lines(
    problems: &[Problem],
    (typed, width): (&str, usize),
    is_verbose: bool,
    is_listed: fn(&Problem) -> bool,
) -> Vec<String> {
    let mut known = HashSet::new();
    let each = problems.iter().map(|problem| (is_listed(problem), text(problem)));
    let each: Vec<(bool, String)> = each.filter(|(_, text)| known.insert(text.clone())).collect();
    if is_verbose {
        return each.into_iter().map(|(_, text)| text).collect();
    }
    let count = each.len();
    let listed = each.into_iter().filter(|(is_listed, _)| *is_listed).take(MAX_LISTED);
    let mut lines: Vec<String> = listed.map(|(_, text)| folded_message(&text, width)).collect();
    if let Some(left @ 1..) = count.checked_sub(lines.len()) {
        let what = if lines.is_empty() { "problem" } else { "more problem" };
        let text = format!("warning: {}:", counted(left, what));
        lines.push(shell::behind(&text, &format!("lanescope info{typed}"), width));
    }
    lines
}

fn text(problem: &Problem) -> String {
    format!("{}: {}", problem.severity, clean_lines(problem.to_string()))
}

#[cfg(test)]
#[path = "warnings_tests.rs"]
mod tests;
