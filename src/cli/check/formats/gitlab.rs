//! GitLab's report of code quality: an array of issues in the form of Code Climate.

use std::collections::HashMap;

use serde::Serialize;

use super::super::results::Report;
use super::{failed, in_repository, opinions};

/// The variable with the folder of the repository.
const PROJECT: &str = "CI_PROJECT_DIR";

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

/// The issues: one for each line that does not hold, and one about each debugger's opinion.
pub(super) fn entries(report: &Report) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Equal expectations of a file differ by their number.
    let mut used: HashMap<String, usize> = HashMap::new();
    for failed in failed(report) {
        let dump = failed.dump.unwrap_or_default();
        let name = format!("{}\0{dump}\0{}\0", failed.file, failed.text);
        let number = used.entry(name.clone()).or_default();
        let what = if dump.is_empty() { String::new() } else { format!("{dump}: ") };
        entries.push(Entry {
            description: format!("{what}{}", failed.message),
            check_name: "lanescope",
            fingerprint: format!("{:x}", md5::compute(format!("{name}{number}"))),
            severity: if failed.differs { "major" } else { "critical" },
            location: Location {
                path: in_repository(failed.file, PROJECT),
                lines: Lines { begin: failed.line },
            },
        });
        *number += 1;
    }
    entries.extend(opinions(report).map(|(file, dump, opinion)| Entry {
        description: format!("{dump}: {}", opinion.in_lines().join("; ")),
        check_name: "lanescope-debugger",
        fingerprint: format!("{:x}", md5::compute(format!("{file}\0{dump}\0{}", opinion.name))),
        severity: "info",
        location: Location { path: in_repository(file, PROJECT), lines: Lines { begin: 1 } },
    }));
    entries
}
