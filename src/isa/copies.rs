//! Copies of registers: an instruction that leaves the values of registers in further ones.

use super::registers::{RegisterFile, RegisterRange};
use super::text::{Line, number};
use crate::units::LaneId;

/// A copy that an instruction makes of consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterCopy {
    from: RegisterRange,
    /// The file and the first number of the copy.
    to: (RegisterFile, u16),
    /// Lanes of the values.
    lanes: Lanes,
}

/// Lanes of the values of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// Each lane has its own value, or neither file has lanes.
    Own,
    /// A scalar becomes the value of this lane.
    To(LaneId),
    /// The value of this lane becomes a scalar.
    From(LaneId),
}

/// The register that has the copy of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// The file of the copy.
    pub file: RegisterFile,
    /// Its number.
    pub index: u16,
    /// The only lane that receives it; `None`: the lane of the source.
    pub lane: Option<LaneId>,
}

impl RegisterCopy {
    /// The copy of a dword, of vector files in that lane. `None`: the instruction does not copy it.
    #[must_use]
    pub fn of(&self, (file, index): (RegisterFile, u16), lane: LaneId) -> Option<CopyOf> {
        let count = self.from.count;
        let dword =
            index.checked_sub(self.from.first).filter(|dword| self.from.file == file && *dword < count)?;
        let lane = match self.lanes {
            Lanes::Own => None,
            Lanes::To(lane) => Some(lane),
            Lanes::From(of) if of == lane => None,
            Lanes::From(_) => return None,
        };
        let (file, first) = self.to;
        Some(CopyOf { file, index: first.checked_add(dword)?, lane })
    }
}

/// The copies that an instruction makes, as far as this function knows them; the text may have two instructions (VOPD).
pub(super) fn copies(text: &str) -> Vec<RegisterCopy> {
    match text.contains("mov") || text.contains("lane") || text.contains("accvgpr") {
        true => text.split("::").filter_map(|half| one(&Line::parse(half)?)).collect(),
        false => Vec::new(),
    }
}

fn one(line: &Line<'_>) -> Option<RegisterCopy> {
    let (to, from) = (RegisterRange::parse(line.operand(0)?)?, RegisterRange::parse(line.operand(1)?)?);
    let constant = || u8::try_from(line.operand(2).and_then(number)?).ok().map(LaneId);
    let is_vector = from.file.is_vector();
    let stem = line.mnemonic.strip_prefix("v_dual_").unwrap_or(line.mnemonic);
    let lanes = match (stem, line.suffix) {
        ("s_mov_b32" | "s_mov_b64", _) => Lanes::Own,
        ("v_mov_b32" | "mov_b32" | "v_mov_b64", "" | "e32" | "e64") if is_vector => Lanes::Own,
        ("v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32", _) if is_vector => Lanes::Own,
        ("v_pk_mov_b32", _)
            if is_vector && line.operand(1) == line.operand(2) && line.value("op_sel") == Some("[0,1]") =>
        {
            Lanes::Own
        }
        ("v_writelane_b32", _) => Lanes::To(constant()?),
        ("v_readlane_b32", _) => Lanes::From(constant()?),
        _ => return None,
    };
    Some(RegisterCopy { from, to: (to.file, to.first), lanes })
}
