//! Identity of a code object from its ELF header: machine, ABI and processor.
//!
//! AMDGPUUsage, "ELF Code Object": tables "AMDGPU ELF Header", "ELF Header e_flags".

use super::error::{CodeObjectError, Result};
use super::offload;
use crate::elf::{ELFCLASS64, ELFDATA2LSB, ELFMAG, ELFOSABI_AMDGPU_HSA, EM_AMDGPU, ET_REL, LE, read};
use crate::notation::hex_bytes;

/// The lowest `EF_AMDGPU_MACH` value of a GCN processor.
const FIRST_AMDGCN: u8 = 0x20;
const EF_AMDGPU_FEATURE_XNACK_V2: u32 = 1;
/// The magic of offload bundles, which contain code objects.
pub(super) const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(super) const COMPRESSED_BUNDLE_MAGIC: &[u8] = b"CCOB";
/// The magic of LLVM bitcode.
pub(super) const BITCODE_MAGIC: &[u8] = b"BC\xc0\xde";
/// The magic of SPIR-V, 0x07230203, in little-endian order (SPIR-V specification, 2.3 "Physical Layout").
pub(super) const SPIRV_MAGIC: &[u8] = &[0x03, 0x02, 0x23, 0x07];

/// The version of the code object ABI: the raw `e_ident[EI_ABIVERSION]`.
///
/// Code object versions count from 2: version 5 has the value 3 here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbiVersion(pub u8);

impl AbiVersion {
    /// Returns the code object version in terms of the compiler's `-mcode-object-version`: 2 for 0, 6 for 4.
    #[must_use]
    pub fn code_object_version(self) -> u16 {
        u16::from(self.0) + 2
    }
}

/// The setting in `e_flags` of an optional feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The processor has no such feature setting.
    Unsupported,
    /// The code runs with either setting.
    Any,
    /// The code requires it off.
    Off,
    /// The code requires it on.
    On,
}

impl Feature {
    /// Decodes the two-bit field of versions 4 to 6.
    fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            1 => Self::Any,
            2 => Self::Off,
            3 => Self::On,
            _ => Self::Unsupported,
        }
    }
}

/// A validated ELF header of a code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The ABI version.
    pub abi_version: AbiVersion,
    /// `e_type`: 3 for the usual shared object, 2 for an executable, 1 for a relocatable file.
    pub file_type: u16,
    /// `e_entry`.
    pub entry: u64,
    /// `e_flags`, raw.
    pub flags: u32,
}

impl Header {
    /// Returns the processor number, bits `EF_AMDGPU_MACH` of the flags: 0x4c for gfx942; 0 if the flags have none.
    ///
    /// Version 2 files from before `EF_AMDGPU_MACH` have features in these bits, and the processor in a note: see
    /// [`CodeObject::processor`](super::CodeObject::processor).
    #[must_use]
    pub fn mach(&self) -> u8 {
        let mach = (self.flags & 0xff) as u8;
        if self.abi_version.0 == 0 && mach < FIRST_AMDGCN { 0 } else { mach }
    }

    /// Returns the XNACK setting.
    #[must_use]
    pub fn xnack(&self) -> Feature {
        self.feature(0x100, 8)
    }

    /// Returns the SRAM ECC setting.
    #[must_use]
    pub fn sramecc(&self) -> Feature {
        self.feature(0x200, 10)
    }

    /// Returns the version of a generic processor (`gfx11-generic`), 0 for others; bits 31:24, code object version 6.
    #[must_use]
    pub fn generic_version(&self) -> u8 {
        if self.abi_version.0 >= 4 { (self.flags >> 24) as u8 } else { 0 }
    }

    /// Whether this is a relocatable file, without final addresses.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.file_type == ET_REL.0
    }

    /// Formats the target ID of a processor with the features of the flags: `gfx90a:sramecc+:xnack-`.
    ///
    /// AMDGPUUsage, "Target ID": features in alphabetical order; a feature with setting "any" is omitted.
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

    /// Versions 2 and 3 have one bit per feature, versions 4 to 6 a two-bit field.
    ///
    /// Version 2 files from before `EF_AMDGPU_MACH` have XNACK in bit 0.
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
    /// [`CodeObjectError::Identity`] for another kind of file, [`CodeObjectError::Truncated`] if it ends early.
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
        _ if file.starts_with(offload::MAGIC) => "an offload binary's (extract its images first)".to_owned(),
        _ if file.starts_with(BITCODE_MAGIC) => {
            "LLVM bitcode's (the linker makes the code object of it)".to_owned()
        }
        _ if file.starts_with(SPIRV_MAGIC) => {
            "SPIR-V's (amdgcnspirv: the runtime compiles it; the code object is in the memory of the process)"
                .to_owned()
        }
        [] => "missing (the file is empty)".to_owned(),
        _ => hex_bytes(file.iter().take(4)),
    };
    Err(CodeObjectError::Identity { what: "the magic", offset: 0, found, expected: "7f 45 4c 46" })
}
