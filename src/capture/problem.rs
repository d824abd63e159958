//! Problems of a capture: severity, place, error and hint.

use std::fmt::{self, Display};

use serde::Serialize;

/// One thing that is wrong with a capture that nevertheless opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its effect on the capture.
    pub severity: Severity,
    /// Its place.
    #[serde(rename = "where")]
    pub place: FileLocation,
    /// The error, and its effect on the entry if that is not obvious.
    pub what: String,
    /// The expected value, or an instruction; `None`: there is nothing to add.
    pub hint: Option<String>,
}

/// The effect of a [`Problem`] on the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is the reason that the capture has no waves.
    Error,
    /// A part of the capture is missing, doubtful or inferred.
    Warning,
}

impl Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// A place in the files of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileLocation {
    /// The file, as the capture names it.
    pub file: String,
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

impl FileLocation {
    /// The place within the file, as it stands before the error: `line 3: `, `offset 0x40: AMDGPU note: `.
    #[must_use]
    pub fn within(&self) -> String {
        let line = self.line.map(|line| format!("line {line}: "));
        let offset = self.offset.map(|offset| format!("offset {offset:#x}: "));
        let key = self.key.as_ref().map(|key| format!("{key}: "));
        [line, offset, key].into_iter().flatten().collect()
    }
}

/// `manifest.toml: wave[0].id: 0x100000000 (expected a number below 2^32)`.
impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}{}", self.place.file, self.place.within(), self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}
