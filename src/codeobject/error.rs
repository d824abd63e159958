//! What can be wrong with a code object, always with the place in the file.

use thiserror::Error;

use crate::elf::read::ElfError;

/// Why bytes are not an AMDGPU code object, or which part of one cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeObjectError {
    /// Something else than a code object for this machine, said as found and expected.
    #[error("not an AMDGPU code object: {what} at file offset {offset:#x} is {found}, expected {expected}")]
    Identity {
        /// The field that tells: `ELF magic`, `e_machine` ...
        what: &'static str,
        /// Its file offset in bytes.
        offset: u64,
        /// What stands there.
        found: String,
        /// What a code object has there.
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
        /// What is wrong with it.
        why: String,
    },
    /// A compressed section that does not unpack.
    #[error("compressed section {section} at file offset {offset:#x}: {why}")]
    Compression {
        /// The section's name.
        section: String,
        /// Its file offset in bytes.
        offset: u64,
        /// What the decompressor said.
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
        /// What stands in the way.
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
