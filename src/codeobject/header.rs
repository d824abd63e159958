//! The identity of a code object: machine, ABI and processor by its ELF header.
//!
//! AMDGPUUsage, "ELF Code Object": tables "AMDGPU ELF Header", "ELF Header e_flags".

use super::error::{CodeObjectError, Result};
use crate::elf::{ELFCLASS64, ELFDATA2LSB, ELFMAG, ELFOSABI_AMDGPU_HSA, EM_AMDGPU, ET_REL, LE, read};

/// The first `EF_AMDGPU_MACH` value of a GCN processor.
const FIRST_AMDGCN: u8 = 0x20;
/// `EF_AMDGPU_FEATURE_XNACK_V2`.
const EF_AMDGPU_FEATURE_XNACK_V2: u32 = 1;
/// The magic of offload bundles; they hold code objects and are none.
pub(super) const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(super) const COMPRESSED_BUNDLE_MAGIC: &[u8] = b"CCOB";

/// The version of the code object ABI, `e_ident[EI_ABIVERSION]` as it stands in the file.
///
/// AMDGPUUsage counts code object versions from 2, so version 5 has 3 here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbiVersion(pub u8);

impl AbiVersion {
    /// The code object version as the compiler's `-mcode-object-version` names it: 2 for 0, 6 for 4.
    #[must_use]
    pub fn code_object_version(self) -> u16 {
        u16::from(self.0) + 2
    }
}

/// The setting in `e_flags` of a feature that is optional on some processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The processor has no such choice.
    Unsupported,
    /// The code runs with either setting.
    Any,
    /// The code needs it off.
    Off,
    /// The code needs it on.
    On,
}

impl Feature {
    /// Two bits of a version 4 to 6 flags word.
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            1 => Self::Any,
            2 => Self::Off,
            3 => Self::On,
            _ => Self::Unsupported,
        }
    }
}

/// The ELF header of a code object, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The ABI version.
    pub abi_version: AbiVersion,
    /// `e_type`: 3 for the usual shared object, 2 for an executable, 1 for a relocatable file.
    pub file_type: u16,
    /// `e_entry`.
    pub entry: u64,
    /// `e_flags` as it stands in the file.
    pub flags: u32,
}

impl Header {
    /// Bits `EF_AMDGPU_MACH` of the flags: the processor's number, 0x4c for gfx942; 0 where the flags have none.
    ///
    /// Files of version 2 that were written before `EF_AMDGPU_MACH` existed have features in these bits, and name their
    /// processor in a note: see [`CodeObject::processor`](super::CodeObject::processor).
    #[must_use]
    pub fn mach(&self) -> u8 {
        let mach = (self.flags & 0xff) as u8;
        if self.abi_version.0 == 0 && mach < FIRST_AMDGCN { 0 } else { mach }
    }

    /// Whether the code needs XNACK on, off, or does not care.
    #[must_use]
    pub fn xnack(&self) -> Feature {
        self.feature(0x100, 8)
    }

    /// Whether the code needs SRAM ECC on, off, or does not care.
    #[must_use]
    pub fn sramecc(&self) -> Feature {
        self.feature(0x200, 10)
    }

    /// The version of a generic processor (`gfx11-generic`), 0 for others; bits 31:24, code object version 6.
    #[must_use]
    pub fn generic_version(&self) -> u8 {
        if self.abi_version.0 >= 4 { (self.flags >> 24) as u8 } else { 0 }
    }

    /// Whether this is a relocatable file, whose addresses are not final.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.file_type == ET_REL.0
    }

    /// The target ID of a processor with the features of the flags: `gfx90a:sramecc+:xnack-`.
    ///
    /// AMDGPUUsage, "Target ID": features in alphabetical order, left out where the code runs with either setting.
    #[must_use]
    pub fn target_id(&self, processor: &str) -> String {
        let mut id = processor.to_owned();
        for (name, feature) in [("sramecc", self.sramecc()), ("xnack", self.xnack())] {
            match feature {
                Feature::On => id.extend([":", name, "+"]),
                // Versions before 4 do not distinguish "off" from "the processor has no such choice".
                Feature::Off if self.abi_version.0 >= 2 => id.extend([":", name, "-"]),
                _ => {}
            }
        }
        id
    }

    /// Versions 2 and 3 have one bit per feature; versions 4 to 6 have a two-bit field.
    ///
    /// Files of version 2 that were written before `EF_AMDGPU_MACH` existed have XNACK in bit 0.
    fn feature(&self, version_3_bit: u32, shift: u32) -> Feature {
        let bit = |mask: u32| if self.flags & mask != 0 { Feature::On } else { Feature::Off };
        match self.abi_version.0 {
            0 if self.mach() == 0 => match version_3_bit {
                0x100 => bit(EF_AMDGPU_FEATURE_XNACK_V2),
                _ => Feature::Unsupported,
            },
            0 | 1 => bit(version_3_bit),
            _ => Feature::from_bits(self.flags >> shift),
        }
    }

    /// Reads the ELF header of a code object.
    ///
    /// # Errors
    /// [`CodeObjectError::Identity`] when it is something else, [`CodeObjectError::Truncated`] when it ends early.
    pub fn read(file: &[u8]) -> Result<Self> {
        magic(file)?;
        let header = read::file_header(file)?;
        let ident = &header.e_ident;
        let number = |what, offset, found: u16, wanted: u16, expected| match found == wanted {
            true => Ok(()),
            false => Err(CodeObjectError::Identity { what, offset, found: found.to_string(), expected }),
        };
        number("ELF class", 4, ident.class.0.into(), ELFCLASS64.0.into(), "2 (64-bit)")?;
        number("ELF data encoding", 5, ident.data.0.into(), ELFDATA2LSB.0.into(), "1 (little-endian)")?;
        number("e_machine", 18, header.e_machine.get(LE).0, EM_AMDGPU.0, "224 (AMDGPU)")?;
        number("OS ABI", 7, ident.os_abi.0.into(), ELFOSABI_AMDGPU_HSA.0.into(), "64 (AMDGPU_HSA)")?;
        Ok(Self {
            abi_version: AbiVersion(ident.abi_version),
            file_type: header.e_type.get(LE).0,
            entry: header.e_entry.get(LE),
            flags: header.e_flags.get(LE).0,
        })
    }
}

fn magic(file: &[u8]) -> Result<()> {
    let found = match file {
        _ if file.starts_with(&ELFMAG) => return Ok(()),
        _ if file.starts_with(BUNDLE_MAGIC) => "an offload bundle's (unbundle it first)".to_owned(),
        _ if file.starts_with(COMPRESSED_BUNDLE_MAGIC) => "a compressed offload bundle's".to_owned(),
        [] => "missing (the file is empty)".to_owned(),
        _ => file.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "),
    };
    Err(CodeObjectError::Identity { what: "the magic", offset: 0, found, expected: "7f 45 4c 46" })
}
