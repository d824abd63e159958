//! Output of a dump: a folder or a zip of stored entries, written in sequence under a temporary name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Mode of files: like a core, a process's memory is readable by its owner only.
const MODE: u32 = 0o600;

/// Minimum size of entries with 64-bit sizes.
const LARGE: u64 = u32::MAX as u64;

/// Unfinished files of this process. The lock is held while names are created, changed or removed.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn begun() -> MutexGuard<'static, Vec<PathBuf>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished dumps and blocks their writers: the process is about to end.
pub fn abandon() {
    let mut begun = begun();
    begun.drain(..).for_each(|partial| remove(&partial));
    std::mem::forget(begun);
}

fn remove(partial: &Path) {
    let removed = if partial.is_dir() { fs::remove_dir_all(partial) } else { fs::remove_file(partial) };
    if let Err(error) = removed {
        log::warn!("cannot remove {}: {error}", partial.display());
    }
}

/// A dump during writing.
pub(super) struct Sink<'p> {
    to: PathBuf,
    /// The temporary path beside `to`; empty after the renaming.
    partial: PathBuf,
    form: Form,
    position: u64,
    progress: &'p mut dyn FnMut(u64),
}

enum Form {
    Folder(Option<BufWriter<File>>),
    Zip(Option<Box<ZipWriter<BufWriter<Once>>>>),
}

/// A file that reports its first write error and discards later bytes: the drop of an unfinished zip writes its
/// directory and would print a second error. The file is removed in any case.
struct Once {
    file: File,
    refused: bool,
}

impl Write for Once {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.refused {
            return Ok(bytes.len());
        }
        let result = self.file.write(bytes);
        self.refused = result.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.refused { Ok(()) } else { self.file.flush() }
    }
}

impl Seek for Once {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl<'p> Sink<'p> {
    /// Creates a folder, or a zip if the name ends in `.zip`.
    pub(super) fn create(to: &Path, progress: &'p mut dyn FnMut(u64)) -> io::Result<Self> {
        let mut name = to.file_name().map_or_else(OsString::new, ToOwned::to_owned);
        name.push(format!(".{}.partial", std::process::id()));
        let partial = to.with_file_name(name);
        let is_zip = to.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        let mut begun = begun();
        let form = if is_zip {
            let file = create(&partial)?;
            Form::Zip(Some(Box::new(ZipWriter::new(BufWriter::new(Once { file, refused: false })))))
        } else {
            fs::DirBuilder::new().mode(0o700).create(&partial)?;
            Form::Folder(None)
        };
        begun.push(partial.clone());
        Ok(Self { to: to.to_owned(), partial, form, position: 0, progress })
    }

    /// Begins a file of at most `size` bytes; `name` has `/` as separator.
    pub(super) fn begin(&mut self, name: &str, size: u64) -> io::Result<()> {
        self.position = 0;
        match &mut self.form {
            Form::Folder(file) => {
                if let Some(mut before) = file.take() {
                    before.flush()?;
                }
                let path = self.partial.join(name);
                let _begun = begun();
                if let Some(folder) = path.parent() {
                    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                }
                *file = Some(BufWriter::new(create(&path)?));
            }
            Form::Zip(zip) => {
                let options = SimpleFileOptions::default()
                    .compression_method(CompressionMethod::Stored)
                    .unix_permissions(MODE)
                    .large_file(size >= LARGE);
                zip.as_mut().ok_or_else(closed)?.start_file(name, options)?;
            }
        }
        Ok(())
    }

    /// Bytes of the present file so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Finishes the dump and gives it its name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Folder(file) => {
                if let Some(mut file) = file.take() {
                    file.flush()?;
                }
            }
            Form::Zip(zip) => {
                let zip = zip.take().ok_or_else(closed)?;
                zip.finish()?.flush()?;
            }
        }
        let mut begun = begun();
        // Never replaces a folder; rename(2) would replace a file that was created meanwhile.
        if self.to.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.partial, &self.to)?;
        begun.retain(|partial| *partial != self.partial);
        self.partial = PathBuf::new();
        drop(begun);
        Ok(())
    }
}

/// Creates a file that only its owner can read, independent of its folder.
fn create(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(MODE).open(path)
}

fn closed() -> io::Error {
    io::Error::other("the dump was finished")
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.form {
            Form::Folder(file) => file.as_mut().ok_or_else(closed)?.write(bytes)?,
            Form::Zip(zip) => zip.as_mut().ok_or_else(closed)?.write(bytes)?,
        };
        self.position += count as u64;
        (self.progress)(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sink<'_> {
    /// Removes the files of a failed write.
    fn drop(&mut self) {
        if self.partial.as_os_str().is_empty() {
            return;
        }
        let mut begun = begun();
        begun.retain(|partial| *partial != self.partial);
        remove(&self.partial);
    }
}
