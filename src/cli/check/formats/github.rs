//! Annotations and the summary of a job in GitHub Actions.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::super::results::Report;
use super::{Failed, Form, Remark, failed, in_repository, remarks};
use crate::cli::Failure;

/// The variable with the folder of the repository.
const WORKSPACE: &str = "GITHUB_WORKSPACE";
/// Maximum bytes of a step's summary.
const MAX_SUMMARY: usize = 1 << 20;
/// Bytes that are left for the end of the summary.
const RESERVE: usize = 200;

/// A document without commands of the runner: the same data with other escapes. In XML a text may begin a line; JSON and
/// TAP have names within lines alone.
pub(super) fn harmless_document(form: Form, text: String) -> String {
    match form {
        Form::Human | Form::Github => text,
        Form::Gitlab | Form::Json => text.replace("##[", "#\\u0023["),
        Form::Tap => {
            // Messages are strings of JSON; names escape `#`.
            let line = |line: &str| match line.starts_with('#') {
                true => line.replace("##[", "# #["),
                false => line.replace("##[", "#\\u0023["),
            };
            text.split_inclusive('\n').map(line).collect()
        }
        Form::Junit => {
            let line = |line: &str| match line.trim_start().starts_with("::") {
                true => line.replacen("::", "&#58;:", 1),
                false => line.to_owned(),
            };
            text.split_inclusive(['\n', '\r']).map(line).collect::<String>().replace("##[", "#&#35;[")
        }
    }
}

/// Prints an annotation for each line that does not hold, and a notice for each remark about a dump. GitHub shows the
/// first 10 of a kind in a step, and counts columns in characters.
pub(super) fn annotations(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    for failed in failed(report) {
        let what = if failed.differs { "differs" } else { "cannot be checked" };
        let title = format!("{}: {what}", failed.dump.unwrap_or(failed.file));
        writeln!(
            out,
            "::error file={},line={},col={},endColumn={},title={}::{}",
            property(&in_repository(failed.file, WORKSPACE)),
            failed.line,
            failed.columns.0 + 1,
            failed.columns.1.max(failed.columns.0 + 1),
            property(&title),
            data(&failed.whole())
        )?;
    }
    for Remark { file, dump, problem } in remarks(report) {
        let title = format!("{dump}: option");
        let file = in_repository(file, WORKSPACE);
        writeln!(out, "::notice file={},title={}::{}", property(&file), property(&title), data(problem))?;
    }
    Ok(())
}

/// A value after `::`, by the rules of the runner's commands.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Adds a table of the lines that do not hold to the job's summary.
pub(super) fn summary(report: &Report, path: &Path) -> Result<(), Failure> {
    let named = |error| format!("{}: {error}", path.display());
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(named)?;
    let used = file.metadata().map_err(named)?.len();
    let left = MAX_SUMMARY.saturating_sub(usize::try_from(used).unwrap_or(usize::MAX));
    file.write_all(table(report, left).as_bytes()).map_err(named)?;
    Ok(())
}

/// The table in at most that many bytes.
pub(super) fn table(report: &Report, left: usize) -> String {
    let totals = report.totals();
    let mut text = format!("### lanescope check\n\n{}\n", totals.in_words());
    let all = failed(report);
    if !all.is_empty() {
        text += "\n| expectation | dump | line | result |\n|---|---|---|---|\n";
    }
    for (index, failed) in all.iter().enumerate() {
        let row = row(failed);
        if text.len() + row.len() + RESERVE > left {
            let _ = writeln!(text, "\n{} more are left out: the summary is full.", all.len() - index);
            break;
        }
        text += &row;
    }
    for Remark { file, dump, problem } in remarks(report) {
        let paragraph = format!("\n{}, {}: {}\n", cell(file), cell(dump), cell(problem));
        if text.len() + paragraph.len() + RESERVE <= left {
            text += &paragraph;
        }
    }
    text.push('\n');
    if text.len() > left { String::new() } else { text }
}

fn row(failed: &Failed<'_>) -> String {
    format!(
        "| {}:{} | {} | {} | {} |\n",
        cell(failed.file),
        failed.line,
        cell(failed.dump.unwrap_or_default()),
        cell(failed.text),
        cell(&failed.whole())
    )
}

/// Text in a cell of a table. Characters with a meaning in Markdown or HTML become references.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in text.chars() {
        match character {
            '\n' => cell += "<br>",
            '\r' => {}
            c if c.is_ascii_punctuation() && !".,:;/-+=()".contains(c) => {
                let _ = write!(cell, "&#{};", u32::from(c));
            }
            c => cell.push(c),
        }
    }
    cell
}
