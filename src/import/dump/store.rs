//! Where a dump's side files lie: a folder, a zip, or nowhere; each found by name, sized, and read in place later.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::archive::Archive;
use super::folder::Folder;
use crate::capture::Backing;

/// Where side files are looked for.
#[derive(Debug)]
pub(super) enum Store {
    /// Beside the manifest.
    Folder(Folder),
    /// In the zip; files that a `path` names are beside the zip, where it lies in a folder.
    Zip(Archive, Option<Folder>),
    /// The manifest came alone.
    Nothing,
}

/// Why a side file cannot be used.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What is wrong with it.
    pub(super) what: String,
    /// What was expected.
    pub(super) expected: &'static str,
}

impl Refusal {
    /// `what` is wrong; `expected` was expected.
    pub(super) fn new(what: impl fmt::Display, expected: &'static str) -> Self {
        Self { what: what.to_string(), expected }
    }
}

impl Store {
    /// The side file of that name.
    pub(super) fn find(&mut self, name: &str) -> Result<Arc<dyn Backing>, Refusal> {
        let parts = relative(name)?;
        match self {
            Self::Folder(folder) => folder.find(name, &parts),
            Self::Zip(archive, _) => archive.find(&parts.join("/")),
            Self::Nothing => Err(Refusal::new("there is no folder to look in", "a manifest that is a file")),
        }
    }

    /// The file at a code object's `path`, which may leave the dump where the user opened a folder.
    pub(super) fn find_outside(&mut self, path: &str) -> Result<Arc<dyn Backing>, Refusal> {
        match self {
            Self::Folder(folder) => folder.find_outside(Path::new(path), path),
            Self::Zip(_, Some(beside)) => {
                let parts = relative(path)?;
                beside.find(path, &parts)
            }
            Self::Zip(_, None) | Self::Nothing => {
                Err(Refusal::new("there is no folder to look in", "a dump that is a folder or lies in one"))
            }
        }
    }
}

/// The components of a relative name that stays where it is.
fn relative(name: &str) -> Result<Vec<&str>, Refusal> {
    const EXPECTED: &str = "a relative path with '/' between its parts and without '..'";
    if name.starts_with('/') {
        return Err(Refusal::new("an absolute path", EXPECTED));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| *part != ".").collect();
    if parts.is_empty() || parts.iter().any(|part| part.is_empty()) {
        return Err(Refusal::new("a path with an empty part", EXPECTED));
    }
    if parts.contains(&"..") {
        return Err(Refusal::new("a path that leaves the dump", EXPECTED));
    }
    if name.contains('\0') {
        return Err(Refusal::new("a path with a NUL", EXPECTED));
    }
    Ok(parts)
}
