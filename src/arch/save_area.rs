//! Save areas of the trap handler: control stack bits, order and sizes of the blocks, fields of the trap temporaries.
//! The facts come from `[save_area]` in a target's file; `import` reads save areas with them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::schema::Bits;
use crate::units::WaveSize;

/// A run of bits in a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Bits")]
pub struct BitRange {
    /// The lowest bit.
    pub low: u8,
    /// The highest bit.
    pub high: u8,
}

impl From<Bits> for BitRange {
    fn from(bits: Bits) -> Self {
        Self { low: bits.low(), high: bits.high() }
    }
}

impl BitRange {
    /// Extracts their value from a dword.
    #[must_use]
    pub fn of(self, word: u32) -> u32 {
        let width = u32::from(self.high.saturating_sub(self.low)).saturating_add(1);
        let mask = 1u32.checked_shl(width).map_or(u32::MAX, |bit| bit - 1);
        word.checked_shr(u32::from(self.low)).unwrap_or(0) & mask
    }

    /// Returns the dword with `value` in these bits.
    #[must_use]
    pub fn with(self, word: u32, value: u32) -> u32 {
        let mask = 1u32.checked_shl(self.width().into()).map_or(u32::MAX, |bit| bit - 1);
        let shift = |bits: u32| bits.checked_shl(self.low.into()).unwrap_or(0);
        word & !shift(mask) | shift(value & mask)
    }

    /// Number of bits.
    #[must_use]
    pub fn width(self) -> u8 {
        self.high.saturating_sub(self.low).saturating_add(1)
    }
}

/// A number for both wave sizes, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a number or { wave32 = N, wave64 = N }")]
pub enum BySize {
    /// The same for both.
    Same(u32),
    /// One for each.
    Each {
        /// For waves of 32 lanes.
        wave32: u32,
        /// For waves of 64 lanes.
        wave64: u32,
    },
}

impl BySize {
    fn of(self, size: WaveSize) -> u32 {
        match (self, size) {
            (Self::Same(number), _) => number,
            (Self::Each { wave32, .. }, WaveSize::W32) => wave32,
            (Self::Each { wave64, .. }, WaveSize::W64) => wave64,
        }
    }
}

/// A count: (bits + `plus`) * `times` - `less`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The bits in the state's dword.
    pub bits: BitRange,
    /// Added first: 1 if the field is the number of granules minus one.
    #[serde(default)]
    pub plus: u32,
    /// Units in a granule.
    pub times: BySize,
    /// Units counted here and stored elsewhere.
    #[serde(default)]
    pub less: u32,
}

impl Count {
    /// Computes the count from a state's dword. It cannot overflow: bits and granules are bounded.
    #[must_use]
    pub fn of(&self, word: u32, size: WaveSize) -> u32 {
        let granules = self.bits.of(word).saturating_add(self.plus);
        granules.saturating_mul(self.times.of(size)).saturating_sub(self.less)
    }
}

fn sixteen() -> u32 {
    16
}

/// Bits of a trap temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TtmpBits {
    /// Number of the register.
    pub ttmp: u8,
    /// The bits; absent: all.
    #[serde(default = "all_bits")]
    pub bits: BitRange,
}

fn all_bits() -> BitRange {
    BitRange { low: 0, high: 31 }
}

/// One bit of a named register.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterBit {
    /// The register.
    pub register: String,
    /// The bit.
    pub bit: u8,
}

/// Bits of a register that read as zero for the user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// The register.
    pub register: String,
    /// The bits.
    pub bits: Vec<u8>,
}

/// Layout of a processor's save areas.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveArea {
    /// Unused bytes below the end of the wave above.
    pub gap: u32,
    /// Size of a control stack state record in dwords: 1 or 2.
    pub state_words: u8,
    /// SGPR slots of every wave, if the state has no count.
    pub sgpr_slots: Option<u32>,
    /// The first dword of a state record.
    pub state: State,
    /// The dword of a wave.
    pub wave: WaveWord,
    /// Slots of hardware registers of every wave; default: 16.
    #[serde(default = "sixteen")]
    pub hwreg_slots: u32,
    /// Whether the trap temporaries are the last 16 SGPR slots; otherwise they have slots above the hardware registers.
    #[serde(default)]
    pub ttmps_in_sgprs: bool,
    /// Hardware registers by name, with their slot.
    pub hwregs: BTreeMap<String, u8>,
    /// SGPR slots near the end of the allocation with stale saved values: a hardware register has the current ones.
    pub stale_sgprs: Option<Stale>,
    /// Fields of the trap temporaries.
    pub ttmps: Ttmps,
    /// Location of a parked wave's PC; absent: waves are not parked.
    pub parked: Option<Parked>,
    /// Bits owned by the trap handler.
    #[serde(default)]
    pub hidden: Vec<Hidden>,
    /// The bit that the trap handler overwrites with its own halt; a trap temporary has the original value.
    pub halt: RegisterBit,
    /// This bit marks a wave that has released its VGPRs: their saved values are meaningless.
    pub no_vgprs: Option<RegisterBit>,
    /// Private memory.
    pub scratch: ScratchRing,
    /// Sources of these facts.
    #[serde(default)]
    pub source: String,
}

/// SGPR slots replaced by a hardware register.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stale {
    /// Distance in slots from the end of the aliases.
    pub from_end: u16,
    /// The register.
    pub register: String,
}

/// Fields of the first dword of a state record, which describes the following waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// VGPRs; with `accum_offset`, including the accumulation VGPRs.
    pub vgprs: Count,
    /// VGPRs of a shared file before the first accumulation VGPR.
    pub accum_offset: Option<Count>,
    /// Whether there are as many accumulation VGPRs as VGPRs.
    #[serde(default)]
    pub accum_as_vgprs: bool,
    /// SGPRs.
    pub sgprs: Option<Count>,
    /// Bytes of LDS.
    pub lds: Count,
    /// This bit means that the work-group has all of the LDS; with its size.
    pub lds_whole: Option<Whole>,
    /// Waves have 32 lanes; absent: all have 64.
    pub wave32: Option<BitRange>,
    /// VGPRs shared by the halves of a wave, 32 lanes each.
    pub shared_vgprs: Option<Count>,
}

/// A bit that means a fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whole {
    /// The bit.
    pub bit: u8,
    /// The size in bytes.
    pub bytes: u32,
}

/// Fields of a wave's dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaveWord {
    /// Private memory slot.
    pub scoreboard: BitRange,
    /// Shader engine within the XCC.
    pub engine: BitRange,
    /// Private memory was allocated.
    pub scratch: BitRange,
    /// First of its work-group: it owns the LDS block.
    pub first: BitRange,
    /// Last of its work-group.
    pub last: BitRange,
}

/// Fields of the trap temporaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ttmps {
    /// Work-group ID in x.
    pub x: TtmpBits,
    /// Work-group ID in y.
    pub y: TtmpBits,
    /// Work-group ID in z.
    pub z: TtmpBits,
    /// Without this bit `y` and `z` are 0.
    pub has_yz: Option<TtmpBits>,
    /// Index of the wave in its work-group.
    pub wave_in_group: TtmpBits,
    /// Index of the dispatch's packet, modulo the ring's size.
    pub packet: TtmpBits,
    /// Whether the trap handler stopped the wave.
    pub stopped: TtmpBits,
    /// The wave's HALT bit before that.
    pub halt: TtmpBits,
    /// The ID of the raised trap.
    pub trap_id: TtmpBits,
    /// Whether dispatch facts are present with any runtime option.
    #[serde(default)]
    pub always: bool,
    /// Set if this wave has no dispatch facts. Runtimes since interface version 10.
    pub absent: Option<TtmpBits>,
    /// The bit that validates the trap handler's fields; absent: they are valid together with dispatch facts.
    pub mark: Option<TtmpBits>,
    /// SKIP_EXPORT in STATUS, an additional validity bit of runtimes since interface version 10.
    pub skip_export: Option<u8>,
}

/// A wave's launch position, from its trap temporaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The work-group's position in the grid, in work-groups.
    pub group: [u32; 3],
    /// Index of the wave in its work-group.
    pub wave_in_group: u32,
    /// Index of the dispatch's packet, modulo the ring's size; `None`: its trap temporary is unknown.
    pub packet: Option<u32>,
}

impl Ttmps {
    /// Returns the unknown trap temporaries of the launch position, in order. While the number of dimensions is
    /// unknown, those of `y` and `z` may be unused: the list omits them.
    pub fn missing(&self, read: impl Fn(u8) -> Option<u32>) -> Vec<u8> {
        let has_yz = self.has_yz.map(|has| read(has.ttmp).map(|word| has.bits.of(word) != 0));
        let yz = matches!(has_yz, None | Some(Some(true))).then_some([self.y, self.z]);
        let needed =
            [self.x, self.wave_in_group].into_iter().chain(self.has_yz).chain(yz.into_iter().flatten());
        let mut missing: Vec<u8> =
            needed.map(|bits| bits.ttmp).filter(|number| read(*number).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Computes the launch position; `read` returns a trap temporary by number. `None` if a required one is unknown.
    ///
    /// The caller checks whether the trap temporaries are valid.
    pub fn launch(&self, read: impl Fn(u8) -> Option<u32>) -> Option<Launch> {
        let bits = |bits: TtmpBits| Some(bits.bits.of(read(bits.ttmp)?));
        let yz = match self.has_yz {
            Some(has) => bits(has)? != 0,
            None => true,
        };
        let (y, z) = if yz { (bits(self.y)?, bits(self.z)?) } else { (0, 0) };
        Some(Launch {
            group: [bits(self.x)?, y, z],
            wave_in_group: bits(self.wave_in_group)?,
            packet: bits(self.packet),
        })
    }
}

/// Location of a parked wave's PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parked {
    /// Its low 32 bits.
    pub low: TtmpBits,
    /// Its high bits.
    pub high: TtmpBits,
    /// The first interface version of runtimes that park waves; 0: all.
    #[serde(default)]
    pub since: u32,
}

/// Offset in bytes from s0 to the buffer descriptor of private memory: `s[0:3]`, for private memory accessed through
/// buffers (AMDGPUUsage, "Non-Kernel Functions").
pub const SCRATCH_BUFFER: u64 = 0;

/// Mask of the base in the first 64 bits of a buffer descriptor (GCN and RDNA ISAs, "Buffer Resource Descriptor").
pub const BUFFER_BASE: u64 = (1 << 48) - 1;

/// Location of a wave's private memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScratchRing {
    /// Bits of COMPUTE_TMPRING_SIZE: waves.
    pub waves: BitRange,
    /// Bits of COMPUTE_TMPRING_SIZE: granules of one wave.
    pub size: BitRange,
    /// Size of a granule in bytes.
    pub granule: u32,
    /// Whether `waves` counts the waves of one shader engine instead of all.
    pub per_engine: bool,
    /// The register with the wave's base in architected scratch.
    pub base: Option<String>,
}
