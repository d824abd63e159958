//! The user's additions to an incomplete capture.

use std::path::PathBuf;

/// Additions to a capture; the default adds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The capture's name in messages, if that is not the path of its file: `standard input`.
    pub name: Option<String>,
    /// The core of the host process, for a GPU core that was written beside it.
    pub host_core: Option<PathBuf>,
    /// Code objects, each with the address where it was loaded if the user knows.
    pub code_objects: Vec<Supplied>,
    /// Folders in which code objects are looked for, by build id or by content.
    pub symbols: Vec<PathBuf>,
    /// URLs of debuginfod servers.
    pub debuginfod: Vec<String>,
    /// Takes a code object that does not match the captured memory, or is for another processor, all the same.
    pub force: bool,
    /// `r_debug::r_version` of the ROCm runtime that wrote the capture, where the capture does not hold it.
    pub r_version: Option<u32>,
    /// Whether files of this machine count that the capture names.
    pub local_files: LocalFiles,
    /// The processor, for formats without it: `gfx90a`.
    pub target: Option<String>,
}

/// Whether files of this machine count that a capture names: `file://` of cores and logs, `path` of dumps (docs/security.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalFiles {
    /// Of a core that is the user's own: those whose loaded bytes are all in captured memory.
    #[default]
    Auto,
    /// Those that match the capture's facts.
    Yes,
    /// None is opened.
    No,
}

/// A code object that the user gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supplied {
    /// Its file.
    pub file: PathBuf,
    /// Its load address; `None`: to be found.
    pub address: Option<u64>,
}
