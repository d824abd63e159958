//! Side files in a folder: found without opening, opened when first read, never more than a few open at once.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::beneath::{Beneath, BeneathError};
use super::super::file::{read_range, view_range};
use super::store::Refusal;
use crate::capture::{Backing, Bytes};

/// Side files that are open at one time; a dump may name 100,000 and a process has a thousand descriptors.
const MOST_OPEN: usize = 32;

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
        Ok(Self { root, pool: Arc::new(Pool { beneath, open: Mutex::default() }) })
    }

    /// The folder's path as the user gave it.
    pub(super) fn path(&self) -> &Path {
        &self.root
    }

    /// What is below the folder.
    pub(super) fn beneath(&self) -> &Beneath {
        &self.pool.beneath
    }

    /// The regular file of that name below the folder.
    ///
    /// A symbolic link is followed where it stays below the folder: a dump from elsewhere must not make its reader
    /// show a file of the reader's own.
    pub(super) fn find(&self, name: &str) -> Result<Arc<dyn Backing>, Refusal> {
        let size = self.beneath().size(Path::new(name)).map_err(|error| {
            let expected = match error {
                BeneathError::Outside => "side files within the dump's folder",
                BeneathError::Irregular => "a regular file",
                BeneathError::Io(_) => "a readable file",
            };
            Refusal::new(error, expected)
        })?;
        Ok(Arc::new(FileBacking { name: name.to_owned(), size, pool: Arc::clone(&self.pool) }))
    }
}

/// Open files, the one used last at the back.
#[derive(Debug)]
struct Pool {
    beneath: Beneath,
    open: Mutex<VecDeque<(String, Arc<File>)>>,
}

impl Pool {
    fn open(&self, name: &str) -> io::Result<Arc<File>> {
        // The queue is whole whenever the lock is free, so a panic elsewhere does not make it useless.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(known, _)| known == name);
        let entry = match found.and_then(|index| open.remove(index)) {
            Some(entry) => entry,
            None => {
                if open.len() >= MOST_OPEN {
                    open.pop_front();
                }
                (name.to_owned(), Arc::new(self.beneath.open(Path::new(name))?))
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
    size: u64,
    pool: Arc<Pool>,
}

impl Backing for FileBacking {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = self.pool.open(&self.name)?;
        read_range(&file, 0, self.size, offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let file = self.pool.open(&self.name)?;
        view_range(&file, 0, self.size, offset, length)
    }
}
