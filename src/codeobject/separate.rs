//! Separate debug information files, found by build ID, `.gnu_debuglink` or `.gnu_debugaltlink`.
//!
//! The search covers only the user's folders: a dump is untrusted, and its names must not lead outside of them. A file
//! matches if it has the same build ID, or the checksum of the link.
//!
//! The layout follows gdb, "Debugging Information in Separate Files" (`DIR/.build-id/ab/cdef.debug`, `DIR/NAME`,
//! `DIR/.debug/NAME`), or debuginfod's cache (`DIR/abcdef/debuginfo`).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bytes::{Bytes, hex};
use super::{CodeObject, CodeObjectError, Result};
use crate::clean::clean;
use crate::integers::u32_at;

/// The contents of `.gnu_debuglink`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugLink {
    /// The file's name, without folders.
    pub file: String,
    /// CRC-32 of the whole file.
    pub crc: u32,
}

/// The result of a search for separate debug information.
#[derive(Debug, Default)]
pub struct Separate {
    /// The file and its contents.
    pub found: Option<(PathBuf, CodeObject)>,
    /// Rejected files with a matching name, each with the reason.
    pub problems: Vec<SeparateError>,
}

/// The reason for rejecting a debug information file.
#[derive(Debug, thiserror::Error)]
pub enum SeparateError {
    /// The code object's link is malformed.
    #[error(transparent)]
    Link(#[from] CodeObjectError),
    /// The file is unreadable or does not match.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: FileCause,
    },
}

/// The cause of a [`SeparateError`].
#[derive(Debug, thiserror::Error)]
pub enum FileCause {
    /// The operating system's error.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The code object chooses the file name: the message contains none of the file's bytes.
    #[error("it is no AMDGPU code object")]
    NoCodeObject,
    /// Its build id differs.
    #[error("it has another build id")]
    BuildId,
    /// Its checksum differs from the link's.
    #[error("its checksum is not the {0:#010x} of .gnu_debuglink")]
    Checksum(u32),
}

impl CodeObject {
    /// `.gnu_debuglink`: a name, padded to 4 bytes, and a checksum.
    ///
    /// # Errors
    /// The section is malformed, or its name leads into other folders.
    pub fn debug_link(&self) -> Result<Option<DebugLink>> {
        let Some(section) = self.section_bytes(".gnu_debuglink")? else { return Ok(None) };
        let offset = self.section(".gnu_debuglink").map_or(0, |section| section.offset);
        let malformed =
            |why: String| CodeObjectError::Malformed { what: ".gnu_debuglink".to_owned(), offset, why };
        let end = section.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| malformed("the name does not end".to_owned()))?;
        let name = section.get(..end).unwrap_or(&[]);
        let crc = u32_at(&section, (end / 4 + 1) * 4);
        let crc = crc.ok_or_else(|| malformed("no checksum follows the name".to_owned()))?;
        let file = clean(String::from_utf8_lossy(name)).into_owned();
        if !is_plain(&file) {
            return Err(malformed(format!("'{file}' is not a plain file name")));
        }
        Ok(Some(DebugLink { file, crc }))
    }

    /// Returns the file name in `.gnu_debugaltlink`: debug information shared by several files, extracted by `dwz`.
    #[must_use]
    pub fn debug_alt_link(&self) -> Option<String> {
        let section = self.section_bytes(".gnu_debugaltlink").ok().flatten()?;
        let name = section.split(|byte| *byte == 0).next().unwrap_or(&[]);
        Some(clean(String::from_utf8_lossy(name)).into_owned())
    }

    /// Searches folders for the code object's debug information, first by build ID, then by link.
    #[must_use]
    pub fn separate_debug_file(&self, folders: &[PathBuf]) -> Separate {
        let mut search = Separate::default();
        if let Some(id) = self.build_id().filter(|id| id.len() > 1) {
            let hex = hex(&id);
            let (first, rest) = hex.split_at(2);
            let places = folders.iter().flat_map(|folder| {
                let gdbs = folder.join(".build-id").join(first).join(format!("{rest}.debug"));
                [gdbs, folder.join(&hex).join("debuginfo")]
            });
            for path in places {
                let same = |_: &[u8], found: &CodeObject| match found.build_id() {
                    Some(own) if own == id => Ok(()),
                    _ => Err(FileCause::BuildId),
                };
                if search.take(&path, same) {
                    return search;
                }
            }
        }
        match self.debug_link() {
            Ok(Some(link)) => search.by_link(&link, folders),
            Ok(None) => {}
            Err(error) => search.problems.push(error.into()),
        }
        search
    }
}

impl Separate {
    fn by_link(&mut self, link: &DebugLink, folders: &[PathBuf]) {
        for folder in folders {
            for path in [folder.join(&link.file), folder.join(".debug").join(&link.file)] {
                let same = |bytes: &[u8], _: &CodeObject| match crc32fast::hash(bytes) {
                    crc if crc == link.crc => Ok(()),
                    _ => Err(FileCause::Checksum(link.crc)),
                };
                if self.take(&path, same) {
                    return;
                }
            }
        }
    }

    /// Takes a file if it exists and matches.
    fn take(&mut self, path: &Path, is_right: impl Fn(&[u8], &CodeObject) -> Result<(), FileCause>) -> bool {
        if !path.is_file() {
            return false;
        }
        let opened = open(path).and_then(|(bytes, object)| is_right(&bytes, &object).map(|()| object));
        match opened {
            Ok(object) => {
                self.found = Some((path.to_owned(), object));
                true
            }
            Err(cause) => {
                self.problems.push(SeparateError::File { path: path.to_owned(), cause });
                false
            }
        }
    }
}

fn open(path: &Path) -> Result<(Bytes, CodeObject), FileCause> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let bytes = Bytes::new(Arc::new(crate::mapping::map(&file, 0, length)?));
    let object = CodeObject::parse(bytes.clone()).map_err(|_| FileCause::NoCodeObject)?;
    Ok((bytes, object))
}

/// Whether a name stays in its search folder.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\'])
}
