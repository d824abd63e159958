//! Call frame information of a code object: entries of `.debug_frame` and `.eh_frame`, and which one holds a PC.
//!
//! Only headers are read, once, when a first question comes; instructions stay bytes for `dwarf`. gimli refuses
//! every entry with an augmentation of the heterogeneous extensions, so the headers are read here: DWARF 5 section 6.4.1,
//! "Structure of Call Frame Information" of the 2020 AMDGPU text, and for `.eh_frame` the Linux Standard Base. An entry
//! that cannot be read costs itself and is reported with its offset.

mod augmentation;
mod entry;
mod parse;
mod pointer;

use std::ops::Range;

use super::DebugInfo;
use crate::codeobject::{Bytes, CodeObject, ElfAddress};
use crate::debuginfo::interval::Intervals;

pub use augmentation::Augmentation;
pub use entry::{Cie, EntryError, FrameEntry, FrameError, FrameSection};

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
