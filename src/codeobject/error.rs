//! Errors in a code object, with their file offsets.

use thiserror::Error;

use super::metadata::MsgpackError;
use crate::elf::read::ElfError;

/// An error in a code object, or in one of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeObjectError {
    /// Not an AMDGPU code object: found and expected value.
    #[error("not an AMDGPU code object: {what} at file offset {offset:#x} is {found}, expected {expected}")]
    Identity {
        /// The field that differs: `ELF magic`, `e_machine` ...
        what: &'static str,
        /// Its file offset in bytes.
        offset: u64,
        /// The value found.
        found: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The file ends before a part that its headers announce.
    #[error("{what} at file offset {offset:#x} needs {needed} bytes, the file has {have} there")]
    Truncated {
        /// The part that is cut off.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// Its size according to its header, in bytes.
        needed: u64,
        /// The bytes of it that the file has.
        have: u64,
    },
    /// A field has an invalid value.
    #[error("{what} at file offset {offset:#x}: {why}")]
    Malformed {
        /// The part that is wrong.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The error.
        why: String,
    },
    /// A compressed section does not unpack.
    #[error("compressed section {section} at file offset {offset:#x}: {why}")]
    Compression {
        /// The section's name.
        section: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The error.
        why: UnpackError,
    },
    /// A metadata note is unreadable.
    #[error("{what} at file offset {offset:#x}: {why}")]
    Metadata {
        /// The note.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The error.
        why: MetadataError,
    },
    /// A relocation of a debug section is not applicable; its field stays unchanged.
    #[error("{name} at offset {offset:#x} of section {section}: {why}")]
    Relocation {
        /// The section with the field.
        section: String,
        /// Offset of the field in the section, in bytes.
        offset: u64,
        /// The relocation type's name.
        name: String,
        /// The cause.
        why: RelocationError,
    },
}

impl CodeObjectError {
    /// The error of a part of a file, whose offset is relative to `base` of the file.
    pub(super) fn moved(mut self, base: u64) -> Self {
        if let Self::Truncated { offset, .. } | Self::Malformed { offset, .. } = &mut self {
            *offset = base.saturating_add(*offset);
        }
        self
    }
}

/// The cause of a failed decompression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The contents announce more bytes than the limit for all unpacked parts of a file leaves.
    #[error(
        "claims {claimed} bytes; the bound leaves {left} for all unpacked parts of the file (unpack it with other tools)"
    )]
    Limit {
        /// The announced size in bytes.
        claimed: u64,
        /// Bytes left of the limit.
        left: u64,
    },
    /// The contents claim more bytes than the bound on the unpacked parts of several files leaves.
    #[error("claims {claimed} bytes; the bound leaves {left} for all unpacked parts of all code objects")]
    AllLimit {
        /// Bytes that they claim to have unpacked.
        claimed: u64,
        /// Bytes that the bound leaves.
        left: u64,
    },
    /// The section is too short for its compression header.
    #[error("{0} bytes, too few for the compression header")]
    Header(usize),
    /// `ch_type` is unknown.
    #[error("unknown compression type {0}, expected 1 (zlib) or 2 (zstd)")]
    Type(u32),
    /// A `.zdebug_` section lacks its header.
    #[error("it does not begin with ZLIB and a size")]
    NoSize,
    /// The decompressor's error.
    #[error("{0}")]
    Data(String),
}

/// The reason for a failed relocation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RelocationError {
    /// The type is unknown.
    #[error("not a relocation type of AMDGPU")]
    Type,
    /// The type is invalid in a debug section.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// The value does not fit the field.
    #[error("the value {0:#x} does not fit 32 bits")]
    Fit(u64),
    /// The field lies outside of the section.
    #[error("its field of {width} bytes leaves the section, which has {length}")]
    Outside {
        /// Size of the field in bytes.
        width: usize,
        /// Size of the section in bytes.
        length: usize,
    },
    /// The symbol table is shorter.
    #[error("symbol {index} does not exist, the table has {count}")]
    NoSymbol {
        /// The symbol's index.
        index: usize,
        /// Number of symbols.
        count: usize,
    },
    /// The symbol is in another file.
    #[error("symbol `{0}` is defined in another file")]
    Undefined(String),
    /// The symbol is a variable in LDS.
    #[error("symbol `{0}` has no address in LDS before the linker gives it one")]
    Lds(String),
    /// Number of further problems, which are not listed.
    #[error("{0} further relocations cannot be applied")]
    More(usize),
}

/// The error in a metadata note.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The MessagePack of code objects since version 3.
    #[error(transparent)]
    Msgpack(#[from] MsgpackError),
    /// The YAML of version 2 is too long.
    #[error("YAML of {size} bytes, expected at most {limit}")]
    TooLong {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The YAML is not UTF-8.
    #[error("not UTF-8 at byte {0}")]
    Utf8(usize),
    /// The YAML parser's error.
    #[error("YAML: {0}")]
    Yaml(String),
    /// An alias, which AMD's tools never write.
    #[error("YAML: an alias at line {0}, which metadata never has")]
    Alias(usize),
    /// The nesting is too deep.
    #[error("YAML nests deeper than {limit} at line {line}")]
    Depth {
        /// The maximum depth.
        limit: usize,
        /// The line.
        line: usize,
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
