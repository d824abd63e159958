//! *Data* of the manifest to extents: side files by range, inline bytes in one arena. Reads no side file.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use super::key::Key;
use super::manifest::DataKeys;
use super::store::Store;
use crate::capture::{Backing, BackingId, Extent, MemoryBacking};
use crate::import::LocalFiles;
use crate::import::problem::Problems;

/// Backing of the arena.
pub(super) const ARENA: BackingId = BackingId(0);

/// Stores of the capture's extents.
#[derive(Debug)]
pub(super) struct Sources {
    store: Store,
    /// All inline bytes of the manifest; a store for each value would cost more than its bytes.
    arena: Vec<u8>,
    /// Side files in the order of their ids, which count from 1.
    files: Vec<Arc<dyn Backing>>,
    /// By name, including unusable files.
    within: Known,
    /// The first few files, which most of 10,000 waves name: a comparison is faster than a hash.
    few: Vec<(String, BackingId)>,
    /// By path and build id of a code object; inside the dump the same name may be another file.
    outside: HashMap<Outside, Option<(BackingId, u64)>>,
    local_files: LocalFiles,
}

type Known = HashMap<String, Option<BackingId>>;

/// A path and the required build id of its code object.
type Outside = (String, Option<Vec<u8>>);

/// A table's description of its bytes.
#[derive(Debug)]
pub(super) enum Found {
    /// The place of the bytes.
    At(Extent),
    /// The table has no data key.
    Nothing,
    /// A problem, already reported.
    Refused,
}

impl Sources {
    /// Side files come from `store`; `local_files`: the rule for files outside of it.
    pub(super) fn new(store: Store, local_files: LocalFiles) -> Self {
        Self {
            store,
            arena: Vec::new(),
            files: Vec::new(),
            within: Known::new(),
            few: Vec::new(),
            outside: HashMap::new(),
            local_files,
        }
    }

    /// Offset of the next inline bytes.
    pub(super) fn arena_end(&self) -> u64 {
        self.arena.len() as u64
    }

    /// Reports an error in the bytes of an extent: in a side file, or in the manifest if they are inline.
    pub(super) fn blame(
        &self,
        problems: &mut Problems,
        extent: Extent,
        key: &Key<'_>,
        what: impl Display,
        expected: impl Display,
    ) {
        let file = (extent.backing.0 as usize).checked_sub(1).and_then(|index| self.files.get(index));
        match file {
            Some(file) => problems.report_in(file.name(), Some(extent.offset), key, what, expected),
            None => problems.report(key, what, expected),
        }
    }

    /// Appends inline bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.arena.extend_from_slice(bytes);
    }

    /// The backings in the order of their ids; the arena has the manifest's name.
    pub(super) fn finish(mut self, manifest: &str) -> Vec<Arc<dyn Backing>> {
        self.arena.shrink_to_fit();
        let arena: Arc<dyn Backing> = Arc::new(MemoryBacking::new(manifest, self.arena));
        std::iter::once(arena).chain(self.files).collect()
    }

    /// The extent of a table's keys.
    pub(super) fn extent(&mut self, problems: &mut Problems, key: &Key<'_>, data: DataKeys<'_, '_>) -> Found {
        const ONE: &str = "exactly one of file, hex and u32";
        let given = [data.file.is_given(), data.hex.is_given(), data.u32.is_given()];
        match given.iter().filter(|given| **given).count() {
            0 if data.offset.is_given() || data.length.is_given() => {
                problems.report(key, "offset or length without a file", ONE);
                return Found::Refused;
            }
            0 => return Found::Nothing,
            1 => {}
            _ => {
                problems.report(key, "data is given in more than one way; none counts", ONE);
                return Found::Refused;
            }
        }
        if !data.file.is_given() && (data.offset.is_given() || data.length.is_given()) {
            problems.report(key, "offset or length without a file, ignored", "them only beside file");
        }
        let extent = if data.file.is_given() {
            self.file_extent(problems, key, data)
        } else if data.hex.is_given() {
            problems.given(key, "hex", data.hex).and_then(|hex| self.hex(problems, key, &hex.0))
        } else {
            problems.given(key, "u32", data.u32).and_then(|words| {
                if let Some((index, found)) = &words.wrong {
                    let key = key.name("u32");
                    problems.report(key.index(*index), found, "a 32-bit integer");
                    return None;
                }
                Some(self.inline(&words.bytes))
            })
        };
        extent.map_or(Found::Refused, Found::At)
    }

    /// Like [`Self::extent`], for a table that requires data; `effect`: the result of its absence.
    pub(super) fn required(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        data: DataKeys<'_, '_>,
        effect: &str,
    ) -> Option<Extent> {
        match self.extent(problems, key, data) {
            Found::At(extent) => Some(extent),
            Found::Refused => None,
            Found::Nothing => {
                problems.report(key, format_args!("there is no data; {effect}"), "one of file, hex and u32");
                None
            }
        }
    }

    /// The whole file at a code object's path, if its build id matches.
    pub(super) fn outside(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        path: &str,
        build_id: Option<&[u8]>,
    ) -> Option<Extent> {
        let known = (path.to_owned(), build_id.map(<[u8]>::to_vec));
        let found = match self.outside.get(&known) {
            Some(found) => *found,
            None => {
                let found = self.store.find_outside(path, build_id, self.local_files);
                let found = found.map_err(|why| problems.report_in(path, None, key, why.what, why.expected));
                let found = found.ok().and_then(|backing| self.add(backing));
                self.outside.insert(known, found);
                found
            }
        };
        let (backing, length) = found?;
        Some(Extent { backing, offset: 0, length })
    }

    /// Adds a side file: its id and its size in bytes.
    fn add(&mut self, backing: Arc<dyn Backing>) -> Option<(BackingId, u64)> {
        let size = backing.len();
        self.files.push(backing);
        Some((BackingId(u32::try_from(self.files.len()).ok()?), size))
    }

    fn file_extent(
        &mut self,
        problems: &mut Problems,
        key: &Key<'_>,
        data: DataKeys<'_, '_>,
    ) -> Option<Extent> {
        let name = &problems.given(key, "file", data.file)?.0;
        let offset = data.offset.is_given().then(|| problems.number(key, "offset", data.offset));
        let length = data.length.is_given().then(|| problems.number(key, "length", data.length));
        // A wrong offset does not count as absent: the bytes would be others.
        let offset = offset.map_or(Some(0), |offset| offset)?;
        let length = length.map_or(Some(None), |length| length.map(Some))?;
        let (backing, size) = self.file(problems, key, name)?;
        if offset > size || (offset == size && length != Some(0)) {
            problems.report_in(
                name,
                Some(offset),
                key,
                format_args!("the file has only {size} bytes (ends at {size:#x})"),
                length.map_or_else(
                    || "data at that offset".to_owned(),
                    |length| format!("{length} bytes there"),
                ),
            );
            return None;
        }
        let left = size - offset;
        let length = length.unwrap_or(left);
        if length > left {
            problems.report_in(
                name,
                Some(offset),
                key,
                format_args!(
                    "the file ends after {left} bytes (at {size:#x}); the rest is taken as not captured"
                ),
                format_args!("{length} bytes there"),
            );
        }
        Some(Extent { backing, offset, length: length.min(left) })
    }

    fn file(&mut self, problems: &mut Problems, key: &Key<'_>, name: &str) -> Option<(BackingId, u64)> {
        let few = self.few.iter().find(|(known, _)| known == name);
        if let Some((_, id)) = few {
            return Some((*id, self.files.get((id.0 as usize).checked_sub(1)?)?.len()));
        }
        if let Some(found) = self.within.get(name) {
            let Some(id) = *found else {
                problems.report_in(name, None, key, "the file cannot be used (see above)", "a readable file");
                return None;
            };
            return Some((id, self.files.get((id.0 as usize).checked_sub(1)?)?.len()));
        }
        match self.store.find(name) {
            Ok(backing) => {
                let (id, size) = self.add(backing)?;
                self.within.insert(name.to_owned(), Some(id));
                if self.few.len() < 4 {
                    self.few.push((name.to_owned(), id));
                }
                Some((id, size))
            }
            Err(refusal) => {
                problems.report_in(name, None, key, refusal.what, refusal.expected);
                self.within.insert(name.to_owned(), None);
                None
            }
        }
    }

    fn hex(&mut self, problems: &mut Problems, key: &Key<'_>, text: &str) -> Option<Extent> {
        let start = self.arena.len();
        if let Err((at, found)) = decode_hex(text, &mut self.arena) {
            self.arena.truncate(start);
            problems.report(
                key.name("hex"),
                format_args!("{found} at character {at}"),
                "pairs of hex digits, spaces between them allowed",
            );
            return None;
        }
        Some(self.arena_extent(start))
    }

    fn inline(&mut self, bytes: &[u8]) -> Extent {
        let start = self.arena.len();
        self.arena.extend_from_slice(bytes);
        self.arena_extent(start)
    }

    fn arena_extent(&self, start: usize) -> Extent {
        let length = self.arena.len().saturating_sub(start) as u64;
        Extent { backing: ARENA, offset: start as u64, length }
    }
}

/// Appends the bytes of hex digits; on failure returns the offset and the text there.
pub(super) fn decode_hex(text: &str, to: &mut Vec<u8>) -> Result<(), (usize, String)> {
    let mut high = None;
    for (at, digit) in text.char_indices() {
        if digit.is_ascii_whitespace() {
            continue;
        }
        let Some(value) = digit.to_digit(16) else { return Err((at, format!("{digit:?}"))) };
        // to_digit(16) is less than 16.
        let value = value as u8;
        match high.take() {
            None => high = Some(value),
            Some(high) => to.push(high << 4 | value),
        }
    }
    if high.is_some() {
        return Err((text.len(), "an odd number of digits, ending".to_owned()));
    }
    Ok(())
}
