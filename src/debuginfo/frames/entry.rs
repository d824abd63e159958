//! Entries of call frame information, and the reasons that one cannot be read.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::augmentation::Augmentation;
use crate::codeobject::{Bytes, CodeObjectError, ElfAddress};
use crate::debuginfo::error::ParseError;
use crate::units::DwarfReg;

/// The section that an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameSection {
    /// `.debug_frame`, which compilers for AMDGPU write.
    DebugFrame,
    /// `.eh_frame`, which is loaded with the code.
    EhFrame,
}

impl FrameSection {
    /// Its name in a code object.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DebugFrame => ".debug_frame",
            Self::EhFrame => ".eh_frame",
        }
    }
}

impl fmt::Display for FrameSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A CIE: the part that FDEs share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cie {
    /// Where it begins in the section.
    pub offset: u64,
    /// 1, 3 or 4.
    pub version: u8,
    /// Its augmentation, empty for what compilers write today.
    pub augmentation: Augmentation,
    /// Bytes of an address.
    pub address_size: u8,
    /// Bytes of the segment selector before an FDE's initial location; 0 on AMDGPU.
    pub segment_size: u8,
    /// `code_alignment_factor`: bytes of a unit of the instructions that advance the PC.
    pub code_factor: u64,
    /// `data_alignment_factor`: bytes of a unit of factored offsets.
    pub data_factor: i64,
    /// `return_address_register`.
    pub return_address: DwarfReg,
    /// `initial_instructions`.
    pub instructions: Bytes,
}

/// A CIE or an FDE.
#[derive(Clone, Debug)]
pub struct FrameEntry {
    /// The section.
    pub section: FrameSection,
    /// Where it begins in the section.
    pub offset: u64,
    /// The code that an FDE is for; `None` for a CIE.
    pub pcs: Option<Range<ElfAddress>>,
    /// Itself, or its CIE.
    pub cie: Arc<Cie>,
    /// Whether offsets have 8 bytes.
    pub dwarf64: bool,
    /// Its instructions; none where the CIE's augmentation is unknown, for then nobody knows where they begin.
    pub instructions: Bytes,
}

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{section} entry at {offset:#x}: {why}")]
pub struct FrameError {
    /// The section.
    pub section: FrameSection,
    /// Where the entry begins in it.
    pub offset: u64,
    /// Why.
    pub why: EntryError,
}

/// Why an entry cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The section itself cannot be read.
    #[error(transparent)]
    Section(#[from] CodeObjectError),
    /// A field is truncated or no number; the error is the parser's.
    #[error(transparent)]
    Field(ParseError),
    /// A version that no document describes.
    #[error("version {0}, expected 1, 3 or 4")]
    Version(u8),
    /// Addresses of another size than AMDGPU's: every field after them would be read from a wrong place.
    #[error("address size {0}, expected 8")]
    AddressSize(u8),
    /// A segment selector, which no address of AMDGPU has.
    #[error("segment selector size {0}, expected 0")]
    SegmentSize(u8),
    /// An encoding of pointers that means nothing here.
    #[error("pointer encoding {0:#04x}, expected an absolute or PC-relative number")]
    Pointer(u8),
    /// The CIE that an FDE names cannot be read.
    #[error("its CIE at {0:#x} cannot be read")]
    Cie(u64),
    /// Code beyond the end of the address space.
    #[error("{size:#x} bytes of code at {start:#x} wrap around the address space")]
    Wraps {
        /// Initial location.
        start: u64,
        /// Address range.
        size: u64,
    },
}

/// The error of a function that reads fields and checks them.
#[derive(Debug)]
pub(super) enum ReadError {
    Field(gimli::Error),
    Entry(EntryError),
}

impl From<gimli::Error> for ReadError {
    fn from(error: gimli::Error) -> Self {
        Self::Field(error)
    }
}

impl From<EntryError> for ReadError {
    fn from(error: EntryError) -> Self {
        Self::Entry(error)
    }
}

impl From<ReadError> for EntryError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Field(error) => Self::Field(ParseError::new(error)),
            ReadError::Entry(error) => error,
        }
    }
}
