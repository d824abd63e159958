//! GitLab's report of code quality: an array of issues in the form of Code Climate.

use std::collections::HashMap;

use serde::Serialize;

use super::super::results::Report;
use super::{Remark, failed, in_repository, remarks};

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

/// The issues: one for each line that does not hold, and one about each remark on a dump.
pub(super) fn entries(report: &Report) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Equal expectations of a file differ by their number.
    let mut used: HashMap<String, usize> = HashMap::new();
    for failed in failed(report) {
        let dump = failed.dump.unwrap_or_default();
        let path = in_repository(failed.file, PROJECT);
        // A spelling of the path, or the folder of a runner, does not change it.
        let name = format!("{path}\0{dump}\0{}\0", failed.text);
        let number = used.entry(name.clone()).or_default();
        let what = if dump.is_empty() { String::new() } else { format!("{dump}: ") };
        entries.push(Entry {
            description: format!("{what}{}", failed.whole()),
            check_name: "lanescope",
            fingerprint: format!("{:x}", md5::compute(format!("{name}{number}"))),
            severity: if failed.differs { "major" } else { "critical" },
            location: Location { path, lines: Lines { begin: failed.line } },
        });
        *number += 1;
    }
    entries.extend(remarks(report).map(|Remark { file, dump, problem }| {
        let path = in_repository(file, PROJECT);
        Entry {
            description: format!("{dump}: {problem}"),
            check_name: "lanescope-option",
            fingerprint: format!("{:x}", md5::compute(format!("{path}\0{dump}\0option"))),
            severity: "info",
            location: Location { path, lines: Lines { begin: 1 } },
        }
    }));
    entries
}
