//! Little-endian numbers in a slice; 0 beyond its end where a format says that what is not there counts as 0.

/// Two bytes at an offset.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let bytes = bytes.get(offset..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

/// Four bytes at an offset.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

/// Eight bytes at an offset.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let bytes = bytes.get(offset..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}
