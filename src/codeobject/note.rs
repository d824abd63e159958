//! ELF notes: the build id and AMD's metadata.
//!
//! gABI "Note Section"; AMDGPUUsage, "Note Records": vendor `AMDGPU`, type 32 (`NT_AMDGPU_METADATA`); in version 2
//! files vendor `AMD`, types 1 to 11.

use super::Bytes;
use crate::clean::clean;
use crate::elf::{LE, NT_GNU_BUILD_ID, read};
use crate::integers::{u16_at, u32_at};

/// `NT_AMDGPU_METADATA` of vendor `AMDGPU`.
pub(super) const NT_AMDGPU_METADATA: u32 = 32;

/// `NT_AMD_HSA_CODE_OBJECT_VERSION` of vendor `AMD`.
pub(super) const NT_AMD_HSA_CODE_OBJECT_VERSION: u32 = 1;
/// `NT_AMD_HSA_ISA_VERSION` of vendor `AMD`.
pub(super) const NT_AMD_HSA_ISA_VERSION: u32 = 3;
/// `NT_AMD_HSA_METADATA` of vendor `AMD`; `NT_AMD_AMDGPU_HSA_METADATA` in the 2020 edition.
pub(super) const NT_AMD_HSA_METADATA: u32 = 10;
/// `NT_AMD_HSA_ISA_NAME` of vendor `AMD`.
pub(super) const NT_AMD_HSA_ISA_NAME: u32 = 11;

/// Maximum bytes of a text: segments may all contain one note, whose text may be as long as the file.
const MAX_TEXT: usize = 256;

/// Names of the note types in code objects.
const TYPES: &[(&str, u32, &str)] = &[
    ("GNU", NT_GNU_BUILD_ID.0, "NT_GNU_BUILD_ID"),
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
    /// The owner of the type: `GNU`, `AMD`, `AMDGPU`.
    pub vendor: String,
    /// `n_type`.
    pub note_type: u32,
    /// The bytes, without padding.
    pub bytes: Bytes,
    /// Their file offset.
    pub offset: u64,
}

impl NoteRecord {
    /// Iterates over the notes in a range of the file; none if the range leaves the file.
    pub(super) fn all(file: &Bytes, offset: u64, size: u64) -> impl Iterator<Item = Self> {
        let range = read::range(file, "notes", offset, size).unwrap_or(&[]);
        read::notes(range).filter_map(|note| {
            let bytes = file.slice_ref(note.desc())?;
            let offset = (bytes.as_ptr() as usize).wrapping_sub(file.as_ptr() as usize) as u64;
            let vendor = note.name_bytes();
            let vendor = vendor.strip_suffix(&[0]).unwrap_or(vendor);
            let vendor = vendor.get(..MAX_TEXT).unwrap_or(vendor);
            let vendor = clean(String::from_utf8_lossy(vendor)).into_owned();
            Some(Self { vendor, note_type: note.n_type(LE).0, bytes, offset })
        })
    }

    /// The type's name: `NT_AMDGPU_METADATA`.
    #[must_use]
    pub fn type_name(&self) -> Option<&'static str> {
        let mut types = TYPES.iter();
        types
            .find(|(vendor, kind, _)| *vendor == self.vendor && *kind == self.note_type)
            .map(|(.., name)| *name)
    }

    /// Returns the instruction set version in a note of code object version 2: 9, 0, 6.
    pub(super) fn isa_version(&self) -> Option<[u32; 3]> {
        let is_version = self.vendor == "AMD" && self.note_type == NT_AMD_HSA_ISA_VERSION;
        let word = |at| u32_at(&self.bytes, at).filter(|_| is_version);
        Some([word(4)?, word(8)?, word(12)?])
    }

    /// Returns the text of a version 2 note on version or processor: `2.1`, `AMD AMDGPU 9.0.6`,
    /// `amdgcn-amd-amdhsa--gfx906`.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.vendor != "AMD" {
            return None;
        }
        let (half, word) = (|at| u16_at(&self.bytes, at), |at| u32_at(&self.bytes, at));
        match self.note_type {
            NT_AMD_HSA_CODE_OBJECT_VERSION => Some(format!("{}.{}", word(0)?, word(4)?)),
            NT_AMD_HSA_ISA_VERSION => {
                let (vendor, architecture) = (usize::from(half(0)?), usize::from(half(2)?));
                let name = |start: usize, length: usize| {
                    let bytes = self.bytes.get(start..)?.get(..length)?;
                    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
                    Some(clean(String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes))).into_owned())
                };
                let (vendor, architecture) = (name(16, vendor)?, name(16 + vendor, architecture)?);
                let [major, minor, stepping] = self.isa_version()?;
                Some(format!("{vendor} {architecture} {major}.{minor}.{stepping}"))
            }
            NT_AMD_HSA_ISA_NAME => {
                let bytes = self.bytes.strip_suffix(&[0]).unwrap_or(&self.bytes);
                Some(clean(String::from_utf8_lossy(bytes.get(..MAX_TEXT).unwrap_or(bytes))).into_owned())
            }
            _ => None,
        }
    }
}
