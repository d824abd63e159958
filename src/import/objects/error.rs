//! Reasons that a file, or one of its code objects, is rejected.

use super::compare::MAX_COMPARED;
use super::find::{MAX_COPIED, NOT_OPENED, NOT_USED};
use crate::codeobject::{CodeObjectError, MAX_ENTRIES, UriError};

/// The reason that a file has no candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CandidateError {
    /// The operating system's error.
    #[error("{0}")]
    Io(String),
    #[error("the file is empty")]
    Empty,
    #[error(transparent)]
    File(#[from] CodeObjectError),
    /// Contains the first damage of the file.
    #[error("it holds no AMDGPU code object with code{}", .0.as_ref().map_or_else(String::new, |why| format!(": {why}")))]
    NoCode(Option<CodeObjectError>),
    #[error("more than {MAX_ENTRIES} entries of bundles that URIs name; --code-object FILE names one")]
    Entries,
    /// All code of the file is of a format that is compiled later.
    #[error("it holds no AMDGPU code object with code, but {0}")]
    Uncompiled(&'static str),
}

impl From<std::io::Error> for CandidateError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

/// The reason that a loaded code object rejects a candidate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TakeError {
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// The evidence against each candidate.
    #[error("{}", .0.join("; "))]
    Refused(Vec<String>),
    #[error("no code object is known to be loaded, and its code is nowhere around a PC")]
    NothingLoaded,
    #[error(transparent)]
    Uri(#[from] UriError),
    #[error("a memory:// URI needs offset and size")]
    NoRange,
    #[error("{0} bytes in pieces; at most {MAX_COPIED} are put together")]
    Pieces(u64),
    #[error("of the {size} bytes at {address:#x} of the process's memory {captured} are captured")]
    NotCaptured { size: u64, address: u64, captured: u64 },
    #[error("{NOT_OPENED}")]
    NotOpened,
    #[error("{NOT_USED}")]
    NotUsed,
}

/// A segment with bytes in memory that differ from the file's, or were not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SegmentError {
    #[error("not compared: more than {MAX_COMPARED} bytes of code objects are")]
    Limit,
    /// The bytes are the first that differ, in hex.
    #[error(
        "its {part} is another: at {address:#x} (ELF address {elf:#x}) memory has {memory}, the file has {file}"
    )]
    Differs { part: &'static str, address: u64, elf: u64, memory: String, file: String },
}
