//! Locations of source files for debuggers: a folder with the capture's files, or the user's mapping.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use super::lazy;
use crate::capture::{Capture, MAX_SOURCE, SourceFile, SourceMap};
use crate::clean::clean_text;

/// The name of the folder of source files beside the files of views.
pub const SOURCES: &str = "sources";

/// The maximum of source bytes written for debuggers.
const MAX_WRITTEN: u64 = 256 << 20;

/// Locations of source files, by the paths that line tables record.
#[derive(Clone, Debug, Default)]
pub struct SourcePlaces {
    map: SourceMap,
    folder: Option<String>,
    /// Files in the folder, by normal paths, with MD5 of their captured text.
    held: HashMap<String, [u8; 16]>,
}

/// A new location of a source file, in place of its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SourcePlace {
    /// At this absolute path, by the prefix with that index.
    At(usize, String),
    /// In the folder of [`SourcePlaces::folder`], under this relative path.
    Held(String),
    /// The capture has a file of that path whose text differs from the compiled one.
    Differs,
}

impl SourcePlaces {
    /// The map's files only.
    #[must_use]
    pub fn mapped(map: SourceMap) -> Self {
        Self { map, ..Self::default() }
    }

    /// Maps paths to the capture's source files in a folder, which [`Self::write`] fills later. Also returns a problem
    /// for each omitted file.
    #[must_use]
    pub fn planned(map: SourceMap, capture: &Capture, folder: &Path) -> (Self, Vec<String>) {
        let (mut held, mut problems) = (HashMap::new(), Vec::new());
        let mut left = MAX_WRITTEN;
        for source in &capture.sources {
            let size = source.extent.length;
            let md5 = match left.checked_sub(size) {
                None => Err(SourceFileError::TooMany),
                Some(rest) => {
                    left = rest;
                    with_text(capture, source, |bytes| Ok(md5::compute(bytes).0))
                }
            };
            match md5 {
                Ok(md5) => drop(held.insert(source.path.clone(), md5)),
                Err(why) => problems.push(problem(source, &why)),
            }
        }
        // A debugger finds nothing in a folder whose name is not UTF-8.
        (Self { map, folder: folder.to_str().map(str::to_owned), held }, problems)
    }

    /// Writes the planned files into an empty folder. Returns a problem for each file that cannot be written; debuggers then
    /// have no text for it.
    #[must_use]
    pub fn write(&mut self, capture: &Capture, folder: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        for source in &capture.sources {
            if !self.held.contains_key(&source.path) {
                continue;
            }
            if let Err(why) = with_text(capture, source, |bytes| write(source, folder, bytes)) {
                self.held.remove(&source.path);
                problems.push(problem(source, &why));
            }
        }
        problems
    }

    /// Writes the capture's source files into an empty folder, and maps paths to them. Omits files that cannot be
    /// written.
    #[must_use]
    pub fn written(map: SourceMap, capture: &Capture, folder: &Path) -> Self {
        let (mut places, problems) = Self::planned(map, capture, folder);
        for problem in problems.into_iter().chain(places.write(capture, folder)) {
            log::warn!("{problem}");
        }
        places
    }

    /// A message for each prefix of the map without a file; `mapped`: the indexes of the others.
    pub(super) fn unmapped(&self, mapped: &BTreeSet<usize>) -> Vec<String> {
        self.map.unused(mapped)
    }

    /// The folder of the capture's files.
    pub(super) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Whether all files keep their paths.
    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty() && (self.folder.is_none() || self.held.is_empty())
    }

    /// The new location of a file by its normal path and the MD5 in the line table; `None` if it keeps its path.
    pub(super) fn find(&self, path: &str, md5: Option<&[u8; 16]>) -> Option<SourcePlace> {
        if let Some((prefix, place)) = self.map.apply(path) {
            return Some(SourcePlace::At(prefix, place));
        }
        let held = self.held.get(path).filter(|_| self.folder.is_some())?;
        if md5.is_some_and(|md5| md5 != held) {
            return Some(SourcePlace::Differs);
        }
        Some(SourcePlace::Held(path.trim_start_matches('/').to_owned()))
    }
}

fn problem(source: &SourceFile, why: &SourceFileError) -> String {
    format!("source file {}: {why}", source.path)
}

/// The reason that a captured source file has no copy for debuggers.
#[derive(Debug, thiserror::Error)]
enum SourceFileError {
    #[error("{0} bytes, expected at most {MAX_SOURCE}")]
    TooLarge(u64),
    #[error("the source files have more than {MAX_WRITTEN} bytes")]
    TooMany,
    #[error("its bytes are missing")]
    NoBytes,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads the captured text of a source file.
fn with_text<T>(
    capture: &Capture,
    source: &SourceFile,
    then: impl FnOnce(&[u8]) -> Result<T, SourceFileError>,
) -> Result<T, SourceFileError> {
    let extent = source.extent;
    if extent.length > MAX_SOURCE {
        return Err(SourceFileError::TooLarge(extent.length));
    }
    let backing = capture.backing(extent.backing).ok_or(SourceFileError::NoBytes)?;
    let bytes = backing.view(extent.offset, extent.length)?;
    then((*bytes).as_ref())
}

/// Writes one file. Debuggers print source text unchanged, thus terminal control characters are escaped.
fn write(source: &SourceFile, folder: &Path, bytes: &[u8]) -> Result<(), SourceFileError> {
    // A normal path has no `..`.
    let place = folder.join(source.path.trim_start_matches('/'));
    let written = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let text = clean_text(String::from_utf8_lossy(bytes));
        lazy::write(&place, |out| out.write_all(text.as_bytes()))
    });
    Ok(written?)
}
