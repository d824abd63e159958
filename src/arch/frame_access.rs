//! Instructions that access objects of a stack frame: memory at a stack register, and lane addresses computed from one.

use super::instruction::{Arithmetic, Effect, Encoding, Family, LITERAL, Operand, bits, inline};
use crate::integers::u32_at;

/// A register with a part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A scalar register.
    Sgpr(u8),
    /// A vector register.
    Vgpr(u8),
}

/// An access to private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// A load or store at a scalar register plus an offset in bytes of a lane.
    Memory { base: u8, offset: i32 },
    /// `to` = a scalar register shifted right: converts bytes of the wave to bytes of a lane. Only before GFX11: so no
    /// number of a vector register that MODE extends (gfx12.5) counts.
    Scale { to: Holder, base: u8 },
    /// `to` = a register plus a number.
    Add { to: Holder, from: Holder, number: u32 },
    /// A vector register = a scalar register, or an element's address relative to it.
    Copy { base: u8 },
}

impl Encoding {
    /// Decodes the private memory access of the first instruction; `None` for other instructions.
    pub(super) fn access(self, code: &[u8]) -> Option<Access> {
        let dword = |index: usize| u32_at(code, index * 4);
        let first = dword(0)?;
        let scalar = |number: u32| match inline(number) {
            Operand::Sgpr(register) => Some(register),
            _ => None,
        };
        let constant = |number: u32| match inline(number) {
            Operand::Constant(number) => Some(number),
            _ if number == LITERAL => dword(1),
            _ => None,
        };
        let memory = |base: u32, offset: i32| Some(Access::Memory { base: scalar(base)?, offset });
        let signed = |number: u32, width: u32| (number << (32 - width)).cast_signed() >> (32 - width);
        let vector = |number: u32| Holder::Vgpr(number as u8);
        // An object's offset has no bits in common with an aligned address: compilers also use a disjunction.
        let (or, shift, shift_vector, add_vector) = match self.family() {
            Family::Gfx9 => (14, Some(30), 0x110, [0x34, 0x14]),
            Family::Gfx10 => (16, Some(32), 0x116, [0x25, 0x1c]),
            Family::Gfx11 | Family::Gfx12 => (24, None, 0x118, [0x25, 0x1c]),
        };
        match (self.family(), first >> 26) {
            // VSCRATCH.
            (Family::Gfx12, 0b11_1011) if first >> 24 == 0xed => {
                return memory(bits(first, 6, 0), signed(dword(2)? >> 8, 24));
            }
            // MUBUF without an index.
            (Family::Gfx9 | Family::Gfx10, 0b11_1000) if bits(first, 13, 13) == 0 => {
                return memory(dword(1)? >> 24, bits(first, 11, 0).cast_signed());
            }
            (Family::Gfx9 | Family::Gfx10 | Family::Gfx11, 0b11_0111) => {
                let (segment, width) = match self.family() {
                    Family::Gfx9 => (bits(first, 15, 14), 13),
                    Family::Gfx10 => (bits(first, 15, 14), 12),
                    _ => (bits(first, 17, 16), 13),
                };
                let is_scratch = segment == 1;
                return is_scratch.then(|| memory(bits(dword(1)?, 22, 16), signed(first, width))).flatten();
            }
            (Family::Gfx9, 0b11_0100) | (Family::Gfx10, 0b11_0101) if bits(first, 25, 16) == shift_vector => {
                let base = scalar(bits(dword(1)?, 17, 9))?;
                return Some(Access::Scale { to: vector(bits(first, 7, 0)), base });
            }
            (_, 0b11_0100 | 0b11_0101) if self.elements().contains(&bits(first, 25, 16)) => {
                return Some(Access::Copy { base: scalar(bits(dword(1)?, 26, 18))? });
            }
            _ => {}
        }
        if first >> 31 == 0 {
            // v_mov_b32.
            if first >> 25 == 0b011_1111 && bits(first, 16, 9) == 1 {
                return scalar(bits(first, 8, 0)).map(|base| Access::Copy { base });
            }
            let number = constant(bits(first, 8, 0)).filter(|_| add_vector.contains(&(first >> 25)))?;
            let (to, from) = (vector(bits(first, 24, 17)), vector(bits(first, 16, 9)));
            return Some(Access::Add { to, from, number });
        }
        if first >> 30 != 0b10 {
            return None;
        }
        let (low, high) = (bits(first, 7, 0), bits(first, 15, 8));
        let to = Holder::Sgpr(bits(first, 22, 16) as u8);
        match bits(first, 29, 23) {
            code if Some(code) == shift => Some(Access::Scale { to, base: scalar(low)? }),
            code if code == or => {
                Some(Access::Add { to, from: Holder::Sgpr(scalar(low)?), number: constant(high)? })
            }
            _ => match self.decode(code)?.effect {
                Effect::Compute {
                    to,
                    how: Arithmetic::Add,
                    left: Operand::Sgpr(from),
                    right: Operand::Constant(number),
                } => Some(Access::Add { to: Holder::Sgpr(to), from: Holder::Sgpr(from), number }),
                _ => None,
            },
        }
    }

    /// Whether an instruction reads a register as a 32-bit operand.
    pub(super) fn reads(self, code: &[u8], register: Holder) -> bool {
        let dword = |index: usize| u32_at(code, index * 4);
        let Some(first) = dword(0) else { return false };
        let second = dword(1).unwrap_or(0);
        let (number, vector) = match register {
            Holder::Sgpr(register) => (u32::from(register), None),
            Holder::Vgpr(register) => (256 + u32::from(register), Some(u32::from(register))),
        };
        match (first >> 30, first >> 26) {
            (0b10, _) => [bits(first, 7, 0), bits(first, 15, 8)].contains(&number),
            // VOP3, VOP3P.
            (0b11, 0b11_0011..=0b11_0101) => {
                [bits(second, 8, 0), bits(second, 17, 9), bits(second, 26, 18)].contains(&number)
            }
            // Memory: address and data.
            (0b11, _) => [bits(second, 7, 0), bits(second, 15, 8)].map(Some).contains(&vector),
            // VOP1 has one source.
            _ if first >> 25 == 0b011_1111 => bits(first, 8, 0) == number,
            _ => bits(first, 8, 0) == number || Some(bits(first, 16, 9)) == vector,
        }
    }

    /// `v_lshl_add_u32` and `v_lshl_or_b32`.
    fn elements(self) -> [u32; 2] {
        match self.family() {
            Family::Gfx9 => [0x1fd, 0x200],
            Family::Gfx10 => [0x346, 0x36f],
            Family::Gfx11 | Family::Gfx12 => [0x246, 0x256],
        }
    }

    /// Whether an instruction uses an operand unchanged: moves, comparisons, and array element addresses on processors
    /// that count bytes of the wave.
    pub(super) fn takes_address(self, code: &[u8]) -> bool {
        let Some(first) = u32_at(code, 0) else { return false };
        match (first >> 30, first >> 26) {
            // SOPC, SOP1, SOP2.
            (0b10, _) => match first >> 23 {
                0b1_0111_1110 => true,
                0b1_0111_1101 => {
                    matches!(self.decode(code).map(|found| found.effect), Some(Effect::Move { .. }))
                }
                // s_cselect_b32.
                _ => bits(first, 29, 23) == 10,
            },
            (0b11, 0b11_0100 | 0b11_0101) => self.elements().contains(&bits(first, 25, 16)),
            // v_mov_b32.
            (0b11, _) => false,
            _ => first >> 25 == 0b011_1111 && bits(first, 16, 9) == 1,
        }
    }

    /// Whether an instruction writes a register.
    pub(super) fn writes(self, code: &[u8], effect: Effect, register: Holder) -> bool {
        let register = match (register, effect) {
            (Holder::Vgpr(register), _) => u32::from(register),
            (Holder::Sgpr(register), Effect::Move { to, .. } | Effect::Compute { to, .. }) => {
                return register == to;
            }
            (Holder::Sgpr(register), Effect::Writes { first, count }) => {
                return (first..first.saturating_add(count)).contains(&register);
            }
            (Holder::Sgpr(_), _) => return false,
        };
        let dword = |index: usize| u32_at(code, index * 4);
        let Some(first) = dword(0) else { return false };
        match (first >> 30, first >> 26) {
            (0b10, _) => false,
            // VOP3, VOP3P.
            (0b11, 0b11_0011..=0b11_0101) => bits(first, 7, 0) == register,
            // Memory: the result is one of these operands.
            (0b11, _) => dword(1).is_some_and(|second| second.to_le_bytes().contains(&(register as u8))),
            // VOPC.
            _ if first >> 25 == 0b011_1110 => false,
            _ => bits(first, 24, 17) == register,
        }
    }
}
