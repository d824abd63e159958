//! Side files in a folder: found without opening, opened at the first read, with a bound on open files.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::beneath::{Beneath, BeneathError};
use super::super::file::{OpenFile, changed};
use super::store::SideFileError;
use crate::capture::{Backing, Bytes};
use crate::mapping::{Changes, Stamp};

/// Maximum number of open side files; a dump may name 100,000, and a process has about 1,000 descriptors.
const MAX_OPEN: usize = 32;

/// A folder with side files.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    pool: Arc<Pool>,
}

impl Folder {
    /// Files beneath `root`.
    ///
    /// # Errors
    /// There is no such folder.
    pub(super) fn new(root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        let beneath = Beneath::new(&root)?;
        Ok(Self {
            root,
            pool: Arc::new(Pool { beneath, changes: Changes::default(), open: Mutex::default() }),
        })
    }

    /// The folder's path as the user gave it.
    pub(super) fn path(&self) -> &Path {
        &self.root
    }

    /// The files below the folder.
    pub(super) fn beneath(&self) -> &Beneath {
        &self.pool.beneath
    }

    /// Changes of the folder's files since their lookup.
    pub(super) fn changes(&self) -> &Changes {
        &self.pool.changes
    }

    /// The regular file of that name below the folder.
    ///
    /// A symbolic link is followed if it stays below the folder: an untrusted dump must not make its reader show a file
    /// of the user.
    pub(super) fn find(&self, name: &str) -> Result<Arc<dyn Backing>, SideFileError> {
        let stamp = self.beneath().stamp(Path::new(name)).map_err(|error| {
            let expected = match error {
                BeneathError::Outside => "side files within the dump's folder",
                BeneathError::Endless => "links that lead to a file",
                BeneathError::Irregular => "a regular file",
                BeneathError::Io(_) => "a readable file",
            };
            SideFileError::new(error, expected)
        })?;
        Ok(Arc::new(FileBacking { name: name.to_owned(), stamp, pool: Arc::clone(&self.pool) }))
    }
}

/// Open files, the most recently used one last.
#[derive(Debug)]
struct Pool {
    beneath: Beneath,
    changes: Changes,
    open: Mutex<VecDeque<(String, Arc<OpenFile>)>>,
}

impl Pool {
    /// The file of that name, if it has that stamp.
    fn open(&self, name: &str, stamp: Stamp) -> io::Result<Arc<OpenFile>> {
        // The queue is consistent whenever the lock is free, even after a panic elsewhere.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(known, file)| known == name && file.stamp() == stamp);
        let entry = match found.and_then(|index| open.remove(index)) {
            Some(entry) => entry,
            None => {
                if open.len() >= MAX_OPEN {
                    open.pop_front();
                }
                let file = self.beneath.open(Path::new(name)).map_err(|error| match error {
                    BeneathError::Io(error) if error.kind() != io::ErrorKind::NotFound => error,
                    _ => changed(name, &self.changes),
                })?;
                (name.to_owned(), Arc::new(OpenFile::found(name, file, stamp, &self.changes)?))
            }
        };
        let file = Arc::clone(&entry.1);
        open.push_back(entry);
        Ok(file)
    }
}

/// A side file.
#[derive(Debug)]
struct FileBacking {
    name: String,
    stamp: Stamp,
    pool: Arc<Pool>,
}

impl Backing for FileBacking {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.stamp.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.pool.open(&self.name, self.stamp)?.read_range(0, self.len(), offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        self.pool.open(&self.name, self.stamp)?.view_range(0, self.len(), offset, length)
    }
}
