//! Halves of registers in clang's xderef idiom: numbers of 8 and 16 bits on processors from gfx11 on.
//!
//! Situation: LLVM reads a half by mask, and by shift if it is the upper one: `bregx VGPR3 0; lit16; shr;
//! constu 0xffff; and; lit1; swap; xderef; bit_piece 16 16`. The piece names the half once more
//! (`DwarfExpression::maskSubRegister` and `finalize`).

use super::super::operation::{Binary, Operation, Placed};
use crate::units::DwarfReg;

/// Bits of a half.
pub(super) const HALF_BITS: u32 = 16;
const MASK: u64 = 0xffff;

/// A half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    pub(super) register: DwarfReg,
    pub(super) is_upper: bool,
}

impl Half {
    /// The half that the first operations read.
    pub(super) fn at(operations: &[Placed]) -> Option<Self> {
        let (first, mut rest) = operations.split_first()?;
        let Operation::BaseRegister { register, displacement: 0 } = first.operation else { return None };
        let pair = |rest: &[Placed]| match rest {
            [Placed { operation: Operation::Constant(number), .. }, Placed { operation, .. }, ..] => {
                Some((*number, operation.clone()))
            }
            _ => None,
        };
        let is_upper = pair(rest) == Some((u64::from(HALF_BITS), Operation::Binary(Binary::Shr)));
        if is_upper {
            rest = rest.get(2..)?;
        }
        (pair(rest)? == (MASK, Operation::Binary(Binary::And))).then_some(Self { register, is_upper })
    }

    /// Number of operations that read it.
    pub(super) fn length(self) -> usize {
        if self.is_upper { 5 } else { 3 }
    }

    /// Bits of the register before it.
    pub(super) fn offset(self) -> u64 {
        if self.is_upper { u64::from(HALF_BITS) } else { 0 }
    }

    /// Whether a piece of that size and offset names this half.
    pub(super) fn is_piece(self, size: u64, offset: u64) -> bool {
        self.is_upper && size == u64::from(HALF_BITS) && offset == self.offset()
    }

    /// Whether these operations, and nothing else, read a half.
    pub(super) fn is_whole(operations: &[Placed]) -> bool {
        Self::at(operations).is_some_and(|half| half.length() == operations.len())
    }
}
