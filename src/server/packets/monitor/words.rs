//! The words of a typed line as the arguments of a question, and the reasons of missing answers in sentences.

use super::{CommandError, sentence};
use crate::questions::{ArgumentError, Arguments, Parameter, Question, QuestionError, Takes, Value, Words};
use crate::report::{evaluation, text::pointed};
use crate::session::print::ParseError;

/// Maximum length of a reason in characters: it may quote the path.
const MAX_WORDS: usize = 200;

/// `memory SPACE ADDRESS LENGTH`, `print[/LETTER] [lane LANES] [frame N] PATH`, `arguments [ID|all]`
pub(super) fn usage(question: &Question) -> String {
    let mut text = question.name.to_owned();
    let slash = parameters(question).filter(|parameter| parameter.words == Words::Slash);
    text.extend(slash.filter_map(Parameter::usage).map(|usage| format!("[{usage}]")));
    for parameter in parameters(question).filter(|parameter| parameter.words != Words::Slash) {
        let excludes = |other: &&Parameter| parameter.excludes.contains(&other.name);
        // Printed with the parameter that excludes it.
        if parameters(question).any(|other| other.excludes.contains(&parameter.name)) {
            continue;
        }
        let each = std::iter::once(parameter).chain(parameters(question).filter(excludes));
        let usage = each.filter_map(Parameter::usage).collect::<Vec<_>>().join("|");
        let is_needed = parameter.is_needed || parameter.words == Words::Rest;
        text += &if is_needed { format!(" {usage}") } else { format!(" [{usage}]") };
    }
    text
}

/// The instruction after an error or a description: ` Try ...`; empty without an example.
pub(super) fn attempt(example: &str) -> String {
    if example.is_empty() { String::new() } else { format!(" Try `monitor {example}`.") }
}

/// The parameters that typed lines have.
pub(super) fn parameters(question: &Question) -> impl Iterator<Item = &Parameter> + Clone {
    question.parameters.iter().filter(|parameter| parameter.words != Words::Absent)
}

/// The arguments of words.
///
/// # Errors
/// The words do not fit.
pub(in super::super) fn arguments(
    question: &Question,
    mut words: &[&str],
) -> Result<Arguments, CommandError> {
    let mut arguments = Arguments::default();
    let rest = parameters(question).find(|parameter| parameter.words == Words::Rest);
    while let [word, after @ ..] = words {
        let mut found = named(question, rest.is_some(), word, after)?;
        if found.is_none() {
            found = bare(question, &arguments, word).map(|(parameter, value)| (parameter, value, after));
        }
        if let (None, Some(rest)) = (&found, rest) {
            found = Some((rest, Value::Text(words.join(" ")), &[]));
        }
        let Some((parameter, value, left)) = found else { return Err(unfit(question, &arguments, word)) };
        arguments.add(parameter, value).map_err(|error| wrong(question, error.into()))?;
        words = left;
    }
    arguments.complete(parameters(question)).map_err(|error| wrong(question, error.into()))
}

/// A parameter with its value, and the words after it.
type Taken<'q, 'w, 'a> = (&'q Parameter, Value, &'w [&'a str]);

/// A parameter by its name, as `frame 1` or `--frame 1`, or a letter after a slash; with the words after it.
///
/// Before the rest of a line, which may begin with a variable of that name, the value must fit.
fn named<'q, 'w, 'a>(
    question: &'q Question,
    has_rest: bool,
    word: &'a str,
    after: &'w [&'a str],
) -> Result<Option<Taken<'q, 'w, 'a>>, CommandError> {
    let wrong = |error: ArgumentError| wrong(question, error.into());
    if let Some(letter) = word.strip_prefix('/') {
        let slash = parameters(question).find(|parameter| parameter.words == Words::Slash);
        let value =
            |parameter: &'q Parameter| Ok((parameter, parameter.typed(letter).map_err(wrong)?, after));
        return slash.map(value).transpose();
    }
    let (name, is_option) = (word.trim_start_matches('-'), word.starts_with('-'));
    let is_named = |parameter: &&Parameter| {
        parameter.name == name && !matches!(parameter.words, Words::Rest | Words::Slash)
    };
    let Some(parameter) = parameters(question).find(is_named) else { return Ok(None) };
    match parameter.takes {
        _ if parameter.words == Words::Dashed && !is_option => return Ok(None),
        Takes::Flag => return Ok(Some((parameter, Value::Set, after))),
        // `all` is the value of the parameter `all`.
        Takes::Choice(names) if names.contains(&name) => {
            return Ok(Some((parameter, Value::Text(name.to_owned()), after)));
        }
        _ => {}
    }
    let may_be_rest = has_rest && !is_option;
    match after {
        [text, left @ ..] => match parameter.typed(text) {
            Err(_) if may_be_rest => Ok(None),
            value => Ok(Some((parameter, value.map_err(wrong)?, left))),
        },
        [] if may_be_rest => Ok(None),
        [] => {
            let (word, shown) = (word.to_owned(), parameter.shown);
            Err(CommandError::NoValue { word, shown, example: question.example })
        }
    }
}

/// The first unnamed parameter that the word fits.
fn bare<'q>(question: &'q Question, arguments: &Arguments, word: &str) -> Option<(&'q Parameter, Value)> {
    let is_free = |parameter: &&Parameter| {
        let again = parameter.takes == Takes::Names || !arguments.has(parameter.name);
        parameter.words == Words::Bare && again
    };
    parameters(question)
        .filter(is_free)
        .find_map(|parameter| parameter.typed(word).ok().map(|value| (parameter, value)))
}

/// The error for a word that fits no remaining parameter.
fn unfit(question: &Question, arguments: &Arguments, word: &str) -> CommandError {
    let mut bare = parameters(question).filter(|parameter| parameter.words == Words::Bare);
    let is_excluded = |parameter: &&Parameter| {
        let mut given = parameters(question).filter(|given| arguments.has(given.name));
        given.any(|given| given.name == parameter.name || given.excludes.contains(&parameter.name))
    };
    let next = bare.clone().find(|parameter| !is_excluded(parameter));
    if let Some(Err(error)) = next.map(|next| next.typed(word)) {
        return wrong(question, error.into());
    }
    match bare.any(|parameter| parameter.typed(word).is_ok()) {
        true => CommandError::TooMany(usage(question)),
        false => {
            CommandError::Unfit { word: word.to_owned(), name: question.name, example: question.example }
        }
    }
}

/// The error of a question; that of an argument has the example.
pub(in super::super) fn wrong(question: &Question, error: QuestionError) -> CommandError {
    match error {
        QuestionError::Argument(_) | QuestionError::NoExpression => {
            CommandError::Argument { error, example: question.example }
        }
        error => error.into(),
    }
}

/// The reason of a missing answer in sentences.
pub(super) fn reason(error: &QuestionError) -> String {
    match error {
        QuestionError::NoExpression => "An expression is needed.".to_owned(),
        QuestionError::Path { path, error } => wrong_path(path, error),
        QuestionError::Expression { text, error } => {
            let words = evaluation::misread(text, error);
            match words.split_once('\n') {
                Some((first, rest)) => format!("{}\n{rest}", sentence(first)),
                None => sentence(&words),
            }
        }
        QuestionError::NoLane { lane, lanes } => {
            format!("There is no lane {lane}: the wave has lanes 0 to {}.", lanes.saturating_sub(1))
        }
        error @ QuestionError::UnknownDispatch => {
            format!("{} Try `monitor arguments all`.", sentence(&error.to_string()))
        }
        error => sentence(&error.to_string()),
    }
}

/// A path with its error below; the column counts in the path as printed.
fn wrong_path(path: &str, why: &ParseError) -> String {
    let words: String = why.to_string().chars().take(MAX_WORDS).collect();
    format!("{}\nThe path is wrong at {words}.", pointed(path, why.column))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
