//! Where debuggers find source files: in a folder that holds those of the capture, or where the user says.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::lazy;
use crate::capture::{Capture, MAX_SOURCE, SourceFile, SourceMap};
use crate::clean::clean_text;

/// Bytes of source text that are written for debuggers.
const MAX_WRITTEN: u64 = 256 << 20;

/// Places of source files, by the paths that line tables record.
#[derive(Debug, Default)]
pub struct SourcePlaces {
    map: SourceMap,
    folder: Option<String>,
    /// Files in the folder, by normal paths, with MD5 of their captured text.
    held: HashMap<String, [u8; 16]>,
}

/// Where a source file is instead of where its path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SourcePlace {
    /// At this absolute path.
    At(String),
    /// In the folder of [`SourcePlaces::folder`], under this relative path.
    Held(String),
    /// The capture holds a file of that path and other text than was compiled.
    Differs,
}

impl SourcePlaces {
    /// No files but those that the map leads to.
    #[must_use]
    pub fn mapped(map: SourceMap) -> Self {
        Self { map, ..Self::default() }
    }

    /// Writes the capture's source files into an empty folder, and leads to them. What cannot be written is left out.
    #[must_use]
    pub fn written(map: SourceMap, capture: &Capture, folder: &Path) -> Self {
        let mut held = HashMap::new();
        let mut left = MAX_WRITTEN;
        for source in &capture.sources {
            let size = source.extent.length;
            if size > left {
                log::warn!("{}: source files have more than {MAX_WRITTEN} bytes", source.path);
                continue;
            }
            left -= size;
            match write(capture, source, folder) {
                Ok(md5) => drop(held.insert(source.path.clone(), md5)),
                Err(why) => log::info!("source file {}: {why}", source.path),
            }
        }
        // A debugger that cannot be given the name finds nothing.
        Self { map, folder: folder.to_str().map(str::to_owned), held }
    }

    /// The folder of the capture's files.
    pub(super) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Whether all files are where their paths lead.
    pub(super) fn is_empty(&self) -> bool {
        self.map.is_empty() && (self.folder.is_none() || self.held.is_empty())
    }

    /// The place of a file by its normal path and the MD5 that the line table records; `None`: where its path leads.
    pub(super) fn find(&self, path: &str, md5: Option<&[u8; 16]>) -> Option<SourcePlace> {
        if let Some(place) = self.map.apply(path) {
            return Some(SourcePlace::At(place));
        }
        let held = self.held.get(path).filter(|_| self.folder.is_some())?;
        if md5.is_some_and(|md5| md5 != held) {
            return Some(SourcePlace::Differs);
        }
        Some(SourcePlace::Held(path.trim_start_matches('/').to_owned()))
    }
}

/// Writes one file; MD5 of its captured text. Debuggers print source text as it is, so that what terminals obey is escaped.
fn write(capture: &Capture, source: &SourceFile, folder: &Path) -> Result<[u8; 16], String> {
    let extent = source.extent;
    if extent.length > MAX_SOURCE {
        return Err(format!("{} bytes, expected at most {MAX_SOURCE}", extent.length));
    }
    let backing = capture.backing(extent.backing).ok_or("its bytes are missing")?;
    let bytes = backing.view(extent.offset, extent.length).map_err(|error| error.to_string())?;
    let bytes: &[u8] = (*bytes).as_ref();
    // A normal path has no `..`.
    let place = folder.join(source.path.trim_start_matches('/'));
    let written = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let text = clean_text(String::from_utf8_lossy(bytes));
        lazy::write(&place, |out| out.write_all(text.as_bytes()))
    });
    written.map_err(|error| error.to_string())?;
    Ok(md5::compute(bytes).0)
}
