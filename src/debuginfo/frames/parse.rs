//! The entries of one section, headers only.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{EndianSlice, LittleEndian, Reader as _};

use super::augmentation::{Augmentation, AugmentationKind};
use super::entry::{Cie, EntryError, FrameEntry, FrameError, FrameSection, ReadError};
use super::pointer::Encoding;
use crate::clean::clean;
use crate::codeobject::{Bytes, ElfAddress};
use crate::debuginfo::unit::sections::Slice;
use crate::units::DwarfReg;

/// Bytes of an address, for entries without an address size: a code object is a 64-bit file.
const ADDRESS_SIZE: u8 = 8;

/// Reads all entries of a section at its load address.
pub(super) fn read(
    section: FrameSection,
    bytes: &Bytes,
    address: u64,
    entries: &mut Vec<FrameEntry>,
    problems: &mut Vec<FrameError>,
) {
    let mut reader = Reading { section, bytes, address, cies: HashMap::new() };
    let mut offset = 0;
    while (offset as usize) < bytes.len() {
        let (entry, next) = match reader.raw(offset) {
            Ok(raw) => (reader.entry(&raw), raw.end),
            // Without a length the beginning of the next entry is unknown.
            Err(why) => (Err(why), bytes.len() as u64),
        };
        match entry {
            Ok(entry) => entries.extend(entry),
            Err(why) => problems.push(FrameError { section, offset, why: why.into() }),
        }
        offset = next;
    }
}

/// The common fields of CIEs and FDEs.
struct Raw<'s> {
    offset: u64,
    /// Offset of the next entry.
    end: u64,
    dwarf64: bool,
    kind: RawKind,
    /// The bytes after the id.
    body: Slice<'s>,
}

enum RawKind {
    /// Length 0: terminator or padding.
    Empty,
    Cie,
    /// An FDE, with its CIE's offset.
    Fde(u64),
}

struct CieAt {
    cie: Arc<Cie>,
    pointers: Encoding,
}

struct Reading<'s> {
    section: FrameSection,
    bytes: &'s Bytes,
    address: u64,
    /// CIEs by offset; `None` for unreadable ones.
    cies: HashMap<u64, Option<Arc<CieAt>>>,
}

impl<'s> Reading<'s> {
    fn raw(&self, offset: u64) -> Result<Raw<'s>, ReadError> {
        let bytes: &'s Bytes = self.bytes;
        let mut rest = EndianSlice::new(bytes, LittleEndian);
        rest.skip(offset as usize)?;
        let (length, format) = rest.read_initial_length()?;
        let mut body = rest.split(length)?;
        let end = (bytes.len() - rest.len()) as u64;
        let dwarf64 = format == gimli::Format::Dwarf64;
        let place = end - length as u64;
        let raw = |kind, body| Raw { offset, end, dwarf64, kind, body };
        if length == 0 {
            return Ok(raw(RawKind::Empty, body));
        }
        let kind = match self.section {
            FrameSection::DebugFrame => {
                let id = if dwarf64 { body.read_u64()? } else { u64::from(body.read_u32()?) };
                let cie_id = if dwarf64 { u64::MAX } else { u64::from(u32::MAX) };
                if id == cie_id { RawKind::Cie } else { RawKind::Fde(id) }
            }
            // Here the id has 4 bytes for any length, and is an offset back from itself.
            FrameSection::EhFrame => match u64::from(body.read_u32()?) {
                0 => RawKind::Cie,
                back => {
                    RawKind::Fde(place.checked_sub(back).ok_or(EntryError::Cie(place.wrapping_sub(back)))?)
                }
            },
        };
        Ok(raw(kind, body))
    }

    fn entry(&mut self, raw: &Raw<'s>) -> Result<Option<FrameEntry>, ReadError> {
        let (section, offset, dwarf64) = (self.section, raw.offset, raw.dwarf64);
        match raw.kind {
            RawKind::Empty => Ok(None),
            RawKind::Cie => {
                let read = self.cie(raw).map(Arc::new);
                self.cies.insert(offset, read.as_ref().ok().cloned());
                let cie = Arc::clone(&read?.cie);
                let instructions = cie.instructions.clone();
                Ok(Some(FrameEntry { section, offset, pcs: None, cie, dwarf64, instructions }))
            }
            RawKind::Fde(at) => {
                let cie = self.cie_at(at).ok_or(EntryError::Cie(at))?;
                let mut body = raw.body;
                let CieAt { cie, pointers } = &*cie;
                body.skip(usize::from(cie.segment_size))?;
                let place = self.place(&body);
                let start = pointers.address(&mut body, cie.address_size, place)?;
                let size = pointers.number(&mut body, cie.address_size)?;
                let end = start.checked_add(size).ok_or(EntryError::Wraps { start, size })?;
                match cie.augmentation.kind {
                    AugmentationKind::Plain => {}
                    AugmentationKind::Sized => {
                        let length = body.read_uleb128()?;
                        body.skip(usize::try_from(length).unwrap_or(usize::MAX))?;
                    }
                    AugmentationKind::Unknown => body.empty(),
                }
                let pcs = Some(ElfAddress(start)..ElfAddress(end));
                let (cie, instructions) = (Arc::clone(cie), self.own(body));
                Ok(Some(FrameEntry { section, offset, pcs, cie, dwarf64, instructions }))
            }
        }
    }

    /// The CIE at an offset; it may follow its FDEs.
    fn cie_at(&mut self, offset: u64) -> Option<Arc<CieAt>> {
        if let Some(known) = self.cies.get(&offset) {
            return known.clone();
        }
        let read = match self.raw(offset) {
            Ok(raw) if matches!(raw.kind, RawKind::Cie) => self.cie(&raw).ok().map(Arc::new),
            _ => None,
        };
        self.cies.insert(offset, read.clone());
        read
    }

    fn cie(&self, raw: &Raw<'s>) -> Result<CieAt, ReadError> {
        let mut body = raw.body;
        let version = body.read_u8()?;
        if !matches!(version, 1 | 3 | 4) {
            return Err(EntryError::Version(version).into());
        }
        let augmentation = Augmentation::new(&clean(body.read_null_terminated_slice()?.to_string_lossy()));
        let mut cie = Cie {
            offset: raw.offset,
            version,
            augmentation,
            address_size: ADDRESS_SIZE,
            segment_size: 0,
            code_factor: 1,
            data_factor: 1,
            return_address: DwarfReg(0),
            instructions: Bytes::empty(),
        };
        let mut pointers = Encoding::ABSOLUTE;
        if cie.augmentation.is_unknown() {
            return Ok(CieAt { cie: Arc::new(cie), pointers });
        }
        if version >= 4 {
            cie.address_size = body.read_u8()?;
            cie.segment_size = body.read_u8()?;
            if cie.address_size != ADDRESS_SIZE {
                return Err(EntryError::AddressSize(cie.address_size).into());
            }
            if cie.segment_size != 0 {
                return Err(EntryError::SegmentSize(cie.segment_size).into());
            }
        }
        cie.code_factor = body.read_uleb128()?;
        cie.data_factor = body.read_sleb128()?;
        let register = if version == 1 { u64::from(body.read_u8()?) } else { body.read_uleb128()? };
        cie.return_address = DwarfReg(register);
        if cie.augmentation.kind == AugmentationKind::Sized {
            let length = usize::try_from(body.read_uleb128()?).unwrap_or(usize::MAX);
            let data = body.split(length)?;
            pointers = self.pointers(&cie, data)?;
        }
        cie.instructions = self.own(body);
        Ok(CieAt { cie: Arc::new(cie), pointers })
    }

    /// The encoding of an FDE's addresses, from the letters of a sized augmentation.
    fn pointers(&self, cie: &Cie, mut data: Slice<'s>) -> Result<Encoding, ReadError> {
        let mut pointers = Encoding::ABSOLUTE;
        for letter in cie.augmentation.text.chars() {
            match letter {
                'R' => pointers = Encoding(data.read_u8()?),
                'L' => drop(data.read_u8()?),
                'P' => {
                    let encoding = Encoding(data.read_u8()?);
                    if encoding != Encoding::OMIT {
                        encoding.number(&mut data, cie.address_size)?;
                    }
                }
                _ => {}
            }
        }
        Ok(pointers)
    }

    /// The load address of a part of the section.
    fn place(&self, part: &Slice<'_>) -> u64 {
        let within = (part.slice().as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        self.address.wrapping_add(within as u64)
    }

    fn own(&self, part: Slice<'_>) -> Bytes {
        self.bytes.slice_ref(part.slice()).unwrap_or_else(|| Bytes::from(part.slice().to_vec()))
    }
}
