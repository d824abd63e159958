//! Bytes of objects.

/// The bytes of an object, and masks of its missing bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents<'a> {
    /// The bytes, little-endian. Bytes past the end are unavailable.
    pub bytes: &'a [u8],
    /// Bits that the program lacks (optimised out), one per bit of `bytes`; empty: none.
    pub undefined: &'a [u8],
    /// Bits of the program that the capture lacks, one per bit of `bytes`; empty: none.
    pub unavailable: &'a [u8],
}

impl<'a> Contents<'a> {
    /// Bytes without missing bits.
    #[must_use]
    pub fn known(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }
}
