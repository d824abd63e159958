//! Undecoded expressions of call frame instructions: an undecodable one does not hide the others.

use super::super::budget::{Budget, Share};
use super::super::decode::{sleb128, uleb128};
use super::super::error::{Cause, Error};
use super::super::limits::FRAME_BYTE_WORK;
use super::super::operation::Dialect;
use super::row::{advanced, instruction_name};
use crate::units::{DwarfReg, ExprOffset, Pc};

/// An instruction with an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameExpression<'b> {
    /// The first PC of the instruction's row.
    pub pc: Pc,
    /// DWARF's name of the instruction.
    pub instruction: &'static str,
    /// The register of the rule; `None` for the CFA.
    pub register: Option<DwarfReg>,
    /// The expression.
    pub bytes: &'b [u8],
}

/// Lists the expressions in the instructions of a CIE or an FDE, and the error that ends the list early, if any.
#[must_use]
pub fn expressions(
    instructions: &[u8],
    start: Pc,
    code_factor: u64,
) -> (Vec<FrameExpression<'_>>, Option<Error>) {
    let mut walker = Walker { bytes: instructions, at: 0, pc: start, code_factor };
    let mut found = Vec::new();
    while walker.at < instructions.len() {
        let at = ExprOffset(walker.at);
        match walker.step() {
            Ok(expression) => found.extend(expression),
            Err((op, cause)) => return (found, Some(Error { at, op, cause })),
        }
    }
    (found, None)
}

/// Returns the dialect of an entry from its CIE's augmentation. If that allows two, the expressions of both programs
/// decide; [`Row::with_extent`](super::Row::with_extent) reads the instructions the same way.
///
/// # Errors
/// Class limit if the programs are long and the budget is spent.
pub fn dialect(
    augmentation: &str,
    programs: [&[u8]; 2],
    start: Pc,
    code_factor: u64,
    budget: Option<&Budget>,
) -> Result<Dialect, Error> {
    let mut found = Vec::new();
    if Dialect::needs_expressions(augmentation) {
        let length: usize = programs.iter().map(|program| program.len()).sum();
        let work = (length as u64).saturating_mul(FRAME_BYTE_WORK);
        let fail = |cause| Error { at: ExprOffset(0), op: "call frame instructions", cause };
        let mut share = Share::of_row(budget);
        let taken = share.take(work);
        share.spend();
        taken.map_err(fail)?;
        found.extend(programs.iter().flat_map(|program| expressions(program, start, code_factor).0));
    }
    Ok(Dialect::of_unit(Some(augmentation), found.iter().map(|one| one.bytes)))
}

struct Walker<'b> {
    bytes: &'b [u8],
    at: usize,
    pc: Pc,
    code_factor: u64,
}

impl<'b> Walker<'b> {
    fn step(&mut self) -> Result<Option<FrameExpression<'b>>, (&'static str, Cause)> {
        let code = self.fixed(1).map_err(|cause| ("instruction", cause))? as u8;
        let operands = u64::from(code & 0x3f);
        match code >> 6 {
            1 => self.advance(operands).map_err(|cause| ("DW_CFA_advance_loc", cause))?,
            2 => self.lebs(1).map_err(|cause| ("DW_CFA_offset", cause))?,
            3 => {}
            _ => {
                let unknown = ("instruction", Cause::UnknownOperation { code });
                let name = instruction_name(code).ok_or(unknown)?;
                return self.named(code, name).map_err(|cause| (name, cause));
            }
        }
        Ok(None)
    }

    fn named(&mut self, code: u8, instruction: &'static str) -> Result<Option<FrameExpression<'b>>, Cause> {
        match code {
            0x00 | 0x0a | 0x0b => {}
            0x01 => self.pc = Pc(self.fixed(8)?),
            0x02 => self.fixed(1).and_then(|by| self.advance(by))?,
            0x03 => self.fixed(2).and_then(|by| self.advance(by))?,
            0x04 => self.fixed(4).and_then(|by| self.advance(by))?,
            0x06..=0x08 | 0x0d | 0x0e | 0x13 | 0x2e => self.lebs(1)?,
            0x05 | 0x09 | 0x0c | 0x11 | 0x12 | 0x14 | 0x15 => self.lebs(2)?,
            0x30 | 0x31 => self.lebs(3)?,
            0x0f | 0x10 | 0x16 => {
                let register = if code == 0x0f { None } else { Some(DwarfReg(self.uleb()?)) };
                let length = self.uleb()?;
                let bytes = self.block(length)?;
                return Ok(Some(FrameExpression { pc: self.pc, instruction, register, bytes }));
            }
            _ => return Err(Cause::UnknownOperation { code }),
        }
        Ok(None)
    }

    fn advance(&mut self, units: u64) -> Result<(), Cause> {
        self.pc = advanced(self.pc, units, self.code_factor)?;
        Ok(())
    }

    /// Skips numbers; signed or not, each ends with the first byte below 0x80.
    fn lebs(&mut self, count: usize) -> Result<(), Cause> {
        (0..count).try_for_each(|_| {
            let mut at = self.at;
            if uleb128(self.bytes, &mut at).is_err() {
                at = self.at;
                sleb128(self.bytes, &mut at)?;
            }
            self.at = at;
            Ok(())
        })
    }

    fn uleb(&mut self) -> Result<u64, Cause> {
        uleb128(self.bytes, &mut self.at)
    }

    fn block(&mut self, length: u64) -> Result<&'b [u8], Cause> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let end = end.ok_or(Cause::Truncated)?;
        let block = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        Ok(block)
    }

    fn fixed(&mut self, bytes: u64) -> Result<u64, Cause> {
        let block = self.block(bytes)?.iter().rev();
        Ok(block.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}
