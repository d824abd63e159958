//! JUnit's XML in the form that Jenkins reads: a suite for each dump of a file, a test case for each line.

use std::collections::HashMap;
use std::io::Write;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::super::results::{CheckedDump, CheckedFile, CheckedLine, NamingLine, Report};
use super::{Remark, message, remark};
use crate::check::Verdict;

/// A test case: its name, and the failure.
struct Case {
    name: String,
    failure: Option<Failure>,
}

/// `failure`: a difference; `error`: the line cannot be checked.
struct Failure {
    element: &'static str,
    message: String,
    text: String,
}

/// Prints the results.
pub(super) fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let mut writer = Writer::new_with_indent(&mut *out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").write_inner_content(|writer| {
        for file in &report.files {
            let errors: Vec<Case> = file
                .errors
                .iter()
                .map(|error| {
                    let line = error.line.map_or_else(|| "file".to_owned(), |line| format!("line {line}"));
                    failed(line, "error", error.problem.clone(), error.text.clone())
                })
                .collect();
            if !errors.is_empty() {
                suite(writer, &file.file, &file.file, &errors, None)?;
            }
            for dump in &file.dumps {
                let name = format!("{} {}", file.file, dump.dump);
                suite(writer, &name, &file.file, &cases(file, dump), remark(file, dump))?;
            }
        }
        Ok(())
    })?;
    writeln!(out)
}

fn failed(name: String, element: &'static str, message: String, text: String) -> Case {
    Case { name, failure: Some(Failure { element, message, text }) }
}

fn cases(file: &CheckedFile, dump: &CheckedDump) -> Vec<Case> {
    let error = dump.error.iter().map(|error| {
        let NamingLine { line, text, .. } = &dump.named_by;
        let name = format!("{line}: {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
        failed(name, "error", error.clone(), format!("{}:{line}\n{text}\n", file.file))
    });
    error.chain(dump.lines.iter().map(|line| case(file, dump, line))).collect()
}

fn case(file: &CheckedFile, dump: &CheckedDump, line: &CheckedLine) -> Case {
    let name = format!("{}: {}", line.outcome.line, line.name());
    let Some(message) = message(line) else { return Case { name, failure: None } };
    let element = if matches!(line.outcome.verdict, Verdict::Differs(_)) { "failure" } else { "error" };
    let about = dump.about().unwrap_or_default();
    let text = format!("{}:{}\n{}\n{about}\n", file.file, line.outcome.line, line.text);
    failed(name, element, message, text)
}

/// A suite; the remark about its dump is its output. Cases with one name have numbers.
fn suite<W: Write>(
    writer: &mut Writer<W>,
    name: &str,
    class: &str,
    cases: &[Case],
    remark: Option<Remark<'_>>,
) -> std::io::Result<()> {
    let count = |element: &str| {
        let of = |case: &&Case| case.failure.as_ref().is_some_and(|failure| failure.element == element);
        cases.iter().filter(of).count().to_string()
    };
    let numbers =
        [("tests", cases.len().to_string()), ("failures", count("failure")), ("errors", count("error"))];
    writer
        .create_element("testsuite")
        .with_attribute(("name", &*xml(name)))
        .with_attributes(numbers.iter().map(|(name, number)| (*name, number.as_str())))
        .write_inner_content(|writer| {
            let mut used: HashMap<&str, usize> = HashMap::new();
            for case in cases {
                let number = used.entry(&case.name).or_default();
                *number += 1;
                let number = if *number == 1 { String::new() } else { format!(" ({number})") };
                let element = writer
                    .create_element("testcase")
                    .with_attribute(("classname", &*xml(class)))
                    .with_attribute(("name", &*xml(&format!("{}{number}", case.name))));
                match &case.failure {
                    None => element.write_empty()?,
                    Some(failure) => element.write_inner_content(|writer| {
                        writer
                            .create_element(failure.element)
                            .with_attribute(("message", &*xml(&failure.message)))
                            .with_attribute(("type", failure.element))
                            .write_text_content(BytesText::new(&xml(&failure.text)))?;
                        Ok(())
                    })?,
                };
            }
            if let Some(Remark { problem, .. }) = remark {
                writer.create_element("system-out").write_text_content(BytesText::new(&xml(problem)))?;
            }
            Ok(())
        })?;
    Ok(())
}

/// Text with characters of XML 1.0 alone: others cannot be in a document, also not as references.
fn xml(text: &str) -> String {
    let is_character = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if is_character(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}
