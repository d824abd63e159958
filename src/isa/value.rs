//! Values that instructions compute: the integer arithmetic of addresses, selections and copies.
//!
//! AMD's ISA documents have the operations. Other instructions, and operands with modifiers, have no value here.

use super::registers::{ReadRegister, RegisterFile, RegisterRange};
use super::text::{Line, number};
use crate::units::LaneId;

/// Values of operands before an instruction.
pub trait ReadOperand: ReadRegister {
    /// A bit of a mask of lanes.
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool>;

    /// SCC.
    fn scc(&self) -> Option<bool>;

    /// The base of an aperture by its operand's name: `src_private_base`.
    fn aperture(&self, name: &str) -> Option<u64>;
}

/// The dword that an instruction writes to a register, of vector files in that lane. `None`: unknown.
#[must_use]
pub fn value(
    text: &str,
    (file, index): (RegisterFile, u16),
    lane: LaneId,
    operands: &impl ReadOperand,
) -> Option<u32> {
    let halves: Vec<&str> = text.split("::").collect();
    halves.into_iter().find_map(|half| {
        let source = Source::parse(half, lane, operands)?;
        let written = source.register(0)?;
        let dword = index.checked_sub(written.first).filter(|dword| *dword < written.count)?;
        if written.file != file {
            return None;
        }
        Some((source.result()? >> (32 * u32::from(dword))) as u32)
    })
}

/// The carry, borrow or comparison that an instruction writes: of a vector instruction the bit of the lane, otherwise
/// SCC. `None`: unknown.
#[must_use]
pub fn condition(text: &str, lane: LaneId, operands: &impl ReadOperand) -> Option<bool> {
    Source::parse(text, lane, operands)?.condition()
}

struct Source<'a, R> {
    line: Line<'a>,
    /// The mnemonic without `v_`, `v_dual_` or `s_`.
    stem: &'a str,
    is_scalar: bool,
    lane: LaneId,
    operands: &'a R,
}

impl<'a, R: ReadOperand> Source<'a, R> {
    fn parse(text: &'a str, lane: LaneId, operands: &'a R) -> Option<Self> {
        let line = Line::parse(text)?;
        let is_plain = !matches!(line.suffix, "dpp" | "e64_dpp" | "sdwa")
            && line.words().all(|word| {
                let has_letters = word.starts_with('-') && word.len() > 1 && number(word).is_none();
                !has_letters && !word.starts_with('|') && !word.ends_with(".l") && !word.ends_with(".h")
            });
        let (stem, is_scalar) = match line.mnemonic.strip_prefix("s_") {
            Some(stem) => (stem, true),
            None => {
                (line.mnemonic.strip_prefix("v_dual_").or_else(|| line.mnemonic.strip_prefix("v_"))?, false)
            }
        };
        let has_selection = text.contains("op_sel") || text.contains("clamp") || text.contains("mul:");
        (is_plain && !has_selection).then_some(Self { line, stem, is_scalar, lane, operands })
    }

    fn register(&self, index: usize) -> Option<RegisterRange> {
        self.line.operand(index).and_then(RegisterRange::parse)
    }

    fn dword(&self, index: usize) -> Option<u32> {
        self.quad(index).map(|value| value as u32)
    }

    /// An operand with up to two dwords; constants are sign-extended.
    fn quad(&self, index: usize) -> Option<u64> {
        let text = self.line.operand(index)?;
        if let Some(range) = RegisterRange::parse(text) {
            let low = u64::from(self.operands.dword(range.file, range.first, self.lane)?);
            let high = match range.count {
                1 => 0,
                _ => u64::from(self.operands.dword(range.file, range.first.checked_add(1)?, self.lane)?),
            };
            return Some(low | high << 32);
        }
        match text.starts_with("src_") {
            true => self.operands.aperture(text),
            false => number(text).map(i64::cast_unsigned),
        }
    }

    /// The value of the destination.
    fn result(&self) -> Option<u64> {
        let stem = self.stem;
        let (a, b, c) = (|| self.dword(1), || self.dword(2), || self.dword(3));
        let short = |value: u32| Some(u64::from(value));
        let signed = |value: u32| i64::from(value.cast_signed());
        match stem {
            "mov_b32" | "movk_i32" | "accvgpr_read_b32" | "accvgpr_write_b32" | "accvgpr_mov_b32" => {
                short(a()?)
            }
            "mov_b64" => self.quad(1),
            "writelane_b32" => short(a()?),
            "readlane_b32" => {
                let (range, lane) = (self.register(1)?, LaneId(u8::try_from(self.dword(2)? & 63).ok()?));
                short(self.operands.dword(range.file, range.first, lane)?)
            }
            "add_u32" | "add_nc_u32" | "add_i32" => short(a()?.wrapping_add(b()?)),
            "sub_u32" | "sub_nc_u32" | "sub_i32" => short(a()?.wrapping_sub(b()?)),
            "subrev_u32" | "subrev_nc_u32" => short(b()?.wrapping_sub(a()?)),
            "add_nc_u64" | "add_u64" => Some(self.quad(1)?.wrapping_add(self.quad(2)?)),
            "lshl_add_u64" => {
                Some(self.quad(1)?.checked_shl(self.dword(2)? & 7)?.wrapping_add(self.quad(3)?))
            }
            "add_co_u32" => short(self.dword(2)?.wrapping_add(self.dword(3)?)),
            "sub_co_u32" => short(self.dword(2)?.wrapping_sub(self.dword(3)?)),
            "subrev_co_u32" => short(self.dword(3)?.wrapping_sub(self.dword(2)?)),
            "addc_co_u32" | "add_co_ci_u32" => {
                short(self.dword(2)?.wrapping_add(self.dword(3)?).wrapping_add(self.carry_in()?))
            }
            "subb_co_u32" | "sub_co_ci_u32" => {
                short(self.dword(2)?.wrapping_sub(self.dword(3)?).wrapping_sub(self.carry_in()?))
            }
            "addc_u32" => short(a()?.wrapping_add(b()?).wrapping_add(self.operands.scc()?.into())),
            "subb_u32" => short(a()?.wrapping_sub(b()?).wrapping_sub(self.operands.scc()?.into())),
            "lshlrev_b32" => short(b()?.wrapping_shl(a()?)),
            "lshrrev_b32" => short(b()?.wrapping_shr(a()?)),
            "ashrrev_i32" => short(b()?.cast_signed().wrapping_shr(a()?).cast_unsigned()),
            "lshlrev_b64" => Some(self.quad(2)?.wrapping_shl(a()?)),
            "lshl_b32" => short(a()?.wrapping_shl(b()?)),
            "lshr_b32" => short(a()?.wrapping_shr(b()?)),
            "ashr_i32" => short(a()?.cast_signed().wrapping_shr(b()?).cast_unsigned()),
            "lshl_b64" => Some(self.quad(1)?.wrapping_shl(b()?)),
            "lshl_add_u32" => short(a()?.wrapping_shl(b()?).wrapping_add(c()?)),
            "add_lshl_u32" => short(a()?.wrapping_add(b()?).wrapping_shl(c()?)),
            "add3_u32" => short(a()?.wrapping_add(b()?).wrapping_add(c()?)),
            "lshl_or_b32" => short(a()?.wrapping_shl(b()?) | c()?),
            "and_b32" => short(a()? & b()?),
            "or_b32" => short(a()? | b()?),
            "xor_b32" => short(a()? ^ b()?),
            "and_b64" => Some(self.quad(1)? & self.quad(2)?),
            "or_b64" => Some(self.quad(1)? | self.quad(2)?),
            "mul_lo_u32" | "mul_i32" => short(a()?.wrapping_mul(b()?)),
            "mul_hi_u32" => Some((u64::from(a()?) * u64::from(b()?)) >> 32),
            "mul_hi_i32" => Some(((signed(a()?) * signed(b()?)) >> 32).cast_unsigned()),
            "mad_u64_u32" => {
                let product = u64::from(self.dword(2)?) * u64::from(self.dword(3)?);
                Some(product.wrapping_add(self.quad(4)?))
            }
            "mad_i64_i32" => {
                let product = (signed(self.dword(2)?) * signed(self.dword(3)?)).cast_unsigned();
                Some(product.wrapping_add(self.quad(4)?))
            }
            "cselect_b32" | "cselect_b64" => self.quad(if self.operands.scc()? { 1 } else { 2 }),
            "cndmask_b32" => {
                let mask = self.register(3).or_else(|| RegisterRange::parse("vcc"))?;
                short(self.dword(if self.operands.bit(mask, self.lane)? { 2 } else { 1 })?)
            }
            "sext_i32_i16" => short(i32::from((a()? as u16).cast_signed()).cast_unsigned()),
            "bfe_u32" if !self.is_scalar => {
                let mask = 1u32.wrapping_shl(c()?).wrapping_sub(1);
                short(a()?.wrapping_shr(b()?) & mask)
            }
            _ => None,
        }
    }

    fn carry_in(&self) -> Option<u32> {
        let mask = self.register(4)?;
        self.operands.bit(mask, self.lane).map(u32::from)
    }

    fn condition(&self) -> Option<bool> {
        match self.stem {
            "add_co_u32" => Some(self.dword(2)?.checked_add(self.dword(3)?).is_none()),
            "sub_co_u32" => Some(self.dword(2)? < self.dword(3)?),
            "addc_co_u32" | "add_co_ci_u32" => {
                let sum = u64::from(self.dword(2)?) + u64::from(self.dword(3)?) + u64::from(self.carry_in()?);
                Some(sum >> 32 != 0)
            }
            "add_u32" if self.is_scalar => Some(self.dword(1)?.checked_add(self.dword(2)?).is_none()),
            "sub_u32" if self.is_scalar => Some(self.dword(1)? < self.dword(2)?),
            "addc_u32" => {
                let sum =
                    u64::from(self.dword(1)?) + u64::from(self.dword(2)?) + u64::from(self.operands.scc()?);
                Some(sum >> 32 != 0)
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&self) -> Option<bool> {
        let rest = self.stem.strip_prefix("cmpk_").or_else(|| self.stem.strip_prefix("cmp_"))?;
        let (relation, kind) = rest.split_once('_')?;
        // A vector comparison prints its destination.
        let first = usize::from(!self.is_scalar);
        let order = match kind {
            "u32" => self.dword(first)?.cmp(&self.dword(first + 1)?),
            "i32" => self.dword(first)?.cast_signed().cmp(&self.dword(first + 1)?.cast_signed()),
            "u64" => self.quad(first)?.cmp(&self.quad(first + 1)?),
            "i64" => self.quad(first)?.cast_signed().cmp(&self.quad(first + 1)?.cast_signed()),
            _ => return None,
        };
        match relation {
            "eq" => Some(order.is_eq()),
            "lg" | "ne" => Some(order.is_ne()),
            "gt" => Some(order.is_gt()),
            "ge" => Some(order.is_ge()),
            "lt" => Some(order.is_lt()),
            "le" => Some(order.is_le()),
            _ => None,
        }
    }
}
