//! Facts that differ by generation. The sources are AMD's ISA documents of the generations and LLVM's texts.

use crate::arch::Generation;

/// Counters of outstanding operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterSet {
    /// `vmcnt` for loads and stores, `lgkmcnt`.
    Gfx9,
    /// Also `vscnt` for stores.
    Gfx10,
    /// One counter for each kind of operation.
    Gfx12,
}

/// Facts about buffer descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferFacts {
    /// The swizzle field has two bits, which also give the element size.
    pub(super) has_swizzle_size: bool,
    /// The descriptor selects the range check (OOB_SELECT).
    pub(super) has_range_select: bool,
    /// With ADD_TID the data format extends the stride.
    pub(super) has_long_stride: bool,
    /// 57 bits of base and 45 of records. The other fields differ, too (gfx12.5).
    pub(super) is_wide: bool,
}

/// Facts about a generation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) counters: CounterSet,
    /// Register offsets of scratch instructions are signed.
    pub(super) has_signed_scratch: bool,
    /// MODE extends the numbers of vector registers.
    pub(super) extends_vgprs: bool,
    /// The modifier `scale_offset` multiplies an offset by the bytes of the access.
    pub(super) has_scaled_offset: bool,
    /// Compilers use the vector offset beside a scalar base as a signed and as an unsigned number.
    pub(super) has_unclear_index: bool,
    pub(super) buffer: BufferFacts,
}

const BUFFER_GFX9: BufferFacts =
    BufferFacts { has_swizzle_size: false, has_range_select: false, has_long_stride: true, is_wide: false };
const BUFFER_GFX11: BufferFacts =
    BufferFacts { has_swizzle_size: true, has_range_select: true, has_long_stride: false, is_wide: false };

const GFX9: Facts = Facts {
    counters: CounterSet::Gfx9,
    has_signed_scratch: false,
    extends_vgprs: false,
    has_scaled_offset: false,
    has_unclear_index: false,
    buffer: BUFFER_GFX9,
};
const GFX10: Facts = Facts {
    counters: CounterSet::Gfx10,
    buffer: BufferFacts { has_swizzle_size: false, ..BUFFER_GFX11 },
    ..GFX9
};
const GFX11: Facts = Facts { buffer: BUFFER_GFX11, ..GFX10 };
const GFX12: Facts = Facts { counters: CounterSet::Gfx12, has_signed_scratch: true, ..GFX11 };

/// Vector offsets: clang 22 writes `global_load_b32 v1, v1, s[2:3] scale_offset` for signed and unsigned indexes
/// alike.
const GFX125: Facts = Facts {
    extends_vgprs: true,
    has_scaled_offset: true,
    has_unclear_index: true,
    buffer: BufferFacts { is_wide: true, ..BUFFER_GFX11 },
    ..GFX12
};

/// The facts about a generation. `None`: no target of this generation exists.
pub(super) fn of(generation: Generation) -> Option<&'static Facts> {
    match generation {
        Generation::Gfx9 | Generation::Gfx90a | Generation::Gfx940 => Some(&GFX9),
        Generation::Gfx10 => Some(&GFX10),
        Generation::Gfx11 => Some(&GFX11),
        Generation::Gfx12 => Some(&GFX12),
        Generation::Gfx125 => Some(&GFX125),
        Generation::R600 | Generation::Gfx6 | Generation::Gfx7 | Generation::Gfx8 => None,
    }
}
