//! Shared bytes with an owner: a mapping, a vector or a constant, sliced without copying.
//!
//! Code objects of 100 MB are mapped, not read, and every expression of their DWARF is a slice of the mapping. A
//! borrowed `&[u8]` would tie the whole session to one lifetime; an `Arc<[u8]>` would copy the mapping. So a slice is a
//! shared owner plus a range.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Owners of bytes: a `Vec<u8>`, an `Arc<[u8]>`, a memory mapping.
pub type Owner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A range of shared, immutable bytes; cloning and slicing never copy them.
///
/// It dereferences to `&[u8]`. If the owner's length shrinks later, the slice is empty instead of a panic.
#[derive(Clone)]
pub struct Bytes {
    owner: Owner,
    start: usize,
    end: usize,
}

impl Bytes {
    /// All bytes of an owner.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        let end = (*owner).as_ref().len();
        Self { owner, start: 0, end }
    }

    /// Bytes of a constant.
    #[must_use]
    pub fn from_static(bytes: &'static [u8]) -> Self {
        Self::new(Arc::new(bytes))
    }

    /// No bytes.
    #[must_use]
    pub fn empty() -> Self {
        Self::from_static(&[])
    }

    /// Returns a part of these bytes, relative to their start; `None` past their end.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        let start = self.start.checked_add(range.start)?;
        let end = self.start.checked_add(range.end)?;
        (start <= end && end <= self.end).then(|| Self { owner: Arc::clone(&self.owner), start, end })
    }

    /// Returns the part that `part`, a slice borrowed from these bytes, covers; `None` for other slices.
    #[must_use]
    pub fn slice_ref(&self, part: &[u8]) -> Option<Self> {
        let start = (part.as_ptr() as usize).checked_sub(self.as_ptr() as usize)?;
        self.slice(start..start.checked_add(part.len())?)
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::empty()
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.start..self.end).unwrap_or(&[])
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(Arc::new(bytes))
    }
}

impl From<Arc<[u8]>> for Bytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::new(Arc::new(bytes))
    }
}

impl From<Owner> for Bytes {
    fn from(owner: Owner) -> Self {
        Self::new(owner)
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

/// Formats bytes as hex digits, lowest address first.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    faster_hex::hex_string(bytes)
}

/// Hex for short slices, the length for long ones.
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        f.write_str("Bytes(")?;
        f.write_str(&hex(self.get(..SHOWN).unwrap_or(self)))?;
        if self.len() > SHOWN {
            write!(f, ".. {} bytes", self.len())?;
        }
        f.write_str(")")
    }
}
