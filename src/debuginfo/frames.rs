//! Entries of `.debug_frame`, instructions undecoded: DWARF 5 section 6.4.1.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{EndianSlice, LittleEndian, Reader as _};

use super::DebugInfo;
use super::error::Result;
use crate::codeobject::{Bytes, ElfAddress};

/// What the instructions of an entry need of its CIE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CieFacts {
    /// Its augmentation, empty for what compilers write today.
    pub augmentation: Arc<str>,
    /// Bytes of a unit of the instructions that advance the PC.
    pub code_factor: u64,
    /// Bytes of an address.
    pub address_size: u8,
}

/// A CIE or an FDE.
#[derive(Clone, Debug)]
pub struct FrameEntry {
    /// Where it begins in the section.
    pub offset: u64,
    /// The code that an FDE is for; `None` for a CIE.
    pub pcs: Option<Range<ElfAddress>>,
    /// Its own facts, or those of its CIE.
    pub cie: Arc<CieFacts>,
    /// Whether offsets have 8 bytes.
    pub dwarf64: bool,
    /// Its instructions.
    pub instructions: Bytes,
}

impl DebugInfo {
    /// The entries of `.debug_frame` in order, and why the list ends before the section does, if so.
    ///
    /// # Errors
    /// The section cannot be read.
    pub fn frame_entries(&self) -> Result<(Vec<FrameEntry>, Option<String>)> {
        let Some(section) = self.frame_section()? else { return Ok((Vec::new(), None)) };
        let mut entries = Vec::new();
        let mut cies = HashMap::new();
        let mut rest = EndianSlice::new(&section, LittleEndian);
        while !rest.is_empty() {
            let offset = (section.len() - rest.len()) as u64;
            match entry(&mut rest, offset, &section, &mut cies) {
                Ok(found) => entries.extend(found),
                Err(why) => return Ok((entries, Some(format!(".debug_frame entry at {offset:#x}: {why}")))),
            }
        }
        Ok((entries, None))
    }
}

type Slice<'s> = EndianSlice<'s, LittleEndian>;

/// The next entry; `None` for padding and for an entry whose CIE has an unknown augmentation, of which nothing is known.
fn entry(
    rest: &mut Slice<'_>,
    offset: u64,
    section: &Bytes,
    cies: &mut HashMap<u64, Arc<CieFacts>>,
) -> std::result::Result<Option<FrameEntry>, gimli::Error> {
    let (length, format) = rest.read_initial_length()?;
    let mut body = rest.split(length)?;
    if length == 0 {
        return Ok(None);
    }
    let dwarf64 = format == gimli::Format::Dwarf64;
    let id = if dwarf64 { body.read_u64()? } else { u64::from(body.read_u32()?) };
    let is_cie = id == if dwarf64 { u64::MAX } else { u64::from(u32::MAX) };
    let (cie, pcs) = if is_cie {
        let version = body.read_u8()?;
        let augmentation = body.read_null_terminated_slice()?.to_string_lossy().into_owned();
        // The extensions' augmentations (`[vendor:vX.Y]`) change no field, any other may.
        if !augmentation.is_empty() && !augmentation.starts_with('[') {
            return Ok(None);
        }
        let mut address_size = 8;
        if version >= 4 {
            address_size = body.read_u8()?;
            body.read_u8()?;
        }
        let code_factor = body.read_uleb128()?;
        body.read_sleb128()?;
        if version == 1 {
            body.read_u8()?;
        } else {
            body.read_uleb128()?;
        }
        let facts = Arc::new(CieFacts { augmentation: Arc::from(augmentation), code_factor, address_size });
        cies.insert(offset, Arc::clone(&facts));
        (facts, None)
    } else {
        let Some(cie) = cies.get(&id) else { return Ok(None) };
        let low = body.read_address(cie.address_size)?;
        let size = body.read_address(cie.address_size)?;
        (Arc::clone(cie), Some(ElfAddress(low)..ElfAddress(low.wrapping_add(size))))
    };
    let instructions = section.slice_ref(body.slice()).unwrap_or_else(|| Bytes::from(body.slice().to_vec()));
    Ok(Some(FrameEntry { offset, pcs, cie, dwarf64, instructions }))
}
