//! Errors in a code object, always with the place in the file.

use thiserror::Error;

use crate::elf::read::ElfError;

/// Why bytes are not an AMDGPU code object, or which part of one cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeObjectError {
    /// Not a code object for this machine: found and expected value.
    #[error("not an AMDGPU code object: {what} at file offset {offset:#x} is {found}, expected {expected}")]
    Identity {
        /// The field that differs: `ELF magic`, `e_machine` ...
        what: &'static str,
        /// Its file offset in bytes.
        offset: u64,
        /// The value found.
        found: String,
        /// The value of a code object.
        expected: &'static str,
    },
    /// The file ends before something that its headers promise.
    #[error("{what} at file offset {offset:#x} needs {needed} bytes, the file has {have} there")]
    Truncated {
        /// The part that is cut off.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// How many bytes it has by its header.
        needed: u64,
        /// How many bytes of them the file holds.
        have: u64,
    },
    /// A field with a value that the format does not allow.
    #[error("{what} at file offset {offset:#x}: {why}")]
    Malformed {
        /// The part that is wrong.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The error.
        why: String,
    },
    /// A compressed section that does not unpack.
    #[error("compressed section {section} at file offset {offset:#x}: {why}")]
    Compression {
        /// The section's name.
        section: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The decompressor's error.
        why: String,
    },
    /// A relocation of a debug section that cannot be applied; its field was left as it was.
    #[error("{name} at offset {offset:#x} of section {section}: {why}")]
    Relocation {
        /// The section whose field it is for.
        section: String,
        /// Offset of the field in the section, in bytes.
        offset: u64,
        /// The relocation type's name.
        name: String,
        /// The obstacle.
        why: String,
    },
}

impl From<ElfError> for CodeObjectError {
    fn from(error: ElfError) -> Self {
        match error {
            ElfError::Truncated { what, offset, needed, have } => {
                Self::Truncated { what, offset, needed, have }
            }
            ElfError::Malformed { what, offset, why } => Self::Malformed { what, offset, why },
        }
    }
}

/// The result of reading a code object.
pub type Result<T, E = CodeObjectError> = std::result::Result<T, E>;
