//! Foreign bytes to a [`Capture`] and what is wrong with them.
//!
//! [`open`] tells the format by content, never by name. One folder for each format; a format's reader gives
//! [`Opened`], in which all that is sound is loaded and everything else is a [`Problem`], or an [`ImportError`] where
//! nothing is. Input may be hostile: nothing here panics, and every loop and allocation is bounded by the input's size.
//!
//! Formats: lanescope's own dump (docs/dump-format.md).

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "tests may"
    )
)]

mod dump;
mod problem;

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

pub use dump::write;
pub use problem::{ImportError, MOST_PROBLEMS, Place, Problem};

use crate::arch::Targets;
use crate::capture::Capture;

/// A capture, and what is wrong with the dump it comes from.
#[derive(Debug)]
pub struct Opened {
    /// All that is sound.
    pub capture: Capture,
    /// The rest, in the order in which it was met; at most [`MOST_PROBLEMS`] and one that counts the others.
    pub problems: Vec<Problem>,
}

/// Opens a dump: a folder, a zip or a manifest.
///
/// Only the manifest is read; bulk data is checked for size and read when somebody asks for it.
///
/// # Errors
/// Nothing of it can be loaded: there is no manifest or two of them, its syntax is wrong, its format is newer.
pub fn open(path: &Path, targets: &Targets) -> Result<Opened, ImportError> {
    let name = || path.display().to_string();
    let io = |source| ImportError::Io { file: name(), source };
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return dump::open_folder(path, targets);
    }
    if !metadata.is_file() {
        // Opening a pipe would wait for its writer.
        return Err(ImportError::NotADump { file: name(), found: "neither a file nor a folder".to_owned() });
    }
    let file = File::open(path).map_err(io)?;
    let mut start = [0; 4096];
    let count = read_start(&file, &mut start).map_err(io)?;
    let start = start.get(..count).unwrap_or_default();
    if is_zip(start) {
        return dump::open_zip(path, file, targets);
    }
    match not_text(start) {
        Some(found) => Err(ImportError::NotADump { file: name(), found: found.to_owned() }),
        None => dump::open_manifest(path, targets),
    }
}

/// Opens a dump that is a zip and part of the program; its side files are read where they lie.
///
/// # Errors
/// As [`open`].
pub fn open_zip_bytes(name: &str, bytes: &'static [u8], targets: &Targets) -> Result<Opened, ImportError> {
    dump::open_bytes(name, Cow::Borrowed(bytes), targets)
}

/// Opens a dump that is in memory: a zip, or a manifest without side files. What a fuzzer calls.
///
/// # Errors
/// As [`open`].
pub fn open_bytes(name: &str, bytes: Vec<u8>, targets: &Targets) -> Result<Opened, ImportError> {
    dump::open_bytes(name, Cow::Owned(bytes), targets)
}

/// Whether bytes begin as a zip does; an empty one begins with its directory's end.
fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// What a file is that is no manifest.
fn not_text(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"\x7fELF") {
        return Some("an ELF file, which is not read yet");
    }
    if start.starts_with(b"\x1f\x8b") {
        return Some("a gzip file");
    }
    start.contains(&0).then_some("a binary file")
}

fn read_start(file: &File, buffer: &mut [u8]) -> std::io::Result<usize> {
    use std::os::unix::fs::FileExt;
    loop {
        match file.read_at(buffer, 0) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
