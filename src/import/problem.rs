//! Problems of a dump for its writer: the file, the place in it, the error, and the expected value.

use std::fmt::{self, Display};
use std::io;

use serde::Serialize;

use crate::clean::clean;

/// One thing that is wrong with a dump that nevertheless opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file it is in, as the dump names it.
    pub file: String,
    /// Where in the file, and which key of the manifest is concerned.
    #[serde(flatten)]
    pub place: FileLocation,
    /// The error, and its effect on the entry if that is not obvious.
    pub what: String,
    /// The expected value.
    pub expected: String,
}

/// A place in a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileLocation {
    /// Path of keys in the manifest: `wave[3].registers.v7`. Indexes count from 0, in the order of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Byte offset in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(line) = self.place.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(offset) = self.place.offset {
            write!(f, "offset {offset:#x}: ")?;
        }
        if let Some(key) = &self.place.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

/// Why nothing of a dump could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system would not give a file.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder or a zip without a manifest.
    #[error("{file}: there is no manifest; expected manifest.toml or manifest.json in it")]
    NoManifest {
        /// The folder or zip.
        file: String,
    },
    /// A folder or a zip with two of them.
    #[error("{file}: both manifest.toml and manifest.json are there; expected one of them")]
    TwoManifests {
        /// The folder or zip.
        file: String,
    },
    /// A file of no known kind.
    #[error(
        "{file}: {found}; expected a lanescope dump (a folder or a .zip with manifest.toml or manifest.json, or a manifest), a ROCm core, a log of ROCm's debug agent or umr's waves"
    )]
    NotADump {
        /// The file.
        file: String,
        /// The detected format.
        found: String,
    },
    /// The file given as the host's core is none.
    #[error("--host-core {file}: {found}; expected an ELF core of the host process")]
    NotACore {
        /// The file.
        file: String,
        /// The detected format.
        found: String,
    },
    /// The processor that the user names is not known.
    #[error("--processor: {what}")]
    Processor {
        /// Why not, and which there are.
        what: String,
    },
    /// The manifest's text cannot be read.
    #[error("{file}: line {line}, column {column}: {what}; expected {expected}")]
    Syntax {
        /// The manifest.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The parser's error.
        what: String,
        /// The language it was read as.
        expected: &'static str,
    },
    /// The manifest is of no format that this version reads.
    #[error("{file}: format: {found}; expected format = 1")]
    Format {
        /// The manifest.
        file: String,
        /// The declared format.
        found: String,
    },
    /// The manifest is too large to be one.
    #[error(
        "{file}: {size} bytes; expected a manifest of at most {limit} bytes: bulk data belongs in side files"
    )]
    TooLarge {
        /// The manifest.
        file: String,
        /// Its size.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The manifest has more values than its parser may take.
    #[error(
        "{file}: its values take about {estimate} bytes of memory; expected at most {limit}: write manifest.json, or side files"
    )]
    Values {
        /// The manifest.
        file: String,
        /// Bytes of memory that they take.
        estimate: u64,
        /// The bound.
        limit: u64,
    },
    /// The zip itself is broken.
    #[error("{file}: {what}; expected a zip with a whole central directory (was it truncated?)")]
    Zip {
        /// The zip.
        file: String,
        /// The error.
        what: String,
    },
    /// The manifest is in a zip, but not in a form that can be read in place.
    #[error(
        "{file}: {entry}: {what}; expected a stored entry (method 0, not encrypted), as `zip -0` writes it"
    )]
    NotStored {
        /// The zip.
        file: String,
        /// The entry.
        entry: String,
        /// How it is stored instead.
        what: String,
    },
}

/// The most problems that are listed one by one; a dump of 10,000 waves over one truncated file has one for each wave.
pub const MAX_PROBLEMS: usize = 1000;

/// Collects problems; beyond [`MAX_PROBLEMS`] they are only counted.
#[derive(Debug)]
pub(super) struct Problems {
    file: String,
    list: Vec<Problem>,
    more: usize,
}

impl Problems {
    /// None yet; `file` is what [`Self::report`] blames: the manifest.
    pub(super) fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), list: Vec::new(), more: 0 }
    }

    /// Something is wrong in the manifest itself.
    pub(super) fn report(&mut self, key: impl Display, what: impl Display, expected: impl Display) {
        self.push(None, None, key, what, expected);
    }

    /// Something is wrong in a side file which `key` names.
    pub(super) fn report_in(
        &mut self,
        file: &str,
        offset: Option<u64>,
        key: impl Display,
        what: impl Display,
        expected: impl Display,
    ) {
        self.push(Some(file), offset, key, what, expected);
    }

    /// Something is wrong in a line of a text, which counts from 1.
    pub(super) fn line(&mut self, line: impl TryInto<usize>, what: impl Display, expected: impl Display) {
        let place = FileLocation { line: line.try_into().ok(), ..FileLocation::default() };
        self.list(None, place, what, expected);
    }

    /// Something is wrong with the capture as a whole.
    pub(super) fn whole(&mut self, what: impl Display, expected: impl Display) {
        self.list(None, FileLocation::default(), what, expected);
    }

    /// The first of them.
    pub(super) fn first(&self) -> Option<&Problem> {
        self.list.first()
    }

    fn push(
        &mut self,
        file: Option<&str>,
        offset: Option<u64>,
        key: impl Display,
        what: impl Display,
        expected: impl Display,
    ) {
        if self.list.len() >= MAX_PROBLEMS {
            // Not even the words are made: there may be millions.
            self.more += 1;
            return;
        }
        self.list(file, FileLocation { key: Some(key.to_string()), offset, line: None }, what, expected);
    }

    fn list(&mut self, file: Option<&str>, place: FileLocation, what: impl Display, expected: impl Display) {
        if self.list.len() >= MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let clean = |text: String| clean(text).into_owned();
        let file = clean(file.unwrap_or(&self.file).to_owned());
        let place = FileLocation { key: place.key.map(clean), ..place };
        self.list.push(Problem {
            file,
            place,
            what: clean(what.to_string()),
            expected: clean(expected.to_string()),
        });
    }

    /// Something is wrong at an offset of a file, or in what was found there.
    pub(super) fn report_at(
        &mut self,
        file: &str,
        offset: u64,
        key: impl Display,
        what: impl Display,
        expected: impl Display,
    ) {
        self.push(Some(file), Some(offset), key, what, expected);
    }

    /// All of them, with a last one that counts those which are not listed.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            self.list.push(Problem {
                file: self.file,
                place: FileLocation::default(),
                what: format!("{} more problems, not listed", self.more),
                expected: String::new(),
            });
        }
        self.list
    }
}
