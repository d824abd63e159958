//! Results for people: each failed line with its place, the expected and the found value.

use std::io::Write;

use super::super::results::{CheckedDump, CheckedFile, CheckedLine, FileError, Report};
use crate::check::{Difference, Obstacle, Verdict};
use crate::notation::{counted, list};
use crate::report::Style;

/// Prints the failed lines, and a summary.
pub(super) fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    for file in &report.files {
        for error in &file.errors {
            print_error(file, error, out)?;
        }
        for dump in &file.dumps {
            print_dump(file, dump, out)?;
        }
    }
    writeln!(out, "{}", report.totals().in_words())
}

fn print_error(file: &CheckedFile, error: &FileError, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}: {}", Style::Coloured.alarm("error"), error.problem)?;
    match error.line {
        Some(line) => print_line(&file.file, line, &error.text, error.columns, out)?,
        None => writeln!(out, " --> {}", file.file)?,
    }
    print_hint(error.hint.as_deref(), out)
}

fn print_dump(file: &CheckedFile, dump: &CheckedDump, out: &mut dyn Write) -> std::io::Result<()> {
    if let Some(error) = &dump.error {
        writeln!(out, "{}: {error}\n --> {}\n", Style::Coloured.alarm("error"), file.file)?;
    }
    for line in &dump.lines {
        match &line.outcome.verdict {
            Verdict::Holds => {}
            Verdict::Differs(difference) => print_difference(file, dump, line, difference, out)?,
            Verdict::NotChecked(obstacle) => print_obstacle(file, dump, line, obstacle, out)?,
        }
    }
    if let Some(sentence) = &dump.sentence {
        writeln!(out, "{}: {sentence}\n", dump.dump)?;
    }
    if let Some(opinion) = &dump.opinion {
        let same = counted(opinion.same, "line");
        let differing = opinion.differing.len();
        writeln!(
            out,
            "{}: {} shows the same in {same}, and differs in {differing}",
            dump.dump, opinion.name
        )?;
        for not_asked in &opinion.not_asked {
            writeln!(out, "  line {} is not asked: {}", not_asked.line, not_asked.reason)?;
        }
        writeln!(out)?;
    }
    match &dump.report {
        Some(report) => writeln!(out, "report: {report}\n"),
        None => Ok(()),
    }
}

/// The place, and the line with marks below its columns.
fn print_line(
    file: &str,
    number: usize,
    text: &str,
    (start, end): (usize, usize),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let gap = " ".repeat(number.to_string().len());
    let width = |bytes: usize| text.get(..bytes).unwrap_or(text).chars().count();
    let (before, marked) = (width(start), width(end).saturating_sub(width(start)).max(1));
    writeln!(out, "{gap}--> {file}:{number}")?;
    writeln!(out, "{gap} |")?;
    writeln!(out, "{number} | {text}")?;
    writeln!(out, "{gap} | {}{}", " ".repeat(before), "^".repeat(marked))
}

fn print_hint(hint: Option<&str>, out: &mut dyn Write) -> std::io::Result<()> {
    if let Some(hint) = hint {
        writeln!(out, "  = help: {hint}")?;
    }
    writeln!(out)
}

fn print_difference(
    file: &CheckedFile,
    dump: &CheckedDump,
    line: &CheckedLine,
    difference: &Difference,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{}: {} differs", Style::Coloured.alarm("error"), dump.dump)?;
    print_line(&file.file, line.outcome.line, &line.text, line.outcome.columns, out)?;
    writeln!(out, "  = expected: {}", difference.expected)?;
    writeln!(out, "  =      got: {}", difference.found)?;
    if difference.waves.len() > 1 {
        writeln!(out, "  =    waves: {}", list(difference.waves.iter().copied()))?;
    }
    // One group of lanes is in the line above.
    for lanes in difference.lanes.iter().filter(|_| difference.lanes.len() > 1) {
        writeln!(out, "  =    lanes: {}: expected {}, got {}", lanes.lanes, lanes.expected, lanes.got)?;
    }
    for name in &difference.names {
        writeln!(out, "  =    where: {} = {}", name.name, name.value)?;
    }
    writeln!(out)
}

fn print_obstacle(
    file: &CheckedFile,
    dump: &CheckedDump,
    line: &CheckedLine,
    obstacle: &Obstacle,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let alarm = Style::Coloured.alarm("error");
    writeln!(out, "{alarm}: {}: cannot be checked: {}", dump.dump, obstacle.problem)?;
    print_line(&file.file, line.outcome.line, &line.text, line.outcome.columns, out)?;
    print_hint(obstacle.hint.as_deref(), out)
}
