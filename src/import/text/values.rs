//! Kept values of a text: values of registers and words of memory in one arena, with names and lines.

use std::collections::HashMap;

use crate::clean::clean;

/// The most bytes that are kept of one text, values and their places together: what a log of some 2 GB holds.
pub(super) const MAX_KEPT: usize = 1 << 30;

/// The most names of registers; a GPU has some 700.
pub(super) const MAX_NAMES: usize = 4096;

/// The most dwords of a value: a lane each.
pub(super) const MAX_LANES: usize = 64;

/// A name of a register that a text has, in small letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::import) struct NameId(u16);

impl NameId {
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A register's value as a text gives it.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Value {
    pub(in crate::import) name: NameId,
    /// Whether it came lane by lane.
    pub(in crate::import) vector: bool,
    /// Dwords that lie in the arena, from `offset` on.
    pub(in crate::import) dwords: u8,
    pub(in crate::import) offset: u32,
    /// Which of them the text gives.
    pub(in crate::import) known: u64,
    /// Where it stands.
    pub(in crate::import) line: u32,
}

/// The arena and the names.
#[derive(Debug, Default)]
pub(in crate::import) struct Kept {
    bytes: Vec<u8>,
    /// Bytes that the places of values take.
    places: usize,
    names: HashMap<Box<[u8]>, NameId>,
    texts: Vec<Box<str>>,
    most: Option<usize>,
    /// Something did not fit.
    pub(in crate::import) full: bool,
}

impl Kept {
    /// One that keeps no more than so many bytes.
    #[cfg(test)]
    pub(in crate::import) fn with_capacity_of(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// The name's id; `None` where there are too many names.
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

    /// How many names there are.
    pub(super) fn names(&self) -> usize {
        self.texts.len()
    }

    /// Keeps a register's dwords: lowest first, lane 0 first; those not in `known` mean nothing.
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

    /// Keeps words of memory, and returns their offset. `None`: they do not fit.
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

    /// Bytes that lie there.
    pub(in crate::import) fn at(&self, offset: u64, length: u64) -> &[u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        end.and_then(|end| self.bytes.get(start..end)).unwrap_or_default()
    }

    /// A dword of a value, if the text gives it.
    pub(in crate::import) fn dword(&self, value: &Value, index: u8) -> Option<u32> {
        if index >= value.dwords || value.known >> index & 1 == 0 {
            return None;
        }
        let bytes = self.at(u64::from(value.offset) + u64::from(index) * 4, 4);
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// Where the next words will lie.
    pub(in crate::import) fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Forgets everything from there on: it repeats what came before.
    pub(in crate::import) fn forget(&mut self, from: u64) {
        self.bytes.truncate(usize::try_from(from).unwrap_or(usize::MAX));
    }

    /// The arena.
    pub(in crate::import) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.shrink_to_fit();
        self.bytes
    }
}
