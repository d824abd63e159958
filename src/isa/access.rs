//! An instruction's access to memory: direction, size, registers, and the form of its address.

use super::facts::Facts;
use super::registers::{RegisterFile, RegisterRange};
use crate::notation::names;

/// An instruction's access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The family of the instruction.
    pub family: Family,
    /// The direction.
    pub direction: Direction,
    /// Bytes that a lane (of scalar families: the wave) moves by each address. `None`: a format outside the text
    /// or M0 gives the size.
    pub bytes: Option<u16>,
    /// Registers of the data: the destination of a load, the sources of stores and atomics.
    pub data: Vec<RegisterRange>,
    /// The other side of the copy is LDS: at M0 + offset + lane * 4 (for 12 and 16 bytes: lane * 16).
    pub is_lds_copy: bool,
    /// The VGPR with the LDS address of such a copy, in place of M0 and the lane (gfx12.5).
    pub lds_address: Option<RegisterRange>,
    /// Bit n of M0 moves the register n of the data, to or from the dword n at the address (gfx12).
    pub is_block: bool,
    /// The form of the address.
    pub form: Form,
    /// Facts about the generation.
    pub(super) facts: &'static Facts,
}

impl Access {
    /// Whether it reads and writes memory at once.
    #[must_use]
    pub fn is_atomic(&self) -> bool {
        matches!(self.direction, Direction::Atomic { .. })
    }

    /// Whether registers receive a value of the memory.
    pub(super) fn has_result(&self) -> bool {
        match self.direction {
            Direction::Load => !self.is_lds_copy,
            Direction::Store => false,
            Direction::Atomic { returns } => returns,
        }
    }

    /// The registers that the addresses depend on, except the bases of apertures.
    #[must_use]
    pub fn address_registers(&self) -> Vec<RegisterRange> {
        const M0: RegisterRange = RegisterRange::new(RegisterFile::M0, 0, 1);
        const FLAT_SCRATCH: RegisterRange = RegisterRange::new(RegisterFile::FlatScratch, 0, 2);
        let scalar = |operand: Option<ScalarOperand>| match operand {
            Some(ScalarOperand::Register(range)) => Some(range),
            _ => None,
        };
        let mut all = match self.form {
            Form::Flat { address, index, .. } => vec![Some(address), index, Some(FLAT_SCRATCH)],
            Form::Global { base, index, .. } => vec![base, index],
            Form::Scratch { vector, scalar: of, .. } => vec![vector, scalar(of), Some(FLAT_SCRATCH)],
            Form::Buffer { descriptor, index, vector, scalar: of, .. } => {
                vec![Some(descriptor), index, vector, scalar(Some(of))]
            }
            Form::Scalar { base, scalar: of, .. } => vec![Some(base), scalar(of)],
            Form::ScalarBuffer { descriptor, scalar: of, .. } => vec![Some(descriptor), scalar(of)],
            Form::Lds { base: LdsBase::Lane(range), .. } => vec![Some(range)],
            Form::Lds { .. } => vec![Some(M0)],
            Form::NotComputable(_) => Vec::new(),
        };
        if self.is_lds_copy {
            all.push(self.lds_address.or(Some(M0)));
        }
        if self.is_block {
            all.push(Some(M0));
        }
        all.into_iter().flatten().collect()
    }
}

/// Families of memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Generic addresses.
    Flat,
    /// Global addresses.
    Global,
    /// Addresses of private memory.
    Scratch,
    /// Buffers.
    Buffer,
    /// Buffers with a format in the instruction.
    TypedBuffer,
    /// Images.
    Image,
    /// Scalar memory.
    Scalar,
    /// Scalar memory through a buffer.
    ScalarBuffer,
    /// LDS.
    Lds,
    /// GDS.
    Gds,
}

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Reads and writes memory.
    Atomic {
        /// The old value goes to registers.
        returns: bool,
    },
}

names!(Direction {
    Self::Load => "load",
    Self::Store => "store",
    Self::Atomic { .. } => "atomic",
});

/// A scalar operand of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOperand {
    /// A register.
    Register(RegisterRange),
    /// A constant.
    Constant(u32),
    /// A value that no register of a capture has: bases of apertures, flags.
    Internal,
}

/// The base of an LDS address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LdsBase {
    /// A VGPR.
    Lane(RegisterRange),
    /// Bits 15:0 of M0, one address for the wave.
    Wave,
    /// Bits 15:0 of M0, plus 4 bytes for each lane.
    WaveAndLane,
}

/// The form of an address. Offsets are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A generic address in a pair of VGPRs, or a pair of SGPRs with a 32-bit offset of each lane (gfx12.5).
    Flat {
        /// The pair.
        address: RegisterRange,
        /// The VGPR with the offset, zero-extended.
        index: Option<RegisterRange>,
        /// Bytes that the offset counts: 1, or with `scale_offset` those of the access.
        scale: u16,
        /// Constant offset.
        offset: i32,
    },
    /// A pair of VGPRs, or a pair of SGPRs with a 32-bit offset of each lane.
    Global {
        /// The pair. `None`: 0.
        base: Option<RegisterRange>,
        /// The VGPR with the offset, zero-extended.
        index: Option<RegisterRange>,
        /// Bytes that the offset counts: 1, or with `scale_offset` those of the access.
        scale: u16,
        /// Bytes from one lane to the next.
        lane_stride: u8,
        /// Constant offset.
        offset: i32,
    },
    /// An address of private memory: a sum of up to three parts.
    Scratch {
        /// The VGPR.
        vector: Option<RegisterRange>,
        /// Bytes that the VGPR counts: 1, or with `scale_offset` those of the access.
        scale: u16,
        /// The SGPR.
        scalar: Option<ScalarOperand>,
        /// Constant offset.
        offset: i32,
    },
    /// An address in a buffer.
    Buffer {
        /// Four SGPRs.
        descriptor: RegisterRange,
        /// The VGPR with the index.
        index: Option<RegisterRange>,
        /// The VGPR with the offset.
        vector: Option<RegisterRange>,
        /// The scalar offset.
        scalar: ScalarOperand,
        /// Constant offset.
        offset: u32,
        /// The range check is for each dword; otherwise for the whole access.
        is_checked_by_dword: bool,
        /// A format converts the data.
        has_format: bool,
    },
    /// A pair of SGPRs and an offset for the wave.
    Scalar {
        /// The pair.
        base: RegisterRange,
        /// The offset in a register or constant.
        scalar: Option<ScalarOperand>,
        /// Bytes of a unit of that offset: 1, or with `scale_offset` those of the access.
        unit: u16,
        /// Constant offset.
        offset: i32,
    },
    /// An offset in a buffer for the wave.
    ScalarBuffer {
        /// Four SGPRs.
        descriptor: RegisterRange,
        /// The offset in a register.
        scalar: Option<ScalarOperand>,
        /// Constant offset.
        offset: i32,
    },
    /// An address of LDS, or two.
    Lds {
        /// The base.
        base: LdsBase,
        /// Constant offset.
        offset: u32,
        /// Constant offset of a second access of the same size.
        second: Option<u32>,
    },
    /// The registers alone do not give the address.
    NotComputable(NotComputableCause),
}

/// The reason that registers alone do not give an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComputableCause {
    /// Images have a layout in the descriptor that this module does not know.
    #[error("the address depends on the layout of an image")]
    Image,
    /// The GPU has one GDS for all processes.
    #[error("the address depends on the allocation of GDS")]
    Gds,
    /// A stack of ray intersections, or a pair of addresses in LDS memory.
    #[error("the address depends on data in LDS")]
    LdsData,
    /// An operand such as `src_shared_base`.
    #[error("the address depends on an internal value of the wave")]
    Internal,
    /// The bit of the encoding has a meaning on later GPUs only.
    #[error("the address depends on a scaled offset")]
    ScaledOffset,
    /// Copies of a tensor between memory and LDS: a descriptor has their addresses (gfx12.5).
    #[error("the address depends on the descriptor of a tensor")]
    Tensor,
    /// The offset of a lane has its highest bit set, and compilers use such offsets with and without a sign (gfx12.5).
    #[error("the sign of the lane's offset is unclear")]
    IndexSign,
}
