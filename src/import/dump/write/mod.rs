//! Writes a part of a capture as a lanescope dump (docs/dump-format.md).
//!
//! Shares no code with the reader, so that each reveals mistakes of the other. Bulk bytes are copied by range, in
//! chunks, and once, however many waves share them. The manifest comes last; it is JSON, bounded by the number of
//! waves.

mod memory;
mod objects;
mod registers;
mod sink;
mod sources;
mod stored;
mod tables;

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub use self::sink::abandon;
pub use self::tables::CONTAINS;

use self::registers::RegisterWriter;
use self::sink::Sink;
use self::stored::Stored;
use self::tables::Kept;
use crate::capture::{Bytes, Capture, Extent, LoadedSegment, MemoryMap};
use crate::units::WaveId;

/// The parts of a capture to write.
#[derive(Clone, Default)]
pub struct Plan {
    /// The waves in the capture's order, each once.
    pub waves: Vec<PlannedWave>,
    /// Runs of global memory by first and last address, in order and disjoint; their captured parts are written.
    pub global: Vec<(u64, u64)>,
    /// The listed code objects, in the capture's order.
    pub code_objects: Vec<PlannedObject>,
    /// Source files, each path once.
    pub sources: Vec<PlannedSource>,
    /// Indexes of the functions as text, in the capture's order.
    pub code_texts: Vec<usize>,
    /// Indexes of dispatches whose waves are all in the dump, or those that waves of the dump stand for.
    pub whole_dispatches: BTreeSet<usize>,
}

/// A stored source file.
#[derive(Clone)]
pub struct PlannedSource {
    /// Its path, equal to that of [`crate::capture::SourceFile`].
    pub path: String,
    /// Its text.
    pub bytes: Bytes,
}

impl fmt::Debug for PlannedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = (*self.bytes).as_ref().len();
        f.debug_struct("PlannedSource").field("path", &self.path).field("size", &size).finish()
    }
}

/// A wave to write, with its registers and the LDS of its work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedWave {
    /// The wave.
    pub wave: WaveId,
    /// Private memory below this address of its backing layout is written.
    pub private_end: u64,
    /// Number of waves that are not written, and that it stands for.
    pub stands_for: u32,
}

/// A listed code object.
#[derive(Clone)]
pub struct PlannedObject {
    /// Its index in the capture.
    pub index: usize,
    /// The ELF file to store; `None`: the dump records only that it was loaded.
    pub file: Option<Bytes>,
    /// A file of its separate debug information to store beside it.
    pub debug: Option<Bytes>,
    /// Its loaded segments, without a file.
    pub segments: Vec<LoadedSegment>,
}

impl fmt::Debug for PlannedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [size, debug] =
            [&self.file, &self.debug].map(|file| file.as_ref().map(|file| (**file).as_ref().len()));
        let mut fields = f.debug_struct("PlannedObject");
        fields.field("index", &self.index).field("size", &size).field("debug", &debug);
        fields.field("segments", &self.segments).finish()
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waves, global, code_objects, sources, code_texts, whole_dispatches } = self;
        let mut debug = f.debug_struct("Plan");
        debug.field("waves", waves).field("global", global).field("code_objects", code_objects);
        debug.field("sources", sources).field("code_texts", code_texts);
        debug.field("whole_dispatches", whole_dispatches).finish()
    }
}

/// Bytes of the dump, by type of content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Registers of waves.
    pub registers: u64,
    /// LDS of work-groups.
    pub lds: u64,
    /// Private memory of waves.
    pub private: u64,
    /// Global memory.
    pub global: u64,
    /// Bytes of global memory by address: more than [`Self::global`] where addresses share bytes.
    pub global_named: u64,
    /// Files of code objects.
    pub code_objects: u64,
    /// Source files.
    pub sources: u64,
    /// Messages for bytes that could not be copied, at most [`MAX_LOSSES`].
    pub losses: Vec<String>,
    /// Number of further losses.
    pub more_losses: usize,
}

/// Maximum number of losses with a message.
pub const MAX_LOSSES: usize = 100;

impl Written {
    /// All bytes of side files.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.registers + self.lds + self.private + self.global + self.code_objects + self.sources
    }

    fn lose(&mut self, what: impl fmt::Display) {
        if self.losses.len() < MAX_LOSSES {
            self.losses.push(what.to_string());
        } else {
            self.more_losses += 1;
        }
    }
}

/// The reason that no dump was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The target exists.
    #[error("{0} exists; choose another name")]
    Exists(PathBuf),
    /// The operating system's error.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The folder of the target.
    #[error("{path}: there is no folder {folder}; make it first")]
    NoFolder {
        /// The target.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// A file of the capture has changed since it was opened.
    #[error("{0} changed while it was read: nothing is written. Run the command again")]
    Changed(String),
    /// More waves than a manifest can hold.
    #[error("a manifest of {size} bytes; expected at most {limit}: choose fewer waves than {waves} (--wave)")]
    ManifestTooLarge {
        /// Bytes of the manifest.
        size: usize,
        /// Number of waves.
        waves: usize,
        /// A reader's limit in bytes.
        limit: u64,
    },
}

/// The manifest's note on the dump's creation, made after its contents are known.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// For people: `provenance.note`.
    pub note: String,
    /// For programs: the table `x-slim`.
    pub table: Value,
}

/// Whether a dump can be written there.
///
/// # Errors
/// [`WriteError::Exists`] and [`WriteError::NoFolder`].
pub fn is_free(to: &Path) -> Result<(), WriteError> {
    // A dangling link also occupies the name.
    if to.symlink_metadata().is_ok() {
        return Err(WriteError::Exists(to.to_owned()));
    }
    match to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.exists() => {
            Err(WriteError::NoFolder { path: to.to_owned(), folder: folder.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Writes `plan` of `capture` to a new folder, or to a new zip if the name ends in `.zip`. The target appears under its
/// name when it is complete; a failed write is removed.
///
/// `progress` receives the length of each written run of bytes. `changed` returns a file that has changed since it was
/// opened; it is called at the end.
///
/// # Errors
/// [`WriteError`]; unreadable bytes are left out and listed in [`Written::losses`].
pub fn write(
    capture: &Capture,
    plan: &Plan,
    to: &Path,
    progress: &mut dyn FnMut(u64),
    account: &dyn Fn(&Written) -> Account,
    changed: &dyn Fn() -> Option<String>,
) -> Result<Written, WriteError> {
    let io = |source| WriteError::Io { path: to.to_owned(), source };
    is_free(to)?;
    let mut sink = Sink::create(to, progress).map_err(io)?;
    let mut written = Written::default();
    let manifest = fill(capture, plan, &mut sink, &mut written, account).map_err(io)?;
    let text = serde_json::to_vec(&manifest).map_err(|error| io(error.into()))?;
    if text.len() as u64 > super::MAX_MANIFEST {
        let (size, waves) = (text.len(), plan.waves.len());
        return Err(WriteError::ManifestTooLarge { size, waves, limit: super::MAX_MANIFEST });
    }
    sink.begin(super::JSON, text.len() as u64).map_err(io)?;
    sink.write_all(&text).map_err(io)?;
    // Bytes of a changed file may be another file's, and unread ones look like missing data.
    if let Some(what) = changed() {
        return Err(WriteError::Changed(what));
    }
    sink.finish().map_err(io)?;
    Ok(written)
}

/// Number of bytes that a map holds in an address range, first to last.
#[must_use]
pub fn captured(map: &MemoryMap, run: (u64, u64)) -> u64 {
    memory::parts(map, run).map(|part| part.extent.length).fold(0, u64::saturating_add)
}

/// Estimated bytes that [`write()`] copies: an upper bound, close to the actual number.
#[must_use]
pub fn expected(capture: &Capture, plan: &Plan) -> u64 {
    let kept = Kept::of(capture, plan);
    let global = plan.global.iter().flat_map(|run| memory::parts(&capture.global, *run));
    let copied = [
        registers::extents(capture, plan),
        private_extents(capture, plan),
        lds_extents(capture, &kept),
        global.map(|part| part.extent).collect(),
    ];
    let files = plan.code_objects.iter().flat_map(|object| object.file.iter().chain(&object.debug));
    let files = files.chain(plan.sources.iter().map(|source| &source.bytes));
    let files = files.map(|file| (**file).as_ref().len() as u64);
    copied.map(stored::size).into_iter().chain(files).fold(0, u64::saturating_add)
}

fn private_extents(capture: &Capture, plan: &Plan) -> Vec<Extent> {
    let waves = plan.waves.iter().filter_map(|planned| Some((capture.wave(planned.wave)?, planned)));
    let parts = waves.flat_map(|(wave, planned)| memory::below(&wave.private, planned.private_end));
    parts.map(|part| part.extent).collect()
}

fn lds_extents(capture: &Capture, kept: &Kept) -> Vec<Extent> {
    let groups = kept.workgroups.iter().filter_map(|index| capture.workgroups.get(*index));
    groups.flat_map(|group| memory::below(&group.lds, u64::MAX)).map(|part| part.extent).collect()
}

fn fill(
    capture: &Capture,
    plan: &Plan,
    sink: &mut Sink<'_>,
    written: &mut Written,
    account: &dyn Fn(&Written) -> Account,
) -> io::Result<Value> {
    let kept = Kept::of(capture, plan);
    let code_objects = objects::write(capture, plan, sink, written)?;
    let sources = sources::write(plan, sink, written)?;
    let mut waves = tables::waves(capture, plan);
    let layouts = registers(capture, plan, sink, written, &mut waves)?;
    private(capture, plan, sink, written, &mut waves)?;
    let workgroups = workgroups(capture, &kept, sink, written)?;
    let memory = memory::copy_global(capture, &plan.global, sink, written)?;
    let memory_map = memory::map(capture, written);
    let Account { note, table } = account(written);
    let mut manifest = Map::new();
    manifest.insert("format".to_owned(), json!(1));
    manifest.insert("provenance".to_owned(), tables::provenance(capture, note));
    manifest.insert("x-slim".to_owned(), table);
    if capture.has_all_code_objects {
        manifest.insert("all_code_objects".to_owned(), json!(true));
    }
    manifest.extend(memory_map.map(|map| ("memory_map".to_owned(), map)));
    let tables = [
        ("agent", kept.agents(capture)),
        ("queue", kept.queues(capture)),
        ("dispatch", kept.dispatches(capture, plan)),
        ("workgroup", workgroups),
        ("layout", layouts),
        ("wave", waves.into_iter().map(Value::Object).collect()),
        ("memory", memory),
        ("code_object", code_objects),
        ("source", sources),
        ("fault", tables::faults(capture)),
        ("code_text", tables::code_texts(capture, plan)),
    ];
    manifest.extend(tables.map(|(name, entries)| (name.to_owned(), Value::Array(entries))));
    Ok(Value::Object(manifest))
}

fn registers(
    capture: &Capture,
    plan: &Plan,
    sink: &mut Sink<'_>,
    written: &mut Written,
    tables: &mut [Map<String, Value>],
) -> io::Result<Vec<Value>> {
    let extents = registers::extents(capture, plan);
    sink.begin(registers::FILE, registers::size(capture, plan))?;
    let stored = Stored::write(capture, extents, sink, written)?;
    let mut writer = RegisterWriter::new(stored);
    for (planned, table) in plan.waves.iter().zip(tables) {
        if let Some(wave) = capture.wave(planned.wave) {
            writer.wave(capture, wave, table, sink, written)?;
        }
    }
    written.registers = sink.position();
    Ok(writer.layouts())
}

fn private(
    capture: &Capture,
    plan: &Plan,
    sink: &mut Sink<'_>,
    written: &mut Written,
    tables: &mut [Map<String, Value>],
) -> io::Result<()> {
    const FILE: &str = "private.bin";
    let extents = private_extents(capture, plan);
    sink.begin(FILE, stored::size(extents.clone()))?;
    let stored = Stored::write(capture, extents, sink, written)?;
    for (planned, table) in plan.waves.iter().zip(tables) {
        let Some(wave) = capture.wave(planned.wave) else { continue };
        let what = format_args!("private memory of wave {}", wave.id);
        let parts = memory::below(&wave.private, planned.private_end);
        let pieces = memory::pieces(capture, parts, FILE, &what, &stored, written);
        if !pieces.is_empty() {
            table.insert("private".to_owned(), Value::Array(pieces));
        }
    }
    written.private = sink.position();
    Ok(())
}

fn workgroups(
    capture: &Capture,
    kept: &Kept,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Vec<Value>> {
    const FILE: &str = "lds.bin";
    let extents = lds_extents(capture, kept);
    sink.begin(FILE, stored::size(extents.clone()))?;
    let stored = Stored::write(capture, extents, sink, written)?;
    let mut entries = Vec::new();
    let each = kept.workgroups.iter().filter_map(|index| Some((*index, capture.workgroups.get(*index)?)));
    for (index, group) in each {
        let mut entry = tables::workgroup(capture, kept, index, group);
        let what = format_args!("LDS of work-group {}", group.id);
        let parts = memory::below(&group.lds, u64::MAX);
        let pieces = memory::pieces(capture, parts, FILE, &what, &stored, written);
        if !pieces.is_empty() {
            entry.insert("lds".to_owned(), Value::Array(pieces));
        }
        entries.push(Value::Object(entry));
    }
    written.lds = sink.position();
    Ok(entries)
}

/// A number in the manifest's form for its size.
fn number(value: u64) -> Value {
    json!(format!("{value:#x}"))
}
