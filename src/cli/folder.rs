//! Files below a folder, for commands that take folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::clean::clean;

/// Maximum depth of folders below one that the user names.
const MAX_DEPTH: usize = 32;
/// Maximum number of files and folders below one that the user names.
const MAX_ENTRIES: usize = 1_000_000;

/// The reason that a folder has no list.
#[derive(Debug, thiserror::Error)]
pub(super) enum FolderError {
    /// The operating system's error about a folder.
    #[error("{}: {error}", clean(.folder.to_string_lossy()))]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// A folder below too many others.
    #[error("{}: deeper than {MAX_DEPTH} folders; name this folder", clean(.0.to_string_lossy()))]
    TooDeep(PathBuf),
    /// Too many entries.
    #[error("{}: more than {MAX_ENTRIES} files and folders; name the folders in it", clean(.0.to_string_lossy()))]
    TooMany(PathBuf),
}

/// Manifests of a dump in a folder.
pub(super) const MANIFESTS: [&str; 2] = ["manifest.toml", "manifest.json"];

/// Whether a folder is a dump.
pub(super) fn is_dump_folder(folder: &Path) -> bool {
    MANIFESTS.iter().any(|name| folder.join(name).is_file())
}

/// Paths without those of a file that an earlier one names: the same name in the same folder.
pub(super) fn distinct(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    // Links are files of their own: their contents are relative to the folder of the link.
    let named = |path: &Path| {
        let name = path.file_name()?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(std::fs::canonicalize(folder).ok()?.join(name))
    };
    paths.retain(|path| {
        let named = named(path).or_else(|| std::fs::canonicalize(path).ok());
        named.is_none_or(|named| known.insert(named))
    });
    paths
}

/// The paths below a folder that `takes` selects, in the order of their names; its second argument: the path is a
/// folder. A selected folder is not searched. Folders with a name that begins with a dot, and links to folders, are not
/// searched: links can form a circle.
///
/// # Errors
/// [`FolderError`]. No folder is left out silently.
pub(super) fn below(folder: &Path, takes: &dyn Fn(&Path, bool) -> bool) -> Result<Vec<PathBuf>, FolderError> {
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    search(folder, 0, &mut left, takes, &mut found).map_err(|error| match error {
        FolderError::TooMany(_) => FolderError::TooMany(folder.to_owned()),
        other => other,
    })?;
    Ok(found)
}

fn search(
    folder: &Path,
    depth: usize,
    left: &mut usize,
    takes: &dyn Fn(&Path, bool) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), FolderError> {
    if depth > MAX_DEPTH {
        return Err(FolderError::TooDeep(folder.to_owned()));
    }
    let unreadable = |error| FolderError::Unreadable { folder: folder.to_owned(), error };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        *left = left.checked_sub(1).ok_or_else(|| FolderError::TooMany(folder.to_owned()))?;
        let entry = entry.map_err(unreadable)?;
        entries.push((entry.file_name(), entry.file_type().map_err(unreadable)?.is_dir()));
    }
    entries.sort();
    for (name, is_folder) in entries {
        let path = folder.join(&name);
        if takes(&path, is_folder) {
            found.push(path);
        } else if is_folder && !name.as_encoded_bytes().starts_with(b".") {
            search(&path, depth + 1, left, takes, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
