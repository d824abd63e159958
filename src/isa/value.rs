//! Values that instructions compute: the integer arithmetic of addresses, selections and copies.
//!
//! AMD's ISA documents have the operations. Other instructions, and operands with modifiers, have no value here.

use super::registers::{ReadRegister, RegisterFile, RegisterRange};
use super::text::{Line, number};
use crate::units::{LaneId, WaveSize};

/// Values of operands before an instruction.
pub trait ReadOperand: ReadRegister {
    /// A bit of a mask of lanes.
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool>;

    /// SCC.
    fn scc(&self) -> Option<bool>;

    /// The base of an aperture by its operand's name: `src_private_base`.
    fn aperture(&self, name: &str) -> Option<u64>;

    /// The wave size; `None`: unknown.
    fn wave_size(&self) -> Option<WaveSize>;

    /// The address of the next instruction.
    fn next(&self) -> Option<u64>;
}

/// The dword that an instruction writes to a register, of vector files in that lane. `None`: unknown.
#[must_use]
pub fn value(
    text: &str,
    (file, index): (RegisterFile, u16),
    lane: LaneId,
    operands: &impl ReadOperand,
) -> Option<u32> {
    let text = super::text::meant(text);
    let halves: Vec<&str> = text.split("::").collect();
    halves.into_iter().find_map(|half| {
        let source = Source::parse(half, lane, operands)?;
        let written = source.register(0)?;
        let part = |of: RegisterRange, value: u64| {
            let dword = index.checked_sub(of.first).filter(|dword| of.file == file && *dword < of.count)?;
            Some((value >> (32 * u32::from(dword))) as u32)
        };
        match source.saved_exec() {
            Some(after) if file == RegisterFile::Exec => part(EXEC, after?),
            Some(_) => part(written, source.exec()?),
            None => part(written, source.result()?),
        }
    })
}

/// The carry, borrow or comparison that an instruction writes: of a vector instruction the bit of the lane, otherwise
/// SCC. `None`: unknown.
#[must_use]
pub fn condition(text: &str, lane: LaneId, operands: &impl ReadOperand) -> Option<bool> {
    Source::parse(&super::text::meant(text), lane, operands)?.condition()
}

const EXEC: RegisterRange = RegisterRange::new(RegisterFile::Exec, 0, 2);

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
        let has_selection = text.contains("op_sel") && stem != "pk_mov_b32";
        let is_changed = ["clamp", "mul:", "div:", "neg_"].iter().any(|modifier| text.contains(modifier));
        (is_plain && !has_selection && !is_changed).then_some(Self { line, stem, is_scalar, lane, operands })
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

    /// EXEC before the instruction.
    fn exec(&self) -> Option<u64> {
        let part = |index| self.operands.dword(RegisterFile::Exec, index, self.lane).map(u64::from);
        let high = match self.operands.wave_size() {
            // Its EXEC has no high half.
            Some(WaveSize::W32) => 0,
            Some(WaveSize::W64) | None => part(1)?,
        };
        Some(part(0)? | high << 32)
    }

    /// EXEC after an instruction whose destination has EXEC as it was before.
    fn saved_exec(&self) -> Option<Option<u64>> {
        let (name, bits) = self.stem.split_once("_saveexec_")?;
        let mask = if bits == "b32" { u64::from(u32::MAX) } else { u64::MAX };
        let after = || {
            let source = self.quad(1)?;
            if name == "or" && source & mask == mask {
                return Some(mask);
            }
            let exec = self.exec()?;
            let after = match name {
                "and" => source & exec,
                "or" => source | exec,
                "xor" => source ^ exec,
                "andn1" | "and_not0" => !source & exec,
                "andn2" | "and_not1" => source & !exec,
                _ => return None,
            };
            Some(after & mask)
        };
        Some(after())
    }

    /// A half of a packed operand.
    fn half(&self, index: usize, selection: usize) -> Option<u64> {
        let chosen =
            self.line.value("op_sel").and_then(|text| text.get(1..)?.split([',', ']']).nth(selection));
        let range = self.register(index).filter(|range| range.count == 2)?;
        let number = range.first.checked_add(u16::from(chosen == Some("1")))?;
        self.operands.dword(range.file, number, self.lane).map(u64::from)
    }

    /// The first active lane; without one lane 0.
    fn first_lane(&self) -> Option<LaneId> {
        let exec = self.exec()?;
        u8::try_from(if exec == 0 { 0 } else { exec.trailing_zeros() }).ok().map(LaneId)
    }

    /// The value of the destination.
    fn result(&self) -> Option<u64> {
        let (a, b, c) = (|| self.dword(1), || self.dword(2), || self.dword(3));
        let short = |value: u32| Some(u64::from(value));
        let signed = |value: u32| i64::from(value.cast_signed());
        let low = |value: u32, bits: u32| value & ((1 << bits) - 1);
        let low_signed = |value: u32| i64::from(value.wrapping_shl(8).cast_signed() >> 8);
        // The operands of an instruction that may have a mask of carries before them.
        let first = if self.is_scalar { 1 } else { 2 };
        let pair = || Some((self.dword(first)?, self.dword(first + 1)?));
        let constant = || Some((self.line.operand(1).and_then(number)? as i16).into());
        match self.stem {
            "mov_b32" | "accvgpr_read_b32" | "accvgpr_write_b32" | "accvgpr_mov_b32" | "writelane_b32" => {
                short(a()?)
            }
            "mov_b64" => self.quad(1),
            "movk_i32" => constant().map(i32::cast_unsigned).and_then(short),
            "addk_i32" | "addk_co_i32" => short(self.dword(0)?.wrapping_add_signed(constant()?)),
            "mulk_i32" => short(self.dword(0)?.wrapping_mul(constant()?.cast_unsigned())),
            "pk_mov_b32" => Some(self.half(1, 0)? | self.half(2, 1)? << 32),
            "getpc_b64" | "get_pc_i64" => self.operands.next(),
            "readlane_b32" | "readfirstlane_b32" => {
                let range = self.register(1)?;
                let lane = match self.stem {
                    "readlane_b32" => LaneId(u8::try_from(b()? & 63).ok()?),
                    _ => self.first_lane()?,
                };
                short(self.operands.dword(range.file, range.first, lane)?)
            }
            "add_u32" | "add_nc_u32" | "add_i32" | "add_nc_i32" | "add_co_i32" => {
                short(a()?.wrapping_add(b()?))
            }
            "sub_u32" | "sub_nc_u32" | "sub_i32" | "sub_nc_i32" | "sub_co_i32" => {
                short(a()?.wrapping_sub(b()?))
            }
            "subrev_u32" | "subrev_nc_u32" => short(b()?.wrapping_sub(a()?)),
            "add_nc_u64" | "add_u64" => Some(self.quad(1)?.wrapping_add(self.quad(2)?)),
            "sub_nc_u64" | "sub_u64" => Some(self.quad(1)?.wrapping_sub(self.quad(2)?)),
            "lshl_add_u64" => {
                Some(self.quad(1)?.checked_shl(self.dword(2)? & 7)?.wrapping_add(self.quad(3)?))
            }
            "add_co_u32" => pair().and_then(|(one, other)| short(one.wrapping_add(other))),
            "sub_co_u32" => pair().and_then(|(one, other)| short(one.wrapping_sub(other))),
            "subrev_co_u32" => pair().and_then(|(one, other)| short(other.wrapping_sub(one))),
            "addc_u32" | "addc_co_u32" | "add_co_ci_u32" => {
                let (one, other) = pair()?;
                short(one.wrapping_add(other).wrapping_add(self.carry_in()?))
            }
            "subb_u32" | "subb_co_u32" | "sub_co_ci_u32" => {
                let (one, other) = pair()?;
                short(one.wrapping_sub(other).wrapping_sub(self.carry_in()?))
            }
            "lshlrev_b32" => short(b()?.wrapping_shl(a()?)),
            "lshrrev_b32" => short(b()?.wrapping_shr(a()?)),
            "ashrrev_i32" => short(b()?.cast_signed().wrapping_shr(a()?).cast_unsigned()),
            "lshlrev_b64" => Some(self.quad(2)?.wrapping_shl(a()?)),
            "lshrrev_b64" => Some(self.quad(2)?.wrapping_shr(a()?)),
            "ashrrev_i64" => Some(self.quad(2)?.cast_signed().wrapping_shr(a()?).cast_unsigned()),
            "lshl_b32" => short(a()?.wrapping_shl(b()?)),
            "lshr_b32" => short(a()?.wrapping_shr(b()?)),
            "ashr_i32" => short(a()?.cast_signed().wrapping_shr(b()?).cast_unsigned()),
            "lshl_b64" => Some(self.quad(1)?.wrapping_shl(b()?)),
            "lshr_b64" => Some(self.quad(1)?.wrapping_shr(b()?)),
            "ashr_i64" => Some(self.quad(1)?.cast_signed().wrapping_shr(b()?).cast_unsigned()),
            "lshl1_add_u32" => short(a()?.wrapping_shl(1).wrapping_add(b()?)),
            "lshl2_add_u32" => short(a()?.wrapping_shl(2).wrapping_add(b()?)),
            "lshl3_add_u32" => short(a()?.wrapping_shl(3).wrapping_add(b()?)),
            "lshl4_add_u32" => short(a()?.wrapping_shl(4).wrapping_add(b()?)),
            "lshl_add_u32" => short(a()?.wrapping_shl(b()?).wrapping_add(c()?)),
            "add_lshl_u32" => short(a()?.wrapping_add(b()?).wrapping_shl(c()?)),
            "add3_u32" => short(a()?.wrapping_add(b()?).wrapping_add(c()?)),
            "lshl_or_b32" => short(a()?.wrapping_shl(b()?) | c()?),
            "and_or_b32" => short(a()? & b()? | c()?),
            "or3_b32" => short(a()? | b()? | c()?),
            "and_b32" => short(a()? & b()?),
            "or_b32" => short(a()? | b()?),
            "xor_b32" => short(a()? ^ b()?),
            "not_b32" => short(!a()?),
            "andn2_b32" | "and_not1_b32" => short(a()? & !b()?),
            "and_b64" => Some(self.quad(1)? & self.quad(2)?),
            "or_b64" => Some(self.quad(1)? | self.quad(2)?),
            "xor_b64" => Some(self.quad(1)? ^ self.quad(2)?),
            "not_b64" => Some(!self.quad(1)?),
            "andn2_b64" | "and_not1_b64" => Some(self.quad(1)? & !self.quad(2)?),
            "min_u32" => short(a()?.min(b()?)),
            "max_u32" => short(a()?.max(b()?)),
            "min_i32" => short(a()?.cast_signed().min(b()?.cast_signed()).cast_unsigned()),
            "max_i32" => short(a()?.cast_signed().max(b()?.cast_signed()).cast_unsigned()),
            "mul_lo_u32" | "mul_i32" => short(a()?.wrapping_mul(b()?)),
            "mul_u64" => Some(self.quad(1)?.wrapping_mul(self.quad(2)?)),
            "mul_hi_u32" => Some((u64::from(a()?) * u64::from(b()?)) >> 32),
            "mul_hi_i32" => Some(((signed(a()?) * signed(b()?)) >> 32).cast_unsigned()),
            "mul_u32_u24" => short(low(a()?, 24).wrapping_mul(low(b()?, 24))),
            "mul_i32_i24" => Some((low_signed(a()?) * low_signed(b()?)).cast_unsigned()),
            "mad_u32_u24" => short(low(a()?, 24).wrapping_mul(low(b()?, 24)).wrapping_add(c()?)),
            "mad_i32_i24" => {
                let product = (low_signed(a()?) * low_signed(b()?)).cast_unsigned();
                Some(product.wrapping_add(c()?.into()))
            }
            "mad_u64_u32" | "mad_co_u64_u32" => {
                let product = u64::from(self.dword(2)?) * u64::from(self.dword(3)?);
                Some(product.wrapping_add(self.quad(4)?))
            }
            "mad_i64_i32" | "mad_co_i64_i32" => {
                let product = (signed(self.dword(2)?) * signed(self.dword(3)?)).cast_unsigned();
                Some(product.wrapping_add(self.quad(4)?))
            }
            "cselect_b32" | "cselect_b64" => self.quad(if self.operands.scc()? { 1 } else { 2 }),
            "cndmask_b32" => {
                let mask = self.register(3).or_else(|| RegisterRange::parse("vcc"))?;
                short(self.dword(if self.operands.bit(mask, self.lane)? { 2 } else { 1 })?)
            }
            "sext_i32_i8" => short(i32::from((a()? as u8).cast_signed()).cast_unsigned()),
            "sext_i32_i16" => short(i32::from((a()? as u16).cast_signed()).cast_unsigned()),
            // The scalar form has offset and width in one operand.
            "bfe_u32" | "bfe_i32" => {
                let (offset, width) =
                    if self.is_scalar { (b()?, b()? >> 16 & 127) } else { (b()?, c()? & 31) };
                let unused = 32u32.saturating_sub(width);
                match (width, self.stem) {
                    (0, _) => Some(0),
                    (_, "bfe_u32") => {
                        short(a()?.wrapping_shr(offset).wrapping_shl(unused).wrapping_shr(unused))
                    }
                    _ => {
                        let field = a()?.cast_signed().wrapping_shr(offset).wrapping_shl(unused);
                        short(field.wrapping_shr(unused).cast_unsigned())
                    }
                }
            }
            _ => None,
        }
    }

    fn carry_in(&self) -> Option<u32> {
        let carry = match self.is_scalar {
            true => self.operands.scc()?,
            false => self.operands.bit(self.register(4)?, self.lane)?,
        };
        Some(carry.into())
    }

    fn condition(&self) -> Option<bool> {
        let first = if self.is_scalar { 1 } else { 2 };
        let pair = || Some((self.dword(first)?, self.dword(first + 1)?));
        match self.stem {
            "add_u32" | "sub_u32" if !self.is_scalar => None,
            "add_u32" | "add_co_u32" => pair().map(|(one, other)| one.checked_add(other).is_none()),
            "sub_u32" | "sub_co_u32" => pair().map(|(one, other)| one < other),
            "subrev_co_u32" => pair().map(|(one, other)| other < one),
            "addc_u32" | "addc_co_u32" | "add_co_ci_u32" => {
                let (one, other) = pair()?;
                Some((u64::from(one) + u64::from(other) + u64::from(self.carry_in()?)) >> 32 != 0)
            }
            "subb_u32" | "subb_co_u32" | "sub_co_ci_u32" => {
                let (one, other) = pair()?;
                Some(u64::from(one) < u64::from(other) + u64::from(self.carry_in()?))
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&self) -> Option<bool> {
        let short = self.stem.strip_prefix("cmpk_");
        let (relation, kind) = short.or_else(|| self.stem.strip_prefix("cmp_"))?.split_once('_')?;
        // A vector comparison prints its destination.
        let first = usize::from(!self.is_scalar);
        // LLVM prints the 16 bits without a sign.
        let constant = || self.line.operand(1).and_then(number).map(|value| value as u16);
        let order = match kind {
            "u32" if short.is_some() => self.dword(0)?.cmp(&constant()?.into()),
            "i32" if short.is_some() => self.dword(0)?.cast_signed().cmp(&constant()?.cast_signed().into()),
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
