//! Store of a dump's side files: a folder, a zip, or none. Files are found by name, sized, and read in place later.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::archive::Archive;
use super::folder::Folder;
use crate::capture::{Backing, MemoryBacking};
use crate::import::{LocalFiles, objects};

/// The location of side files.
#[derive(Debug)]
pub(super) enum Store {
    /// Beside the manifest.
    Folder(Folder),
    /// In the zip; a relative `path` counts from the zip's folder, if it has one.
    Zip(Archive, Option<PathBuf>),
    /// The manifest has no folder.
    Nothing,
}

/// The reason that a side file is unusable.
#[derive(Debug)]
pub(super) struct SideFileError {
    /// The error.
    pub(super) what: String,
    /// The expected form.
    pub(super) expected: &'static str,
}

impl SideFileError {
    /// Creates an error.
    pub(super) fn new(what: impl fmt::Display, expected: &'static str) -> Self {
        Self { what: what.to_string(), expected }
    }
}

impl Store {
    /// The side file of that name.
    pub(super) fn find(&mut self, name: &str) -> Result<Arc<dyn Backing>, SideFileError> {
        let parts = relative(name)?;
        match self {
            Self::Folder(folder) => folder.find(name),
            Self::Zip(archive, _) => archive.find(&parts.join("/")),
            Self::Nothing => {
                Err(SideFileError::new("there is no folder to look in", "a manifest that is a file"))
            }
        }
    }

    /// The code object at a `path`: a file of the dump's folder, else one of this machine if the user allows that.
    ///
    /// `build_id`: the dump's own. The error for a path outside of the dump is the same with or without a file.
    pub(super) fn find_outside(
        &mut self,
        path: &str,
        build_id: Option<&[u8]>,
        local_files: LocalFiles,
    ) -> Result<Arc<dyn Backing>, SideFileError> {
        let folder = match self {
            Self::Folder(folder) if relative(path).is_ok() => return folder.find(path),
            Self::Folder(folder) => Some(folder.path()),
            Self::Zip(_, beside) => beside.as_deref(),
            Self::Nothing => None,
        };
        if local_files != LocalFiles::Yes {
            return Err(SideFileError::new(
                "it lies outside of the dump, and is not opened",
                "`file`, which is part of the dump, or --local-files yes",
            ));
        }
        let found = folder.and_then(|folder| objects::local(&folder.join(path), build_id));
        let bytes = found.ok_or_else(|| {
            SideFileError::new(objects::NOT_USED, "the AMDGPU code object that was loaded there")
        })?;
        Ok(Arc::new(MemoryBacking::new(path, bytes)))
    }
}

/// The components of a relative name that stays below its folder.
fn relative(name: &str) -> Result<Vec<&str>, SideFileError> {
    const EXPECTED: &str = "a relative path with '/' between its parts and without '..'";
    if name.starts_with('/') {
        return Err(SideFileError::new("an absolute path", EXPECTED));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| *part != ".").collect();
    if parts.is_empty() || parts.iter().any(|part| part.is_empty()) {
        return Err(SideFileError::new("a path with an empty part", EXPECTED));
    }
    if parts.contains(&"..") {
        return Err(SideFileError::new("a path that leaves the dump", EXPECTED));
    }
    if name.contains('\0') {
        return Err(SideFileError::new("a path with a NUL", EXPECTED));
    }
    Ok(parts)
}
