//! Bytes of objects.

/// The bytes of an object, and which bits of them are there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Contents<'a> {
    /// The bytes, little-endian. Those past the end are unavailable.
    pub bytes: &'a [u8],
    /// Bits that the program does not have (optimised out), one per bit of `bytes`; empty: none.
    pub undefined: &'a [u8],
    /// Bits that the program has and that were not captured, one per bit of `bytes`; empty: none.
    pub unavailable: &'a [u8],
}

impl<'a> Contents<'a> {
    /// Bytes that are all there.
    #[must_use]
    pub fn known(bytes: &'a [u8]) -> Self {
        Self { bytes, ..Self::default() }
    }
}
