//! Selection of code objects in an offload bundle or a host program.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::arch::Processor;
use crate::capture::{self, BackingId, Capture, Extent, distinct};
use crate::codeobject::{
    Bytes, CodeObject, CodeObjectError, Entry, FatFile, ImageFormat, UnpackMemory, Uri, UriPlace,
};
use crate::session::error::ObjectCause;
use crate::session::objects::files::MAX_OVERLAP;

/// The reason that no entry of a bundle or host program is the code object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The dump names an entry that the file lacks.
    #[error("no entry {asked}; it has {entries}{}", and(problem.as_deref()))]
    NoEntry {
        /// The entry's name or index.
        asked: String,
        /// The file's entries.
        entries: String,
        /// The first damage of the file.
        problem: Option<Box<CodeObjectError>>,
    },
    /// No sound entry is for the GPU.
    #[error("no entry for {targets}; it has {entries}{}{}", uncompiled(*format), and(problem.as_deref()))]
    NoneFor {
        /// The GPUs.
        targets: String,
        /// The file's entries.
        entries: String,
        /// The format of an entry that is compiled later, if the file has one.
        format: Option<ImageFormat>,
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

fn and(problem: Option<&CodeObjectError>) -> String {
    problem.map_or_else(String::new, |problem| format!("; {problem}"))
}

fn uncompiled(format: Option<ImageFormat>) -> String {
    format.and_then(ImageFormat::uncompiled).map_or_else(String::new, |what| format!("; one is {what}"))
}

/// Maximum number of entries that a message lists.
const SHOWN: usize = 12;

/// The contents of a file: a code object, or a bundle or host program with several.
#[derive(Debug)]
pub(super) struct Contents {
    bytes: Bytes,
    /// `None`: the file is the code object.
    fat: Option<FatFile>,
}

impl Contents {
    /// The loaded image of a code object.
    pub(super) fn image(bytes: Bytes) -> Self {
        Self { bytes, fat: None }
    }

    /// Reads a file; unpacks its bundles. `memory`: for unpacked bundles.
    pub(super) fn read(bytes: Bytes, memory: &UnpackMemory) -> Result<Self, ObjectCause> {
        let fat = match FatFile::read_within(&bytes, memory) {
            Ok(fat) => (!matches!(fat.entries[..], [Entry { id: None, .. }])).then_some(fat),
            // The code object's reader reports a file that is no ELF file or bundle.
            Err(_) if CodeObject::parse(bytes.clone()).is_ok() => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { bytes, fat })
    }

    /// Bytes of the file, or of its distinct entries if these are more.
    fn size(&self) -> u64 {
        let place = |entry: &Entry| Extent {
            backing: BackingId(0),
            offset: entry.bytes.as_ptr() as u64,
            length: entry.bytes.len() as u64,
        };
        let entries = self.fat.iter().flat_map(|fat| &fat.entries).map(place).collect();
        let entries = distinct(entries).iter().fold(0u64, |sum, run| sum.saturating_add(run.length));
        entries.max(self.bytes.len() as u64)
    }
}

/// Address and length of bytes, which identify them as long as they live.
pub(super) type Span = (usize, usize);

pub(super) fn span(bytes: &[u8]) -> Span {
    (bytes.as_ptr() as usize, bytes.len())
}

/// Chooses code objects of one file, within a bound of the work for all of them.
#[derive(Debug)]
pub(super) struct Chooser<'c> {
    capture: &'c Capture,
    contents: &'c Contents,
    /// Remaining bytes of code objects and of tables of entries.
    left: u64,
    /// Bytes that one look at all entries costs.
    table: u64,
    charged: HashSet<Span>,
    /// The build id of each parsed entry; `None`: unreadable.
    parsed: HashMap<Span, Option<Option<Vec<u8>>>>,
}

impl<'c> Chooser<'c> {
    /// `share`: bytes in addition to [`MAX_OVERLAP`] times the file.
    pub(super) fn new(capture: &'c Capture, contents: &'c Contents, share: u64) -> Self {
        let entries = contents.fat.iter().flat_map(|fat| &fat.entries);
        let name = |entry: &Entry| (size_of::<Entry>() + entry.id.as_ref().map_or(0, String::len)) as u64;
        let table = entries.map(name).sum();
        let left = contents.size().saturating_mul(MAX_OVERLAP).saturating_add(share);
        Self { capture, contents, left, table, charged: HashSet::new(), parsed: HashMap::new() }
    }

    fn charge(&mut self, bytes: u64) -> Result<(), ObjectCause> {
        self.left = self.left.checked_sub(bytes).ok_or(ObjectCause::Overlaps)?;
        Ok(())
    }

    /// Bytes of a code object, charged once.
    fn take(&mut self, bytes: &Bytes) -> Result<Bytes, ObjectCause> {
        if !self.charged.contains(&span(bytes)) {
            self.charge(bytes.len() as u64)?;
            self.charged.insert(span(bytes));
        }
        Ok(bytes.clone())
    }

    /// Whether the bytes are an AMDGPU ELF file, of that build if one is given.
    fn is_sound(&mut self, bytes: &Bytes, build_id: Option<&[u8]>) -> Result<bool, ObjectCause> {
        self.take(bytes)?;
        let parse = || Some(CodeObject::parse(bytes.clone()).ok()?.build_id().map(|id| id.to_vec()));
        let parsed = self.parsed.entry(span(bytes)).or_insert_with(parse);
        Ok(parsed
            .as_ref()
            .is_some_and(|found| build_id.is_none_or(|wanted| found.as_deref() == Some(wanted))))
    }

    /// The bytes of a code object: the file itself, or one of its entries (docs/dump-format.md, `[[code_object]]`).
    pub(super) fn choose(&mut self, object: &capture::CodeObject) -> Result<Bytes, ObjectCause> {
        let Contents { bytes, fat: Some(fat) } = self.contents else {
            return Ok(self.contents.bytes.clone());
        };
        self.charge(self.table)?;
        let problem = || fat.problems.first().cloned().map(Box::new);
        if let Some(asked) = &object.entry {
            let none = || BundleError::NoEntry {
                asked: asked.to_string(),
                entries: list(&fat.entries),
                problem: problem(),
            };
            return self.take(&fat.entry(asked).ok_or_else(none)?.bytes);
        }
        let named = object.uri.as_deref().and_then(range_of);
        if let Some(found) = named.as_ref().and_then(|range| part(bytes, range))
            && self.is_sound(&found, None)?
        {
            return Ok(found);
        }
        // A range that begins with no entry of the file names another file, or a place before its change.
        let of_bundle = named.filter(|range| {
            let is_start = part(bytes, range).is_some_and(|part| FatFile::is_bundle(&part));
            is_start && fat.within(range.clone()).next().is_some()
        });
        let considered: Vec<&Entry> = fat.within(of_bundle.unwrap_or(0..u64::MAX)).collect();
        let agents = self.capture.agents.iter().enumerate();
        let agents = agents.filter(|(index, _)| object.agent.is_none_or(|agent| agent == *index));
        let mut targets: Vec<&str> = agents.map(|(_, agent)| agent.target.name.as_str()).collect();
        targets.dedup();
        let is_for = |entry: &Entry| {
            let processor = entry.processor().and_then(Processor::named);
            processor.is_some_and(|processor| targets.iter().any(|target| processor.runs_on(target)))
        };
        let mut fitting = Vec::new();
        for entry in considered.iter().copied().filter(|entry| is_for(entry)) {
            if self.is_sound(&entry.bytes, object.build_id.as_deref())? {
                fitting.push(entry);
            }
        }
        let format =
            considered.iter().map(|entry| entry.format()).find(|format| format.uncompiled().is_some());
        let (targets, entries) = (targets.join(", "), list(considered));
        Err(match fitting[..] {
            [entry] => return Ok(entry.bytes.clone()),
            [] => BundleError::NoneFor { targets, entries, format, problem: problem() },
            _ => BundleError::Several { count: fitting.len(), targets, entries },
        }
        .into())
    }
}

/// The range of a file that a `file://` URI names.
fn range_of(uri: &str) -> Option<Range<u64>> {
    let uri = Uri::parse(uri).ok().filter(|uri| matches!(uri.place, UriPlace::File(_)))?;
    let start = uri.offset?;
    Some(start..start.checked_add(uri.size?)?)
}

fn part(bytes: &Bytes, range: &Range<u64>) -> Option<Bytes> {
    bytes.slice(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

fn list<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> String {
    let name = |entry: &Entry| format!("{}: {}", entry.index, entry.id.as_deref().unwrap_or("a code object"));
    let mut entries = entries.into_iter();
    let mut names: Vec<String> = entries.by_ref().take(SHOWN).map(name).collect();
    let more = entries.count();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    if names.is_empty() { "no entries".to_owned() } else { names.join(", ") }
}
