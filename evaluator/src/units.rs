//! Newtypes for every number with a unit: a lane is not accepted as a byte offset.
//!
//! A [`Pc`] is a run-time address of code. An [`Address`] is an offset that needs an [`AddressSpace`].

use std::fmt;

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident($inner:ty), $format:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $format, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "(", $format, ")"), self.0)
            }
        }
    };
}

unit!(
    /// A run-time address of code: the contents of a wave's PC register.
    Pc(u64), "{:#x}");
unit!(
    /// A byte address in an address space; meaningless without its [`AddressSpace`].
    Address(u64), "{:#x}");
unit!(
    /// A DWARF address space number (DW_ASPACE), the operand of `DW_OP_LLVM_form_aspace_address`.
    AddressSpace(u64), "{:#x}");
unit!(
    /// A DWARF register number; `u64` because the operand of `DW_OP_regx` is any ULEB128 number.
    DwarfReg(u64), "{}");
unit!(
    /// A lane of a wave, 0 to 63.
    LaneId(u8), "{}");
unit!(
    /// A size in bits.
    BitSize(u64), "{}");
unit!(
    /// A byte offset of an operation within its DWARF expression.
    ExprOffset(usize), "{}");
unit!(
    /// An offset of a DIE in `.debug_info`, or in its unit if the field's documentation states so.
    DieOffset(u64), "{:#x}");

/// Number of lanes of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaveSize {
    /// 32 lanes.
    W32,
    /// 64 lanes.
    W64,
}

impl WaveSize {
    /// Returns the wave size of that many lanes, if it exists.
    #[inline]
    #[must_use]
    pub fn from_lanes(lanes: u64) -> Option<Self> {
        match lanes {
            32 => Some(Self::W32),
            64 => Some(Self::W64),
            _ => None,
        }
    }

    /// Number of lanes: 32 or 64.
    #[inline]
    #[must_use]
    pub fn lanes(self) -> u8 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// Returns all lanes of such a wave.
    #[inline]
    #[must_use]
    pub fn all(self) -> LaneSet {
        LaneSet::lowest(self.lanes().into())
    }

    /// Whether such a wave has that lane.
    #[inline]
    #[must_use]
    pub fn has(self, lane: LaneId) -> bool {
        lane.0 < self.lanes()
    }
}

impl fmt::Display for WaveSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wave{}", self.lanes())
    }
}

/// A set of lanes, bit N for lane N: an EXEC mask, or the lanes to evaluate for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LaneSet(pub u64);

impl LaneSet {
    /// No lane.
    pub const EMPTY: Self = Self(0);

    /// The set of one lane.
    #[inline]
    #[must_use]
    pub fn one(lane: LaneId) -> Self {
        Self(1u64.checked_shl(u32::from(lane.0)).unwrap_or(0))
    }

    /// Returns the set of the first `count` lanes or dwords; all of them from 64 on.
    #[inline]
    #[must_use]
    pub fn lowest(count: u32) -> Self {
        Self(1u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1))
    }

    /// Whether the lane is in the set.
    #[inline]
    #[must_use]
    pub fn contains(self, lane: LaneId) -> bool {
        self.0 & Self::one(lane).0 != 0
    }

    /// Number of lanes in the set.
    #[inline]
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no lane is in the set.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the lowest lane of the set.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<LaneId> {
        // trailing_zeros is at most 63 here, so it fits.
        (self.0 != 0).then(|| LaneId(self.0.trailing_zeros() as u8))
    }

    /// Iterates over the lanes, lowest first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = LaneId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let lane = LaneSet(left).first()?;
            left &= left - 1;
            Some(lane)
        })
    }

    /// Returns the lanes in both sets.
    #[inline]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the lanes in either set.
    #[inline]
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the lanes of this set that are not in the other.
    #[inline]
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<LaneId> for LaneSet {
    fn from_iter<I: IntoIterator<Item = LaneId>>(lanes: I) -> Self {
        Self(lanes.into_iter().fold(0, |set, lane| set | Self::one(lane).0))
    }
}

impl fmt::Debug for LaneSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneSet({:#x})", self.0)
    }
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
