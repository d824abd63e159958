//! Register files, and ranges of their dwords as instructions name them.

use amdgpu_isa::File;

use crate::arch::{RegId, WaveArch};
use crate::units::LaneId;

/// A file of registers. Registers have numbers in it, in dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterFile {
    /// SGPRs.
    Scalar,
    /// VGPRs: one dword for each lane.
    Vector,
    /// Accumulation VGPRs: one dword for each lane.
    Accumulator,
    /// Trap temporaries.
    Trap,
    /// VCC.
    Vcc,
    /// EXEC.
    Exec,
    /// M0.
    M0,
    /// FLAT_SCRATCH.
    FlatScratch,
    /// XNACK_MASK.
    XnackMask,
    /// SCC: one bit of a status register.
    Scc,
    /// MODE.
    Mode,
    /// Other hardware registers.
    Hardware,
}

use RegisterFile::{
    Accumulator, Exec, FlatScratch, Hardware, M0, Mode, Scalar, Scc, Trap, Vcc, Vector, XnackMask,
};

/// Dwords of a register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterRange {
    /// The file.
    pub file: RegisterFile,
    /// The first dword.
    pub first: u16,
    /// Number of dwords.
    pub count: u16,
}

/// Number of the scalar register with the stack pointer (AMDGPUUsage, "Non-Kernel Functions").
pub const STACK_POINTER: u8 = 32;
/// Number of the scalar register with the frame pointer.
pub const FRAME_POINTER: u8 = 33;
/// Number of the scalar register with the base pointer: the stack pointer at entry, in functions that round their frame.
pub(super) const BASE_POINTER: u8 = 34;
/// Number of the first scalar register of the return address.
pub const RETURN_ADDRESS: u8 = 30;
/// The registers of the return address.
pub const RETURN_PAIR: RegisterRange = RegisterRange::new(Scalar, RETURN_ADDRESS as u16, 2);

/// Values of registers, by dword.
pub trait ReadRegister {
    /// A dword of a file, of vector files in that lane. `None`: unknown.
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32>;
}

/// Names of registers outside of the numbered files, with file, first dword and number of dwords.
const NAMED: &[(&str, RegisterFile, u16, u16)] = &[
    ("vcc", Vcc, 0, 2),
    ("vcc_lo", Vcc, 0, 1),
    ("vcc_hi", Vcc, 1, 1),
    ("exec", Exec, 0, 2),
    ("exec_lo", Exec, 0, 1),
    ("exec_hi", Exec, 1, 1),
    ("m0", M0, 0, 1),
    ("flat_scratch", FlatScratch, 0, 2),
    ("flat_scratch_lo", FlatScratch, 0, 1),
    ("flat_scratch_hi", FlatScratch, 1, 1),
    ("xnack_mask", XnackMask, 0, 2),
    ("xnack_mask_lo", XnackMask, 0, 1),
    ("xnack_mask_hi", XnackMask, 1, 1),
];

impl RegisterFile {
    /// Whether its registers have a dword for each lane.
    #[must_use]
    pub fn is_vector(self) -> bool {
        matches!(self, Vector | Accumulator)
    }

    /// The name of a dword, as instructions print it.
    #[must_use]
    pub fn name(self, index: u16) -> String {
        let half = if index == 0 { "lo" } else { "hi" };
        match self {
            Scalar => format!("s{index}"),
            Vector => format!("v{index}"),
            Accumulator => format!("a{index}"),
            Trap => format!("ttmp{index}"),
            Vcc => format!("vcc_{half}"),
            Exec => format!("exec_{half}"),
            FlatScratch => format!("flat_scratch_{half}"),
            XnackMask => format!("xnack_mask_{half}"),
            M0 => "m0".to_owned(),
            Scc => "SCC".to_owned(),
            Mode => "MODE".to_owned(),
            Hardware => "a hardware register".to_owned(),
        }
    }

    /// The register of a wave that holds the dword, and the dword's index in it; for vector files in lane 0.
    ///
    /// `None`: waves of this kind have no such register, or the file has no name among registers.
    #[must_use]
    pub fn register(self, index: u16, arch: &WaveArch) -> Option<(RegId, u16)> {
        let (name, dword) = match self {
            Scalar => (format!("s{index}"), 0),
            Vector => (format!("v{index}"), 0),
            Accumulator => (format!("a{index}"), 0),
            Trap => (format!("ttmp{index}"), 0),
            Vcc => ("vcc".to_owned(), index),
            Exec => ("exec".to_owned(), index),
            M0 => ("m0".to_owned(), index),
            XnackMask => ("xnack_mask".to_owned(), index),
            Mode => ("mode".to_owned(), index),
            // GFX12 names the same hardware register SCRATCH_BASE.
            FlatScratch if arch.named("flat_scratch").is_none() => ("scratch_base".to_owned(), index),
            FlatScratch => ("flat_scratch".to_owned(), index),
            Scc | Hardware => return None,
        };
        arch.named(&name).filter(|register| dword < register.dwords).map(|register| (register.id, dword))
    }
}

impl RegisterRange {
    /// Dwords of a file.
    #[must_use]
    pub const fn new(file: RegisterFile, first: u16, count: u16) -> Self {
        Self { file, first, count }
    }

    /// A whole file, of an unknown size.
    #[must_use]
    pub const fn whole(file: RegisterFile) -> Self {
        Self::new(file, 0, u16::MAX)
    }

    /// Whether both have a dword in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        let end = |range: Self| range.first.saturating_add(range.count);
        self.file == other.file && self.first < end(other) && other.first < end(self)
    }

    /// The range of an operand. `None`: `null`, or a value that is no register of a capture.
    pub(super) fn of(register: amdgpu_isa::Register) -> Option<Self> {
        let file = match register.file {
            File::Sgpr => Scalar,
            File::Ttmp => Trap,
            File::Vgpr | File::VgprLow | File::VgprHigh => Vector,
            File::Agpr => Accumulator,
            File::Special => {
                let name = register.name()?;
                let (_, file, first, count) = NAMED.iter().find(|(known, ..)| *known == name)?;
                return Some(Self::new(*file, *first, *count));
            }
        };
        Some(Self::new(file, register.number, register.dwords.into()))
    }

    /// The first half of it: the result of an instruction that takes two values and returns one.
    pub(super) fn first_half(self) -> Self {
        Self { count: self.count.div_ceil(2), ..self }
    }

    /// The value of its first two dwords.
    pub(super) fn value64(
        self,
        registers: &impl ReadRegister,
        lane: LaneId,
    ) -> Result<u64, UnknownRegisterCause> {
        let low = self.dword(0, registers, lane)?;
        Ok(u64::from(low) | u64::from(self.dword(1, registers, lane)?) << 32)
    }

    /// One of its dwords.
    pub(super) fn dword(
        self,
        index: u16,
        registers: &impl ReadRegister,
        lane: LaneId,
    ) -> Result<u32, UnknownRegisterCause> {
        let index = self.first.saturating_add(index);
        registers.dword(self.file, index, lane).ok_or(UnknownRegisterCause { file: self.file, index })
    }
}

/// A dword that an address needs and that is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} was not captured", .file.name(*.index))]
pub struct UnknownRegisterCause {
    /// The file.
    pub file: RegisterFile,
    /// The dword's number in it.
    pub index: u16,
}
