//! Operands of an expression, read in order.

use super::super::error::Cause;
use super::super::operation::{Dialect, Encoding, Padding, Target};
use super::super::text::{sleb_length, uleb_length};
use super::{LLVM_USER, sleb128, uleb128};
use crate::units::{DieOffset, DwarfReg};

pub(super) struct Reader<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
    pub(super) encoding: Encoding,
    pub(super) base: usize,
    pub(super) nesting: u32,
    /// Size of each LEB128 number of this operation in bytes, 0 for the minimal size.
    pub(super) widths: Vec<u32>,
    /// Whether one of them is longer than minimal.
    pub(super) padded: bool,
}

impl<'b> Reader<'b> {
    pub(super) fn u8(&mut self) -> Result<u8, Cause> {
        let Some(&byte) = self.bytes.get(self.at) else { return Err(Cause::Truncated) };
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn block(&mut self, length: u64) -> Result<&'b [u8], Cause> {
        let length = usize::try_from(length).map_err(|_| Cause::Truncated)?;
        let end = self.at.checked_add(length).ok_or(Cause::Truncated)?;
        let block = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        Ok(block)
    }

    /// Reads a little-endian number of up to 8 bytes.
    pub(super) fn unsigned(&mut self, bytes: usize) -> Result<u64, Cause> {
        let mut word = [0u8; 8];
        for (to, from) in word.iter_mut().zip(self.block(bytes as u64)?) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    pub(super) fn signed(&mut self, bytes: usize) -> Result<u64, Cause> {
        let unused = 64 - 8 * bytes as u32;
        Ok(((self.unsigned(bytes)? << unused) as i64 >> unused) as u64)
    }

    pub(super) fn section_offset(&mut self) -> Result<DieOffset, Cause> {
        self.unsigned(if self.encoding.dwarf64 { 8 } else { 4 }).map(DieOffset)
    }

    pub(super) fn register(&mut self) -> Result<DwarfReg, Cause> {
        self.uleb().map(DwarfReg)
    }

    pub(super) fn type_or_generic(&mut self) -> Result<Option<DieOffset>, Cause> {
        self.uleb().map(|offset| (offset != 0).then_some(DieOffset(offset)))
    }

    pub(super) fn branch(&mut self) -> Result<Target, Cause> {
        self.signed(2).map(|by| Target { by: by as i16, to: None })
    }

    pub(super) fn uleb(&mut self) -> Result<u64, Cause> {
        let start = self.at;
        let value = uleb128(self.bytes, &mut self.at)?;
        self.measured(self.at - start, uleb_length(value));
        Ok(value)
    }

    pub(super) fn sleb(&mut self) -> Result<i64, Cause> {
        let start = self.at;
        let value = sleb128(self.bytes, &mut self.at)?;
        self.measured(self.at - start, sleb_length(value));
        Ok(value)
    }

    pub(super) fn measured(&mut self, width: usize, needed: usize) {
        self.padded |= width > needed;
        self.widths.push(if width > needed { width as u32 } else { 0 });
    }

    /// Returns the redundant bytes of the operation that began at `start`.
    pub(super) fn padding(&mut self, start: usize) -> Option<Box<Padding>> {
        let padding = std::mem::take(&mut self.padded).then(|| {
            let user =
                self.encoding.dialect == Dialect::LlvmUser && self.bytes.get(start) == Some(&LLVM_USER);
            let (code, operands) = self.widths.split_at(usize::from(user));
            Box::new(Padding { code: code.first().copied().unwrap_or(0), operands: operands.into() })
        });
        self.widths.clear();
        padding
    }
}
