//! Forms of the results: one writer for each, all from the same [`Report`].

mod github;
mod gitlab;
mod human;
mod junit;
mod tap;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use super::results::{CheckedDump, CheckedFile, CheckedLine, Report};
use crate::check::{Difference, Verdict};
use crate::clean::clean;
use crate::cli::runner::{for_people, is_on_runner};
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
    /// `lanescope.check/2`
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

/// Two forms have one file: the second would replace the first.
#[derive(Debug, thiserror::Error)]
#[error("--format: two forms have the file {0}; choose a file for each")]
pub(super) struct SharedFileError(String);

/// Checks that each form has a file of its own.
///
/// # Errors
/// [`SharedFileError`].
pub(super) fn distinct(outputs: &[Output]) -> Result<(), SharedFileError> {
    let files: Vec<&PathBuf> = outputs.iter().filter_map(|output| output.file.as_ref()).collect();
    let is_one = |one: &Path, other: &Path| {
        let found = std::fs::canonicalize(one).ok().zip(std::fs::canonicalize(other).ok());
        // Neither a pipe nor a device loses a form.
        let is_file = std::fs::metadata(one).map_or(true, |found| found.is_file());
        is_file && found.map_or_else(|| absolute(one) == absolute(other), |(one, other)| one == other)
    };
    for (index, one) in files.iter().enumerate() {
        if files.iter().take(index).any(|other| is_one(one, other)) {
            return Err(SharedFileError(clean(one.to_string_lossy()).into_owned()));
        }
    }
    Ok(())
}

/// A path with its folder, through links of the folder.
fn absolute(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name))
}

/// Writes all forms. On GitHub's runner also its annotations and the table of the job's summary.
/// `inputs`: the files that the command reads.
pub(super) fn write(
    report: &Report,
    outputs: &[Output],
    inputs: &[PathBuf],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let human = [Output { form: Form::Human, file: None }];
    let outputs = if outputs.is_empty() { &human } else { outputs };
    // A file that cannot be written hides no other form.
    let mut written = Ok(());
    for output in outputs {
        let result = match &output.file {
            None if output.form == Form::Human => for_people(out, |out| one(report, Form::Human, out)),
            None => document(report, output.form, out),
            Some(path) => to_file(report, output.form, path, inputs),
        };
        written = written.and(result);
    }
    if is_on_runner() {
        let is_document = |output: &Output| output.file.is_none() && output.form != Form::Human;
        let has_annotations = outputs.iter().any(|output| output.form == Form::Github);
        match outputs.iter().any(is_document) {
            _ if has_annotations => {}
            // A program reads the document, and GitHub's runner reads both streams.
            true => github::annotations(report, &mut std::io::stderr().lock())?,
            false => github::annotations(report, out)?,
        }
        let path = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
        if let Some(path) = path {
            github::summary(report, Path::new(&path))?;
        }
    }
    written
}

/// Writes a form to a file, which must be none of the checked ones.
fn to_file(report: &Report, form: Form, path: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    output_file::write(path, &inputs, |file| {
        // Colours are for terminals.
        let mut text = anstream::StripStream::new(Vec::new());
        one(report, form, &mut text)?;
        Ok(file.write_all(&text.into_inner())?)
    })
}

/// Writes a document to standard output; on GitHub's runner without commands in it.
fn document(report: &Report, form: Form, out: &mut dyn Write) -> Result<(), Failure> {
    if !is_on_runner() {
        return one(report, form, out);
    }
    let mut text = Vec::new();
    one(report, form, &mut text)?;
    let text = github::harmless_document(form, String::from_utf8_lossy(&text).into_owned());
    Ok(out.write_all(text.as_bytes())?)
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
    let whole = plain(&std::path::absolute(path).unwrap_or_default());
    let folders = [folder.filter(|folder| folder.is_absolute()), Some(here)];
    let relative = folders.iter().flatten().find_map(|folder| whole.strip_prefix(folder).ok()?.to_str());
    relative.filter(|relative| !relative.is_empty()).unwrap_or(path).to_owned()
}

/// A path without `..`: reviews of code have none.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
        plain
    })
}

/// A result that does not hold.
struct Failed<'r> {
    file: &'r str,
    /// The line, from 1.
    line: usize,
    /// The columns in characters, from 0: the first one, and the one past the last.
    columns: (usize, usize),
    /// The text of the line.
    text: &'r str,
    /// The dump, unless the file itself has an error.
    dump: Option<&'r str>,
    /// Whether the values differ; otherwise nothing can be checked.
    differs: bool,
    /// The difference or the reason, in one line.
    message: String,
    /// The first sentence of the analysis and a problem of the dump, for people: [`CheckedDump::about`].
    about: Option<String>,
}

impl Failed<'_> {
    /// The message, with the lines about the dump below.
    fn whole(&self) -> String {
        self.about.as_ref().map_or_else(|| self.message.clone(), |about| format!("{}\n{about}", self.message))
    }
}

/// Columns in characters (code points), as the form for people has them, of columns in bytes.
fn characters(text: &str, (start, end): (usize, usize)) -> (usize, usize) {
    let counted = |column: usize| text.char_indices().take_while(|(at, _)| *at < column).count();
    (counted(start), counted(end))
}

/// The results that do not hold, in the order of files, dumps and lines.
fn failed(report: &Report) -> Vec<Failed<'_>> {
    let mut found = Vec::new();
    for file in &report.files {
        found.extend(file.errors.iter().map(|error| Failed {
            file: &file.file,
            line: error.line.unwrap_or(1),
            columns: characters(&error.text, error.columns),
            text: &error.text,
            dump: None,
            differs: false,
            message: with_hint(&error.problem, error.hint.as_deref()),
            about: None,
        }));
        for dump in &file.dumps {
            found.extend(dump.error.as_ref().map(|error| of_dump(file, dump, error)));
            found.extend(dump.lines.iter().filter_map(|line| of_line(file, dump, line)));
        }
    }
    found
}

/// The problem of an option of a dump whose lines all hold.
struct Remark<'r> {
    file: &'r str,
    dump: &'r str,
    problem: &'r str,
}

/// The problems of dumps that no failed line has.
fn remarks(report: &Report) -> impl Iterator<Item = Remark<'_>> {
    report.files.iter().flat_map(|file| file.dumps.iter().filter_map(move |dump| remark(file, dump)))
}

fn remark<'r>(file: &'r CheckedFile, dump: &'r CheckedDump) -> Option<Remark<'r>> {
    let has_about = dump.lines.iter().any(|line| line.outcome.verdict != Verdict::Holds);
    let problem = dump.problem.as_deref().filter(|_| !has_about)?;
    Some(Remark { file: &file.file, dump: &dump.dump, problem })
}

fn of_dump<'r>(file: &'r CheckedFile, dump: &'r CheckedDump, error: &str) -> Failed<'r> {
    Failed {
        file: &file.file,
        line: dump.named_by.line,
        columns: characters(&dump.named_by.text, dump.named_by.columns),
        text: dump.named_by.text.trim(),
        dump: Some(&dump.dump),
        differs: false,
        message: error.to_owned(),
        about: None,
    }
}

fn of_line<'r>(file: &'r CheckedFile, dump: &'r CheckedDump, line: &'r CheckedLine) -> Option<Failed<'r>> {
    let message = message(line)?;
    Some(Failed {
        file: &file.file,
        line: line.outcome.line,
        columns: characters(&line.text, line.outcome.columns),
        text: line.text.trim(),
        dump: Some(&dump.dump),
        differs: matches!(line.outcome.verdict, Verdict::Differs(_)),
        message,
        about: dump.about(),
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
