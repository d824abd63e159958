//! Facts about a processor that fields and texts depend on.

use crate::table::{Section as S, Table};

/// A processor with its wave size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gpu {
    /// 9 to 12.
    pub(crate) family: u8,
    /// GFX90A and later members of CDNA.
    pub(crate) is_gfx90a: bool,
    /// GFX940 and later members of CDNA.
    pub(crate) is_gfx940: bool,
    pub(crate) is_gfx1250: bool,
    /// GFX10.1.
    pub(crate) is_gfx101: bool,
    /// The one control of DPP that numbers of 64 bits have.
    pub(crate) wide_dpp: Option<&'static str>,
    pub(crate) wave64: bool,
}

impl Gpu {
    /// The processor of a variant of the table.
    pub(crate) fn new(table: &Table<'_>, variant: usize) -> Self {
        let number = table.text(S::VariantStarts, S::Variants, variant).trim_start_matches("gfx");
        let family =
            if number.len() == 3 { 9 } else { number.get(..2).and_then(|two| two.parse().ok()).unwrap_or(9) };
        let is_gfx940 = matches!(number, "942" | "950");
        let is_gfx90a = is_gfx940 || number == "90a";
        Self {
            family,
            is_gfx90a,
            is_gfx940,
            is_gfx1250: matches!(number, "1250" | "1251"),
            is_gfx101: number.starts_with("101"),
            wide_dpp: if is_gfx90a {
                Some("row_newbcast")
            } else {
                (number == "1251").then_some("row_share")
            },
            wave64: table.u8(S::VariantWaves, variant) == 64,
        }
    }

    /// Whether runs of vector registers begin at an even number.
    pub(crate) fn aligns_vgprs(&self) -> bool {
        self.is_gfx90a || self.is_gfx1250
    }

    /// The counters of `s_waitcnt` with their bits.
    pub(crate) fn counters(&self) -> [(&'static str, &'static [(u8, u8)]); 3] {
        match self.family {
            9 => [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 4)])],
            10 => [("vmcnt", &[(0, 4), (14, 2)]), ("expcnt", &[(4, 3)]), ("lgkmcnt", &[(8, 6)])],
            _ => [("vmcnt", &[(10, 6)]), ("expcnt", &[(0, 3)]), ("lgkmcnt", &[(4, 6)])],
        }
    }
}
