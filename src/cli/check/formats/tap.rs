//! The Test Anything Protocol, version 14: a test for each line of each dump.

use std::io::Write;

use serde_json::json;

use super::super::results::Report;
use super::{Remark, message, remarks};

/// Prints the results.
pub(super) fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let mut tests = Vec::new();
    for file in &report.files {
        for error in &file.errors {
            let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
            tests.push((format!("{}{line}", file.file), Some(error.problem.clone())));
        }
        for dump in &file.dumps {
            if let Some(error) = &dump.error {
                let line = dump.named_by.line;
                tests.push((format!("{}:{line} {}", file.file, dump.dump), Some(error.clone())));
            }
            for line in &dump.lines {
                let name = format!("{}:{} {} {}", file.file, line.outcome.line, dump.dump, line.name());
                tests.push((name, message(line)));
            }
        }
    }
    writeln!(out, "TAP version 14\n1..{}", tests.len())?;
    for (number, (name, failure)) in (1..).zip(&tests) {
        let not = if failure.is_some() { "not " } else { "" };
        writeln!(out, "{not}ok {number} - {}", escaped(name))?;
        if let Some(failure) = failure {
            // A JSON string is a YAML string.
            writeln!(out, "  ---\n  message: {}\n  ...", json!(failure))?;
        }
    }
    for file in &report.files {
        for dump in &file.dumps {
            if let Some(sentence) = &dump.sentence {
                let text = format!("{} {}: {sentence}", file.file, dump.dump);
                writeln!(out, "# {}", text.replace(['\r', '\n'], " "))?;
            }
        }
    }
    for Remark { file, dump, problem } in remarks(report) {
        writeln!(out, "# {}", format!("{file} {dump}: {problem}").replace(['\r', '\n'], " "))?;
    }
    Ok(())
}

/// A description: `#` begins a directive.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#").replace(['\r', '\n'], " ")
}
