//! Values of a text: register values and words of memory in one arena, with names and lines.

use std::collections::HashMap;

use crate::clean::clean;

/// Maximum bytes that are kept of one text, values and their places together: the contents of a log of about 2 GB.
pub(super) const MAX_KEPT: usize = 1 << 30;

/// Maximum number of register names; a GPU has about 700.
pub(super) const MAX_NAMES: usize = 4096;

/// Maximum number of dwords of a value: one for each lane.
pub(super) const MAX_LANES: usize = 64;

/// A register name of a text, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::import) struct NameId(u16);

impl NameId {
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A register's value in a text.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Value {
    pub(in crate::import) name: NameId,
    /// Whether it is given lane by lane.
    pub(in crate::import) vector: bool,
    /// Number of dwords in the arena, from `offset` on.
    pub(in crate::import) dwords: u8,
    pub(in crate::import) offset: u32,
    /// Mask of the given dwords.
    pub(in crate::import) known: u64,
    /// Its line.
    pub(in crate::import) line: u32,
}

/// The arena and the names.
#[derive(Debug, Default)]
pub(in crate::import) struct Kept {
    bytes: Vec<u8>,
    /// Bytes of the values' places.
    places: usize,
    names: HashMap<Box<[u8]>, NameId>,
    texts: Vec<Box<str>>,
    most: Option<usize>,
    /// Whether a value did not fit.
    pub(in crate::import) full: bool,
}

impl Kept {
    /// Creates an arena with that maximum of bytes.
    #[cfg(test)]
    pub(in crate::import) fn with_capacity_of(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// The name's id; `None`: too many names.
    pub(in crate::import) fn name(&mut self, name: &[u8]) -> Option<NameId> {
        if let Some(known) = self.names.get(name) {
            return Some(*known);
        }
        let small = name.to_ascii_lowercase();
        if small != name {
            return self.name(&small);
        }
        let next = self.texts.len();
        if next >= MAX_NAMES {
            self.full = true;
            return None;
        }
        let id = NameId(u16::try_from(next).ok()?);
        self.texts.push(clean(String::from_utf8_lossy(name)).into());
        self.names.insert(name.into(), id);
        Some(id)
    }

    /// The text of a name.
    pub(in crate::import) fn text(&self, name: NameId) -> &str {
        self.texts.get(name.index()).map_or("?", |text| text)
    }

    /// Number of names.
    pub(super) fn names(&self) -> usize {
        self.texts.len()
    }

    /// Stores a register's dwords: lowest first, lane 0 first; those not in `known` have no meaning.
    pub(in crate::import) fn value(
        &mut self,
        name: &[u8],
        vector: bool,
        dwords: &[u32],
        known: u64,
        line: usize,
    ) -> Option<Value> {
        let name = self.name(name)?;
        let dwords = dwords.get(..dwords.len().min(MAX_LANES))?;
        let offset = self.words(dwords, size_of::<Value>())?;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        Some(Value { name, vector, dwords: dwords.len() as u8, offset, known, line })
    }

    /// Stores words of memory and returns their offset. `None`: they do not fit.
    pub(in crate::import) fn words(&mut self, words: &[u32], places: usize) -> Option<u32> {
        let size = words.len() * 4;
        let taken = self.bytes.len() + self.places + size + places;
        let offset = u32::try_from(self.bytes.len()).ok();
        if taken > self.most.unwrap_or(MAX_KEPT) || offset.is_none() {
            self.full = true;
            return None;
        }
        self.places += places;
        for word in words {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        offset
    }

    /// Bytes of the arena.
    pub(in crate::import) fn at(&self, offset: u64, length: u64) -> &[u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        end.and_then(|end| self.bytes.get(start..end)).unwrap_or_default()
    }

    /// A dword of a value, if given.
    pub(in crate::import) fn dword(&self, value: &Value, index: u8) -> Option<u32> {
        if index >= value.dwords || value.known >> index & 1 == 0 {
            return None;
        }
        let bytes = self.at(u64::from(value.offset) + u64::from(index) * 4, 4);
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// Offset of the next words.
    pub(in crate::import) fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Removes everything from an offset on, which repeats earlier bytes.
    pub(in crate::import) fn forget(&mut self, from: u64) {
        self.bytes.truncate(usize::try_from(from).unwrap_or(usize::MAX));
    }

    /// The bytes of the arena.
    pub(in crate::import) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.shrink_to_fit();
        self.bytes
    }
}
