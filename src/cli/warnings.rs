//! Problems of a dump on standard error: a line each, without repetitions.

use std::collections::HashSet;
use std::io::Write;

use super::Failure;
use crate::capture::Problem;
use crate::clean::clean_lines;

/// Maximum number of lines without `--verbose`.
const MAX_LINES: usize = 8;
/// Characters of a line without a terminal.
const COLUMNS: usize = 80;
/// Mark of a line that is cut.
const CUT: &str = "...";
/// The line after cut ones.
const WHOLE: &str = "warning: --verbose prints all warnings whole";

/// Prints the problems of a dump on standard error. `is_verbose`: all of them, each whole.
///
/// # Errors
/// The error of standard error.
pub(super) fn print(problems: &[Problem], is_verbose: bool) -> Result<(), Failure> {
    let width = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
    for line in lines(problems, width.unwrap_or(COLUMNS), is_verbose) {
        writeln!(anstream::stderr(), "{line}")?;
    }
    Ok(())
}

/// The lines for problems. `width`: the maximum number of characters of a line.
fn lines(problems: &[Problem], width: usize, is_verbose: bool) -> Vec<String> {
    let mut known = HashSet::new();
    let each = problems.iter().map(|problem| (problem, text(problem)));
    let mut lines: Vec<(&Problem, String)> = each.filter(|(_, text)| known.insert(text.clone())).collect();
    if is_verbose {
        return lines.into_iter().map(|(_, text)| text).collect();
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    let mut is_cut = false;
    let mut lines: Vec<String> = lines
        .into_iter()
        .map(|(problem, text)| match is_short(&text, width) {
            true => text,
            false => {
                is_cut = true;
                cut(&self::text(&in_folder(problem)), width)
            }
        })
        .collect();
    match more {
        0 => lines.extend(is_cut.then(|| WHOLE.to_owned())),
        more => lines.push(format!("and {more} more problems (--verbose for all)")),
    }
    lines
}

fn text(problem: &Problem) -> String {
    format!("{}: {}", problem.severity, clean_lines(problem.to_string()))
}

/// The problem with the name of its file in place of the path.
fn in_folder(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    if let Some((_, name)) = problem.place.file.rsplit_once('/') {
        problem.place.file = name.to_owned();
    }
    problem
}

fn is_short(text: &str, width: usize) -> bool {
    !text.contains('\n') && text.chars().count() <= width
}

/// The first line of a text, in at most that many characters.
fn cut(text: &str, width: usize) -> String {
    if is_short(text, width) {
        return text.to_owned();
    }
    let first = text.lines().next().unwrap_or_default();
    let kept: String = first.chars().take(width.saturating_sub(CUT.len())).collect();
    kept.trim_end().to_owned() + CUT
}

#[cfg(test)]
#[path = "warnings_tests.rs"]
mod tests;
