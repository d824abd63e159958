//! ELF notes: the build id and AMD's metadata.
//!
//! gABI "Note Section"; AMDGPUUsage, "Note Records": vendor `AMDGPU`, type 32 (`NT_AMDGPU_METADATA`).

use super::elf::Fields;

/// `NT_GNU_BUILD_ID` of vendor `GNU`.
pub(super) const NT_GNU_BUILD_ID: u32 = 3;
/// `NT_AMDGPU_METADATA` of vendor `AMDGPU`.
pub(super) const NT_AMDGPU_METADATA: u32 = 32;

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
