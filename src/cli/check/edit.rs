//! Reading and rewriting of files of expectations.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::plan::{FileReadError, read};
use crate::check::{self, ScopeFile, SyntaxError};
use crate::clean::clean;

/// A file that is parsed and may be written again.
pub(super) struct Edited {
    pub(super) path: PathBuf,
    /// The path for messages.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) parsed: Result<ScopeFile, Vec<SyntaxError>>,
}

/// The reason that a file was not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    /// The operating system's error.
    #[error("{name}: {error}")]
    Io {
        /// The file.
        name: String,
        /// The error.
        error: std::io::Error,
    },
    /// The file is unreadable or too large.
    #[error("{name}: {error}")]
    Read {
        /// The file.
        name: String,
        /// The reason.
        error: FileReadError,
    },
    /// Another program wrote it.
    #[error("{0}: changed by another program, and not written. Run the command again")]
    Changed(String),
}

impl Edited {
    /// Reads and parses a file.
    pub(super) fn read(path: &Path) -> Result<Self, EditError> {
        let name = clean(path.to_string_lossy()).into_owned();
        let bytes = read(path).map_err(|error| EditError::Read { name: name.clone(), error })?;
        let parsed = check::parse(&bytes);
        Ok(Self { path: path.to_owned(), name, bytes, parsed })
    }

    /// Replaces the contents, if no other program did: the new file has the permissions of the old one, and the name
    /// leads to either the old or the new contents at all times.
    pub(super) fn replace(&self, text: &str) -> Result<(), EditError> {
        // A link stays a link.
        let path = self.io(std::fs::canonicalize(&self.path))?;
        let written = self.written(&path, text)?;
        let now = read(&path).map_err(|error| EditError::Read { name: self.name.clone(), error })?;
        if now != self.bytes {
            return Err(EditError::Changed(self.name.clone()));
        }
        self.io(written.persist(&path).map_err(|error| error.error)).map(drop)
    }

    /// Writes the contents to `FILE.new` beside the file; returns its name.
    pub(super) fn write_beside(&self, text: &str) -> Result<String, EditError> {
        let mut path = self.path.clone().into_os_string();
        path.push(".new");
        let path = PathBuf::from(path);
        let written = self.written(&path, text)?;
        self.io(written.persist(&path).map_err(|error| error.error))?;
        Ok(clean(path.to_string_lossy()).into_owned())
    }

    /// A temporary file in the folder of a path, with the contents and the file's permissions.
    fn written(&self, path: &Path, text: &str) -> Result<tempfile::NamedTempFile, EditError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = self.io(tempfile::NamedTempFile::new_in(folder))?;
        self.io(file.write_all(text.as_bytes()))?;
        let permissions = self.io(std::fs::metadata(&self.path))?.permissions();
        self.io(file.as_file().set_permissions(permissions))?;
        Ok(file)
    }

    fn io<T>(&self, result: std::io::Result<T>) -> Result<T, EditError> {
        result.map_err(|error| EditError::Io { name: self.name.clone(), error })
    }
}
