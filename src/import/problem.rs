//! Collection of problems: each with its place, the error, and the expected value or an instruction.

use std::fmt::Display;
use std::io;

use crate::capture::{FileLocation, Problem, Severity, captures};
use crate::clean::clean;

/// The formats.
const EXPECTED: &str = "expected a lanescope dump: a folder or a .zip with manifest.toml or manifest.json, or a manifest; a ROCm core; \
                        a log of ROCm's debug agent; umr's waves, also as RADV's hang folder or a zip of it";

/// The hint of a problem: an expected value, or [`Do`].
pub(super) trait Hint {
    /// The text; `None`: there is no hint.
    fn hint(self) -> Option<String>;
}

impl<T: Display> Hint for T {
    fn hint(self) -> Option<String> {
        Some(format!("expected {}", clean(self.to_string())))
    }
}

/// An instruction for the user in place of an expected value.
pub(super) struct Do<T>(pub(super) T);

impl<T: Display> Hint for Do<T> {
    fn hint(self) -> Option<String> {
        Some(clean(self.0.to_string()).into_owned())
    }
}

/// The reason that a dump cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system cannot open or read a file.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder or a zip without a manifest.
    #[error("{file}: there is no manifest (expected manifest.toml or manifest.json in it{others})")]
    NoManifest {
        /// The folder or zip.
        file: String,
        /// Captures in the folder: `; open one of its files: a.core`.
        others: String,
    },
    /// A folder or a zip with two manifests.
    #[error("{file}: both manifest.toml and manifest.json are there (expected one of them)")]
    TwoManifests {
        /// The folder or zip.
        file: String,
    },
    /// A file of an unknown format.
    #[error("{file}: {found} ({EXPECTED})")]
    NotADump {
        /// The file.
        file: String,
        /// The detected format.
        found: String,
    },
    /// A text of another program.
    #[error("{file}: {found} ({EXPECTED})\n{}", captures())]
    NoWaves {
        /// The file.
        file: String,
        /// Its contents.
        found: String,
    },
    /// The file given as the host core is not a core.
    #[error("--host-core {file}: {found} (expected an ELF core of the host process)")]
    NotACore {
        /// The file.
        file: String,
        /// The detected format.
        found: String,
    },
    /// The user's processor is unknown.
    #[error("--processor: {what}")]
    Processor {
        /// The reason, and the known processors.
        what: String,
    },
    /// The manifest's text has a syntax error.
    #[error("{file}: line {line}, column {column}: {what} (expected {expected})")]
    Syntax {
        /// The manifest.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The parser's error.
        what: String,
        /// The language of the parser.
        expected: &'static str,
    },
    /// The manifest has an unsupported format.
    #[error("{file}: format: {found} (expected format = 1)")]
    Format {
        /// The manifest.
        file: String,
        /// The declared format.
        found: String,
    },
    /// The manifest is too large.
    #[error(
        "{file}: {size} bytes (expected a manifest of at most {limit} bytes: bulk data belongs in side files)"
    )]
    TooLarge {
        /// The manifest.
        file: String,
        /// Its size in bytes.
        size: u64,
        /// The maximum size in bytes.
        limit: u64,
    },
    /// The manifest has more values than its parser may take.
    #[error(
        "{file}: its values take about {estimate} bytes of memory (expected at most {limit}: write manifest.json, or side files)"
    )]
    Values {
        /// The manifest.
        file: String,
        /// Estimated bytes of memory.
        estimate: u64,
        /// The maximum.
        limit: u64,
    },
    /// The zip is damaged.
    #[error("{file}: {what} (expected a whole zip, with its directory at the end)")]
    Zip {
        /// The zip.
        file: String,
        /// The error.
        what: String,
    },
    /// The manifest in a zip is not stored in a form that can be read in place.
    #[error(
        "{file}: {entry}: {what} (unpack it and open the folder, or pack it without compression, as `zip -0` does)"
    )]
    NotStored {
        /// The zip.
        file: String,
        /// The entry.
        entry: String,
        /// The actual form.
        what: String,
    },
}

/// Maximum number of listed problems; a dump of 10,000 waves over one truncated file has one for each wave.
pub const MAX_PROBLEMS: usize = 1000;

/// Collects problems; beyond [`MAX_PROBLEMS`] they are only counted.
#[derive(Debug)]
pub(super) struct Problems {
    file: String,
    list: Vec<Problem>,
    more: usize,
    /// Whether an unlisted problem is a reason for absent waves.
    more_hide_waves: bool,
}

impl Problems {
    /// Creates an empty collection; `file` is the file of [`Self::report`]: the manifest.
    pub(super) fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), list: Vec::new(), more: 0, more_hide_waves: false }
    }

    /// The file of the problems.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Reports an error in the manifest.
    pub(super) fn report(&mut self, key: impl Display, what: impl Display, hint: impl Hint) {
        self.push(None, None, key, what, hint);
    }

    /// Reports an error in a side file that `key` names.
    pub(super) fn report_in(
        &mut self,
        file: &str,
        offset: Option<u64>,
        key: impl Display,
        what: impl Display,
        hint: impl Hint,
    ) {
        self.push(Some(file), offset, key, what, hint);
    }

    /// Reports an error at an offset of a file, or in its contents there.
    pub(super) fn report_at(
        &mut self,
        file: &str,
        offset: u64,
        key: impl Display,
        what: impl Display,
        hint: impl Hint,
    ) {
        self.push(Some(file), Some(offset), key, what, hint);
    }

    /// Reports an error in a line of a text, from 1.
    pub(super) fn line(&mut self, line: impl TryInto<usize>, what: impl Display, hint: impl Hint) {
        let place = FileLocation { line: line.try_into().ok(), ..FileLocation::default() };
        self.list(place, what, hint);
    }

    /// Reports an error of the whole capture.
    pub(super) fn whole(&mut self, what: impl Display, hint: impl Hint) {
        self.list(FileLocation::default(), what, hint);
    }

    /// Adds problems with places of their own.
    pub(super) fn extend(&mut self, problems: impl IntoIterator<Item = Problem>) {
        for Problem { place, what, hint, hides_waves, .. } in problems {
            if self.list.len() >= MAX_PROBLEMS {
                self.more += 1;
                self.more_hide_waves |= hides_waves;
            } else {
                self.list.push(Problem { severity: Severity::Warning, place, what, hint, hides_waves });
            }
        }
    }

    /// Makes the last problem a reason for absent waves: facts about all waves of the process are unknown.
    pub(super) fn hides_waves(&mut self) {
        match self.list.last_mut().filter(|_| self.more == 0) {
            Some(last) => last.hides_waves = true,
            None => self.more_hide_waves = true,
        }
    }

    /// Makes the first problem after the first `count` a reason for absent waves.
    pub(super) fn hides_waves_from(&mut self, count: usize) {
        match self.list.get_mut(count) {
            Some(first) => first.hides_waves = true,
            None => self.more_hide_waves = true,
        }
    }

    /// Makes the last problem the reason that the capture has no waves.
    pub(super) fn explains_no_waves(&mut self) {
        if let Some(last) = self.list.last_mut().filter(|_| self.more == 0) {
            last.severity = Severity::Error;
        }
    }

    /// Number of listed problems so far.
    pub(super) fn count(&self) -> usize {
        self.list.len()
    }

    /// Makes the problems after the first `count` the reason that the capture has no waves.
    pub(super) fn explain_no_waves_from(&mut self, count: usize) {
        self.list.iter_mut().skip(count).for_each(|problem| problem.severity = Severity::Error);
    }

    /// The first problem.
    pub(super) fn first(&self) -> Option<&Problem> {
        self.list.first()
    }

    fn push(
        &mut self,
        file: Option<&str>,
        offset: Option<u64>,
        key: impl Display,
        what: impl Display,
        hint: impl Hint,
    ) {
        if self.list.len() >= MAX_PROBLEMS {
            // Creates no text: there may be millions.
            self.more += 1;
            return;
        }
        let (file, key) = (file.unwrap_or_default().to_owned(), Some(key.to_string()));
        self.list(FileLocation { file, key, offset, line: None }, what, hint);
    }

    /// Lists a problem; a `place` without a file is in the manifest.
    fn list(&mut self, place: FileLocation, what: impl Display, hint: impl Hint) {
        if self.list.len() >= MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let file = if place.file.is_empty() { self.file.clone() } else { place.file };
        let place = FileLocation { file, ..place };
        self.list.push(problem(place, what, hint));
    }

    /// All problems, with a last one that counts the unlisted ones.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let place = FileLocation { file: self.file, ..FileLocation::default() };
            let what = format!("{} more problems, not listed", self.more);
            let hides_waves = self.more_hide_waves;
            self.list.push(Problem { severity: Severity::Warning, place, what, hint: None, hides_waves });
        }
        self.list
    }
}

/// A warning with sanitized text.
pub(super) fn problem(place: FileLocation, what: impl Display, hint: impl Hint) -> Problem {
    let clean = |text: String| clean(text).into_owned();
    let place = FileLocation { file: clean(place.file), key: place.key.map(clean), ..place };
    let what = clean(what.to_string());
    Problem { severity: Severity::Warning, place, what, hint: hint.hint(), hides_waves: false }
}
