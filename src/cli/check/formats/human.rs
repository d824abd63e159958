//! Results for people: each failed line with its place, the expected and the found value.

use std::io::Write;

use super::super::results::{CheckedDump, CheckedFile, CheckedLine, FileError, NamingLine, Report};
use crate::check::{Difference, Obstacle, Snippet, Verdict};
use crate::notation::{counted, list, plural};
use crate::report::Style;
use crate::session::Inferred;

/// Prints the failed lines, and a summary.
pub(super) fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    for file in &report.files {
        for error in &file.errors {
            writeln!(out, "{}\n", of_file(file, error).render(true))?;
        }
        for dump in &file.dumps {
            print_dump(file, dump, out)?;
        }
    }
    match report.files.is_empty() {
        // Only a part of the dumps can be empty.
        true => writeln!(out, "no dump is in this part (--shard): nothing to check"),
        false => writeln!(out, "{}", report.totals().in_words()),
    }
}

/// A text in the columns of a log.
fn folded(text: &str) -> String {
    Style::Plain.folded(text)
}

fn of_file<'r>(file: &'r CheckedFile, error: &'r FileError) -> Snippet<'r> {
    Snippet {
        file: &file.file,
        line: error.line,
        text: &error.text,
        columns: error.columns,
        title: &error.problem,
        label: "",
        notes: hint(error.hint.as_ref()),
    }
}

fn hint(hint: Option<&String>) -> Vec<(&'static str, String)> {
    hint.map(|hint| ("hint", hint.clone())).into_iter().collect()
}

fn print_dump(file: &CheckedFile, dump: &CheckedDump, out: &mut dyn Write) -> std::io::Result<()> {
    if let Some(error) = &dump.error {
        let NamingLine { line, columns, text } = dump.named_by.clone();
        let problem = format!("{}: {error}", dump.dump);
        let of_dump = FileError { line: Some(line), columns, text, problem, hint: None };
        writeln!(out, "{}\n", of_file(file, &of_dump).render(true))?;
    }
    for line in &dump.lines {
        // The error of its `wave` line counts it.
        if line.outcome.selected_by.is_some() {
            continue;
        }
        let (title, mut notes) = match &line.outcome.verdict {
            Verdict::Holds => continue,
            Verdict::Differs(difference) => (format!("{} differs", dump.dump), differing(difference)),
            Verdict::NotChecked(Obstacle { problem, hint }) => {
                (format!("{}: cannot be checked: {problem}", dump.dump), self::hint(hint.as_ref()))
            }
        };
        let number = line.outcome.line;
        let block = dump.lines.iter().filter(|of| of.outcome.selected_by == Some(number)).count();
        if block > 0 {
            let verb = plural(block, "has", "have");
            notes.push(("note", format!("{} of the block {verb} no wave to check", counted(block, "line"))));
        }
        writeln!(out, "{}\n", of_line(file, line, &title, notes).render(true))?;
    }
    for line in dump.sentence.iter().chain(&dump.problem) {
        writeln!(out, "{}\n", folded(&format!("{}: {line}", dump.dump)))?;
    }
    match &dump.report {
        Some(report) => writeln!(out, "{}\n", folded(&format!("report: {report}"))),
        None => Ok(()),
    }
}

fn of_line<'r>(
    file: &'r CheckedFile,
    line: &'r CheckedLine,
    title: &'r str,
    notes: Vec<(&'r str, String)>,
) -> Snippet<'r> {
    Snippet {
        file: &file.file,
        line: Some(line.outcome.line),
        text: &line.text,
        columns: line.outcome.columns,
        title,
        label: "",
        notes,
    }
}

/// The notes about a difference.
fn differing(difference: &Difference) -> Vec<(&'static str, String)> {
    let mut notes = vec![("expected", difference.expected.clone()), ("got", difference.found.clone())];
    if difference.waves.len() > 1 {
        notes.push(("waves", list(difference.waves.iter().copied())));
    }
    // One group of lanes is in the line above.
    for lanes in difference.lanes.iter().filter(|_| difference.lanes.len() > 1) {
        notes.push(("lanes", format!("{}: expected {}, got {}", lanes.lanes, lanes.expected, lanes.got)));
    }
    notes.extend(difference.names.iter().map(|of| {
        let inferred = Inferred::from_iter(of.inferred.iter().copied()).suffix();
        ("where", format!("{} = {}{inferred}", of.name, of.value))
    }));
    notes
}
