//! The user's supplements to an incomplete capture.

use std::path::PathBuf;

use crate::capture::FaultAddress;

/// Supplements to a capture; the default is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The capture's name in messages, if it differs from the file's path: `standard input`.
    pub name: Option<String>,
    /// The core of the host process, for a separate GPU core.
    pub host_core: Option<PathBuf>,
    /// Code objects, each with its load address if known.
    pub code_objects: Vec<Supplied>,
    /// Folders to search for code objects, by build id or by content.
    pub symbols: Vec<PathBuf>,
    /// URLs of debuginfod servers.
    pub debuginfod: Vec<String>,
    /// Whether to use code objects that do not match the captured memory or the processor.
    pub force: bool,
    /// `r_debug::r_version` of the ROCm runtime that wrote the capture, if the capture lacks it.
    pub r_version: Option<u32>,
    /// Use of files of this machine that the capture names.
    pub local_files: LocalFiles,
    /// The processor, for formats without one: `gfx90a`.
    pub target: Option<String>,
    /// Texts in which faults are reported: a program's output, a kernel log.
    pub logs: Vec<PathBuf>,
    /// The address of the fault.
    pub fault_address: Option<FaultAddress>,
}

/// Use of files of this machine that a capture names: `file://` of cores and logs, `path` of dumps (docs/security.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalFiles {
    /// For a core that belongs to the user: files whose loaded bytes are all in captured memory.
    #[default]
    Auto,
    /// Files that match the capture's facts.
    Yes,
    /// No file.
    No,
}

/// A code object from the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supplied {
    /// Its file.
    pub file: PathBuf,
    /// Its load address; `None`: unknown.
    pub address: Option<u64>,
}
