//! GPU generations and the bit fields of their control words.

/// Generations that save a wave in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// gfx900, gfx906
    Vega,
    /// gfx908: accumulation registers, as many as VGPRs
    Arcturus,
    /// gfx90a: one file of VGPRs and accumulation registers
    Aldebaran,
    /// gfx940 to gfx942
    Aqua,
    /// gfx950
    Gfx950,
    /// gfx10.1
    Navi1,
    /// gfx10.3
    Navi2,
    /// gfx11, gfx11.5
    Navi3,
    /// gfx12.0
    Navi4,
    /// gfx12.5: up to 1024 VGPRs; trap temporaries in the last SGPR slots, 128 slots of hardware registers
    Gfx125,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) name: &'static str,
    /// The number in the agent's entry: major * 10000 + minor * 100 + stepping.
    pub(crate) version: u32,
    pub(crate) family: Family,
}

const fn gpu(name: &'static str, version: u32, family: Family) -> Gpu {
    Gpu { name, version, family }
}

/// The GPUs of the matrix. A plan's seed depends on the position: add at the end.
pub(crate) const ALL: &[Gpu] = &[
    gpu("gfx900", 90000, Family::Vega),
    gpu("gfx906", 90006, Family::Vega),
    gpu("gfx908", 90008, Family::Arcturus),
    gpu("gfx90a", 90010, Family::Aldebaran),
    gpu("gfx940", 90400, Family::Aqua),
    gpu("gfx941", 90401, Family::Aqua),
    gpu("gfx942", 90402, Family::Aqua),
    gpu("gfx950", 90500, Family::Gfx950),
    gpu("gfx1010", 100_100, Family::Navi1),
    gpu("gfx1011", 100_101, Family::Navi1),
    gpu("gfx1012", 100_102, Family::Navi1),
    gpu("gfx1030", 100_300, Family::Navi2),
    gpu("gfx1031", 100_301, Family::Navi2),
    gpu("gfx1032", 100_302, Family::Navi2),
    gpu("gfx1100", 110_000, Family::Navi3),
    gpu("gfx1101", 110_001, Family::Navi3),
    gpu("gfx1102", 110_002, Family::Navi3),
    gpu("gfx1150", 110_500, Family::Navi3),
    gpu("gfx1151", 110_501, Family::Navi3),
    gpu("gfx1200", 120_000, Family::Navi4),
    gpu("gfx1201", 120_001, Family::Navi4),
    gpu("gfx1250", 120_500, Family::Gfx125),
    gpu("gfx1251", 120_501, Family::Gfx125),
];

pub(crate) fn named(name: &str) -> Gpu {
    *ALL.iter().find(|gpu| gpu.name == name).unwrap_or_else(|| panic!("no GPU {name}"))
}

/// Register counts of a wave, as in its state word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) lanes: u32,
    pub(crate) vgprs: u32,
    pub(crate) accs: u32,
    pub(crate) sgprs: u32,
    /// Registers of 32 lanes.
    pub(crate) shared: u32,
}

/// Bits of a word, and the mask of the meaningful ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) value: u32,
    pub(crate) mask: u32,
}

impl Bits {
    /// Puts `value` into bits `high..=low`.
    pub(crate) fn set(&mut self, high: u32, low: u32, value: u32) {
        let width = high - low + 1;
        let ones = if width == 32 { u32::MAX } else { (1 << width) - 1 };
        assert!(value & !ones == 0, "{value:#x} is too wide for bits {high}:{low}");
        self.value = self.value & !(ones << low) | value << low;
        self.mask |= ones << low;
    }

    pub(crate) fn flag(&mut self, bit: u32, value: bool) {
        self.set(bit, bit, u32::from(value));
    }

    /// Puts noise into the meaningless bits.
    pub(crate) fn over(self, noise: u32) -> u32 {
        self.value & self.mask | noise & !self.mask
    }
}

fn exactly(value: u32, granule: u32) -> u32 {
    assert!(value.is_multiple_of(granule), "{value} is no multiple of {granule}");
    value / granule
}

impl Family {
    pub(crate) fn is_gfx9(self) -> bool {
        self < Self::Navi1
    }

    /// gfx940 to gfx950: the trap handler marks TTMPs that it has set up.
    pub(crate) fn is_aqua(self) -> bool {
        matches!(self, Self::Aqua | Self::Gfx950)
    }

    /// gfx12.0 and gfx12.5: the words of exceptions and of the trap handler are in registers of their own.
    pub(crate) fn is_gfx12(self) -> bool {
        self >= Self::Navi4
    }

    /// Slots of hardware registers.
    pub(crate) fn hardware_slots(self) -> u32 {
        if self == Self::Gfx125 { 128 } else { 16 }
    }

    /// Whether ttmp0 to ttmp15 are the last SGPR slots.
    pub(crate) fn has_traps_in_scalars(self) -> bool {
        self == Self::Gfx125
    }

    pub(crate) fn has_unified_accs(self) -> bool {
        matches!(self, Self::Aldebaran | Self::Aqua | Self::Gfx950)
    }

    pub(crate) fn wave_sizes(self) -> &'static [u32] {
        match self {
            Self::Gfx125 => &[32],
            _ if self.is_gfx9() => &[64],
            _ => &[32, 64],
        }
    }

    /// Allocation granule of VGPRs.
    pub(crate) fn vgpr_granule(self, lanes: u32) -> u32 {
        match self {
            Self::Gfx125 => 16,
            _ if !self.is_gfx9() && lanes == 32 => 8,
            _ => 4,
        }
    }

    pub(crate) fn lds_granule(self) -> u32 {
        match self {
            Self::Gfx950 => 1280,
            Self::Gfx125 => 1024,
            _ => 512,
        }
    }

    /// Bytes between the reference and the top of a wave's block.
    pub(crate) fn gap(self) -> u64 {
        if self.is_gfx9() { 64 } else { 0 }
    }

    pub(crate) fn state_words(self) -> u32 {
        if self.is_gfx9() { 1 } else { 2 }
    }

    /// First word of a state, including bits 31 and 30. `takeover`: whether a gfx12 work-group owns the LDS of a WGP.
    pub(crate) fn state(self, counts: Counts, lds: u32, takeover: bool) -> Bits {
        let Counts { lanes, vgprs, accs, sgprs, shared } = counts;
        let mut bits = Bits::default();
        bits.set(31, 30, 0b10);
        let lds = if takeover { 0 } else { exactly(lds, self.lds_granule()) };
        match self {
            Self::Vega | Self::Arcturus => {
                assert_eq!(accs, if self == Self::Vega { 0 } else { vgprs });
                bits.set(5, 0, exactly(vgprs, 4) - 1);
                bits.set(8, 6, exactly(sgprs + 16, 16) - 1);
                bits.set(17, 9, lds);
            }
            Self::Aldebaran | Self::Aqua | Self::Gfx950 => {
                bits.set(5, 0, exactly(vgprs + accs, 8) - 1);
                bits.set(8, 6, exactly(sgprs + 16, 16) - 1);
                bits.set(16, 9, lds);
                bits.set(29, 24, exactly(vgprs, 4) - 1);
            }
            Self::Navi1 | Self::Navi2 | Self::Navi3 | Self::Navi4 => {
                assert_eq!((accs, sgprs), (0, 128));
                bits.set(5, 0, exactly(vgprs, self.vgpr_granule(lanes)) - 1);
                bits.set(17, 10, lds);
                bits.flag(24, lanes == 32);
                bits.set(29, 26, exactly(shared, 8));
                if self == Self::Navi4 {
                    bits.flag(6, takeover);
                }
            }
            Self::Gfx125 => {
                assert_eq!((accs, sgprs, shared, lanes), (0, 128, 0, 32));
                bits.set(5, 0, exactly(vgprs, 16) - 1);
                bits.set(18, 10, lds);
                bits.flag(24, true);
            }
        }
        bits
    }

    /// The word of one wave.
    pub(crate) fn wave(self, slot: Slot, first: bool, last: bool) -> Bits {
        let Slot { engine, scoreboard, scratch_enabled } = slot;
        let mut bits = Bits::default();
        bits.set(31, 30, 0);
        let (scoreboard_high, engine_high, engine_low) = match self {
            Self::Vega => (8, 12, 11),
            Self::Arcturus => (8, 13, 11),
            Self::Aldebaran => (8, 11, 9),
            Self::Aqua | Self::Gfx950 => (8, 10, 9),
            Self::Navi1 | Self::Navi2 => (9, 25, 24),
            Self::Navi3 | Self::Navi4 | Self::Gfx125 => (9, 26, 24),
        };
        bits.set(scoreboard_high, 0, scoreboard);
        bits.set(engine_high, engine_low, engine);
        let (scratch_bit, first_bit, last_bit) = match self {
            Self::Gfx125 => (11, 12, 13),
            _ if self.is_gfx9() => (15, 17, 16),
            _ => (11, 12, 29),
        };
        bits.flag(scratch_bit, scratch_enabled);
        bits.flag(first_bit, first);
        bits.flag(last_bit, last);
        bits
    }
}

/// Slot of a wave on its XCC, as far as its scratch depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) engine: u32,
    pub(crate) scoreboard: u32,
    pub(crate) scratch_enabled: bool,
}
