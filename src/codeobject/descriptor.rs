//! The kernel descriptor as raw words; [`crate::arch`] interprets their bits, which differ by GPU.
//!
//! AMDGPUUsage, "Kernel Descriptor": 64 bytes at the address in a dispatch packet.

use crate::arch::{DescriptorFacts, DescriptorWords, Generation};
use crate::integers::{u16_at, u32_at, u64_at};

/// The fields of a kernel descriptor in the file's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// LDS bytes of a work-group, as far as known when compiled.
    pub group_segment_fixed_size: u32,
    /// Private bytes of a work-item, as far as known when compiled.
    pub private_segment_fixed_size: u32,
    /// Bytes of kernel arguments; 0 if the compiler gave no size.
    pub kernarg_size: u32,
    /// Distance of the first instruction from the descriptor, in bytes. 0 in a relocatable file, which has a
    /// relocation.
    pub entry_byte_offset: i64,
    /// COMPUTE_PGM_RSRC1.
    pub compute_pgm_rsrc1: u32,
    /// COMPUTE_PGM_RSRC2.
    pub compute_pgm_rsrc2: u32,
    /// COMPUTE_PGM_RSRC3; reserved before gfx90a and gfx10.
    pub compute_pgm_rsrc3: u32,
    /// The enabled user SGPRs, and the wave size.
    pub kernel_code_properties: u16,
    /// Length and offset, in dwords, of kernel arguments preloaded into SGPRs.
    pub kernarg_preload: u16,
}

impl KernelDescriptor {
    /// Reads a descriptor of 64 bytes.
    #[must_use]
    pub fn read(bytes: &[u8; 64]) -> Self {
        let half = |at| u16_at(bytes, at).unwrap_or_default();
        let word = |at| u32_at(bytes, at).unwrap_or_default();
        Self {
            group_segment_fixed_size: word(0),
            private_segment_fixed_size: word(4),
            kernarg_size: word(8),
            entry_byte_offset: u64_at(bytes, 16).unwrap_or_default() as i64,
            compute_pgm_rsrc3: word(44),
            compute_pgm_rsrc1: word(48),
            compute_pgm_rsrc2: word(52),
            kernel_code_properties: half(56),
            kernarg_preload: half(58),
        }
    }

    /// Interprets its bits for GPUs of a generation.
    #[must_use]
    pub fn facts(&self, generation: Generation) -> DescriptorFacts {
        let words = DescriptorWords {
            rsrc1: self.compute_pgm_rsrc1,
            rsrc2: self.compute_pgm_rsrc2,
            rsrc3: self.compute_pgm_rsrc3,
            properties: self.kernel_code_properties,
            preload: self.kernarg_preload,
        };
        DescriptorFacts::read(generation, &words)
    }
}
