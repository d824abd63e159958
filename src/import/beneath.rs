//! Files below a folder: no name and no symbolic link leads out of it.
//!
//! A capture's folder is untrusted and may hold symbolic links. Each part of a name is looked up in the open parent
//! folder, and the kernel follows no link: a link's target is resolved in the same way. A name that leaves the folder
//! accesses nothing outside, so that no answer depends on outside files.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat};

use crate::bounds::MAX_NAME_PARTS;
use crate::mapping::Stamp;

/// Maximum number of symbolic links in a name, the limit of Linux (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Beneath(OwnedFd);

/// The reason that a name leads to no file.
#[derive(Debug)]
pub(crate) enum BeneathError {
    /// It leaves the folder.
    Outside,
    /// It has more symbolic links or folders than allowed.
    Endless,
    /// It is a folder, a device or a pipe.
    Irregular,
    /// The operating system's error for a file within the folder.
    Io(io::Error),
}

impl fmt::Display for BeneathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("a symbolic link that leaves the dump"),
            Self::Endless => f.write_str("a loop of symbolic links, or too long a chain"),
            Self::Irregular => f.write_str("not a regular file"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl From<nix::Error> for BeneathError {
    fn from(error: nix::Error) -> Self {
        Self::Io(error.into())
    }
}

impl From<BeneathError> for io::Error {
    fn from(error: BeneathError) -> Self {
        match error {
            BeneathError::Io(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

/// Opens a folder for lookups below it alone. Systems without this flag also need permission to read it.
#[cfg(target_os = "linux")]
const LOOKUP: OFlag = OFlag::O_PATH;
#[cfg(not(target_os = "linux"))]
const LOOKUP: OFlag = OFlag::O_RDONLY;

impl Beneath {
    /// Opens a folder that the user names; links to it are followed.
    ///
    /// # Errors
    /// There is no such folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let flags = LOOKUP | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        Ok(Self(nix::fcntl::open(path, flags, Mode::empty())?))
    }

    /// Bytes of the regular file of that name. The file is not opened.
    ///
    /// # Errors
    /// There is none below the folder.
    pub(crate) fn size(&self, name: &Path) -> Result<u64, BeneathError> {
        self.stamp(name).map(|stamp| stamp.size())
    }

    /// The stamp of the regular file of that name. The file is not opened.
    ///
    /// # Errors
    /// There is none below the folder.
    pub(crate) fn stamp(&self, name: &Path) -> Result<Stamp, BeneathError> {
        self.find(name, |_, _, file| Ok(Stamp::from(file)))
    }

    /// Opens the regular file of that name.
    ///
    /// # Errors
    /// There is none below the folder, or it cannot be read.
    pub(crate) fn open(&self, name: &Path) -> Result<File, BeneathError> {
        self.find(name, |folder, last, _| {
            // Does not wait for a writer if a pipe has replaced the file.
            let flags =
                OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
            let file = File::from(openat(folder, last, flags, Mode::empty())?);
            match file.metadata().map_err(BeneathError::Io)?.is_file() {
                true => Ok(file),
                false => Err(BeneathError::Irregular),
            }
        })
    }

    /// Calls a function with the open parent folder of a regular file, its last name and its metadata.
    fn find<T>(
        &self,
        name: &Path,
        found: impl FnOnce(BorrowedFd<'_>, &OsStr, &FileStat) -> Result<T, BeneathError>,
    ) -> Result<T, BeneathError> {
        let mut folders: Vec<OwnedFd> = Vec::new();
        let mut rest = Vec::new();
        push(&mut rest, name)?;
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                folders.pop().ok_or(BeneathError::Outside)?;
                continue;
            }
            let folder = folders.last().unwrap_or(&self.0).as_fd();
            let file = fstatat(folder, part.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW)?;
            let kind = SFlag::from_bits_truncate(file.st_mode) & SFlag::S_IFMT;
            if kind == SFlag::S_IFLNK {
                links += 1;
                if links > MAX_LINKS {
                    return Err(BeneathError::Endless);
                }
                push(&mut rest, Path::new(&readlinkat(folder, part.as_os_str())?))?;
            } else if rest.is_empty() {
                return match kind == SFlag::S_IFREG {
                    true => found(folder, &part, &file),
                    false => Err(BeneathError::Irregular),
                };
            } else {
                let flags = LOOKUP | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
                let next = openat(folder, part.as_os_str(), flags, Mode::empty())?;
                folders.push(next);
            }
        }
        Err(BeneathError::Irregular)
    }
}

/// Prepends the parts of a name to the remaining ones.
fn push(rest: &mut Vec<OsString>, name: &Path) -> Result<(), BeneathError> {
    for part in name.components().rev() {
        match part {
            Component::Normal(part) => rest.push(part.to_owned()),
            Component::ParentDir => rest.push("..".into()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(BeneathError::Outside),
        }
        if rest.len() > MAX_NAME_PARTS {
            return Err(BeneathError::Endless);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
