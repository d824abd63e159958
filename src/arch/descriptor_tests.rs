use super::{DescriptorFacts, DescriptorWords, Generation};
use Generation::{Gfx6, Gfx9, Gfx10, Gfx11, Gfx12, Gfx90a, Gfx125, Gfx940};

/// AMDGPUUsage, tables of `compute_pgm_rsrc1` and `compute_pgm_rsrc2`: bits 26 to 31 are partly reserved, and bit 31.
#[test]
fn each_bit_belongs_to_one_field_or_is_reserved() {
    let ones = DescriptorWords { rsrc1: !0, rsrc2: !0, rsrc3: !0, properties: !0, preload: !0 };
    for (generation, first) in [
        (Gfx6, 0xfc00_0000),
        (Gfx9, 0xf800_0000),
        (Gfx90a, 0xf800_0000),
        (Gfx940, 0xf800_0000),
        (Gfx10, 0x1800_0000),
        (Gfx11, 0x1800_0000),
        (Gfx12, 0x1800_0000),
        (Gfx125, 0x3000_0000u32),
    ] {
        let facts = DescriptorFacts::read(generation, &ones);
        let second = if generation < Gfx12 { 1 << 31 } else { 0 };
        for (word, expected) in [("compute_pgm_rsrc1", first), ("compute_pgm_rsrc2", second)] {
            let found = facts.reserved.iter().find(|(name, _)| *name == word).map_or(0, |(_, bits)| *bits);
            assert_eq!(found, expected, "{generation:?} {word}");
        }
        let values = facts.fields.iter().chain(&facts.reserved).map(|(_, value)| value.count_ones());
        assert_eq!(values.sum::<u32>(), 3 * 32 + 2 * 16, "{generation:?}: a bit in two fields");
    }
}
