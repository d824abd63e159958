//! GitLab's report of code quality: an array of issues in the form of Code Climate.

use serde::Serialize;

use super::super::results::Report;
use super::failed;

/// An issue.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    description: String,
    check_name: &'static str,
    /// Equal for the same expectation of the same dump, on any line of the file.
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: usize,
}

/// The issues: one for each line that does not hold.
pub(super) fn entries(report: &Report) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for failed in failed(report) {
        let dump = failed.dump.unwrap_or_default();
        let name = format!("{}\0{dump}\0{}\0", failed.file, failed.text);
        // Equal expectations of a file differ by their number.
        let fingerprint = |number: usize| format!("{:x}", md5::compute(format!("{name}{number}")));
        let is_used = |number: &usize| {
            let fingerprint = fingerprint(*number);
            entries.iter().any(|entry| entry.fingerprint == fingerprint)
        };
        let number = (0..=entries.len()).find(|number| !is_used(number)).unwrap_or_default();
        let what = if dump.is_empty() { String::new() } else { format!("{dump}: ") };
        entries.push(Entry {
            description: format!("{what}{}", failed.message),
            check_name: "lanescope",
            fingerprint: fingerprint(number),
            severity: if failed.differs { "major" } else { "critical" },
            location: Location { path: failed.file.to_owned(), lines: Lines { begin: failed.line } },
        });
    }
    entries
}
