//! Places in the source, and call stacks.

use super::facts::{Facts, Wave, unknown_end};
use super::names::similar_names;
use crate::check::file::{At, SourceRange};
use crate::debuginfo::{FunctionName, demangle, region_parent, short_name};
use crate::session::{Stack, StackFrame};

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
    place_fits(expected, Function::of(frame), source, |what| problem(frame, what))
}

/// Whether a function, and a file with its line, are an expected place. `missing`: the reason for a missing fact.
fn place_fits(
    expected: &At,
    function: Option<Function<'_>>,
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

/// A frame in the notation of `at`: `saxpy saxpy.hip:54`, the file with as many parts of its path as the expected one.
pub(super) fn at_text(frame: &StackFrame, expected: &At) -> Option<String> {
    let function = frame.function.as_deref().map(short_name);
    let source = frame.file.as_deref().zip(frame.line);
    let count = expected.source.as_ref().map_or(1, |source| parts(&source.file).count());
    let source = source.map(|(file, line)| format!("{}:{line}", last_parts(file, count)));
    let parts: Vec<String> = function.into_iter().chain(source).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The same with the parts that the expectation has; lines that it lists grow by a line of the same file.
pub(super) fn blessed_at(frame: &StackFrame, expected: &At) -> Option<String> {
    let function = expected.function.as_ref().and_then(|_| frame.function.as_deref().map(short_name));
    let source = expected.source.as_ref().and_then(|wanted| {
        let (file, line) = frame.file.as_deref().zip(frame.line)?;
        let any_line = SourceRange { lines: None, ..wanted.clone() };
        let lines = match wanted.lines {
            None => String::new(),
            Some((first, last)) if first < last && source_matches(&any_line, file, line) => {
                format!(":{}-{}", first.min(line), last.max(line))
            }
            Some(_) => format!(":{line}"),
        };
        let file = last_parts(file, parts(&wanted.file).count());
        let quote = if file.contains(char::is_whitespace) { "\"" } else { "" };
        Some(format!("{quote}{file}{quote}{lines}"))
    });
    // A part of another kind is no replacement for a missing one.
    let has_all =
        function.is_some() == expected.function.is_some() && source.is_some() == expected.source.is_some();
    let parts: Vec<String> = function.into_iter().chain(source).collect();
    has_all.then(|| parts.join(" "))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."))
}

/// That many last parts of a path.
fn last_parts(path: &str, count: usize) -> String {
    let mut last: Vec<&str> = parts(path).rev().take(count.max(1)).collect();
    last.reverse();
    last.join("/")
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
        functions.extend(frame.function.as_deref().map(short_name).filter(|name| !functions.contains(name)));
        let file = frame.file.as_deref().map(|file| last_part(file).to_owned());
        files.extend(file.filter(|name| !files.contains(name)));
    }
    let function = expected.function.as_deref();
    let is_unknown = |name: &&str| !functions.iter().any(|known| function_matches(name, known.as_str()));
    let function = function.filter(is_unknown).and_then(|name| similar_names(name, functions.clone()));
    function.or_else(|| {
        let file = expected.source.as_ref().map(|source| last_part(&source.file))?;
        if files.iter().any(|known| known == file) { None } else { similar_names(file, files) }
    })
}

/// Whether a source line is in a range; the file by the last parts of its path.
fn source_matches(expected: &SourceRange, file: &str, line: u64) -> bool {
    let (own, wanted): (Vec<&str>, Vec<&str>) = (parts(file).collect(), parts(&expected.file).collect());
    own.ends_with(&wanted) && expected.lines.is_none_or(|(first, last)| (first..=last).contains(&line))
}

/// A function in its spellings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'f> {
    /// By debug information, or by a symbol without it.
    pub(super) name: &'f str,
    /// The mangled name, with the enclosing functions and the parameters.
    pub(super) mangled: Option<&'f str>,
}

impl<'f> From<&'f str> for Function<'f> {
    fn from(name: &'f str) -> Self {
        Self { name, mangled: None }
    }
}

impl<'f> Function<'f> {
    fn of(frame: &'f StackFrame) -> Option<Self> {
        Some(Self { name: frame.function.as_deref()?, mangled: frame.mangled.as_deref() })
    }
}

/// Whether a function has a name; parameters, template arguments, and enclosing scopes may be left out.
pub(super) fn function_matches<'f>(expected: &str, function: impl Into<Function<'f>>) -> bool {
    let Function { name, mangled } = function.into();
    // A target region has the name of the function around it, and a symbol of its own.
    if let Some(parent) = region_parent(name) {
        let plain = |text: &str| text.replace(' ', "");
        return plain(expected) == plain(name)
            || demangle(expected).is_some_and(|expected| expected == name)
            || function_matches(expected, parent);
    }
    let wanted = FunctionName::parse(expected);
    let is = |name: &str| wanted.names(&FunctionName::parse(name));
    is(name) || mangled.and_then(demangle).is_some_and(|full| is(&full))
}

/// Any number of frames, in a pattern.
const ANY: &str = "...";

/// Whether the stack of a wave fits a pattern of functions.
pub(super) fn stack(facts: &Facts<'_>, wave: &Wave<'_>, expected: &[String]) -> Fit {
    let Some(stack) = facts.stack(wave.id()) else {
        return Fit::Unknown("the stack cannot be read".to_owned());
    };
    let functions: Vec<Option<Function<'_>>> = stack.frames.iter().map(Function::of).collect();
    fits(&functions, unknown_end(&stack), expected)
}

/// Whether functions, the innermost first, fit a pattern. `None`: the function is unknown; `end`: the reason for
/// further, unknown functions.
fn fits(functions: &[Option<Function<'_>>], end: Option<String>, expected: &[String]) -> Fit {
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
    let mut functions = functions(stack)?;
    functions.extend(unknown_end(stack).map(|_| ANY.to_owned()));
    Some(functions.join(" < "))
}

/// The same with `...` where the expectation has its only one, and as many functions before and behind it.
pub(super) fn blessed_stack(stack: &Stack, expected: &[String]) -> Option<String> {
    let any = expected.iter().position(|part| part == ANY);
    let Some(any) = any.filter(|any| !expected.iter().skip(any + 1).any(|part| part == ANY)) else {
        return stack_text(stack);
    };
    let (functions, behind) = (functions(stack)?, expected.len() - any - 1);
    if functions.len() < any + behind || behind > 0 && unknown_end(stack).is_some() {
        return stack_text(stack);
    }
    let (first, last) = (functions.iter().take(any), functions.iter().skip(functions.len() - behind));
    let all: Vec<&str> = first.map(String::as_str).chain([ANY]).chain(last.map(String::as_str)).collect();
    Some(all.join(" < "))
}

/// The functions of a stack, the innermost first; `None`: one is unknown, or there is none.
fn functions(stack: &Stack) -> Option<Vec<String>> {
    let functions: Option<Vec<String>> =
        stack.frames.iter().map(|frame| frame.function.as_deref().map(short_name)).collect();
    functions.filter(|functions| !functions.is_empty())
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
