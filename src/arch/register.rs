//! Registers, and register values with partly known contents.

use serde::{Deserialize, Serialize};

use crate::units::{DwarfReg, LaneId};

/// An index into [`super::WaveArch::registers`]; stable for a kind within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegId(pub u16);

/// The register classes of AMD's debugger library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RegClass {
    /// pc, exec, vcc, m0.
    General,
    /// SGPRs.
    Scalar,
    /// VGPRs: one dword a lane.
    Vector,
    /// Accumulation VGPRs (AGPRs): one dword a lane.
    Accumulator,
    /// status, mode, trapsts and related registers.
    System,
    /// Trap temporaries.
    Trap,
}

impl RegClass {
    /// Each class with its group name for debuggers.
    pub const NAMES: [(Self, &str); 6] = [
        (Self::General, "general"),
        (Self::Scalar, "scalar"),
        (Self::Vector, "vector"),
        (Self::Accumulator, "accumulator"),
        (Self::System, "system"),
        (Self::Trap, "trap"),
    ];

    /// Returns the class of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(class, _)| *class)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(known, _)| *known == self).map_or("general", |(_, name)| name)
    }
}

/// The type of a register's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// A code address.
    CodePointer,
    /// A plain number of the register's width.
    Unsigned,
    /// A lane mask.
    LaneMask,
    /// Named bits: see [`super::WaveArch::fields`].
    Flags,
    /// One dword for each lane.
    Lanes,
}

/// A register in the last allocated SGPRs: `vcc` on every GPU, `flat_scratch` on the gfx9 family.
///
/// With N allocated slots it occupies `count` slots from `min(limit, N) - back` on; `limit` is
/// [`super::Target::sgpr_alias_limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SgprAlias {
    /// Distance in slots from the end of the allocation.
    pub back: u16,
    /// Number of slots.
    pub count: u16,
}

/// One register of a [`super::WaveArch`].
#[derive(Clone, Debug)]
pub struct Register {
    /// Its index in the kind's table.
    pub id: RegId,
    /// AMD's user-visible name: `v17`, `s0`, `exec`.
    pub name: String,
    /// Its class.
    pub class: RegClass,
    /// Dwords: 1 or 2 for scalars, the number of lanes for vectors.
    pub dwords: u16,
    /// The type of its contents.
    pub value_type: ValueType,
    /// Its number in the DWARF register mapping, if any.
    pub dwarf: Option<DwarfReg>,
    /// Its position in the last allocated SGPRs, if it is such an alias.
    pub alias: Option<SgprAlias>,
    /// Its named bits, an index for [`super::WaveArch::fields`].
    pub fields: Option<usize>,
    /// Its number in AMD's debugger library, the packet number in a gdb with the architecture.
    pub dbgapi: Option<u16>,
    /// The second number of an SGPR in AMD's library, used while the slot is an alias.
    pub dbgapi_shadow: Option<u16>,
}

impl SgprAlias {
    /// Returns the first slot for a number of allocated slots and a limit; `None` if the allocation is too small.
    #[must_use]
    pub fn first(self, limit: u16, allocated: u16) -> Option<u16> {
        limit.min(allocated).checked_sub(self.back)
    }
}

impl Register {
    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        usize::from(self.dwords) * 4
    }

    /// Size in bits.
    #[must_use]
    pub fn bits(&self) -> u64 {
        u64::from(self.dwords) * 32
    }

    /// Whether it has one dword for each lane.
    #[must_use]
    pub fn is_vector(&self) -> bool {
        self.value_type == ValueType::Lanes
    }
}

/// The named bits of a register such as `status`.
#[derive(Clone, Debug)]
pub struct BitFields {
    /// Name of the type in clients: `status_flags`.
    pub name: String,
    /// The fields, lowest bit first.
    pub fields: Vec<BitField>,
}

impl BitFields {
    /// Iterates over the fields with their values in the given register value.
    pub fn values(&self, register: u64) -> impl Iterator<Item = (&BitField, u64)> {
        self.fields.iter().map(move |field| (field, field.value(register)))
    }
}

/// One named bit or run of bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BitField {
    /// AMD's name: `EXECZ`.
    pub name: String,
    /// Lowest bit.
    pub low: u8,
    /// Highest bit.
    pub high: u8,
}

impl BitField {
    /// Width in bits.
    #[must_use]
    pub fn width(&self) -> u8 {
        self.high.saturating_sub(self.low).saturating_add(1)
    }

    /// Returns its value in the given register value.
    #[must_use]
    pub fn value(&self, register: u64) -> u64 {
        let shifted = register.checked_shr(u32::from(self.low)).unwrap_or(0);
        let mask = 1u64.checked_shl(u32::from(self.width())).map_or(u64::MAX, |bit| bit - 1);
        shifted & mask
    }
}

/// Maximum dwords of a register: 64 lanes.
const MAX_DWORDS: usize = 64;

/// A register's bytes, lowest address first (vectors lane 0 first), with a mask of the known dwords.
///
/// Unknown dwords are meaningless; check [`RegisterValue::knows`] first.
#[derive(Clone)]
pub struct RegisterValue {
    words: [[u8; 4]; MAX_DWORDS],
    dwords: u16,
    known: u64,
}

impl RegisterValue {
    /// Creates a value of that many dwords (1 to 64), all unknown.
    #[must_use]
    pub fn unknown(dwords: u16) -> Self {
        Self { words: [[0; 4]; MAX_DWORDS], dwords: dwords.min(MAX_DWORDS as u16), known: 0 }
    }

    /// Returns all bytes; those of unknown dwords are meaningless.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.words.get(..usize::from(self.dwords)).unwrap_or_default().as_flattened()
    }

    /// Returns the byte buffer; mark the written dwords with [`Self::set_known`].
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.words.get_mut(..usize::from(self.dwords)).unwrap_or_default().as_flattened_mut()
    }

    /// Number of dwords.
    #[must_use]
    pub fn dwords(&self) -> u16 {
        self.dwords
    }

    /// Mask of the known dwords; bit N is dword N.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Sets the known dwords; bits beyond the register are dropped.
    pub fn set_known(&mut self, known: u64) {
        self.known = known & self.all();
    }

    /// Whether dword `index` is known.
    #[must_use]
    pub fn knows(&self, index: u16) -> bool {
        index < self.dwords && self.known >> index & 1 == 1
    }

    /// Whether every dword is known.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.known == self.all()
    }

    /// Returns dword `index`, if known.
    #[must_use]
    pub fn dword(&self, index: u16) -> Option<u32> {
        let word = self.words.get(usize::from(index)).filter(|_| self.knows(index))?;
        Some(u32::from_le_bytes(*word))
    }

    /// Stores dword `index` as known; ignored beyond the register.
    pub fn set_dword(&mut self, index: u16, value: u32) {
        if index < self.dwords
            && let Some(word) = self.words.get_mut(usize::from(index))
        {
            *word = value.to_le_bytes();
            self.known |= 1 << index;
        }
    }

    /// Returns a lane's dword of a vector register, if known.
    #[must_use]
    pub fn lane(&self, lane: LaneId) -> Option<u32> {
        self.dword(u16::from(lane.0))
    }

    /// Returns the value of a scalar of one or two dwords, if fully known.
    #[must_use]
    pub fn scalar(&self) -> Option<u64> {
        match self.dwords {
            1 => self.dword(0).map(u64::from),
            2 => Some(u64::from(self.dword(0)?) | u64::from(self.dword(1)?) << 32),
            _ => None,
        }
    }

    fn all(&self) -> u64 {
        if self.dwords >= 64 { u64::MAX } else { (1 << self.dwords) - 1 }
    }
}

impl std::fmt::Debug for RegisterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RegisterValue[")?;
        for index in 0..self.dwords {
            match self.dword(index) {
                Some(value) => write!(f, " {value:08x}")?,
                None => f.write_str(" xxxxxxxx")?,
            }
        }
        f.write_str(" ]")
    }
}
