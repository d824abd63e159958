//! ELF notes: the build id and AMD's metadata.
//!
//! gABI "Note Section"; AMDGPUUsage, "Note Records": vendor `AMDGPU`, type 32 (`NT_AMDGPU_METADATA`); of version 2 files
//! vendor `AMD`, types 1 to 11.

use super::elf::Fields;
use crate::clean::clean;

/// `NT_GNU_BUILD_ID` of vendor `GNU`.
pub(super) const NT_GNU_BUILD_ID: u32 = 3;
/// `NT_AMDGPU_METADATA` of vendor `AMDGPU`.
pub(super) const NT_AMDGPU_METADATA: u32 = 32;

/// `NT_AMD_HSA_CODE_OBJECT_VERSION` of vendor `AMD`.
pub(super) const NT_AMD_HSA_CODE_OBJECT_VERSION: u32 = 1;
/// `NT_AMD_HSA_ISA_VERSION` of vendor `AMD`.
pub(super) const NT_AMD_HSA_ISA_VERSION: u32 = 3;
/// `NT_AMD_HSA_METADATA` of vendor `AMD`; the 2020 edition says `NT_AMD_AMDGPU_HSA_METADATA`.
pub(super) const NT_AMD_HSA_METADATA: u32 = 10;
/// `NT_AMD_HSA_ISA_NAME` of vendor `AMD`.
pub(super) const NT_AMD_HSA_ISA_NAME: u32 = 11;

/// Bytes of a text that are read: segments may all hold one note, whose texts are as long as the file.
const MAX_TEXT: usize = 256;

/// Names of the note types that code objects have.
const TYPES: &[(&str, u32, &str)] = &[
    ("GNU", NT_GNU_BUILD_ID, "NT_GNU_BUILD_ID"),
    ("AMD", NT_AMD_HSA_CODE_OBJECT_VERSION, "NT_AMD_HSA_CODE_OBJECT_VERSION"),
    ("AMD", 2, "NT_AMD_HSA_HSAIL"),
    ("AMD", NT_AMD_HSA_ISA_VERSION, "NT_AMD_HSA_ISA_VERSION"),
    ("AMD", NT_AMD_HSA_METADATA, "NT_AMD_HSA_METADATA"),
    ("AMD", NT_AMD_HSA_ISA_NAME, "NT_AMD_HSA_ISA_NAME"),
    ("AMD", 12, "NT_AMD_PAL_METADATA"),
    ("AMDGPU", NT_AMDGPU_METADATA, "NT_AMDGPU_METADATA"),
];

/// A note of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteRecord {
    /// Who defines the type: `GNU`, `AMD`, `AMDGPU`.
    pub vendor: String,
    /// `n_type`.
    pub note_type: u32,
    /// The bytes, without padding.
    pub bytes: super::Bytes,
    /// Their file offset.
    pub offset: u64,
}

impl NoteRecord {
    /// The type's name: `NT_AMDGPU_METADATA`.
    #[must_use]
    pub fn type_name(&self) -> Option<&'static str> {
        let mut types = TYPES.iter();
        types
            .find(|(vendor, kind, _)| *vendor == self.vendor && *kind == self.note_type)
            .map(|(.., name)| *name)
    }

    /// The version of the instruction set that a note of code object version 2 names: 9, 0, 6.
    pub(super) fn isa_version(&self) -> Option<[u32; 3]> {
        let is_version =
            self.vendor == "AMD" && self.note_type == NT_AMD_HSA_ISA_VERSION && self.bytes.len() >= 16;
        let fields = Fields(&self.bytes);
        is_version.then(|| [4, 8, 12].map(|at| fields.u32(at)))
    }

    /// What a version 2 note about version or processor says: `2.1`, `AMD AMDGPU 9.0.6`, `amdgcn-amd-amdhsa--gfx906`.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.vendor != "AMD" {
            return None;
        }
        let fields = Fields(&self.bytes);
        match self.note_type {
            NT_AMD_HSA_CODE_OBJECT_VERSION if self.bytes.len() >= 8 => {
                Some(format!("{}.{}", fields.u32(0), fields.u32(4)))
            }
            NT_AMD_HSA_ISA_VERSION if self.bytes.len() >= 16 => {
                let (vendor, architecture) = (usize::from(fields.u16(0)), usize::from(fields.u16(2)));
                let name = |start: usize, length: usize| {
                    let bytes = self.bytes.get(start..)?.get(..length)?;
                    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                    Some(clean(String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes))).into_owned())
                };
                let (vendor, architecture) = (name(16, vendor)?, name(16 + vendor, architecture)?);
                let version = [4, 8, 12].map(|at| fields.u32(at).to_string()).join(".");
                Some(format!("{vendor} {architecture} {version}"))
            }
            NT_AMD_HSA_ISA_NAME => {
                let bytes = self.bytes.strip_suffix(&[0]).unwrap_or(&self.bytes);
                Some(clean(String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes))).into_owned())
            }
            _ => None,
        }
    }
}

/// One note: vendor without its NUL, type, and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note<'a> {
    pub(super) vendor: &'a [u8],
    pub(super) note_type: u32,
    pub(super) bytes: &'a [u8],
}

/// The notes of a section or segment; the walk ends at the first one that does not fit.
///
/// Fields are padded to 4 bytes, whatever the section's alignment says: that is what every AMDGPU producer writes.
pub(super) fn notes(mut rest: &[u8]) -> impl Iterator<Item = Note<'_>> {
    std::iter::from_fn(move || {
        let (header, after) = rest.split_at_checked(12)?;
        let header = Fields(header);
        let (vendor, after) = padded(after, header.u32(0))?;
        let (bytes, after) = padded(after, header.u32(4))?;
        rest = after;
        let vendor = vendor.strip_suffix(&[0]).unwrap_or(vendor);
        let vendor = vendor.get(..MAX_TEXT).unwrap_or(vendor);
        Some(Note { vendor, note_type: header.u32(8), bytes })
    })
}

/// Splits off `length` bytes and the padding after them; the last padding may be missing.
fn padded(bytes: &[u8], length: u32) -> Option<(&[u8], &[u8])> {
    let length = length as usize;
    let field = bytes.get(..length)?;
    let end = length.checked_next_multiple_of(4)?.min(bytes.len());
    Some((field, bytes.get(end..)?))
}
