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
                shortened(&in_folder(problem), width)
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

/// The first line of a problem in at most that many characters: without its hint, its last clauses or its file, else
/// without its middle. The beginning names the object, and the end the effect.
fn shortened(problem: &Problem, width: usize) -> String {
    let of = |place: &str, what: &str| {
        let what = clean_lines(what);
        let line = what.lines().next().unwrap_or_default();
        format!("{}: {place}{line}", problem.severity)
    };
    let within = problem.place.within();
    let whole = text(problem);
    let places = [clean_lines(format!("{}: {within}", problem.place.file)), clean_lines(within)];
    // A short beginning has no more than the object.
    let fits = |form: &str, what: &str| {
        let least = if what == problem.what { 0 } else { width / 2 };
        (least..=width).contains(&form.chars().count())
    };
    let each = clauses(&problem.what).flat_map(|what| places.iter().map(move |place| (place, what)));
    for (place, what) in each {
        let form = of(place, what);
        let form = if form == whole { form } else { form + CUT };
        if fits(&form, what) {
            return form;
        }
    }
    without_middle(&of(places.last().map_or("", |place| place), &problem.what), width)
}

/// A text, and its beginnings before each semicolon and colon, the longest first.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.rmatch_indices([';', ':']).map(|(at, _)| at);
    let ends = ends.filter(|at| text.get(at + 1..).is_some_and(|rest| rest.starts_with(' ')));
    std::iter::once(text.len()).chain(ends).filter_map(|end| text.get(..end))
}

/// A text whose middle is left out.
fn without_middle(text: &str, width: usize) -> String {
    let count = text.chars().count();
    let Some(kept) = width.checked_sub(CUT.len()).filter(|_| count > width) else {
        return if count > width { CUT.to_owned() } else { text.to_owned() + CUT };
    };
    let head: String = text.chars().take(kept.div_ceil(2)).collect();
    let tail: String = text.chars().skip(count - kept / 2).collect();
    // Whole words, if the halves have some.
    let head = head.rsplit_once(' ').map_or(head.as_str(), |(head, _)| head);
    let tail = tail.split_once(' ').map_or(tail.as_str(), |(_, tail)| tail);
    format!("{head}{CUT}{tail}")
}

#[cfg(test)]
#[path = "warnings_tests.rs"]
mod tests;
