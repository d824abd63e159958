//! The folder of a crash.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::{KERNEL_LOG, LOG};

/// A folder for one crash.
#[derive(Debug)]
pub(super) struct CrashFolder {
    pub(super) path: PathBuf,
    dir: PathBuf,
    /// Whether the folder of all crashes is new, too.
    is_first: bool,
}

impl CrashFolder {
    /// Maximum number of crashes of one program in a folder.
    const MAX: u32 = 100_000;

    /// Makes a folder: `DIR/app-1`.
    pub(super) fn new(dir: &Path, program: &Path) -> io::Result<Self> {
        let is_first = !dir.exists();
        let mut builder = DirBuilder::new();
        builder.mode(0o700).recursive(true).create(dir)?;
        builder.recursive(false);
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
        let name: String = name.chars().filter(is_plain).take(64).collect();
        let name = if name.trim_start_matches('.').is_empty() { "program" } else { &name };
        for number in 1..Self::MAX {
            let path = dir.join(format!("{name}-{number}"));
            match builder.create(&path) {
                Ok(()) => return Ok(Self { path, dir: dir.to_owned(), is_first }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many crashes of one program"))
    }

    /// Removes the folder with its logs.
    pub(super) fn remove(&self) {
        for name in [LOG, KERNEL_LOG] {
            let _ = fs::remove_file(self.path.join(name));
        }
        // A folder with other files stays.
        let is_gone = fs::remove_dir(&self.path).is_ok();
        if is_gone && self.is_first {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}
