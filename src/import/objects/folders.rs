//! Code objects in the user's folders: by the name that a build id gives, then by every file.
//!
//! Layouts by build id: gdb's and Debian's `.build-id/ab/cdef.debug` (and `cdef` for the file itself), debuginfod's
//! cache `abcdef/executable` and `abcdef/debuginfo`. Content determines the format: libraries and programs are opened
//! for the GPU code in them, everything else is skipped.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::bounds::MAX_FOLDER_DEPTH;
use crate::elf::{EM_AMDGPU, ET_CORE, read};

/// Maximum number of entries in all folders together.
pub(super) const MAX_ENTRIES: usize = 200_000;
/// Bytes that identify a file: an ELF header's first 20, a bundle's magic.
const START: usize = 24;

/// The possible files of a build id.
pub(super) fn by_build_id(folder: &Path, hex: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some((first, rest)) = hex.split_at_checked(2).filter(|(_, rest)| !rest.is_empty()) {
        for root in [folder.join(".build-id"), folder.to_owned()] {
            files.push(root.join(first).join(format!("{rest}.debug")));
            files.push(root.join(first).join(rest));
        }
        files.push(folder.join(hex).join("executable"));
        files.push(folder.join(hex).join("debuginfo"));
    }
    files.retain(|file| file.is_file());
    files
}

/// The result of a search through folders.
#[derive(Debug, Default)]
pub(super) struct FolderSearch {
    /// Possible files of code objects by path; AMDGPU ELF files first, since others may require unpacking.
    pub(super) files: Vec<PathBuf>,
    /// Messages about unreadable folders and files.
    pub(super) problems: Vec<String>,
}

/// Searches a folder and its subfolders. Symbolic links to folders are not followed, which prevents cycles.
pub(super) fn walk(root: &Path) -> FolderSearch {
    walk_up_to(root, MAX_ENTRIES)
}

/// [`walk`] with another maximum number of entries.
pub(super) fn walk_up_to(root: &Path, most: usize) -> FolderSearch {
    let mut walk = FolderSearch::default();
    let (mut code, mut holders) = (Vec::new(), Vec::new());
    let mut folders = vec![(root.to_owned(), 0)];
    let mut looked = 0;
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                walk.problems.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            looked += 1;
            if looked > most {
                walk.problems.push(format!(
                    "{}: more than {most} files and folders; the others are left out",
                    root.display()
                ));
                folders.clear();
                break;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_FOLDER_DEPTH => folders.push((path, depth + 1)),
                Ok(kind) if kind.is_file() || kind.is_symlink() => match kind_of(&path) {
                    Some(FileUse::Code) => code.push(path),
                    Some(FileUse::Holder) => holders.push(path),
                    None => {}
                },
                _ => {}
            }
        }
    }
    code.sort();
    holders.sort();
    walk.files.extend(code.into_iter().chain(holders));
    walk
}

enum FileUse {
    /// An AMDGPU ELF file.
    Code,
    /// A bundle, or a program or library of the host.
    Holder,
}

fn kind_of(path: &Path) -> Option<FileUse> {
    // To open a pipe would wait for its writer.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut start = [0; START];
    File::open(path).ok()?.read_exact_at(&mut start, 0).ok()?;
    match read::kind(&start) {
        Some((_, EM_AMDGPU)) => Some(FileUse::Code),
        // A core is not a program.
        Some((ET_CORE, _)) => None,
        Some(_) => Some(FileUse::Holder),
        None => crate::codeobject::FatFile::is_bundle(&start).then_some(FileUse::Holder),
    }
}
