//! Bits of a kernel descriptor by generation.
//!
//! AMDGPUUsage, "Kernel Descriptor": tables `compute_pgm_rsrc1` to `compute_pgm_rsrc3` and `kernel_code_properties`.
//! One table lists the bit fields with the first and last generation of each; register counts follow from granules.

use super::processor::Generation;
use Generation::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx11, Gfx12, Gfx90a, Gfx125, Gfx940};

/// The words of a kernel descriptor with bit fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorWords {
    /// COMPUTE_PGM_RSRC1.
    pub rsrc1: u32,
    /// COMPUTE_PGM_RSRC2.
    pub rsrc2: u32,
    /// COMPUTE_PGM_RSRC3.
    pub rsrc3: u32,
    /// `kernel_code_properties`.
    pub properties: u16,
    /// `kernarg_preload`.
    pub preload: u16,
}

/// The resources that a kernel descriptor requests, on one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorFacts {
    /// Lanes of a wave.
    pub wave_size: u8,
    /// VGPRs allocated to a wave, including accumulation VGPRs in a shared file.
    pub vgprs: u32,
    /// Index of the first accumulation VGPR in a shared file.
    pub accum_offset: Option<u32>,
    /// SGPRs allocated to a wave; `None`: all, independent of the descriptor (GFX10 and later).
    pub sgprs: Option<u32>,
    /// All bit fields of the generation except reserved ones, with their values.
    pub fields: Vec<(&'static str, u32)>,
    /// Words with nonzero reserved bits, and those bits.
    pub reserved: Vec<(&'static str, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Rsrc1,
    Rsrc2,
    Rsrc3,
    Properties,
    Preload,
}

use Word::{Preload, Properties, Rsrc1, Rsrc2, Rsrc3};

impl Word {
    const ALL: [(Self, &'static str); 5] = [
        (Rsrc1, "compute_pgm_rsrc1"),
        (Rsrc2, "compute_pgm_rsrc2"),
        (Rsrc3, "compute_pgm_rsrc3"),
        (Properties, "kernel_code_properties"),
        (Preload, "kernarg_preload"),
    ];

    fn of(self, words: &DescriptorWords) -> u32 {
        match self {
            Rsrc1 => words.rsrc1,
            Rsrc2 => words.rsrc2,
            Rsrc3 => words.rsrc3,
            Properties => words.properties.into(),
            Preload => words.preload.into(),
        }
    }
}

const LAST: Generation = Gfx125;

/// Word, first bit, width, first and last generation, name.
#[rustfmt::skip]
const FIELDS: &[(Word, u32, u32, Generation, Generation, &str)] = &[
    (Rsrc1, 0, 6, Gfx6, LAST, "granulated_workitem_vgpr_count"),
    (Rsrc1, 6, 4, Gfx6, LAST, "granulated_wavefront_sgpr_count"),
    (Rsrc1, 10, 2, Gfx6, LAST, "priority"),
    (Rsrc1, 12, 2, Gfx6, LAST, "float_round_mode_32"),
    (Rsrc1, 14, 2, Gfx6, LAST, "float_round_mode_16_64"),
    (Rsrc1, 16, 2, Gfx6, LAST, "float_denorm_mode_32"),
    (Rsrc1, 18, 2, Gfx6, LAST, "float_denorm_mode_16_64"),
    (Rsrc1, 20, 1, Gfx6, LAST, "priv"),
    (Rsrc1, 21, 1, Gfx6, Gfx11, "dx10_clamp"),
    (Rsrc1, 21, 1, Gfx12, LAST, "round_robin_scheduling"),
    (Rsrc1, 22, 1, Gfx6, LAST, "debug_mode"),
    (Rsrc1, 23, 1, Gfx6, Gfx11, "ieee_mode"),
    (Rsrc1, 23, 1, Gfx12, LAST, "disable_perf"),
    (Rsrc1, 24, 1, Gfx6, LAST, "bulky"),
    (Rsrc1, 25, 1, Gfx6, LAST, "cdbg_user"),
    (Rsrc1, 26, 1, Gfx9, LAST, "fp16_overflow"),
    (Rsrc1, 27, 1, Gfx125, LAST, "flat_scratch_is_nv"),
    (Rsrc1, 29, 1, Gfx10, Gfx12, "workgroup_processor_mode"),
    (Rsrc1, 30, 1, Gfx10, LAST, "memory_ordered"),
    (Rsrc1, 31, 1, Gfx10, LAST, "forward_progress"),
    // Before architected scratch the bit requested the wave's scratch offset in an SGPR.
    (Rsrc2, 0, 1, Gfx6, Gfx90a, "system_sgpr_private_segment_wavefront_offset"),
    (Rsrc2, 0, 1, Gfx940, Gfx940, "enable_private_segment"),
    (Rsrc2, 0, 1, Gfx10, Gfx10, "system_sgpr_private_segment_wavefront_offset"),
    (Rsrc2, 0, 1, Gfx11, LAST, "enable_private_segment"),
    (Rsrc2, 1, 5, Gfx6, Gfx12, "user_sgpr_count"),
    (Rsrc2, 1, 6, Gfx125, LAST, "user_sgpr_count"),
    (Rsrc2, 6, 1, Gfx6, Gfx11, "trap_handler"),
    (Rsrc2, 6, 1, Gfx12, Gfx12, "dynamic_vgpr"),
    (Rsrc2, 7, 1, Gfx6, LAST, "system_sgpr_workgroup_id_x"),
    (Rsrc2, 8, 1, Gfx6, LAST, "system_sgpr_workgroup_id_y"),
    (Rsrc2, 9, 1, Gfx6, LAST, "system_sgpr_workgroup_id_z"),
    (Rsrc2, 10, 1, Gfx6, LAST, "system_sgpr_workgroup_info"),
    (Rsrc2, 11, 2, Gfx6, LAST, "system_vgpr_workitem_id"),
    (Rsrc2, 13, 1, Gfx6, LAST, "exception_address_watch"),
    (Rsrc2, 14, 1, Gfx6, LAST, "exception_memory"),
    (Rsrc2, 15, 9, Gfx6, LAST, "granulated_lds_size"),
    (Rsrc2, 24, 1, Gfx6, LAST, "exception_fp_ieee_invalid_op"),
    (Rsrc2, 25, 1, Gfx6, LAST, "exception_fp_denorm_src"),
    (Rsrc2, 26, 1, Gfx6, LAST, "exception_fp_ieee_div_zero"),
    (Rsrc2, 27, 1, Gfx6, LAST, "exception_fp_ieee_overflow"),
    (Rsrc2, 28, 1, Gfx6, LAST, "exception_fp_ieee_underflow"),
    (Rsrc2, 29, 1, Gfx6, LAST, "exception_fp_ieee_inexact"),
    (Rsrc2, 30, 1, Gfx6, LAST, "exception_int_div_zero"),
    (Rsrc2, 31, 1, Gfx12, LAST, "wgp_takeover"),
    (Rsrc3, 0, 6, Gfx90a, Gfx940, "granulated_accum_offset"),
    (Rsrc3, 16, 1, Gfx90a, Gfx940, "tg_split"),
    (Rsrc3, 0, 4, Gfx10, Gfx11, "shared_vgpr_count"),
    (Rsrc3, 4, 6, Gfx11, Gfx11, "inst_pref_size"),
    (Rsrc3, 10, 1, Gfx11, Gfx11, "trap_on_start"),
    (Rsrc3, 11, 1, Gfx11, Gfx11, "trap_on_end"),
    (Rsrc3, 4, 8, Gfx12, LAST, "inst_pref_size"),
    (Rsrc3, 13, 1, Gfx12, LAST, "glg_en"),
    (Rsrc3, 14, 3, Gfx125, LAST, "named_barrier_count"),
    (Rsrc3, 17, 1, Gfx125, LAST, "enable_dynamic_vgpr"),
    (Rsrc3, 18, 3, Gfx125, LAST, "tcp_split"),
    (Rsrc3, 21, 1, Gfx125, LAST, "enable_didt_throttle"),
    (Rsrc3, 31, 1, Gfx11, LAST, "image_op"),
    (Properties, 0, 1, Gfx6, LAST, "user_sgpr_private_segment_buffer"),
    (Properties, 1, 1, Gfx6, LAST, "user_sgpr_dispatch_ptr"),
    (Properties, 2, 1, Gfx6, LAST, "user_sgpr_queue_ptr"),
    (Properties, 3, 1, Gfx6, LAST, "user_sgpr_kernarg_segment_ptr"),
    (Properties, 4, 1, Gfx6, LAST, "user_sgpr_dispatch_id"),
    (Properties, 5, 1, Gfx6, LAST, "user_sgpr_flat_scratch_init"),
    (Properties, 6, 1, Gfx6, LAST, "user_sgpr_private_segment_size"),
    (Properties, 10, 1, Gfx10, LAST, "wavefront_size32"),
    (Properties, 11, 1, Gfx6, LAST, "uses_dynamic_stack"),
    (Preload, 0, 7, Gfx90a, Gfx940, "user_sgpr_kernarg_preload_length"),
    (Preload, 7, 9, Gfx90a, Gfx940, "user_sgpr_kernarg_preload_offset"),
    (Preload, 0, 7, Gfx125, LAST, "user_sgpr_kernarg_preload_length"),
    (Preload, 7, 9, Gfx125, LAST, "user_sgpr_kernarg_preload_offset"),
];

/// Granule of SGPRs up to GFX9.
const SGPR_GRANULE: u32 = 8;
/// Granule of the accumulation offset.
const ACCUM_GRANULE: u32 = 4;

impl DescriptorFacts {
    /// Interprets the words of a kernel descriptor for a generation.
    #[must_use]
    pub fn read(generation: Generation, words: &DescriptorWords) -> Self {
        let here = FIELDS.iter().filter(|(_, _, _, first, last, _)| (*first..=*last).contains(&generation));
        let mut known = [0u32; Word::ALL.len()];
        let mut fields = Vec::new();
        for (word, shift, width, .., name) in here {
            let mask = (1u32 << width) - 1;
            fields.push((*name, word.of(words) >> shift & mask));
            for ((other, _), known) in Word::ALL.iter().zip(&mut known) {
                if other == word {
                    *known |= mask << shift;
                }
            }
        }
        let reserved = Word::ALL.iter().zip(known);
        let reserved = reserved.map(|((word, name), known)| (*name, word.of(words) & !known));
        let reserved = reserved.filter(|(_, bits)| *bits != 0).collect();
        let field = |name: &str| fields.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let is_wave32 = field("wavefront_size32") == Some(1);
        let granule = vgpr_granule(generation, is_wave32);
        Self {
            wave_size: if is_wave32 { 32 } else { 64 },
            vgprs: (field("granulated_workitem_vgpr_count").unwrap_or(0) + 1) * granule,
            accum_offset: field("granulated_accum_offset").map(|offset| (offset + 1) * ACCUM_GRANULE),
            sgprs: field("granulated_wavefront_sgpr_count")
                .filter(|_| generation < Gfx10)
                .map(|count| (count + 1) * SGPR_GRANULE),
            fields,
            reserved,
        }
    }
}

/// Returns the granule of the VGPR count.
fn vgpr_granule(generation: Generation, is_wave32: bool) -> u32 {
    match (generation, is_wave32) {
        (Gfx90a | Gfx940, _) => 8,
        (Gfx125, true) => 16,
        (Gfx125, false) | (_, true) => 8,
        (Generation::R600 | Gfx6 | Generation::Gfx7 | Gfx8 | Gfx9 | Gfx10 | Gfx11 | Gfx12, false) => 4,
    }
}

#[cfg(test)]
#[path = "descriptor_tests.rs"]
mod tests;
