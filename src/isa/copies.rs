//! Copies of registers: an instruction that leaves a dword's value in a second register.

use super::registers::{RegisterFile, RegisterRange};
use super::text::{Line, number};
use crate::units::LaneId;

/// The register that receives a copy of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// The file of the copy.
    pub file: RegisterFile,
    /// Its number.
    pub index: u16,
    /// The only lane that receives it; `None`: the lane of the source.
    pub lane: Option<LaneId>,
}

/// The copy that an instruction makes of a dword, of vector files in that lane. `None`: no copy that this function knows.
#[must_use]
pub fn copy(text: &str, (file, index): (RegisterFile, u16), lane: LaneId) -> Option<CopyOf> {
    super::text::meant(text).split("::").find_map(|half| {
        let line = Line::parse(half)?;
        let (to, from) = (RegisterRange::parse(line.operand(0)?)?, RegisterRange::parse(line.operand(1)?)?);
        let dword = index.checked_sub(from.first).filter(|dword| from.file == file && *dword < from.count)?;
        let constant = || u8::try_from(line.operand(2).and_then(number)?).ok().map(LaneId);
        let stem = line.mnemonic.strip_prefix("v_dual_").unwrap_or(line.mnemonic);
        let to_lane = match (stem, line.suffix) {
            ("s_mov_b32" | "s_mov_b64", _) => None,
            ("v_mov_b32" | "mov_b32" | "v_mov_b64", "" | "e32" | "e64") if file.is_vector() => None,
            ("v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32", _) if file.is_vector() => {
                None
            }
            ("v_pk_mov_b32", _)
                if file.is_vector()
                    && line.operand(1) == line.operand(2)
                    && line.value("op_sel") == Some("[0,1]") =>
            {
                None
            }
            ("v_writelane_b32", _) => Some(constant()?),
            ("v_readlane_b32", _) if constant()? == lane => None,
            _ => return None,
        };
        Some(CopyOf { file: to.file, index: to.first.checked_add(dword)?, lane: to_lane })
    })
}
