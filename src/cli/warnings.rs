//! Problems of a dump on standard error: a line each, without repetitions.

use std::collections::HashSet;
use std::io::Write;

use super::Failure;
use crate::capture::Problem;
use crate::clean::clean_lines;

/// Maximum number of lines without `--verbose`.
const MAX_LINES: usize = 8;
/// Mark of a line that is cut to the width of the terminal.
const CUT: &str = "... (--verbose for all)";

/// Prints the problems of a dump on standard error. `is_verbose`: all of them, each whole.
///
/// # Errors
/// The error of standard error.
pub(super) fn print(problems: &[Problem], is_verbose: bool) -> Result<(), Failure> {
    let width = terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
    let texts =
        problems.iter().map(|problem| format!("{}: {}", problem.severity, clean_lines(problem.to_string())));
    for line in lines(texts, width, is_verbose) {
        writeln!(anstream::stderr(), "{line}")?;
    }
    Ok(())
}

/// The lines for problems. `width`: of the terminal in characters; `None` for a file or a pipe, whose lines stay whole.
fn lines(texts: impl Iterator<Item = String>, width: Option<usize>, is_verbose: bool) -> Vec<String> {
    let mut known = HashSet::new();
    let mut lines: Vec<String> = texts.filter(|text| known.insert(text.clone())).collect();
    if is_verbose {
        return lines;
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if let Some(width) = width {
        lines.iter_mut().for_each(|line| *line = cut(line, width));
    }
    if more > 0 {
        lines.push(format!("and {more} more problems (--verbose for all)"));
    }
    lines
}

/// The first line of a text, in at most that many characters.
fn cut(text: &str, width: usize) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.len() == text.len() && text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = first.chars().take(width.saturating_sub(CUT.len())).collect();
    kept.trim_end().to_owned() + CUT
}

#[cfg(test)]
#[path = "warnings_tests.rs"]
mod tests;
