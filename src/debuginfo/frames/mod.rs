//! Call frame information of a code object: entries of `.debug_frame` and `.eh_frame`, with lookup by PC.
//!
//! The first question reads the headers; instructions stay bytes for `dwarf`. gimli rejects entries with an
//! augmentation of the heterogeneous extensions, hence the parser here. DWARF 5 section 6.4.1; "Structure of Call Frame
//! Information" of the 2020 AMDGPU text; Linux Standard Base for `.eh_frame`. An unreadable entry is reported with its
//! offset and affects no other.

mod augmentation;
mod entry;
mod parse;
mod pointer;

use std::ops::Range;
use std::sync::Arc;

use super::DebugInfo;
use crate::codeobject::{Bytes, CodeObject, ElfAddress};
use crate::debuginfo::interval::Intervals;

pub use augmentation::Augmentation;
pub use entry::{Cie, EntryError, FrameEntry, FrameError, FrameSection};

/// All entries of a code object, by address.
#[derive(Debug, Default)]
pub struct CallFrames {
    entries: Vec<FrameEntry>,
    by_address: Intervals<usize>,
    problems: Vec<FrameError>,
}

impl CallFrames {
    /// Reads the headers of all entries.
    ///
    /// `elsewhere`: the `.debug_frame` of the separate debug file ([`DebugInfo::frame_section`]), for a code object
    /// without one.
    #[must_use]
    pub fn read(object: &CodeObject, elsewhere: impl FnOnce() -> Option<Bytes>) -> Self {
        let (mut entries, mut problems) = (Vec::new(), Vec::new());
        let own = object.section_bytes(FrameSection::DebugFrame.name());
        let moved = matches!(&own, Ok(bytes) if bytes.as_ref().is_none_or(|bytes| bytes.is_empty()));
        let debug_frame = if moved { Ok(elsewhere()) } else { own };
        let eh_frame = object.section_bytes(FrameSection::EhFrame.name());
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
        // A linker keeps the entries of dropped code, at address 0 or another address without code.
        let code: Vec<Range<u64>> = {
            let segments = object.segments().iter();
            let code = segments.filter(|segment| segment.is_loaded() && segment.is_executable());
            code.map(|segment| segment.addresses.clone()).collect()
        };
        let is_code = |at: ElfAddress| code.is_empty() || code.iter().any(|range| range.contains(&at.0));
        // Of two entries for the same code the later start wins; of equal ones `.debug_frame`, then the first.
        let ranges = entries.iter().enumerate().rev().filter_map(|(index, entry)| {
            let pcs = entry.pcs.as_ref().filter(|pcs| is_code(pcs.start))?;
            Some((pcs.start.0..pcs.end.0, index))
        });
        let by_address = Intervals::new(ranges.collect::<Vec<_>>());
        Self { entries, by_address, problems }
    }

    /// The FDE whose code contains an address.
    #[must_use]
    pub fn at(&self, pc: ElfAddress) -> Option<&FrameEntry> {
        self.by_address.at(pc.0).next().and_then(|index| self.entries.get(*index))
    }

    /// All readable entries, in the order of their sections.
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
    /// The call frame information of the code object; callers cache it.
    #[must_use]
    pub fn call_frames(&self) -> CallFrames {
        let read = |object: &Arc<CodeObject>| CallFrames::read(object, || self.sections.frame.clone());
        self.code_object().map(read).unwrap_or_default()
    }

    /// `.debug_frame` of the file with the debug information; `None` if it has none.
    #[must_use]
    pub fn frame_section(&self) -> Option<Bytes> {
        self.sections.frame.clone()
    }
}
