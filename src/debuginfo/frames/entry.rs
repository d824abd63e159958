//! Entries of call frame information, and errors in them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::augmentation::Augmentation;
use crate::codeobject::{Bytes, CodeObjectError, ElfAddress};
use crate::debuginfo::error::ParseError;
use crate::units::DwarfReg;

/// The section of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameSection {
    /// `.debug_frame`, which compilers for AMDGPU write.
    DebugFrame,
    /// `.eh_frame`, a loaded section.
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

/// A CIE: the common part of FDEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cie {
    /// Its offset in the section.
    pub offset: u64,
    /// 1, 3 or 4.
    pub version: u8,
    /// Its augmentation, empty in today's compilers.
    pub augmentation: Augmentation,
    /// Bytes of an address.
    pub address_size: u8,
    /// Bytes of the segment selector before an FDE's initial location; 0 on AMDGPU.
    pub segment_size: u8,
    /// `code_alignment_factor`: bytes per unit of the instructions that advance the PC.
    pub code_factor: u64,
    /// `data_alignment_factor`: bytes per unit of factored offsets.
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
    /// Its offset in the section.
    pub offset: u64,
    /// The code of an FDE; `None` for a CIE.
    pub pcs: Option<Range<ElfAddress>>,
    /// The CIE itself, or the FDE's CIE.
    pub cie: Arc<Cie>,
    /// Whether offsets have 8 bytes.
    pub dwarf64: bool,
    /// Its instructions; empty if the CIE's augmentation is unknown, since their beginning is unknown then.
    pub instructions: Bytes,
}

/// An error in an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{section} entry at {offset:#x}: {why}")]
pub struct FrameError {
    /// The section.
    pub section: FrameSection,
    /// The entry's offset in the section.
    pub offset: u64,
    /// The reason.
    pub why: EntryError,
}

/// The reason that an entry is unreadable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The section itself is unreadable.
    #[error(transparent)]
    Section(#[from] CodeObjectError),
    /// A field is truncated or not a number; with the parser's error.
    #[error(transparent)]
    Field(ParseError),
    /// The version is undocumented.
    #[error("version {0}, expected 1, 3 or 4")]
    Version(u8),
    /// The address size is not AMDGPU's: every later field would be misplaced.
    #[error("address size {0}, expected 8")]
    AddressSize(u8),
    /// The entry has a segment selector, which AMDGPU's addresses lack.
    #[error("segment selector size {0}, expected 0")]
    SegmentSize(u8),
    /// The encoding of pointers has no meaning here.
    #[error("pointer encoding {0:#04x}, expected an absolute or PC-relative number")]
    Pointer(u8),
    /// The CIE of an FDE is unreadable.
    #[error("its CIE at {0:#x} cannot be read")]
    Cie(u64),
    /// The code extends past the end of the address space.
    #[error("{size:#x} bytes of code at {start:#x} wrap around the address space")]
    Wraps {
        /// Initial location.
        start: u64,
        /// Address range.
        size: u64,
    },
}

/// An error of the functions that read and check fields.
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
