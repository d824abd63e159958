//! File identity and change detection.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use nix::sys::stat::FileStat;

use super::FIRST_CHANGED;

/// The files that this process has read.
static READ: LazyLock<Mutex<HashSet<(u64, u64)>>> = LazyLock::new(Mutex::default);

/// A file's identity, size and modification time.
///
/// The status-change time is excluded: renaming or removing a file advances it without a change of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// Returns the current stamp of an open file.
    ///
    /// # Errors
    /// The operating system's error of fstat(2).
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        read_files().insert(identity(&found));
        Ok(Self::from(&found))
    }

    /// The file's size in bytes.
    #[must_use]
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }
}

/// Device and inode of a file.
pub(crate) fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Records that this process reads a file: a command never replaces its inputs.
pub(crate) fn record_input(file: &File) {
    if let Ok(found) = file.metadata() {
        read_files().insert(identity(&found));
    }
}

/// Whether this process has read a file, under any of its names.
pub(crate) fn is_read(found: &Metadata) -> bool {
    read_files().contains(&identity(found))
}

fn read_files() -> MutexGuard<'static, HashSet<(u64, u64)>> {
    READ.lock().unwrap_or_else(PoisonError::into_inner)
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
            // macOS has 32 signed bits here, and std extends them like this.
            device: i128::from(found.st_dev) as u64,
            inode: found.st_ino,
            size: u64::try_from(found.st_size).unwrap_or(0),
            seconds: found.st_mtime,
            nanoseconds: found.st_mtime_nsec,
        }
    }
}

/// The first file of a capture that changed after it was opened. All files of the capture share it.
///
/// After a change every answer from the file is untrusted, even with the same bytes: other reads may already differ.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<OnceLock<String>>);

impl Changes {
    /// The name of the first changed file.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Records a change of the named file; only the first call counts.
    pub(crate) fn record(&self, name: &str) {
        FIRST_CHANGED.get_or_init(|| Some(name.to_owned()));
        self.0.get_or_init(|| name.to_owned());
    }
}
