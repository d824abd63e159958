//! Values of the evaluation stack: bits with a type, for one lane or for a set of lanes.
//!
//! Follows "Value Operations" of the 2020 AMDGPU text and DWARF 5 section 2.5.1: the generic type is integral, has the
//! size of a global address (64 bits on every amdgcn) and no signedness of its own.

use super::lanes::Lanes;
use super::limits::MAX_VALUE_BITS;
use crate::units::{BitSize, LaneId, LaneSet};

/// Bits of the generic type: the size of an address in the default address space.
pub const GENERIC_BITS: u32 = 64;

/// A DWARF base type encoding (`DW_ATE_*`, DWARF 5 section 7.8); any byte is representable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding(pub u8);

impl Encoding {
    /// `DW_ATE_boolean`.
    pub const BOOLEAN: Self = Self(0x02);
    /// `DW_ATE_float`.
    pub const FLOAT: Self = Self(0x04);
    /// `DW_ATE_signed`.
    pub const SIGNED: Self = Self(0x05);
    /// `DW_ATE_signed_char`.
    pub const SIGNED_CHAR: Self = Self(0x06);
    /// `DW_ATE_unsigned`.
    pub const UNSIGNED: Self = Self(0x07);
    /// `DW_ATE_unsigned_char`.
    pub const UNSIGNED_CHAR: Self = Self(0x08);
    /// `DW_ATE_lo_user`: the first target-specific encoding; these are integral.
    pub const LO_USER: Self = Self(0x80);

    /// Returns the class of its values in arithmetic.
    #[must_use]
    pub fn class(self) -> ValueClass {
        match self {
            Self::SIGNED | Self::SIGNED_CHAR => ValueClass::Signed,
            Self::UNSIGNED | Self::UNSIGNED_CHAR | Self::BOOLEAN => ValueClass::Unsigned,
            Self::FLOAT => ValueClass::Float,
            user if user.0 >= Self::LO_USER.0 => ValueClass::Unsigned,
            _ => ValueClass::Opaque,
        }
    }
}

/// The class of a value in arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueClass {
    /// Two's complement.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// IEEE 754 binary of 16, 32 or 64 bits.
    Float,
    /// Bits without arithmetic.
    Opaque,
}

/// A base type, possibly a vector of one (`DW_AT_LLVM_vector_size`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BaseType {
    /// Its encoding.
    pub encoding: Encoding,
    /// Bits of one element: `DW_AT_byte_size` times 8.
    pub element_bits: u32,
    /// Number of elements; `None` if it is not a vector.
    pub elements: Option<u32>,
}

impl BaseType {
    /// A scalar base type.
    #[must_use]
    pub fn scalar(encoding: Encoding, bits: u32) -> Self {
        Self { encoding, element_bits: bits, elements: None }
    }

    /// Size in bits, all elements together.
    #[must_use]
    pub fn size(&self) -> BitSize {
        BitSize(u64::from(self.element_bits) * u64::from(self.elements.unwrap_or(1)))
    }

    /// Whether its values can be stack entries: neither empty nor beyond [`MAX_VALUE_BITS`].
    #[must_use]
    pub fn is_supported(&self) -> bool {
        (1..=MAX_VALUE_BITS).contains(&self.size().0)
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// The generic type.
    Generic,
    /// A base type.
    Base(BaseType),
}

impl Type {
    /// Returns the unsigned type of that many bits, for register contents.
    #[must_use]
    pub fn unsigned(bits: u32) -> Self {
        Self::Base(BaseType::scalar(Encoding::UNSIGNED, bits))
    }

    /// Size in bits.
    #[must_use]
    pub fn size(&self) -> BitSize {
        match self {
            Self::Generic => BitSize(u64::from(GENERIC_BITS)),
            Self::Base(base) => base.size(),
        }
    }

    /// Whether it is integral: the generic type, or a scalar with an integral encoding.
    #[must_use]
    pub fn is_integral(&self) -> bool {
        match self {
            Self::Generic => true,
            Self::Base(base) => {
                base.elements.is_none()
                    && matches!(base.encoding.class(), ValueClass::Signed | ValueClass::Unsigned)
            }
        }
    }

    /// Returns class and bits of one element, and the number of elements. Generic values count as signed.
    #[must_use]
    pub fn shape(&self) -> (ValueClass, u32, u32) {
        match self {
            Self::Generic => (ValueClass::Signed, GENERIC_BITS, 1),
            Self::Base(base) => (base.encoding.class(), base.element_bits, base.elements.unwrap_or(1)),
        }
    }
}

/// The bits of a value in 64-bit limbs, least significant first; unused bits of the last limb are 0.
#[derive(Clone, Debug)]
pub(super) enum Limbs {
    /// Up to 64 bits.
    Narrow(Lanes<u64>),
    /// More than 64 bits.
    Wide(Box<[Lanes<u64>]>),
}

/// A value: a type and bits.
#[derive(Clone, Debug)]
pub struct Number {
    pub(super) ty: Type,
    pub(super) limbs: Limbs,
}

/// Returns a mask of the low `bits` bits; all bits from 64 on.
pub(super) fn low_mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Number of limbs for that many bits.
pub(super) fn limbs_for(bits: u64) -> usize {
    bits.div_ceil(64) as usize
}

impl Number {
    /// Creates a value of the generic type.
    #[must_use]
    pub fn generic(bits: impl Into<Lanes<u64>>) -> Self {
        Self { ty: Type::Generic, limbs: Limbs::Narrow(bits.into()) }
    }

    /// Creates a value of a type from its bytes, least significant first, the same for all lanes. Missing bytes are 0;
    /// bits beyond the type are dropped.
    #[must_use]
    pub fn from_bytes(ty: Type, bytes: &[u8]) -> Self {
        let limb = |index: usize| {
            let mut word = [0u8; 8];
            for (to, from) in word.iter_mut().zip(bytes.iter().skip(index * 8)) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        };
        let limbs: Vec<u64> = (0..limbs_for(ty.size().0)).map(limb).collect();
        Self::from_limbs(ty, &limbs)
    }

    /// Creates a value from limbs, the same for all lanes.
    pub(super) fn from_limbs(ty: Type, limbs: &[u64]) -> Self {
        let bits = ty.size().0;
        let limb = |index: usize| {
            let left = bits.saturating_sub(index as u64 * 64);
            limbs.get(index).copied().unwrap_or(0) & low_mask(left.min(64) as u32)
        };
        let limbs = if bits <= 64 {
            Limbs::Narrow(Lanes::Uniform(limb(0)))
        } else {
            Limbs::Wide((0..limbs_for(bits)).map(|index| Lanes::Uniform(limb(index))).collect())
        };
        Self { ty, limbs }
    }

    /// Creates a value whose limbs a function returns for each lane of a set.
    pub(super) fn from_lanes<E>(
        ty: Type,
        lanes: LaneSet,
        mut limbs_of: impl FnMut(LaneId) -> Result<Vec<u64>, E>,
    ) -> Result<Self, E> {
        let count = limbs_for(ty.size().0).max(1);
        let mut columns: Vec<Box<[u64; 64]>> = (0..count).map(|_| Box::new([0; 64])).collect();
        for lane in lanes.iter() {
            let limbs = limbs_of(lane)?;
            for (column, limb) in columns.iter_mut().zip(limbs) {
                if let Some(slot) = column.get_mut(usize::from(lane.0)) {
                    *slot = limb;
                }
            }
        }
        let mut columns = columns.into_iter().map(Lanes::Varying);
        let limbs = match (count, columns.next()) {
            (1, Some(only)) => Limbs::Narrow(only),
            (_, Some(first)) => Limbs::Wide(std::iter::once(first).chain(columns).collect()),
            (_, None) => Limbs::Narrow(Lanes::Uniform(0)),
        };
        Ok(Self { ty, limbs })
    }

    /// Returns its type.
    #[inline]
    #[must_use]
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Returns its size in bits.
    #[must_use]
    pub fn size(&self) -> BitSize {
        self.ty.size()
    }

    /// Returns the low 64 bits, zero-extended if the type is smaller.
    #[inline]
    #[must_use]
    pub fn low(&self) -> &Lanes<u64> {
        const ZERO: &Lanes<u64> = &Lanes::Uniform(0);
        match &self.limbs {
            Limbs::Narrow(bits) => bits,
            Limbs::Wide(limbs) => limbs.first().unwrap_or(ZERO),
        }
    }

    /// Returns the limbs of one lane, least significant first.
    #[must_use]
    pub fn limbs(&self, lane: LaneId) -> Vec<u64> {
        match &self.limbs {
            Limbs::Narrow(bits) => vec![bits.get(lane)],
            Limbs::Wide(limbs) => limbs.iter().map(|limb| limb.get(lane)).collect(),
        }
    }

    /// Returns the limb at an index and the next one, 0 past the end.
    pub(super) fn limbs_from(&self, lane: LaneId, index: usize) -> u128 {
        let limb = |index: usize| match (&self.limbs, index) {
            (Limbs::Narrow(bits), 0) => bits.get(lane),
            (Limbs::Narrow(_), _) => 0,
            (Limbs::Wide(limbs), index) => limbs.get(index).map_or(0, |limb| limb.get(lane)),
        };
        u128::from(limb(index + 1)) << 64 | u128::from(limb(index))
    }

    /// Returns the bytes of one lane, least significant first; the last one is zero-extended.
    #[must_use]
    pub fn bytes(&self, lane: LaneId) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.limbs(lane).iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.truncate(self.size().0.div_ceil(8) as usize);
        bytes
    }

    /// Returns the value for one lane.
    #[must_use]
    pub fn at(&self, lane: LaneId) -> Self {
        Self::from_limbs(self.ty, &self.limbs(lane))
    }

    /// Whether no limb depends on the lane.
    pub(super) fn is_uniform(&self) -> bool {
        match &self.limbs {
            Limbs::Narrow(bits) => bits.is_uniform(),
            Limbs::Wide(limbs) => limbs.iter().all(Lanes::is_uniform),
        }
    }

    /// Its size in 64-bit words: the cost of a copy.
    pub(super) fn words(&self) -> usize {
        match &self.limbs {
            Limbs::Narrow(_) => 1,
            Limbs::Wide(limbs) => limbs.len(),
        }
    }

    /// Returns the lanes of `lanes` with any bit set.
    pub(super) fn lanes_not_zero(&self, lanes: LaneSet) -> LaneSet {
        match &self.limbs {
            Limbs::Narrow(bits) => bits.lanes_where(lanes, |bits| bits != 0),
            Limbs::Wide(limbs) => limbs.iter().fold(LaneSet::EMPTY, |set, limb| {
                LaneSet(set.0 | limb.lanes_where(lanes, |bits| bits != 0).0)
            }),
        }
    }

    /// Splits `lanes` into sets of lanes with the same bits.
    pub(super) fn parted(&self, lanes: LaneSet) -> Vec<LaneSet> {
        match &self.limbs {
            Limbs::Narrow(bits) => bits.parted(lanes),
            Limbs::Wide(limbs) => limbs
                .iter()
                .fold(vec![lanes], |sets, limb| sets.into_iter().flat_map(|set| limb.parted(set)).collect()),
        }
    }
}
