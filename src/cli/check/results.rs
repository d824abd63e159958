//! Results of all files, in the order of files, dumps and lines.

use serde::{Deserialize, Serialize};

use crate::check::{Outcome, SyntaxError, Verdict};
use crate::clean::clean_text;
use crate::notation::{counted, plural};
use crate::report::schema::Schema;

/// The results of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Report {
    /// The files.
    pub(super) files: Vec<CheckedFile>,
}

impl Schema for Report {
    const NAME: &'static str = "check";
    const VERSION: u32 = 2;
}

/// The results of a file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckedFile {
    /// The path.
    pub(super) file: String,
    /// Errors of the file: nothing was checked.
    pub(super) errors: Vec<FileError>,
    /// The dumps.
    pub(super) dumps: Vec<CheckedDump>,
}

/// The results of a file over a dump.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckedDump {
    /// The dump, as the file names it.
    pub(super) dump: String,
    /// The line that names the dump.
    pub(super) named_by: NamingLine,
    /// The first sentence of the analysis, if an expectation does not hold.
    pub(super) sentence: Option<String>,
    /// The first problem of the dump, if an expectation cannot be checked; else that of an option of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// The reason that nothing was checked, or that the report is missing.
    pub(super) error: Option<String>,
    /// The report, if an expectation does not hold.
    pub(super) report: Option<String>,
    /// The results, in the order of the lines.
    pub(super) lines: Vec<CheckedLine>,
}

impl CheckedDump {
    /// Sentence and problem, one line each, for people; they follow a line that does not hold. `None`: there is neither.
    pub(super) fn about(&self) -> Option<String> {
        let lines: Vec<&str> = self.sentence.iter().chain(&self.problem).map(String::as_str).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A `dump` line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct NamingLine {
    /// The line, from 1.
    pub(super) line: usize,
    /// The columns of the name or pattern in `text`: the first byte, and the one past the last.
    pub(super) columns: (usize, usize),
    /// The text of the line.
    pub(super) text: String,
}

/// The result of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CheckedLine {
    /// The text of the line.
    pub(super) text: String,
    /// The result.
    #[serde(flatten)]
    pub(super) outcome: Outcome,
}

impl CheckedLine {
    /// The text of the line with single spaces: the name of a test.
    pub(super) fn name(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// An error of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FileError {
    /// The line, from 1; `None`: the file as a whole.
    pub(super) line: Option<usize>,
    /// The columns in `text`: the first byte, and the one past the last.
    pub(super) columns: (usize, usize),
    /// The text of the line.
    pub(super) text: String,
    /// The problem.
    pub(super) problem: String,
    /// An instruction.
    pub(super) hint: Option<String>,
}

impl FileError {
    /// An error of the file as a whole.
    pub(super) fn of_file(problem: String, hint: Option<String>) -> Self {
        Self { line: None, columns: (0, 0), text: String::new(), problem, hint }
    }

    /// An error of the syntax; `lines`: all lines of the file.
    pub(super) fn of_syntax(error: SyntaxError, lines: &[&str]) -> Self {
        let text = error.line.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
        let (text, columns) = cleaned(text, error.columns);
        Self { line: Some(error.line), columns, text, problem: error.problem, hint: error.hint }
    }
}

/// A line of a file without terminal controls, and its columns in that text.
pub(super) fn cleaned(text: &str, (start, end): (usize, usize)) -> (String, (usize, usize)) {
    let moved =
        |column: usize| clean_text(text.get(..text.floor_char_boundary(column)).unwrap_or_default()).len();
    (clean_text(text).into_owned(), (moved(start), moved(end)))
}

/// Numbers of expectations by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) dumps: usize,
    pub(super) lines: usize,
    pub(super) holds: usize,
    pub(super) differs: usize,
    pub(super) not_checked: usize,
    /// Errors of files, and dumps without results.
    pub(super) errors: usize,
}

impl Totals {
    /// `2 dumps, 12 lines: 11 hold, 1 differs`
    pub(super) fn in_words(&self) -> String {
        let mut parts = vec![format!("{} {}", self.holds, plural(self.holds, "holds", "hold"))];
        if self.differs > 0 {
            parts.push(format!("{} {}", self.differs, plural(self.differs, "differs", "differ")));
        }
        if self.not_checked > 0 {
            parts.push(format!("{} cannot be checked", self.not_checked));
        }
        if self.errors > 0 {
            parts.push(counted(self.errors, "error"));
        }
        format!("{}, {}: {}", counted(self.dumps, "dump"), counted(self.lines, "line"), parts.join(", "))
    }
}

impl Report {
    /// The numbers of all files.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for file in &self.files {
            totals.errors += file.errors.len();
            for dump in &file.dumps {
                totals.dumps += 1;
                totals.errors += usize::from(dump.error.is_some());
                totals.lines += dump.lines.len();
                for line in &dump.lines {
                    *match line.outcome.verdict {
                        Verdict::Holds => &mut totals.holds,
                        Verdict::Differs(_) => &mut totals.differs,
                        Verdict::NotChecked(_) => &mut totals.not_checked,
                    } += 1;
                }
            }
        }
        totals
    }

    /// The exit status: 0 all hold, 1 something differs, 2 something cannot be checked.
    pub(super) fn status(&self) -> u8 {
        match self.totals() {
            Totals { errors, not_checked, .. } if errors + not_checked > 0 => 2,
            Totals { differs, .. } if differs > 0 => 1,
            _ => 0,
        }
    }
}
