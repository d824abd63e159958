//! Pointers of `.eh_frame`: DWARF exception header encoding of the Linux Standard Base.

use gimli::{DwEhPe, Reader as _};

use super::entry::{EntryError, ReadError};
use crate::debuginfo::unit::sections::Slice;

/// The encoding of addresses (`DW_EH_PE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding(pub(super) u8);

impl Encoding {
    /// `DW_EH_PE_absptr`: a plain address.
    pub(super) const ABSOLUTE: Self = Self(gimli::DW_EH_PE_absptr.0);
    /// `DW_EH_PE_omit`: absent.
    pub(super) const OMIT: Self = Self(gimli::DW_EH_PE_omit.0);

    /// Whether the number is relative to its own position.
    fn is_relative(self) -> Result<bool, ReadError> {
        match DwEhPe(self.0 & 0xf0) {
            gimli::DW_EH_PE_absptr => Ok(false),
            gimli::DW_EH_PE_pcrel => Ok(true),
            _ => Err(EntryError::Pointer(self.0).into()),
        }
    }

    /// An address; `place`: the address of the field itself.
    pub(super) fn address(self, from: &mut Slice<'_>, size: u8, place: u64) -> Result<u64, ReadError> {
        let relative = self.is_relative()?;
        let number = self.number(from, size)?;
        Ok(if relative { place.wrapping_add(number) } else { number })
    }

    /// A number in the format of the encoding, without its base.
    pub(super) fn number(self, from: &mut Slice<'_>, size: u8) -> Result<u64, ReadError> {
        Ok(match DwEhPe(self.0).format() {
            gimli::DW_EH_PE_absptr => from.read_address(size)?,
            gimli::DW_EH_PE_uleb128 => from.read_uleb128()?,
            gimli::DW_EH_PE_udata2 => u64::from(from.read_u16()?),
            gimli::DW_EH_PE_udata4 => u64::from(from.read_u32()?),
            gimli::DW_EH_PE_udata8 | gimli::DW_EH_PE_sdata8 => from.read_u64()?,
            gimli::DW_EH_PE_sleb128 => from.read_sleb128()? as u64,
            gimli::DW_EH_PE_sdata2 => i64::from(from.read_i16()?) as u64,
            gimli::DW_EH_PE_sdata4 => i64::from(from.read_i32()?) as u64,
            _ => return Err(EntryError::Pointer(self.0).into()),
        })
    }
}
