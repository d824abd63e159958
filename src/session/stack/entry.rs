//! Selection of the code object in an offload bundle or a host program.

use crate::arch::Processor;
use crate::capture::{self, Capture};
use crate::codeobject::{Bytes, CodeObject, CodeObjectError, Entry, FatFile, UnpackMemory, Uri, UriPlace};
use crate::session::error::ObjectCause;

/// The reason that no entry of a bundle or host program is the code object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The dump names an entry that the file lacks.
    #[error("no entry {asked}; it has {entries}")]
    NoEntry {
        /// The entry's name or index.
        asked: String,
        /// The file's entries.
        entries: String,
    },
    /// No sound entry is for the GPU.
    #[error("no entry for {targets}; it has {entries}{}", problem.as_ref().map_or_else(String::new, |problem| format!("; {problem}")))]
    NoneFor {
        /// The GPUs.
        targets: String,
        /// The file's entries.
        entries: String,
        /// The first damage of the file.
        problem: Option<Box<CodeObjectError>>,
    },
    /// Several entries are for the GPU.
    #[error("{count} entries for {targets}; choose one with `entry`: {entries}")]
    Several {
        /// Their number.
        count: usize,
        /// The GPUs.
        targets: String,
        /// The file's entries.
        entries: String,
    },
}

/// Maximum number of entries that a message lists.
const SHOWN: usize = 12;

/// The bytes of the code object: the file itself, or one of its entries (docs/dump-format.md, `[[code_object]]`).
/// `memory`: for unpacked bundles.
pub(in crate::session) fn choose(
    capture: &Capture,
    object: &capture::CodeObject,
    bytes: Bytes,
    memory: &UnpackMemory,
) -> Result<Bytes, ObjectCause> {
    let fat = match FatFile::read_within(&bytes, memory) {
        Ok(fat) => fat,
        // The code object's reader reports a file that is no ELF file or bundle.
        Err(_) if CodeObject::parse(bytes.clone()).is_ok() => return Ok(bytes),
        Err(error) => return Err(error.into()),
    };
    if let [Entry { id: None, bytes, .. }] = &fat.entries[..] {
        return Ok(bytes.clone());
    }
    if let Some(asked) = &object.entry {
        let none = || BundleError::NoEntry { asked: asked.to_string(), entries: list(&fat.entries) };
        return Ok(fat.entry(asked).ok_or_else(none)?.bytes.clone());
    }
    if let Some(found) = object.uri.as_deref().and_then(|uri| at_uri(uri, &bytes)) {
        return Ok(found);
    }
    let agents = capture.agents.iter().enumerate();
    let agents = agents.filter(|(index, _)| object.agent.is_none_or(|agent| agent == *index));
    let mut targets: Vec<&str> = agents.map(|(_, agent)| agent.target.name.as_str()).collect();
    targets.dedup();
    let is_for = |entry: &Entry| {
        let processor = entry.processor().and_then(Processor::named);
        processor.is_some_and(|processor| targets.iter().any(|target| processor.runs_on(target)))
    };
    let is_built = |parsed: &CodeObject| match &object.build_id {
        Some(wanted) => parsed.build_id().is_some_and(|found| *found == **wanted),
        None => true,
    };
    let sound = |entry: &&Entry| CodeObject::parse(entry.bytes.clone()).is_ok_and(|parsed| is_built(&parsed));
    let fitting: Vec<&Entry> = fat.entries.iter().filter(|entry| is_for(entry)).filter(sound).collect();
    let (targets, entries) = (targets.join(", "), list(&fat.entries));
    Err(match fitting[..] {
        [entry] => return Ok(entry.bytes.clone()),
        [] => BundleError::NoneFor { targets, entries, problem: fat.problems.first().cloned().map(Box::new) },
        _ => BundleError::Several { count: fitting.len(), targets, entries },
    }
    .into())
}

/// The range that a `file://` URI names, if it holds an AMDGPU ELF file.
fn at_uri(uri: &str, bytes: &Bytes) -> Option<Bytes> {
    let uri = Uri::parse(uri).ok().filter(|uri| matches!(uri.place, UriPlace::File(_)))?;
    let start = usize::try_from(uri.offset?).ok()?;
    let end = start.checked_add(usize::try_from(uri.size?).ok()?)?;
    let found = bytes.slice(start..end)?;
    CodeObject::parse(found.clone()).is_ok().then_some(found)
}

fn list(entries: &[Entry]) -> String {
    let name = |entry: &Entry| format!("{}: {}", entry.index, entry.id.as_deref().unwrap_or("a code object"));
    let mut names: Vec<String> = entries.iter().take(SHOWN).map(name).collect();
    if entries.len() > SHOWN {
        names.push(format!("{} more", entries.len() - SHOWN));
    }
    if names.is_empty() { "no entries".to_owned() } else { names.join(", ") }
}
