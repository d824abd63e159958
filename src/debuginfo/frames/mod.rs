//! Call frame information of a code object: entries of `.debug_frame` and `.eh_frame`, and which one holds a PC.
//!
//! Only headers are read, once, when a first question comes; instructions stay bytes for `dwarf`. gimli refuses
//! every entry with an augmentation of the heterogeneous extensions, so the headers are read here: DWARF 5 section 6.4.1,
//! "Structure of Call Frame Information" of the 2020 AMDGPU text, and for `.eh_frame` the Linux Standard Base. An entry
//! that cannot be read costs itself and is reported with its offset.

mod augmentation;
mod parse;
mod pointer;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::DebugInfo;
use crate::codeobject::{Bytes, CodeObject, CodeObjectError, ElfAddress};
use crate::debuginfo::unit::interval::Intervals;
use crate::units::DwarfReg;

pub use augmentation::Augmentation;

/// The section that an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameSection {
    /// `.debug_frame`, which compilers for AMDGPU write.
    DebugFrame,
    /// `.eh_frame`, which is loaded with the code.
    EhFrame,
}

const FRAME: &str = ".debug_frame";
const EH_FRAME: &str = ".eh_frame";

impl FrameSection {
    /// Its name in a code object.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DebugFrame => FRAME,
            Self::EhFrame => EH_FRAME,
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
    #[error("{0}")]
    Field(#[from] gimli::Error),
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

/// All entries of a code object, by address.
#[derive(Debug)]
pub struct CallFrames {
    entries: Vec<FrameEntry>,
    by_address: Intervals<usize>,
    problems: Vec<FrameError>,
}

impl CallFrames {
    /// Reads the headers of all entries.
    ///
    /// `elsewhere`: the `.debug_frame` of the file that the debug information was moved to
    /// ([`DebugInfo::frame_section`]); only asked for where the code object has none.
    #[must_use]
    pub fn read(object: &CodeObject, elsewhere: impl FnOnce() -> Option<Bytes>) -> Self {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        let own = object.section_bytes(FRAME);
        let moved = matches!(&own, Ok(bytes) if bytes.as_ref().is_none_or(|bytes| bytes.is_empty()));
        let debug_frame = if moved { Ok(elsewhere()) } else { own };
        let eh_frame = object.section_bytes(EH_FRAME);
        for (section, bytes) in [(FrameSection::DebugFrame, debug_frame), (FrameSection::EhFrame, eh_frame)] {
            match bytes {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    let address = object.section(section.name()).map_or(0, |section| section.address);
                    parse::read(section, &bytes, address, &mut entries, &mut problems);
                }
                Err(why) => problems.push(FrameError { section, offset: 0, why: why.into() }),
            }
        }
        // A linker leaves the entries of code that it dropped, at address 0 or another where no code is.
        let code: Vec<Range<u64>> = {
            let segments = object.segments().iter();
            let code = segments.filter(|segment| segment.is_loaded() && segment.is_executable());
            code.map(|segment| segment.addresses.clone()).collect()
        };
        let is_code = |at: ElfAddress| code.is_empty() || code.iter().any(|range| range.contains(&at.0));
        // Of two for the same code the one that starts later counts; of equals the one of .debug_frame, the first of all.
        let ranges = entries.iter().enumerate().rev().filter_map(|(index, entry)| {
            let pcs = entry.pcs.as_ref().filter(|pcs| is_code(pcs.start))?;
            Some((pcs.start.0..pcs.end.0, index))
        });
        let by_address = Intervals::new(ranges.collect::<Vec<_>>());
        Self { entries, by_address, problems }
    }

    /// The FDE whose code holds an address.
    #[must_use]
    pub fn at(&self, pc: ElfAddress) -> Option<&FrameEntry> {
        self.by_address.at(pc.0).next().and_then(|index| self.entries.get(*index))
    }

    /// All entries that can be read, in the order of their sections.
    #[must_use]
    pub fn entries(&self) -> &[FrameEntry] {
        &self.entries
    }

    /// The unreadable parts.
    #[must_use]
    pub fn problems(&self) -> &[FrameError] {
        &self.problems
    }
}

impl DebugInfo {
    /// The call frame information of the code object; whoever asks often keeps it.
    #[must_use]
    pub fn call_frames(&self) -> CallFrames {
        CallFrames::read(self.code_object(), || self.sections.frame.clone())
    }

    /// `.debug_frame` of the file that the debug information is in; `None` when there is none.
    #[must_use]
    pub fn frame_section(&self) -> Option<Bytes> {
        self.sections.frame.clone()
    }
}
