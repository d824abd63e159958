//! Candidates for a loaded code object: the code objects of a file, of a bundle or host program, or of memory.

use std::cell::Cell;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::error::CandidateError;
use crate::codeobject::{Bytes, CodeObject, FatFile, MAX_ENTRIES, UnpackMemory};
use crate::elf::SHT_NOBITS;
use crate::import::file::open_regular;
use crate::mapping;

/// A candidate for a loaded code object.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) bytes: Bytes,
    pub(super) object: CodeObject,
    pub(super) build_id: Option<Bytes>,
    /// Its offset in the file, unless it was packed.
    pub(super) offset: Option<u64>,
    /// The displayed name: its file, and the entry of a file with several.
    pub(super) label: String,
}

impl Candidate {
    /// Whether it contains DWARF.
    pub(super) fn has_debug(&self) -> bool {
        [".debug_info", ".zdebug_info"].iter().any(|name| self.object.section(name).is_some())
    }
}

/// The code objects of some bytes: the bytes themselves, or the entries of a bundle or host program. Host entries,
/// bitcode and damaged entries are left out.
pub(super) fn of_bytes(bytes: &Bytes, label: &str) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    of_entries(&FatFile::read(bytes)?, label)
}

fn of_entries(fat: &FatFile, label: &str) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    let single = matches!(&fat.entries[..], [entry] if entry.id.is_none());
    let candidates = fat.entries.iter().filter_map(|entry| {
        let object = CodeObject::parse(entry.bytes.clone()).ok()?;
        // A file of debug information alone was not loaded: its segments have no bytes, or wrong ones.
        if object.section(".text").is_some_and(|text| text.section_type == SHT_NOBITS.0) {
            return None;
        }
        let label = match (&entry.id, single) {
            (Some(id), _) => format!("{label}, entry {} ({id})", entry.index),
            (None, true) => label.to_owned(),
            (None, false) => format!("{label}, entry {}", entry.index),
        };
        let (bytes, build_id) = (entry.bytes.clone(), object.build_id());
        let offset = entry.compressed_at.is_none().then_some(entry.offset);
        Some(Arc::new(Candidate { bytes, object, build_id, offset, label }))
    });
    let candidates: Vec<_> = candidates.collect();
    if candidates.is_empty() {
        if let Some(what) = fat.entries.iter().find_map(|entry| entry.format().uncompiled()) {
            return Err(CandidateError::Uncompiled(what));
        }
        return Err(CandidateError::NoCode(fat.problems.first().cloned()));
    }
    Ok(candidates)
}

/// The code object of a dump, without unpacking.
pub(super) fn of_object(bytes: Bytes, label: &str) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    let object = CodeObject::parse(bytes.clone())?;
    let build_id = object.build_id();
    Ok(vec![Arc::new(Candidate { bytes, object, build_id, offset: None, label: label.to_owned() })])
}

/// A regular file, copied or mapped.
pub(super) fn map(path: &Path) -> Result<Bytes, CandidateError> {
    map_open(&open_regular(path)?)
}

/// An open regular file, mapped.
fn map_open(file: &File) -> Result<Bytes, CandidateError> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Err(CandidateError::Empty);
    }
    Ok(Bytes::new(Arc::new(mapping::map(file, 0, length)?)))
}

/// The code objects of a file.
pub(super) fn of_file(path: &Path) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    of_bytes(&map(path)?, &path.display().to_string())
}

/// The code objects of an open file with the name `label`.
pub(super) fn of_open(file: &File, label: &str) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    of_bytes(&map_open(file)?, label)
}

/// The code objects in a part of a file of this machine that a capture names: the part is one, or a bundle. An empty
/// list has one cause for the reader, so that it reveals no facts.
pub(super) fn of_range(
    path: &Path,
    offset: u64,
    size: Option<u64>,
    label: &str,
    bounds: &BundleBounds,
) -> Vec<Arc<Candidate>> {
    range(path, offset, size).and_then(|part| of_part(part, label, bounds).ok()).unwrap_or_default()
}

/// The code objects in a part of a file or of captured memory: the part is one, or a bundle.
pub(super) fn of_part(
    part: Bytes,
    label: &str,
    bounds: &BundleBounds,
) -> Result<Vec<Arc<Candidate>>, CandidateError> {
    if !FatFile::is_bundle(&part) {
        return of_object(part, label);
    }
    let left = Some(bounds.entries.get()).filter(|left| *left > 0).ok_or(CandidateError::Entries)?;
    let fat = FatFile::read_within(&part, &bounds.memory)?;
    bounds.entries.set(left.saturating_sub(fat.entries.len().max(1)));
    of_entries(&fat, label)
}

/// Limits for all bundles that the URIs of a capture name: many URIs may name one bundle.
#[derive(Debug)]
pub(super) struct BundleBounds {
    memory: UnpackMemory,
    entries: Cell<usize>,
}

impl Default for BundleBounds {
    fn default() -> Self {
        Self { memory: UnpackMemory::default(), entries: Cell::new(MAX_ENTRIES) }
    }
}

fn range(path: &Path, offset: u64, size: Option<u64>) -> Option<Bytes> {
    // A relative path would depend on the working directory.
    let bytes = path.is_absolute().then(|| map(path).ok()).flatten()?;
    let end = size.map_or(Some(bytes.len() as u64), |size| offset.checked_add(size))?;
    bytes.slice(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

/// A file of this machine that a capture names, if it holds a code object of the capture's build id.
pub(in crate::import) fn local(path: &Path, build_id: Option<&[u8]>) -> Option<Bytes> {
    let bytes = map(path).ok()?;
    let candidates = of_bytes(&bytes, "").ok()?;
    let is_that =
        |candidate: &Arc<Candidate>| build_id.is_none() || candidate.build_id.as_deref() == build_id;
    candidates.iter().any(is_that).then_some(bytes)
}
