//! Forms of the results: one writer for each, all from the same [`Report`].

mod github;
mod gitlab;
mod human;
mod junit;
mod tap;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};

use super::debugger::Opinion;
use super::results::{CheckedDump, CheckedFile, CheckedLine, Report};
use crate::check::{Difference, Verdict};
use crate::cli::value::ValueError;
use crate::cli::{Failure, output_file, print_json};
use crate::report::schema::Document;

/// A form of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text for people.
    Human,
    /// Commands of GitHub's runner: annotations.
    Github,
    /// GitLab's report of code quality: JSON.
    Gitlab,
    /// JUnit's XML, as Jenkins reads it.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// `lanescope.check/1`
    Json,
}

/// The names on the command line.
const FORMS: [(&str, Form); 6] = [
    ("human", Form::Human),
    ("github", Form::Github),
    ("gitlab", Form::Gitlab),
    ("junit", Form::Junit),
    ("tap", Form::Tap),
    ("json", Form::Json),
];

/// A form with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) form: Form,
    /// The file; `None`: standard output.
    pub(super) file: Option<PathBuf>,
}

/// `junit=report.xml`: a form, with a file if it is not for standard output.
pub(super) fn output(text: &str) -> Result<Output, ValueError> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let form = FORMS.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
    let form = form.filter(|_| file != Some("")).ok_or(ValueError::Form(
        "NAME or NAME=FILE, with human, github, gitlab, junit, tap or json as NAME",
    ))?;
    let file = file.map(PathBuf::from).filter(|file| !output_file::is_standard_output(file));
    Ok(Output { form, file })
}

/// Writes all forms. On GitHub's runner also its annotations and the table of the job's summary.
pub(super) fn write(report: &Report, outputs: &[Output], out: &mut dyn Write) -> Result<(), Failure> {
    let human = [Output { form: Form::Human, file: None }];
    let outputs = if outputs.is_empty() { &human } else { outputs };
    for output in outputs {
        match &output.file {
            None => one(report, output.form, out)?,
            Some(path) => {
                let dumps = report.files.iter().flat_map(|file| {
                    let folder = Path::new(&file.file).parent().unwrap_or(Path::new(""));
                    file.dumps.iter().map(move |dump| folder.join(&dump.dump))
                });
                let inputs: Vec<PathBuf> =
                    report.files.iter().map(|file| PathBuf::from(&file.file)).chain(dumps).collect();
                let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
                output_file::write(path, &inputs, |file| {
                    // Colours are for terminals.
                    let mut text = anstream::StripStream::new(Vec::new());
                    one(report, output.form, &mut text)?;
                    Ok(file.write_all(&text.into_inner())?)
                })?;
            }
        }
    }
    let is_set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if is_set("GITHUB_ACTIONS").is_some() {
        let is_document = |output: &Output| output.file.is_none() && output.form != Form::Human;
        let has_annotations = outputs.iter().any(|output| output.form == Form::Github);
        match outputs.iter().any(is_document) {
            _ if has_annotations => {}
            // A program reads the document, and GitHub's runner reads both streams.
            true => github::annotations(report, &mut std::io::stderr().lock())?,
            false => github::annotations(report, out)?,
        }
        if let Some(path) = is_set("GITHUB_STEP_SUMMARY") {
            github::summary(report, Path::new(&path))?;
        }
    }
    Ok(())
}

fn one(report: &Report, form: Form, out: &mut dyn Write) -> Result<(), Failure> {
    match form {
        Form::Human => human::print(report, out)?,
        Form::Github => github::annotations(report, out)?,
        Form::Gitlab => print_json(out, &gitlab::entries(report))?,
        Form::Junit => junit::print(report, out)?,
        Form::Tap => tap::print(report, out)?,
        Form::Json => print_json(out, &Document::new(report))?,
    }
    Ok(())
}

/// A path as reviews of code have it: relative to the folder of the repository, which a variable of the CI system or
/// else the working folder is, and without `./`. Other paths stay.
fn in_repository(path: &str, variable: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let whole = std::path::absolute(path).unwrap_or_default();
    let folders = [folder.filter(|folder| folder.is_absolute()), Some(here)];
    let relative = folders.iter().flatten().find_map(|folder| whole.strip_prefix(folder).ok()?.to_str());
    relative.filter(|relative| !relative.is_empty()).unwrap_or(path).to_owned()
}

/// A result that does not hold.
struct Failed<'r> {
    file: &'r str,
    /// The line, from 1.
    line: usize,
    /// The columns, from 0: the first one, and the one past the last.
    columns: (usize, usize),
    /// The text of the line.
    text: &'r str,
    /// The dump, unless the file itself has an error.
    dump: Option<&'r str>,
    /// Whether the values differ; otherwise nothing can be checked.
    differs: bool,
    /// The difference or the reason, in one line.
    message: String,
    /// The first sentence of the analysis.
    sentence: Option<&'r str>,
}

/// The results that do not hold, in the order of files, dumps and lines.
fn failed(report: &Report) -> Vec<Failed<'_>> {
    let mut found = Vec::new();
    for file in &report.files {
        found.extend(file.errors.iter().map(|error| Failed {
            file: &file.file,
            line: error.line.unwrap_or(1),
            columns: error.columns,
            text: &error.text,
            dump: None,
            differs: false,
            message: with_hint(&error.problem, error.hint.as_deref()),
            sentence: None,
        }));
        for dump in &file.dumps {
            found.extend(dump.error.as_ref().map(|error| of_dump(file, dump, error)));
            found.extend(dump.lines.iter().filter_map(|line| of_line(file, dump, line)));
        }
    }
    found
}

/// The opinions of debuggers, with the file of expectations and the dump.
fn opinions(report: &Report) -> impl Iterator<Item = (&str, &str, &Opinion)> {
    report.files.iter().flat_map(|file| {
        file.dumps.iter().filter_map(move |dump| Some((&*file.file, &*dump.dump, dump.opinion.as_ref()?)))
    })
}

fn of_dump<'r>(file: &'r CheckedFile, dump: &'r CheckedDump, error: &str) -> Failed<'r> {
    Failed {
        file: &file.file,
        line: 1,
        columns: (0, 0),
        text: "",
        dump: Some(&dump.dump),
        differs: false,
        message: error.to_owned(),
        sentence: None,
    }
}

fn of_line<'r>(file: &'r CheckedFile, dump: &'r CheckedDump, line: &'r CheckedLine) -> Option<Failed<'r>> {
    let message = message(line)?;
    Some(Failed {
        file: &file.file,
        line: line.outcome.line,
        columns: line.outcome.columns,
        text: line.text.trim(),
        dump: Some(&dump.dump),
        differs: matches!(line.outcome.verdict, Verdict::Differs(_)),
        message,
        sentence: dump.sentence.as_deref(),
    })
}

/// The difference of a line, or the reason that it cannot be checked; `None`: it holds.
fn message(line: &CheckedLine) -> Option<String> {
    match &line.outcome.verdict {
        Verdict::Holds => None,
        Verdict::Differs(difference) => Some(in_words(difference)),
        Verdict::NotChecked(obstacle) => {
            Some(format!("cannot be checked: {}", with_hint(&obstacle.problem, obstacle.hint.as_deref())))
        }
    }
}

fn in_words(difference: &Difference) -> String {
    format!("expected {}, got {}", difference.expected, difference.found)
}

fn with_hint(problem: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| problem.to_owned(), |hint| format!("{problem}; {hint}"))
}
