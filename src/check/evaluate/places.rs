//! Places in the source, and call stacks.

use super::facts::{Facts, Wave, unknown_end};
use super::names::similar_names;
use crate::check::file::{At, SourceRange};
use crate::debuginfo::{demangle, region_parent};
use crate::session::{Stack, StackFrame};
use crate::triage::short;

/// Whether a wave fits a description.
pub(super) enum Fit {
    Holds,
    Differs,
    /// A fact is missing, with the reason.
    Unknown(String),
}

/// Whether the innermost frame of a wave is at a place.
pub(super) fn at(facts: &Facts<'_>, wave: &Wave<'_>, expected: &At) -> Fit {
    let Some(stack) = facts.stack(wave.id()) else {
        return Fit::Unknown("the stack cannot be read".to_owned());
    };
    let Some(frame) = stack.frames.first() else { return Fit::Unknown(stack.end.to_string()) };
    let source = frame.file.as_deref().zip(frame.line);
    place_fits(expected, frame.function.as_deref(), source, |what| problem(frame, what))
}

/// Whether a function, and a file with its line, are an expected place. `missing`: the reason for a missing fact.
pub(super) fn place_fits(
    expected: &At,
    function: Option<&str>,
    source: Option<(&str, u64)>,
    missing: impl Fn(&str) -> String,
) -> Fit {
    let mut unknown = None;
    if let Some(wanted) = &expected.function {
        match function {
            Some(own) if !function_matches(wanted, own) => return Fit::Differs,
            Some(_) => {}
            None => unknown = Some(missing("the function at the PC is unknown")),
        }
    }
    if let Some(wanted) = &expected.source {
        match source {
            Some((file, line)) if !source_matches(wanted, file, line) => return Fit::Differs,
            Some(_) => {}
            None => unknown = Some(missing("the source line at the PC is unknown")),
        }
    }
    unknown.map_or(Fit::Holds, Fit::Unknown)
}

fn problem(frame: &StackFrame, what: &str) -> String {
    frame.problem.as_ref().map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"))
}

/// A frame in the notation of `at`: `saxpy saxpy.hip:54`.
pub(super) fn at_text(frame: &StackFrame) -> Option<String> {
    let function = frame.function.as_deref().map(short);
    let source =
        frame.file.as_deref().zip(frame.line).map(|(file, line)| format!("{}:{line}", last_part(file)));
    let parts: Vec<String> = function.into_iter().chain(source).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn last_part(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// `did you mean ...`: a function or file of the innermost frames.
pub(super) fn similar_places(facts: &Facts<'_>, expected: &At) -> Option<String> {
    let (mut functions, mut files) = (Vec::new(), Vec::new());
    for wave in &facts.waves {
        let Some(stack) = facts.stack(wave.id()) else { continue };
        let Some(frame) = stack.frames.first() else { continue };
        functions.extend(frame.function.as_deref().map(short).filter(|name| !functions.contains(name)));
        let file = frame.file.as_deref().map(|file| last_part(file).to_owned());
        files.extend(file.filter(|name| !files.contains(name)));
    }
    let function = expected.function.as_deref();
    let is_unknown = |name: &&str| !functions.iter().any(|known| function_matches(name, known));
    let function = function.filter(is_unknown).and_then(|name| similar_names(name, functions.clone()));
    function.or_else(|| {
        let file = expected.source.as_ref().map(|source| last_part(&source.file))?;
        if files.iter().any(|known| known == file) { None } else { similar_names(file, files) }
    })
}

/// Whether a source line is in a range; the file by the last parts of its path.
fn source_matches(expected: &SourceRange, file: &str, line: u64) -> bool {
    let parts = |path: &str| {
        let parts: Vec<String> =
            path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
        parts
    };
    parts(file).ends_with(&parts(&expected.file))
        && expected.lines.is_none_or(|(first, last)| (first..=last).contains(&line))
}

/// Whether a function has a name; parameters, template arguments, and namespaces may be left out.
pub(super) fn function_matches(expected: &str, function: &str) -> bool {
    let plain = |text: &str| text.replace(' ', "");
    if plain(expected) == plain(function) {
        return true;
    }
    // A target region has the name of the function around it, and a symbol of its own.
    if let Some(parent) = region_parent(function) {
        return demangle(expected).is_some_and(|name| name == function) || function_matches(expected, parent);
    }
    let has_parameters = short(expected) != expected && expected.contains('(');
    if has_parameters {
        // Its return type may be left out.
        let whole = plain(function);
        return whole.ends_with(&plain(expected)) && !expected.starts_with('(');
    }
    let (expected, own) = (components(expected), components(&short(function)));
    let Some(from) = own.len().checked_sub(expected.len()).filter(|_| !expected.is_empty()) else {
        return false;
    };
    let same = |(wanted, own): (&Component, &Component)| {
        wanted.name == own.name && (wanted.arguments.is_none() || wanted.arguments == own.arguments)
    };
    expected.iter().zip(own.iter().skip(from)).all(same)
}

/// A part of a qualified name between `::`.
#[derive(Debug, PartialEq)]
struct Component {
    name: String,
    /// The template arguments without spaces, with brackets.
    arguments: Option<String>,
}

fn components(name: &str) -> Vec<Component> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    let mut before = ' ';
    for (index, letter) in name.char_indices() {
        match letter {
            '<' | '(' => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && before == ':' => {
                parts.push(name.get(start..index.saturating_sub(1)).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
        before = letter;
    }
    parts.push(name.get(start..).unwrap_or_default());
    let component = |part: &str| {
        let is_operator = part.starts_with("operator");
        let split = part.find('<').filter(|at| *at > 0 && !is_operator);
        match split.and_then(|at| part.split_at_checked(at)) {
            Some((name, arguments)) => {
                Component { name: name.trim().to_owned(), arguments: Some(arguments.replace(' ', "")) }
            }
            None => Component { name: part.trim().to_owned(), arguments: None },
        }
    };
    parts.into_iter().filter(|part| !part.is_empty()).map(component).collect()
}

/// Any number of frames, in a pattern.
const ANY: &str = "...";

/// Whether the stack of a wave fits a pattern of functions.
pub(super) fn stack(facts: &Facts<'_>, wave: &Wave<'_>, expected: &[String]) -> Fit {
    let Some(stack) = facts.stack(wave.id()) else {
        return Fit::Unknown("the stack cannot be read".to_owned());
    };
    let functions: Vec<Option<&str>> = stack.frames.iter().map(|frame| frame.function.as_deref()).collect();
    fits(&functions, unknown_end(&stack), expected)
}

/// Whether functions, the innermost first, fit a pattern. `None`: the function is unknown; `end`: the reason for
/// further, unknown functions.
pub(super) fn fits(functions: &[Option<&str>], end: Option<String>, expected: &[String]) -> Fit {
    let is_any = |part: usize| expected.get(part).is_some_and(|part| part == ANY);
    // The sets of parts that the functions so far may have taken; an unknown function fits a name or not.
    let taken = |unknown_fits: bool| {
        let skip = |mut taken: Vec<bool>| {
            for part in 0..expected.len() {
                if is_any(part) && taken.get(part) == Some(&true) {
                    taken.get_mut(part + 1).into_iter().for_each(|next| *next = true);
                }
            }
            taken
        };
        let mut taken = vec![false; expected.len() + 1];
        taken.first_mut().into_iter().for_each(|first| *first = true);
        taken = skip(taken);
        for function in functions {
            let mut next = vec![false; expected.len() + 1];
            for (index, part) in expected.iter().enumerate() {
                if taken.get(index) != Some(&true) {
                    continue;
                }
                let fits = is_any(index)
                    || function.map_or(unknown_fits, |function| function_matches(part, function));
                let to = if is_any(index) { index } else { index + 1 };
                next.get_mut(to).into_iter().for_each(|state| *state |= fits);
            }
            taken = skip(next);
        }
        taken
    };
    let (sure, possible) = (taken(false), taken(true));
    let is_whole = |taken: &[bool]| taken.last() == Some(&true);
    let why = || {
        end.clone()
            .map_or_else(|| "a function is unknown".to_owned(), |end| format!("the stack ends early: {end}"))
    };
    match &end {
        None if is_whole(&sure) => Fit::Holds,
        // Further functions fit `...` at the end.
        Some(_) if is_whole(&sure) && expected.len().checked_sub(1).is_some_and(is_any) => Fit::Holds,
        None if is_whole(&possible) => Fit::Unknown(why()),
        Some(_) if possible.contains(&true) => Fit::Unknown(why()),
        _ => Fit::Differs,
    }
}

/// A stack in the notation of `stack`; `None`: a function is unknown.
pub(super) fn stack_text(stack: &Stack) -> Option<String> {
    let functions: Option<Vec<String>> =
        stack.frames.iter().map(|frame| frame.function.as_deref().map(short)).collect();
    let mut functions = functions.filter(|functions| !functions.is_empty())?;
    functions.extend(unknown_end(stack).map(|_| ANY.to_owned()));
    Some(functions.join(" < "))
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
