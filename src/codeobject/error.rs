//! Errors in a code object, always with the place in the file.

use thiserror::Error;

use super::metadata::MsgpackError;
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
        /// The error.
        why: UnpackError,
    },
    /// A note of metadata that is unreadable.
    #[error("{what} at file offset {offset:#x}: {why}")]
    Metadata {
        /// The note.
        what: String,
        /// Its file offset in bytes.
        offset: u64,
        /// The error.
        why: MetadataError,
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
        why: RelocationError,
    },
}

/// The reason that compressed contents do not unpack.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The contents claim more bytes than the bound on all unpacked parts of a file leaves.
    #[error(
        "claims {claimed} bytes; the bound leaves {left} for all unpacked parts of the file (unpack it with other tools)"
    )]
    Limit {
        /// Bytes that they claim to have unpacked.
        claimed: u64,
        /// Bytes that the bound leaves.
        left: u64,
    },
    /// The section is too short for the header of compressed contents.
    #[error("{0} bytes, too few for the compression header")]
    Header(usize),
    /// `ch_type` is unknown.
    #[error("unknown compression type {0}, expected 1 (zlib) or 2 (zstd)")]
    Type(u32),
    /// A `.zdebug_` section without its header.
    #[error("it does not begin with ZLIB and a size")]
    NoSize,
    /// The decompressor's error.
    #[error("{0}")]
    Data(String),
}

/// The reason that a relocation cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RelocationError {
    /// The type is unknown.
    #[error("not a relocation type of AMDGPU")]
    Type,
    /// The type makes no sense in a debug section.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// The value needs more bits than the field has.
    #[error("the value {0:#x} does not fit 32 bits")]
    Fit(u64),
    /// The field lies outside of the section.
    #[error("its field of {width} bytes leaves the section, which has {length}")]
    Outside {
        /// Bytes of the field.
        width: usize,
        /// Bytes of the section.
        length: usize,
    },
    /// The table has no such symbol.
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
    /// Problems that are not listed.
    #[error("{0} further relocations cannot be applied")]
    More(usize),
}

/// The reason that a note of metadata is unreadable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The MessagePack of code objects since version 3.
    #[error(transparent)]
    Msgpack(#[from] MsgpackError),
    /// The YAML of version 2 has too many bytes.
    #[error("YAML of {size} bytes, expected at most {limit}")]
    TooLong {
        /// Its size in bytes.
        size: usize,
        /// The bound.
        limit: usize,
    },
    /// The YAML is no UTF-8 text.
    #[error("not UTF-8 at byte {0}")]
    Utf8(usize),
    /// The YAML parser's error.
    #[error("YAML: {0}")]
    Yaml(String),
    /// An alias, which AMD's producers never write.
    #[error("YAML: an alias at line {0}, which metadata never has")]
    Alias(usize),
    /// Too many levels.
    #[error("YAML nests deeper than {limit} at line {line}")]
    Depth {
        /// The bound.
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
