//! Pointers of `.eh_frame`: DWARF exception header encoding of the Linux Standard Base.

use gimli::Reader as _;

use super::BadEntry;
use super::parse::Slice;

/// How addresses are written (`DW_EH_PE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding(pub(super) u8);

impl Encoding {
    /// `DW_EH_PE_absptr`: a plain address.
    pub(super) const ABSOLUTE: Self = Self(0);
    /// `DW_EH_PE_omit`: there is none.
    pub(super) const OMIT: Self = Self(0xff);

    /// Whether the number counts from where it stands.
    fn is_relative(self) -> Result<bool, BadEntry> {
        match self.0 & 0xf0 {
            0x00 => Ok(false),
            0x10 => Ok(true),
            _ => Err(BadEntry::Pointer(self.0)),
        }
    }

    /// An address; `place` is the address that the field itself has.
    pub(super) fn address(self, from: &mut Slice<'_>, size: u8, place: u64) -> Result<u64, BadEntry> {
        let relative = self.is_relative()?;
        let number = self.number(from, size)?;
        Ok(if relative { place.wrapping_add(number) } else { number })
    }

    /// A number in the format of the encoding, whatever it counts from.
    pub(super) fn number(self, from: &mut Slice<'_>, size: u8) -> Result<u64, BadEntry> {
        Ok(match self.0 & 0x0f {
            0x00 => from.read_address(size)?,
            0x01 => from.read_uleb128()?,
            0x02 => u64::from(from.read_u16()?),
            0x03 => u64::from(from.read_u32()?),
            0x04 | 0x0c => from.read_u64()?,
            0x09 => from.read_sleb128()? as u64,
            0x0a => i64::from(from.read_i16()?) as u64,
            0x0b => i64::from(from.read_i32()?) as u64,
            _ => return Err(BadEntry::Pointer(self.0)),
        })
    }
}
