//! Table of every processor that an ELF header can name, including those without a file in `targets/`.
//!
//! AMDGPUUsage, "ELF Header", table `EF_AMDGPU_MACH`, of LLVM 22, with 0x40 and 0x4b, which LLVM gave up after
//! version 20, and 0x5b to 0x5e of LLVM's main branch of 2026. Its 0x50 (gfx1310) is left out: no known source has the layout of its kernel descriptors. Name and generation identify
//! the target of a code object and the layout of its kernel descriptors.

use super::target::Target;

/// The layout of a processor's kernel descriptors, in chronological order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// R600 family: no kernel descriptors.
    R600,
    /// GFX6.
    Gfx6,
    /// GFX7.
    Gfx7,
    /// GFX8.
    Gfx8,
    /// GFX9 up to gfx908, and gfx90c.
    Gfx9,
    /// gfx90a: VGPRs and accumulation VGPRs in one file.
    Gfx90a,
    /// gfx940 to gfx942 and gfx950: like gfx90a, with architected scratch.
    Gfx940,
    /// GFX10: wave32.
    Gfx10,
    /// GFX11.
    Gfx11,
    /// GFX12.
    Gfx12,
    /// gfx1250, gfx1251 and gfx12-5-generic.
    Gfx125,
}

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// `EF_AMDGPU_MACH`: the low byte of `e_flags`.
    pub mach: u8,
    /// Its name: `gfx90a`, `gfx11-generic`.
    pub name: &'static str,
    /// Its generation.
    pub generation: Generation,
}

use Generation::{Gfx6, Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx12, Gfx90a, Gfx125, Gfx940, R600};

#[rustfmt::skip]
const PROCESSORS: &[(u8, &str, Generation)] = &[
    (0x01, "r600", R600), (0x02, "r630", R600), (0x03, "rs880", R600), (0x04, "rv670", R600),
    (0x05, "rv710", R600), (0x06, "rv730", R600), (0x07, "rv770", R600), (0x08, "cedar", R600),
    (0x09, "cypress", R600), (0x0a, "juniper", R600), (0x0b, "redwood", R600), (0x0c, "sumo", R600),
    (0x0d, "barts", R600), (0x0e, "caicos", R600), (0x0f, "cayman", R600), (0x10, "turks", R600),
    (0x20, "gfx600", Gfx6), (0x21, "gfx601", Gfx6), (0x22, "gfx700", Gfx7), (0x23, "gfx701", Gfx7),
    (0x24, "gfx702", Gfx7), (0x25, "gfx703", Gfx7), (0x26, "gfx704", Gfx7), (0x28, "gfx801", Gfx8),
    (0x29, "gfx802", Gfx8), (0x2a, "gfx803", Gfx8), (0x2b, "gfx810", Gfx8), (0x2c, "gfx900", Gfx9),
    (0x2d, "gfx902", Gfx9), (0x2e, "gfx904", Gfx9), (0x2f, "gfx906", Gfx9), (0x30, "gfx908", Gfx9),
    (0x31, "gfx909", Gfx9), (0x32, "gfx90c", Gfx9), (0x33, "gfx1010", Gfx10), (0x34, "gfx1011", Gfx10),
    (0x35, "gfx1012", Gfx10), (0x36, "gfx1030", Gfx10), (0x37, "gfx1031", Gfx10), (0x38, "gfx1032", Gfx10),
    (0x39, "gfx1033", Gfx10), (0x3a, "gfx602", Gfx6), (0x3b, "gfx705", Gfx7), (0x3c, "gfx805", Gfx8),
    (0x3d, "gfx1035", Gfx10), (0x3e, "gfx1034", Gfx10), (0x3f, "gfx90a", Gfx90a), (0x40, "gfx940", Gfx940), (0x41, "gfx1100", Gfx11),
    (0x42, "gfx1013", Gfx10), (0x43, "gfx1150", Gfx11), (0x44, "gfx1103", Gfx11), (0x45, "gfx1036", Gfx10),
    (0x46, "gfx1101", Gfx11), (0x47, "gfx1102", Gfx11), (0x48, "gfx1200", Gfx12), (0x49, "gfx1250", Gfx125),
    (0x4a, "gfx1151", Gfx11), (0x4b, "gfx941", Gfx940), (0x4c, "gfx942", Gfx940), (0x4e, "gfx1201", Gfx12), (0x4f, "gfx950", Gfx940),
    (0x51, "gfx9-generic", Gfx9), (0x52, "gfx10-1-generic", Gfx10), (0x53, "gfx10-3-generic", Gfx10),
    (0x54, "gfx11-generic", Gfx11), (0x55, "gfx1152", Gfx11), (0x58, "gfx1153", Gfx11),
    (0x59, "gfx12-generic", Gfx12), (0x5a, "gfx1251", Gfx125), (0x5b, "gfx12-5-generic", Gfx125),
    (0x5c, "gfx1172", Gfx11), (0x5d, "gfx1170", Gfx11), (0x5e, "gfx1171", Gfx11), (0x5f, "gfx9-4-generic", Gfx940),
];

impl Processor {
    /// Returns the processor in the low byte of a code object's `e_flags`.
    #[must_use]
    pub fn of_mach(mach: u8) -> Option<Self> {
        Self::all().find(|processor| processor.mach == mach)
    }

    /// Returns the processor of an ISA version in the notes of code object version 2: 9, 0, 6 for gfx906.
    ///
    /// AMDGPUUsage, "Code Object V2 Note Records": some processors had a second number for code that requires XNACK.
    #[must_use]
    pub fn of_isa(version: [u32; 3]) -> Option<Self> {
        let [major, minor, stepping] = match version {
            [8, 0, 0] => [8, 0, 2],
            [8, 0, 4] => [8, 0, 3],
            [9, 0, odd @ (1 | 3 | 5 | 7)] => [9, 0, odd - 1],
            known => known,
        };
        Self::named(&format!("gfx{major}{minor}{stepping:x}"))
    }

    /// Returns the processor of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|processor| processor.name == name)
    }

    /// Iterates over all processors, by `EF_AMDGPU_MACH`.
    pub fn all() -> impl Iterator<Item = Self> {
        PROCESSORS.iter().map(|(mach, name, generation)| Self { mach: *mach, name, generation: *generation })
    }

    /// Whether code for `self` runs on `other`: the same processor, or one that a generic processor covers.
    ///
    /// AMDGPUUsage, "Generic Processors".
    #[must_use]
    pub fn runs_on(self, other: &str) -> bool {
        match self.members() {
            [] => self.name == other,
            members => members.contains(&other),
        }
    }

    /// The processors that a generic processor covers; empty: it is none.
    #[must_use]
    pub fn members(self) -> &'static [&'static str] {
        match self.name {
            "gfx9-generic" => &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"],
            "gfx9-4-generic" => &["gfx940", "gfx941", "gfx942", "gfx950"],
            "gfx10-1-generic" => &["gfx1010", "gfx1011", "gfx1012", "gfx1013"],
            "gfx10-3-generic" => {
                &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"]
            }
            "gfx11-generic" => {
                &["gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"]
            }
            "gfx12-generic" => &["gfx1200", "gfx1201"],
            "gfx12-5-generic" => &["gfx1250", "gfx1251"],
            _ => &[],
        }
    }

    /// Whether code for `self` runs on a target, by name or number: a user's file may use another name.
    #[must_use]
    pub fn runs_on_target(self, target: &Target) -> bool {
        let real = u8::try_from(target.elf_machine).ok().and_then(Self::of_mach);
        self.runs_on(&target.name) || real.is_some_and(|real| self.runs_on(real.name))
    }
}
