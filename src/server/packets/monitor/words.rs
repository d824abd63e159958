//! The words of a typed line as the arguments of a question, and the reasons of missing answers in sentences.

use super::{CommandError, sentence};
use crate::questions::{ArgumentError, Arguments, Parameter, Question, QuestionError, Takes, Value, Words};
use crate::report::evaluation;
use crate::session::print::ParseError;

/// Maximum length of a reason in characters: it may quote the path.
const MAX_WORDS: usize = 200;

/// `memory SPACE ADDRESS LENGTH`
pub(super) fn usage(question: &Question) -> String {
    let each = question.parameters.iter().filter_map(Parameter::usage);
    std::iter::once(question.name.to_owned()).chain(each).collect::<Vec<_>>().join(" ")
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
/// Before the rest of a line, which may begin with a variable of that name, the value has to fit, and words to follow.
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
    if parameter.takes == Takes::Flag {
        return Ok(Some((parameter, Value::Set, after)));
    }
    let may_be_rest = has_rest && !is_option;
    match after {
        [text, left @ ..] => match parameter.typed(text) {
            Err(_) if may_be_rest => Ok(None),
            Ok(_) if may_be_rest && left.is_empty() => Ok(None),
            value => Ok(Some((parameter, value.map_err(wrong)?, left))),
        },
        [] if may_be_rest || matches!(parameter.takes, Takes::Choice(_)) => Ok(None),
        [] => Err(CommandError::Usage(question.hint)),
    }
}

/// The first parameter without a name that the word fits.
fn bare<'q>(question: &'q Question, arguments: &Arguments, word: &str) -> Option<(&'q Parameter, Value)> {
    let is_free = |parameter: &&Parameter| {
        let again = parameter.takes == Takes::Names || !arguments.has(parameter.name);
        parameter.words == Words::Bare && again
    };
    parameters(question)
        .filter(is_free)
        .find_map(|parameter| parameter.typed(word).ok().map(|value| (parameter, value)))
}

/// The error for a word that fits no parameter that is left.
fn unfit(question: &Question, arguments: &Arguments, word: &str) -> CommandError {
    // A needed parameter names the fault of its value.
    let next = parameters(question)
        .find(|parameter| parameter.words == Words::Bare && !arguments.has(parameter.name));
    if let Some(Err(error)) = next.filter(|next| next.is_needed).map(|next| next.typed(word)) {
        return wrong(question, error.into());
    }
    let is_bare = parameters(question).all(|parameter| parameter.words == Words::Bare);
    let fits = |parameter: &Parameter| arguments.has(parameter.name) && parameter.typed(word).is_ok();
    match is_bare && parameters(question).any(fits) {
        true => CommandError::TooMany(usage(question)),
        false => CommandError::Usage(question.hint),
    }
}

/// The error of a question; a missing argument is a matter of the command's form.
pub(in super::super) fn wrong(question: &Question, error: QuestionError) -> CommandError {
    match error {
        QuestionError::Argument(ArgumentError::Needed(_)) | QuestionError::NoExpression => {
            CommandError::Usage(question.hint)
        }
        error => error.into(),
    }
}

/// The reason of a missing answer in sentences.
pub(super) fn reason(error: &QuestionError) -> String {
    match error {
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
        QuestionError::UnknownDispatch => {
            sentence(&format!("{}; try `monitor arguments all`", QuestionError::UnknownDispatch))
        }
        error => sentence(&error.to_string()),
    }
}

/// A path with its error below; the column counts in the path as printed.
fn wrong_path(path: &str, why: &ParseError) -> String {
    /// Characters on either side of the error; those of a terminal's line.
    const AROUND: usize = 40;
    let at = why.column.saturating_sub(1);
    let skipped = if path.chars().count() > 2 * AROUND { at.saturating_sub(AROUND) } else { 0 };
    let mut shown: String = path.chars().skip(skipped).take(2 * AROUND).collect();
    let is_cut = skipped + shown.chars().count() < path.chars().count();
    let before = if skipped > 0 { "..." } else { "" };
    shown.push_str(if is_cut { "..." } else { "" });
    let spaces = " ".repeat(at - skipped + before.len());
    let words: String = why.to_string().chars().take(MAX_WORDS).collect();
    format!("{before}{shown}\n{spaces}^\nThe path is wrong at {words}.")
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
