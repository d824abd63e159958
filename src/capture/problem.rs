//! Problems of a capture: severity, location, error and hint.

use std::fmt::{self, Display};

use serde::Serialize;

/// A fault in a capture that opens nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// Its effect on the capture.
    pub severity: Severity,
    /// Its location.
    #[serde(rename = "where")]
    pub place: FileLocation,
    /// The error, and its effect on the entry if that is not obvious.
    pub what: String,
    /// The expected value, or an instruction; `None`: no hint.
    pub hint: Option<String>,
    /// Whether waves of the process may be absent from the capture because of it.
    #[serde(skip)]
    pub hides_waves: bool,
}

impl Problem {
    /// Whether it is about an option of the user, by its key: `--processor`.
    #[must_use]
    pub fn is_of_option(&self) -> bool {
        self.place.key.as_ref().is_some_and(|key| key.starts_with("--"))
    }
}

/// The effect of a [`Problem`] on the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The cause of a capture without waves.
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

/// A location in the files of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileLocation {
    /// The file's name in the capture.
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
    /// The location within the file, the prefix of the error: `line 3: `, `offset 0x40: AMDGPU note: `.
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
