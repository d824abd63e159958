//! Sizes of machine instructions, and their effects on scalar registers and control flow.
//!
//! The module knows the instructions with which `frame_code` tracks the stack registers, and `is_call` checks a return
//! address. Any other write to a scalar register is [`Effect::Writes`].
//!
//! Sources: microcode formats of AMD's ISA documents (Vega, CDNA 3, RDNA 1 to 4), and LLVM's disassembler.

use super::processor::{Generation, Processor};
use crate::integers::u32_at;

/// Operand number of a 32-bit literal after the instruction.
pub(super) const LITERAL: u32 = 255;
/// Operand number of a dword for sub-dword addressing or data-parallel primitives.
const SDWA: u32 = 249;
const DPP: u32 = 250;
/// A literal of 64 bits, on gfx12.5 only.
const LITERAL64: u32 = 254;
const DPP8: [u32; 2] = [233, 234];
/// Operand numbers below this are scalar registers.
const SGPRS: u32 = 106;

/// Families of instruction formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Gfx9,
    Gfx10,
    Gfx11,
    Gfx12,
}

/// The instruction encoding of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    family: Family,
    /// gfx12.5: literals of 64 bits, vector instructions of 12 and 16 bytes, and a branch by a register.
    is_gfx125: bool,
}

/// A 32-bit operand of a scalar instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A scalar register.
    Sgpr(u8),
    /// A number.
    Constant(u32),
    /// Anything else.
    Other,
}

/// Two-operand instructions of stack frame setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// `s_add_u32`, `s_add_i32`.
    Add,
    /// `s_sub_u32`, `s_sub_i32`.
    Sub,
    /// `s_and_b32`.
    And,
    /// The first one without the second: `s_andn2_b32`, `s_and_not1_b32`.
    AndNot,
}

/// The effect of an instruction on scalar registers or on the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// `to` = the operand.
    Move { to: u8, from: Operand },
    /// `to` = a sum, a difference or a conjunction.
    Compute { to: u8, how: Arithmetic, left: Operand, right: Operand },
    /// `count` registers from `first` on become unknown.
    Writes { first: u8, count: u8 },
    /// A branch by that many bytes, relative to its end.
    Branch { by: i32, conditional: bool },
    /// The end of control flow.
    End,
    /// A branch with unknown targets.
    Unknown,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Its size in bytes.
    pub(super) size: u8,
    /// Its effect.
    pub(super) effect: Effect,
}

/// Extracts bits of a dword, both ends included.
pub(super) fn bits(dword: u32, high: u32, low: u32) -> u32 {
    dword >> low & (u32::MAX >> (31 - (high - low)))
}

impl Encoding {
    /// Returns the encoding of a processor; `None` if it is not supported here.
    pub(super) fn of(processor: Processor) -> Option<Self> {
        let is_gfx125 = processor.generation == Generation::Gfx125;
        let family = match processor.generation {
            Generation::Gfx9 | Generation::Gfx90a | Generation::Gfx940 => Family::Gfx9,
            Generation::Gfx10 => Family::Gfx10,
            Generation::Gfx11 => Family::Gfx11,
            Generation::Gfx12 | Generation::Gfx125 => Family::Gfx12,
            Generation::R600 | Generation::Gfx6 | Generation::Gfx7 | Generation::Gfx8 => return None,
        };
        Some(Self { family, is_gfx125 })
    }

    /// Decodes the first instruction; `None` if the code ends within it.
    pub(super) fn decode(self, code: &[u8]) -> Option<Instruction> {
        let dword = |index: usize| u32_at(code, index * 4);
        let first = dword(0)?;
        let (size, effect) = match first >> 30 {
            0b10 => self.scalar(first, dword(1))?,
            0b11 => self.long(first, dword(1))?,
            _ => self.vector(first, dword(1)),
        };
        (code.len() >= usize::from(size)).then_some(Instruction { size, effect })
    }

    pub(super) fn family(self) -> Family {
        self.family
    }

    fn is_gfx11_up(self) -> bool {
        matches!(self.family, Family::Gfx11 | Family::Gfx12)
    }

    /// SOP1, SOP2, SOPC, SOPK, SOPP. `None` if the literal is missing.
    fn scalar(self, first: u32, next: Option<u32>) -> Option<(u8, Effect)> {
        let to = bits(first, 22, 16);
        let (low, high) = (bits(first, 7, 0), bits(first, 15, 8));
        let operand = |number: u32| match number {
            LITERAL => next.map(Operand::Constant),
            _ => Some(inline(number)),
        };
        let has = |literal: u32| low == literal || high == literal;
        let size = |literal: bool, wide: bool| match (wide, literal) {
            (true, _) => 12,
            (false, true) => 8,
            (false, false) => 4,
        };
        let is_wide = |number: u32| self.is_gfx125 && number == LITERAL64;
        Some(match first >> 23 {
            0b1_0111_1111 => (4, self.program(to, bits(first, 15, 0))),
            0b1_0111_1110 => (size(has(LITERAL), is_wide(low) || is_wide(high)), Effect::None),
            0b1_0111_1101 => (size(low == LITERAL, is_wide(low)), self.sop1(high, to, operand(low)?)),
            _ if first >> 28 == 0b1011 => self.sopk(bits(first, 27, 23), to, bits(first, 15, 0)),
            _ => {
                let code = bits(first, 29, 23);
                // s_fmaak_f32, s_fmamk_f32.
                let literal = self.is_gfx11_up() && matches!(code, 69 | 70);
                let effect = self.sop2(code, to, operand(low)?, operand(high)?);
                (size(has(LITERAL) || literal, is_wide(low) || is_wide(high)), effect)
            }
        })
    }

    /// SOPP; `code` is its operation.
    fn program(self, code: u32, operand: u32) -> Effect {
        let by = i32::from(operand as u16 as i16) * 4;
        let branch = |conditional| Effect::Branch { by, conditional };
        // s_endpgm; s_branch; the first and last of s_cbranch_*; other program ends.
        let (end, always, conditional, ends): (u32, u32, _, &[u32]) = match self.family {
            Family::Gfx9 | Family::Gfx10 => (1, 2, [4..=9, 23..=26], &[27, 30]),
            Family::Gfx11 | Family::Gfx12 => (48, 32, [33..=38, 39..=42], &[49, 50]),
        };
        match code {
            code if code == end || ends.contains(&code) => Effect::End,
            code if code == always => branch(false),
            code if conditional.iter().any(|range| range.contains(&code)) => branch(true),
            _ => Effect::None,
        }
    }

    /// The operations `s_mov_b32`, `s_setpc_b64`, `s_swappc_b64` and `s_rfe_b64`.
    fn sop1_codes(self) -> (u32, u32, u32, u32) {
        match self.family {
            Family::Gfx9 => (0, 29, 30, 31),
            Family::Gfx10 => (3, 32, 33, 34),
            Family::Gfx11 | Family::Gfx12 => (0, 72, 73, 74),
        }
    }

    fn sop1(self, code: u32, to: u32, from: Operand) -> Effect {
        let (mov, set_pc, swap_pc, rfe) = self.sop1_codes();
        match code {
            code if code == mov && to < SGPRS => Effect::Move { to: to as u8, from },
            code if code == set_pc || code == rfe => Effect::End,
            // The callee preserves the stack registers; the return address is written.
            code if code == swap_pc => writes_pair(to),
            // s_add_pc_i64.
            75 if self.is_gfx125 => Effect::Unknown,
            // s_cbranch_join.
            46 if self.family == Family::Gfx9 => Effect::Unknown,
            _ => writes_pair(to),
        }
    }

    fn sop2(self, code: u32, to: u32, left: Operand, right: Operand) -> Effect {
        let (and, and_not) = match self.family {
            Family::Gfx9 => (12, 18),
            Family::Gfx10 => (14, 20),
            Family::Gfx11 | Family::Gfx12 => (22, 34),
        };
        let how = match code {
            0 | 2 => Arithmetic::Add,
            1 | 3 => Arithmetic::Sub,
            code if code == and => Arithmetic::And,
            code if code == and_not => Arithmetic::AndNot,
            // s_cbranch_g_fork.
            41 if self.family == Family::Gfx9 => return Effect::Unknown,
            _ => return writes_pair(to),
        };
        if to < SGPRS { Effect::Compute { to: to as u8, how, left, right } } else { Effect::None }
    }

    fn sopk(self, code: u32, to: u32, immediate: u32) -> (u8, Effect) {
        let (add, call, set_register_literal, unknown): (_, _, _, &[u32]) = match self.family {
            // s_cbranch_i_fork.
            Family::Gfx9 => (14, 21, 20, &[16]),
            // s_subvector_loop_begin and _end.
            Family::Gfx10 => (15, 22, 21, &[27, 28]),
            Family::Gfx11 | Family::Gfx12 => (15, 20, 19, &[22, 23]),
        };
        let value = Operand::Constant(i32::from(immediate as u16 as i16).cast_unsigned());
        let effect = match code {
            0 if to < SGPRS => Effect::Move { to: to as u8, from: value },
            code if code == add && to < SGPRS => {
                let left = Operand::Sgpr(to as u8);
                Effect::Compute { to: to as u8, how: Arithmetic::Add, left, right: value }
            }
            code if code == call => writes_pair(to),
            code if unknown.contains(&code) => Effect::Unknown,
            _ => writes(to, 1),
        };
        (if code == set_register_literal { 8 } else { 4 }, effect)
    }

    /// VOP1, VOP2, VOPC.
    fn vector(self, first: u32, next: Option<u32>) -> (u8, Effect) {
        let source = bits(first, 8, 0);
        let extra = source == LITERAL
            || source == DPP
            || source == SDWA && !self.is_gfx11_up()
            || self.family != Family::Gfx9 && DPP8.contains(&source);
        let is_wide = self.is_gfx125 && source == LITERAL64;
        let size = |extra: bool| match (is_wide, extra) {
            (true, _) => 12,
            (false, true) => 8,
            (false, false) => 4,
        };
        match first >> 25 {
            // v_readfirstlane_b32.
            0b011_1111 if bits(first, 16, 9) == 2 => (size(extra), writes(bits(first, 24, 17), 1)),
            0b011_1111 => (size(extra), Effect::None),
            0b011_1110 => {
                // The result of sub-dword addressing may be a scalar register.
                let to = next.filter(|dword| source == SDWA && bits(*dword, 15, 15) == 1);
                (size(extra), to.map_or(Effect::None, |dword| writes_pair(bits(dword, 14, 8))))
            }
            _ => {
                let code = bits(first, 30, 25);
                // v_fmamk_f64 and v_fmaak_f64.
                if self.is_gfx125 && matches!(code, 35 | 36) {
                    return (12, Effect::None);
                }
                // Multiply-adds with a literal.
                let literal = match self.family {
                    Family::Gfx9 => matches!(code, 23 | 24 | 36 | 37),
                    Family::Gfx10 => matches!(code, 32 | 33 | 44 | 45 | 55 | 56),
                    Family::Gfx11 | Family::Gfx12 => matches!(code, 44 | 45 | 55 | 56),
                };
                (size(extra || literal), Effect::None)
            }
        }
    }

    /// Formats of two or more dwords. `None` if the second is missing.
    fn long(self, first: u32, next: Option<u32>) -> Option<(u8, Effect)> {
        let format = first >> 26;
        let none = |size| Some((size, Effect::None));
        match (self.family, format) {
            // v_wmma_scale_* and v_wmma_scale16_*: two instructions in one.
            (Family::Gfx12, 0b11_0011) if self.is_gfx125 && matches!(first >> 16, 0xcc35 | 0xcc3a) => {
                none(16)
            }
            // VOPD3.
            (Family::Gfx12, 0b11_0011) if self.is_gfx125 && bits(first, 25, 24) == 0b11 => none(12),
            // Parameter interpolation.
            (Family::Gfx9, 0b11_0101) | (Family::Gfx10, 0b11_0010) => none(4),
            // LDS direct loads.
            (Family::Gfx11 | Family::Gfx12, 0b11_0011) if bits(first, 25, 24) == 0b10 => none(4),
            (Family::Gfx9, 0b11_0100) | (Family::Gfx10 | Family::Gfx11 | Family::Gfx12, 0b11_0101) => {
                let next = next?;
                Some((self.vop3_size(next), self.vop3(first)))
            }
            (Family::Gfx10 | Family::Gfx11 | Family::Gfx12, 0b11_0011) => {
                let is_interpolation = bits(first, 25, 24) == 0b01;
                none(if is_interpolation { 8 } else { self.vop3_size(next?) })
            }
            (Family::Gfx11 | Family::Gfx12, 0b11_0010) => none(dual_size(first, next?)),
            (Family::Gfx9, 0b11_0000) | (Family::Gfx10 | Family::Gfx11 | Family::Gfx12, 0b11_1101) => {
                Some((8, self.scalar_memory(first)))
            }
            // Image addresses in non-consecutive registers.
            (Family::Gfx10, 0b11_1100) => none(8 + 4 * bits(first, 2, 1) as u8),
            (Family::Gfx11, 0b11_1100) => none(8 + 4 * bits(first, 0, 0) as u8),
            // VBUFFER, VIMAGE, VSAMPLE, VFLAT, VSCRATCH, VGLOBAL.
            (Family::Gfx12, 0b11_0001 | 0b11_0100 | 0b11_1001 | 0b11_1011) => none(12),
            _ => none(8),
        }
    }

    fn vop3_size(self, next: u32) -> u8 {
        if self.family == Family::Gfx9 {
            return 8;
        }
        let first = bits(next, 8, 0);
        let is_dpp = self.is_gfx11_up() && (first == DPP || DPP8.contains(&first));
        let is_literal = [first, bits(next, 17, 9), bits(next, 26, 18)].contains(&LITERAL);
        if is_dpp || is_literal { 12 } else { 8 }
    }

    /// Returns the scalar register that a VOP3 instruction writes, if any.
    fn vop3(self, first: u32) -> Effect {
        let code = bits(first, 25, 16);
        let is_scalar = match self.family {
            // v_readfirstlane_b32, v_readlane_b32.
            Family::Gfx9 => matches!(code, 0x142 | 0x289),
            Family::Gfx10 | Family::Gfx11 => matches!(code, 0x182 | 0x360),
            // Also the transcendental operations on scalars.
            Family::Gfx12 => matches!(code, 0x182 | 0x360 | 0x280..=0x28b),
        };
        if is_scalar {
            return writes(bits(first, 7, 0), 1);
        }
        // The result operand of comparisons is in place of the vector register.
        if code < 0x100 {
            return writes_pair(bits(first, 7, 0));
        }
        let has_carry = match self.family {
            Family::Gfx9 => matches!(code, 0x119..=0x11e | 0x1e0 | 0x1e1 | 0x1e8 | 0x1e9),
            Family::Gfx10 => {
                matches!(code, 0x128..=0x12a | 0x16d | 0x16e | 0x176 | 0x177 | 0x30f | 0x310 | 0x319)
            }
            Family::Gfx11 | Family::Gfx12 => matches!(code, 0x120..=0x122 | 0x2fc..=0x2ff | 0x300..=0x302),
        };
        if has_carry { writes_pair(bits(first, 14, 8)) } else { Effect::None }
    }

    fn scalar_memory(self, first: u32) -> Effect {
        let to = bits(first, 12, 6);
        let (code, is_load, is_store) = match self.family {
            Family::Gfx12 => {
                let code = bits(first, 18, 13);
                (code, code < 32, false)
            }
            _ => {
                let code = bits(first, 25, 18);
                (code, code < 16, (16..=26).contains(&code))
            }
        };
        let count = match code & 7 {
            _ if is_store => return Effect::None,
            size @ 0..=4 if is_load => 1 << size,
            // Three dwords of gfx12; times and atomics.
            _ => 4,
        };
        writes(to & !(u32::from(count) - 1).min(3), count)
    }

    /// Whether the first instruction has a 16-bit constant, and a result other than that constant alone (SOPK without
    /// `s_movk_i32`): `s_cmovk_i32`, `s_getreg_b32`.
    pub(super) fn is_conditional_constant(self, code: &[u8]) -> bool {
        u32_at(code, 0)
            .is_some_and(|first| first >> 28 == 0b1011 && first >> 30 == 0b10 && bits(first, 27, 23) != 0)
    }

    /// The pair of registers with the target of a jump, `s_setpc_b64`: the number of the first one.
    pub(super) fn jump(self, code: &[u8]) -> Option<u8> {
        let first = u32_at(code, 0)?;
        let (_, set_pc, _, _) = self.sop1_codes();
        let is_jump = first >> 23 == 0b1_0111_1101 && bits(first, 15, 8) == set_pc;
        is_jump.then(|| bits(first, 7, 0) as u8)
    }

    /// Whether the last instruction is a call: `s_swappc_b64` or `s_call_b64`, both one dword.
    pub(super) fn ends_with_call(self, code: &[u8]) -> bool {
        let Some(last) = code.last_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)) else { return false };
        let call = match self.family {
            Family::Gfx9 => 21,
            Family::Gfx10 => 22,
            Family::Gfx11 | Family::Gfx12 => 20,
        };
        let (_, _, swap_pc, _) = self.sop1_codes();
        let is_swap = last >> 23 == 0b1_0111_1101 && bits(last, 15, 8) == swap_pc;
        let is_call = last >> 28 == 0b1011 && bits(last, 27, 23) == call;
        is_swap || is_call
    }
}

/// Decodes an operand other than a literal.
pub(super) fn inline(number: u32) -> Operand {
    match number {
        ..SGPRS => Operand::Sgpr(number as u8),
        128..=192 => Operand::Constant(number - 128),
        193..=208 => Operand::Constant(192u32.wrapping_sub(number)),
        _ => Operand::Other,
    }
}

fn writes(first: u32, count: u8) -> Effect {
    if first < SGPRS { Effect::Writes { first: first as u8, count } } else { Effect::None }
}

/// A result of 32 or 64 bits: pairs have even numbers.
fn writes_pair(first: u32) -> Effect {
    writes(first, if first.is_multiple_of(2) { 2 } else { 1 })
}

/// VOPD: two operations, one literal for both.
fn dual_size(first: u32, next: u32) -> u8 {
    // Multiply-adds with a literal.
    let takes = |code: u32| matches!(code, 1 | 2);
    let literal = takes(bits(first, 25, 22))
        || takes(bits(first, 21, 17))
        || bits(first, 8, 0) == LITERAL
        || bits(next, 8, 0) == LITERAL;
    if literal { 12 } else { 8 }
}
