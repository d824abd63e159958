//! Save areas of the trap handler: bits of the control stack, order and sizes of the blocks, and fields of the trap
//! temporaries. Facts of `[save_area]` in a target's file; `import` reads save areas with them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::schema::Bits;
use crate::units::WaveSize;

/// Bits of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Bits")]
pub struct BitRange {
    /// The lowest one.
    pub low: u8,
    /// The highest one.
    pub high: u8,
}

impl From<Bits> for BitRange {
    fn from(bits: Bits) -> Self {
        Self { low: bits.low(), high: bits.high() }
    }
}

impl BitRange {
    /// Their value in a dword.
    #[must_use]
    pub fn of(self, word: u32) -> u32 {
        let width = u32::from(self.high.saturating_sub(self.low)).saturating_add(1);
        let mask = 1u32.checked_shl(width).map_or(u32::MAX, |bit| bit - 1);
        word.checked_shr(u32::from(self.low)).unwrap_or(0) & mask
    }

    /// The dword with `value` in them.
    #[must_use]
    pub fn with(self, word: u32, value: u32) -> u32 {
        let mask = 1u32.checked_shl(self.width().into()).map_or(u32::MAX, |bit| bit - 1);
        let shift = |bits: u32| bits.checked_shl(self.low.into()).unwrap_or(0);
        word & !shift(mask) | shift(value & mask)
    }

    /// How many they are.
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
        /// Of 32 lanes.
        wave32: u32,
        /// Of 64 lanes.
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
    /// The bits of the state's dword.
    pub bits: BitRange,
    /// Added first: 1 where the field is one less than the number of granules.
    #[serde(default)]
    pub plus: u32,
    /// Units in a granule.
    pub times: BySize,
    /// The item that is counted here and stored elsewhere.
    #[serde(default)]
    pub less: u32,
}

impl Count {
    /// The count in a state's dword; bits and granules are few, so that it cannot overflow.
    #[must_use]
    pub fn of(&self, word: u32, size: WaveSize) -> u32 {
        let granules = self.bits.of(word).saturating_add(self.plus);
        granules.saturating_mul(self.times.of(size)).saturating_sub(self.less)
    }
}

/// Bits of a trap temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TtmpBits {
    /// Number of the register.
    pub ttmp: u8,
    /// Which bits; left out: all.
    #[serde(default = "all_bits")]
    pub bits: BitRange,
}

fn all_bits() -> BitRange {
    BitRange { low: 0, high: 31 }
}

/// One bit of a register that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterBit {
    /// The register.
    pub register: String,
    /// The bit.
    pub bit: u8,
}

/// Bits that are cleared in what the user sees of a register.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// The register.
    pub register: String,
    /// The bits.
    pub bits: Vec<u8>,
}

/// All that is known of a processor's save areas.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaveArea {
    /// Bytes below the end of the wave above that stay unused.
    pub gap: u32,
    /// Dwords of a state record of the control stack: 1 or 2.
    pub state_words: u8,
    /// SGPR slots of every wave, if the state has no count.
    pub sgpr_slots: Option<u32>,
    /// First dword of a state record.
    pub state: State,
    /// The dword of a wave.
    pub wave: WaveWord,
    /// Hardware registers by name: their slot of 16.
    pub hwregs: BTreeMap<String, u8>,
    /// SGPR slots near the end of the allocation whose saved values are stale: a hardware register has them.
    pub stale_sgprs: Option<Stale>,
    /// Fields of the trap temporaries.
    pub ttmps: Ttmps,
    /// Where the PC of a parked wave is; left out: waves are not parked.
    pub parked: Option<Parked>,
    /// Bits that the trap handler owns.
    #[serde(default)]
    pub hidden: Vec<Hidden>,
    /// The bit that the trap handler overwrites with its own halt; what it was is saved in a trap temporary.
    pub halt: RegisterBit,
    /// A wave with this bit set has given its VGPRs back: what was saved of them means nothing.
    pub no_vgprs: Option<RegisterBit>,
    /// Private memory.
    pub scratch: ScratchRing,
    /// Sources of these facts.
    #[serde(default)]
    pub source: String,
}

/// SGPR slots that a hardware register stands for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stale {
    /// Slots before the end of the aliases.
    pub from_end: u16,
    /// The register.
    pub register: String,
}

/// Fields of the first dword of a state record, which describe the waves that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// VGPRs; where there is `accum_offset`, with the accumulation VGPRs.
    pub vgprs: Count,
    /// VGPRs of the one file before the accumulation VGPRs begin.
    pub accum_offset: Option<Count>,
    /// There are as many accumulation VGPRs as VGPRs.
    #[serde(default)]
    pub accum_as_vgprs: bool,
    /// SGPRs.
    pub sgprs: Option<Count>,
    /// Bytes of LDS.
    pub lds: Count,
    /// With this bit set the work-group has all of the LDS, and how many bytes that is.
    pub lds_whole: Option<Whole>,
    /// Waves have 32 lanes; left out: they have 64.
    pub wave32: Option<BitRange>,
    /// VGPRs that the halves of a wave share, 32 lanes each.
    pub shared_vgprs: Option<Count>,
}

/// A bit that stands for a size.
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
    /// Slot of private memory.
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

/// Where the trap temporaries hold what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ttmps {
    /// Work-group ids.
    pub x: TtmpBits,
    /// As `x`.
    pub y: TtmpBits,
    /// As `x`.
    pub z: TtmpBits,
    /// Without this bit `y` and `z` are 0.
    pub has_yz: Option<TtmpBits>,
    /// Place in the work-group.
    pub wave_in_group: TtmpBits,
    /// Index of the dispatch's packet, modulo the ring's size.
    pub packet: TtmpBits,
    /// The wave was stopped by the trap handler.
    pub stopped: TtmpBits,
    /// Its HALT before that.
    pub halt: TtmpBits,
    /// The id of the trap that it raised.
    pub trap_id: TtmpBits,
    /// Dispatch facts are there whatever the runtime was asked for.
    #[serde(default)]
    pub always: bool,
    /// Set: this wave has no dispatch facts. Runtimes since interface version 10.
    pub absent: Option<TtmpBits>,
    /// The bit that validates the trap handler's fields; absent: they are valid wherever dispatch facts are.
    pub mark: Option<TtmpBits>,
    /// SKIP_EXPORT, a bit of STATUS that marks it as well, for runtimes since interface version 10.
    pub skip_export: Option<u8>,
}

/// Where a wave was launched, as its trap temporaries have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// The work-group's position in the grid, in work-groups.
    pub group: [u32; 3],
    /// The wave's place in the work-group.
    pub wave_in_group: u32,
    /// Index of the dispatch's packet, modulo the ring's size; `None`: its trap temporary is not known.
    pub packet: Option<u32>,
}

impl Ttmps {
    /// The trap temporaries that hold a wave's launch position and are unknown, in order. Without the one that gives
    /// the number of dimensions, those of `y` and `z` may be unused: the list omits them.
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

    /// Where a wave was launched; `read` gives a trap temporary by its number. `None`: one that it takes is not known.
    ///
    /// Whether trap temporaries hold this at all is for the caller to know.
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

/// Where the PC of a wave is that the trap handler has parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parked {
    /// Its low 32 bits.
    pub low: TtmpBits,
    /// The rest.
    pub high: TtmpBits,
    /// The runtime's interface version since which waves are parked; 0: always.
    #[serde(default)]
    pub since: u32,
}

/// Bytes from s0 to the buffer descriptor of private memory in `s[0:3]`, where the compiler addresses it by buffers (AMDGPUUsage,
/// "Non-Kernel Functions").
pub const SCRATCH_BUFFER: u64 = 0;

/// The base among the first 64 bits of a buffer descriptor (GCN and RDNA ISA documents, "Buffer Resource Descriptor").
pub const BUFFER_BASE: u64 = (1 << 48) - 1;

/// How a wave's private memory is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScratchRing {
    /// Bits of COMPUTE_TMPRING_SIZE: waves.
    pub waves: BitRange,
    /// Bits of COMPUTE_TMPRING_SIZE: granules of one wave.
    pub size: BitRange,
    /// Bytes of a granule.
    pub granule: u32,
    /// `waves` counts those of one shader engine, not of all.
    pub per_engine: bool,
    /// The register that holds the wave's base by architecture.
    pub base: Option<String>,
}
