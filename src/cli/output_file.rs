//! Files that commands write: complete or unchanged.
//!
//! A regular file is written beside its path and renamed, so that a full disk leaves no part of it. Pipes, devices and
//! the process's own streams (`/dev/stdout`) are written in place.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Failure;
use super::folder::{self, MANIFESTS, is_dump_folder};
use crate::clean::clean;
use crate::mapping;

/// Names of the standard output.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Maximum bytes of a manifest whose names of files are looked for; of a larger one each file counts.
const MAX_MANIFEST: u64 = 64 << 20;

/// The reason that a file is not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutputError {
    /// An error of the operating system.
    #[error("cannot write {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// The error.
        error: io::Error,
    },
    /// The folder of the file.
    #[error("cannot write {path}: there is no folder {folder}; make it first")]
    NoFolder {
        /// The file.
        path: String,
        /// The folder.
        folder: String,
    },
    /// The file was read.
    #[error("cannot write {0}: the command reads this file; choose another name")]
    Input(String),
    /// The file may be one of a dump in a folder.
    #[error(
        "cannot write {path}: {error}, and the file may be one of the dump; choose a name outside of its folder"
    )]
    PerhapsInput {
        /// The file.
        path: String,
        /// The reason that the dump's files are unknown.
        error: folder::FolderError,
    },
}

/// Whether a path names the standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path == Path::new(name))
}

/// Writes a file. An existing file keeps its permissions, and a link stays a link. `inputs`: further files that must not
/// be replaced, beside those that this process has opened; of a dump in a folder all of its files.
///
/// # Errors
/// [`OutputError`] with the path, or the error of `write`.
pub(super) fn write(
    path: &Path,
    inputs: &[&Path],
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let named = |error: io::Error| OutputError::Io { path: shown(path), error };
    let found = match fs::metadata(path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(named(error).into()),
    };
    if let Some(found) = &found {
        let perhaps = |error| OutputError::PerhapsInput { path: shown(path), error };
        let mut is_input = mapping::is_read(found);
        for input in inputs {
            is_input = is_input || is_same(input, found) || is_of_dump(input, found).map_err(perhaps)?;
        }
        if found.is_file() && is_input {
            return Err(OutputError::Input(shown(path)).into());
        }
    }
    if found.as_ref().is_some_and(|found| !found.is_file()) || is_own_stream(path) {
        return in_place(path, write);
    }
    // A link stays a link, also a dangling one.
    let target = target(path).map_err(named)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = found.as_ref().map_or(0o666, |found| found.permissions().mode() & 0o777);
    let partial = tempfile::Builder::new()
        .prefix(".lanescope-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder);
    let mut partial = match partial {
        Ok(partial) => partial,
        // The folder is not writable, and the file may be.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && found.is_some() => {
            return in_place(path, write);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OutputError::NoFolder { path: shown(path), folder: shown(folder) }.into());
        }
        // The error names the partial file.
        Err(error) => return Err(named(error.kind().into()).into()),
    };
    through(path, partial.as_file_mut(), write)?;
    if let Some(found) = found {
        // The mask of new files does not apply to an existing one.
        partial.as_file().set_permissions(found.permissions()).map_err(named)?;
    }
    partial.persist(&target).map_err(|error| named(error.error))?;
    Ok(())
}

fn is_same(path: &Path, found: &Metadata) -> bool {
    fs::metadata(path).is_ok_and(|other| mapping::identity(&other) == mapping::identity(found))
}

/// Whether a file is one of a dump in a folder, which the folder or its manifest names: the manifest, and each file
/// below whose name the manifest has.
fn is_of_dump(dump: &Path, found: &Metadata) -> Result<bool, folder::FolderError> {
    let is_manifest = |path: &Path| MANIFESTS.iter().any(|name| path.file_name() == Some(name.as_ref()));
    let root = match is_dump_folder(dump) {
        true => dump,
        false if is_manifest(dump) => dump.parent().unwrap_or(Path::new("")),
        false => return Ok(false),
    };
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let manifests: Vec<String> = MANIFESTS.iter().filter_map(|name| manifest(&root.join(name))).collect();
    // An escape of a text hides the name of a file, and so does a file that is no text.
    let is_hidden = manifests.is_empty() || manifests.iter().any(|text| text.contains('\\'));
    let takes = |path: &Path, is_folder: bool| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_named = || name.is_none_or(|name| manifests.iter().any(|text| text.contains(name)));
        !is_folder && is_same(path, found) && (is_manifest(path) || is_hidden || is_named())
    };
    Ok(!folder::below(root, &takes)?.is_empty())
}

/// The text of a manifest; `None`: unreadable, or too large for one.
fn manifest(path: &Path) -> Option<String> {
    let mut text = String::new();
    let read = File::open(path).ok()?.take(MAX_MANIFEST + 1).read_to_string(&mut text).ok()?;
    (read as u64 <= MAX_MANIFEST).then_some(text)
}

/// Writes through a file that is open.
fn through(
    path: &Path,
    file: &mut File,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut file = BufWriter::new(file);
    let written = write(&mut file).and_then(|()| Ok(file.flush()?));
    written.map_err(|error| match error.downcast::<io::Error>() {
        Ok(error) => OutputError::Io { path: shown(path), error: *error }.into(),
        Err(other) => format!("cannot write {}: {other}", shown(path)).into(),
    })
}

fn in_place(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    let opened = OpenOptions::new().write(true).truncate(true).open(path);
    let mut file = opened.map_err(|error| OutputError::Io { path: shown(path), error })?;
    through(path, &mut file, write)
}

/// Whether a path leads to an open file of this process: its target may be a file that another process writes, too.
fn is_own_stream(path: &Path) -> bool {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let names = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    names.iter().any(|name| whole == Path::new(name))
        || whole.starts_with("/dev/fd")
        || whole.starts_with("/proc")
}

/// The path that a chain of links ends at.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // The limit of the system.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn shown(path: &Path) -> String {
    clean(path.to_string_lossy()).into_owned()
}

#[cfg(test)]
#[path = "output_file_tests.rs"]
mod tests;
