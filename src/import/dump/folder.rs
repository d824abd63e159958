//! Side files in a folder: found without opening, opened when first read, never more than a few open at once.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::file::{read_range, view_range};
use super::store::Refusal;
use crate::capture::{Backing, Bytes};

/// Side files that are open at one time; a dump may name 100,000 and a process has a thousand descriptors.
const MOST_OPEN: usize = 32;

/// A folder with side files.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    /// The folder's own path without symbolic links; found when a link must be judged.
    real: Option<PathBuf>,
    pool: Arc<Pool>,
}

impl Folder {
    /// Files beneath `root`.
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        let mut root = root.into();
        if root.as_os_str().is_empty() {
            root.push(".");
        }
        Self { root, real: None, pool: Arc::default() }
    }

    /// The regular file of that name beneath the folder; `parts` are its components, already checked.
    ///
    /// A symbolic link is followed where it stays beneath the folder: a dump from elsewhere must not make its reader
    /// show a file of the reader's own.
    pub(super) fn find(&mut self, name: &str, parts: &[&str]) -> Result<Arc<dyn Backing>, Refusal> {
        let mut path = self.root.clone();
        let mut linked = false;
        let mut last = None;
        for part in parts {
            path.push(part);
            let metadata = fs::symlink_metadata(&path).map_err(|error| unreadable(&error))?;
            linked |= metadata.is_symlink();
            last = Some(metadata);
        }
        if linked {
            let real = fs::canonicalize(&path).map_err(|error| unreadable(&error))?;
            if !real.starts_with(self.real()?) {
                return Err(Refusal::new(
                    "a symbolic link that leaves the dump",
                    "side files within the dump's folder",
                ));
            }
            last = Some(fs::metadata(&real).map_err(|error| unreadable(&error))?);
            path = real;
        }
        self.backing(name, path, last)
    }

    /// The regular file at any path; a relative one counts from the folder.
    pub(super) fn find_outside(&mut self, path: &Path, name: &str) -> Result<Arc<dyn Backing>, Refusal> {
        let path = self.root.join(path);
        let metadata = fs::metadata(&path).map_err(|error| unreadable(&error))?;
        self.backing(name, path, Some(metadata))
    }

    fn real(&mut self) -> Result<&Path, Refusal> {
        let real = match self.real.take() {
            Some(real) => real,
            None => fs::canonicalize(&self.root).map_err(|error| unreadable(&error))?,
        };
        Ok(self.real.insert(real))
    }

    fn backing(
        &self,
        name: &str,
        path: PathBuf,
        metadata: Option<fs::Metadata>,
    ) -> Result<Arc<dyn Backing>, Refusal> {
        // Opening a pipe would wait for its writer, and a device has no size.
        let Some(metadata) = metadata.filter(fs::Metadata::is_file) else {
            return Err(Refusal::new("not a regular file", "a regular file"));
        };
        let pool = Arc::clone(&self.pool);
        Ok(Arc::new(FileBacking { name: name.to_owned(), path, size: metadata.len(), pool }))
    }
}

fn unreadable(error: &io::Error) -> Refusal {
    Refusal::new(error, "a readable file")
}

/// Open files, the one used last at the back.
#[derive(Debug, Default)]
struct Pool(Mutex<VecDeque<(PathBuf, Arc<File>)>>);

impl Pool {
    fn open(&self, path: &Path) -> io::Result<Arc<File>> {
        // The queue is whole whenever the lock is free, so a panic elsewhere does not make it useless.
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.iter().position(|(known, _)| known == path);
        let entry = match found.and_then(|index| open.remove(index)) {
            Some(entry) => entry,
            None => {
                if open.len() >= MOST_OPEN {
                    open.pop_front();
                }
                (path.to_owned(), Arc::new(File::open(path)?))
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
    path: PathBuf,
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
        let file = self.pool.open(&self.path)?;
        read_range(&file, 0, self.size, offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let file = self.pool.open(&self.path)?;
        view_range(&file, 0, self.size, offset, length)
    }
}
