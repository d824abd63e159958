//! DWARF dialects for all commands: `--dialect` by name, and the numbers of `--draft`.

use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;

use super::choice::choice;
use super::value::ValueError;
use crate::dwarf::Dialect;
use crate::dwarf::draft::{self, Numbers, NumbersError};

/// An error in the numbers of a file: exit status 2.
#[derive(Debug, thiserror::Error)]
pub(super) enum DraftError {
    /// The file is unreadable.
    #[error("--draft {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: std::io::Error,
    },
    /// The contents are wrong.
    #[error("{}: {error}", path.display())]
    Numbers {
        /// The file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        error: NumbersError,
    },
}

/// The dialect of that name.
pub(super) fn named(name: &str) -> Result<Dialect, ValueError> {
    let names = || Dialect::ALL.map(Dialect::name).join(", ");
    Dialect::named(name).ok_or_else(|| ValueError::Dialect { text: name.to_owned(), names: names() })
}

/// The parser of `--dialect`.
pub(super) fn parser() -> impl TypedValueParser<Value = Dialect> {
    choice(Dialect::ALL.map(|dialect| (dialect.name(), dialect)))
}

/// Installs the numbers of a file for the draft dialect, before anything is decoded.
pub(super) fn install(path: &Path) -> Result<(), DraftError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| DraftError::Read { path: path.into(), error })?;
    let wrong = |error| DraftError::Numbers { path: path.into(), error };
    draft::install(Numbers::parse(&text).map_err(wrong)?).map_err(wrong)
}
