//! A file with a store of captured bytes in a part of it or in all of it: read by range, mapped for large views, and
//! checked for changes.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use nix::fcntl::OFlag;

use super::problem::ImportError;
use crate::capture::{Backing, Bytes, RangeRead};
use crate::clean::clean;
use crate::mapping::{self, Changes, Stamp};
use crate::work;

/// An open file that must not change: every read is followed by a check of the file's stamp.
#[derive(Debug)]
pub(super) struct OpenFile {
    name: String,
    file: File,
    stamp: Stamp,
    changes: Changes,
}

impl OpenFile {
    /// Opens a regular file; a pipe or a device has no size and no reads by range.
    ///
    /// `changes`: those of the file's capture.
    pub(super) fn open(path: &Path, changes: &Changes) -> Result<Self, ImportError> {
        let name = path.display().to_string();
        let io = |source| ImportError::Io { file: path.display().to_string(), source };
        match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(ImportError::NotADump { file: name, found: error.to_string() })
            }
            opened => Self::of(name, opened.map_err(io)?, changes),
        }
    }

    /// Uses an already open file.
    pub(super) fn of(name: String, file: File, changes: &Changes) -> Result<Self, ImportError> {
        match Stamp::of(&file) {
            Ok(stamp) => Ok(Self { name, file, stamp, changes: changes.clone() }),
            Err(source) => Err(ImportError::Io { file: name, source }),
        }
    }

    /// Uses a file that was opened after its lookup with that stamp.
    ///
    /// # Errors
    /// The file was replaced or has changed.
    pub(super) fn found(name: &str, file: File, stamp: Stamp, changes: &Changes) -> io::Result<Self> {
        let opened = Self { name: name.to_owned(), file, stamp, changes: changes.clone() };
        opened.unchanged()?;
        Ok(opened)
    }

    /// The stamp that the file was opened with.
    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Reads from the range `start`, `size` of the file; short only at the end of the range or the file.
    ///
    /// # Errors
    /// The operating system's answer, or the file has changed since it was opened.
    pub(super) fn read_range(
        &self,
        start: u64,
        size: u64,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let count = read_range(&self.file, start, size, offset, buffer);
        // After the read: later changes of the file do not affect these bytes.
        self.unchanged()?;
        count
    }

    /// A persistent view of a part of such a store.
    ///
    /// # Errors
    /// Like [`Self::read_range`]; `UnexpectedEof` if the part exceeds the store.
    pub(super) fn view_range(&self, start: u64, size: u64, offset: u64, length: u64) -> io::Result<Bytes> {
        let inside = offset.checked_add(length).is_some_and(|end| end <= size);
        let at = start.checked_add(offset).filter(|_| inside).ok_or(io::ErrorKind::UnexpectedEof)?;
        if length == 0 {
            return Ok(Arc::new([]));
        }
        let bytes = mapping::map(&self.file, at, length);
        self.unchanged()?;
        Ok(Arc::new(bytes?))
    }

    fn unchanged(&self) -> io::Result<()> {
        if Stamp::of(&self.file)? == self.stamp {
            return Ok(());
        }
        Err(changed(&self.name, &self.changes))
    }
}

/// Records that a file of a capture has changed; returns the reader's error.
pub(super) fn changed(name: &str, changes: &Changes) -> io::Error {
    let name = clean(name);
    changes.record(&name);
    io::Error::other(format!("{name} changed while it was open"))
}

impl Backing for OpenFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.stamp.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_range(0, self.stamp.size(), offset, buffer)
    }

    fn read_many(&self, reads: &mut [RangeRead<'_>]) -> io::Result<()> {
        let done = reads.iter_mut().try_for_each(|read| {
            read.count = read_range(&self.file, 0, self.stamp.size(), read.offset, read.buffer)?;
            Ok(())
        });
        // After the last read, as after a single one.
        self.unchanged()?;
        done
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        self.view_range(0, self.stamp.size(), offset, length)
    }
}

/// Opens a regular file. To open another type may wait for a pipe's writer or move a device.
///
/// # Errors
/// The operating system's; `InvalidInput`: it is no regular file.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    if !std::fs::metadata(path)?.is_file() {
        return Err(irregular());
    }
    // Another file may have replaced it since.
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    crate::mapping::record_input(&file);
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Reads from a store, the range of `size` bytes at `start` of a file; short only at the end of the store or the file.
pub(super) fn read_range(
    file: &File,
    start: u64,
    size: u64,
    offset: u64,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
    let want = left.min(buffer.len());
    let mut done = 0;
    while done < want {
        let Some(at) = start.checked_add(offset).and_then(|at| at.checked_add(done as u64)) else { break };
        let Some(rest) = buffer.get_mut(done..want) else { break };
        match file.read_at(rest, at) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    work::count_read(done);
    Ok(done)
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
