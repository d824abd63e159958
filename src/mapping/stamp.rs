//! Which file it is, and whether it is as it was when it was opened.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, OnceLock};

use nix::sys::stat::FileStat;

use super::FIRST_CHANGED;

/// A file's identity, its size, and the time of its last modification.
///
/// The time of a change of status is no part of it: renaming and removing a file advance that time and change no byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// The stamp of an open file, as it is now.
    ///
    /// # Errors
    /// The operating system's answer to fstat(2).
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(&file.metadata()?))
    }

    /// The file's size in bytes.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.len(),
            seconds: found.mtime(),
            nanoseconds: found.mtime_nsec(),
        }
    }
}

impl From<&FileStat> for Stamp {
    fn from(found: &FileStat) -> Self {
        Self {
            device: found.st_dev,
            inode: found.st_ino,
            size: u64::try_from(found.st_size).unwrap_or(0),
            seconds: found.st_mtime,
            nanoseconds: found.st_mtime_nsec,
        }
    }
}

/// The first file of a capture that was found changed since it was opened. All files of the capture share it.
///
/// Once a file has changed, no answer can be trusted that reads it, even where the bytes that one reader asked for are the
/// same: others may already differ.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<OnceLock<String>>);

impl Changes {
    /// The name of the first changed file.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Records that the file of that name has changed; later ones are ignored.
    pub fn record(&self, name: &str) {
        FIRST_CHANGED.get_or_init(|| Some(name.to_owned()));
        self.0.get_or_init(|| name.to_owned());
    }
}
