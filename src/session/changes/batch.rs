//! A batch of writes, bit by bit.

use std::collections::BTreeMap;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::Owner;
use crate::arch::RegId;
use crate::units::WaveId;

/// Bits to write: a value and the mask of its valid bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masked<T> {
    pub(super) value: T,
    pub(super) mask: T,
}

impl<T> Masked<T>
where
    T: Copy + Default + PartialEq + Not<Output = T>,
    T: BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T>,
{
    /// Overwrites with more bits; returns whether one of them had another value.
    pub(super) fn put(&mut self, new: Self) -> bool {
        let differs = (self.value ^ new.value) & self.mask & new.mask != T::default();
        self.value = self.value & !new.mask | new.value & new.mask;
        self.mask = self.mask | new.mask;
        differs
    }
}

/// Values to write together. Later additions replace earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::session) struct Batch {
    /// Dwords of registers, by their storage: never those of an alias.
    pub(super) registers: BTreeMap<(WaveId, RegId, u16), Masked<u32>>,
    pub(super) memory: BTreeMap<(Owner, u64), Masked<u8>>,
}

impl Batch {
    /// Adds another batch; returns whether it has another value for one of the bits.
    pub(in crate::session) fn merge(&mut self, other: Self) -> bool {
        let mut differs = false;
        for (at, new) in other.registers {
            differs |= self.registers.entry(at).or_default().put(new);
        }
        for (at, new) in other.memory {
            differs |= self.memory.entry(at).or_default().put(new);
        }
        differs
    }
}
