//! lanescope's own dump: a folder or a zip with a manifest and side files; docs/dump-format.md specifies it.
//!
//! [`store`] finds side files and gives them as backings; [`shape`] and [`manifest`] parse the manifest leniently;
//! [`build`] and its siblings check it and make the capture. Opening reads only the manifest.

mod agents;
mod archive;
mod build;
mod code_texts;
mod data;
mod faults;
mod folder;
mod inline;
mod key;
mod manifest;
mod manifest_reader;
mod memory_limit;
mod names;
mod pieces;
mod read;
mod registers;
mod shape;
mod spans;
mod store;
mod toml_cost;
mod values;
mod waves;
pub mod write;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::archive::{Archive, Source};
use self::folder::Folder;
use self::manifest::Manifest;
use self::memory_limit::MemoryLimit;
use self::shape::Field;
use self::store::Store;
use super::beneath::BeneathError;
use super::file::OpenFile;
use super::problem::{ImportError, problem};
use super::{FileLocation, Problem};
use super::{LocalFiles, Opened};
use crate::arch::Targets;
use crate::mapping::Changes;

/// Maximum bytes of a manifest: 10,000 waves, the capacity of the largest GPU, need about 5 MB.
const MAX_MANIFEST: u64 = 64 << 20;

/// Maximum bytes of a manifest in TOML, which people write.
const MAX_TOML: u64 = 16 << 20;

/// The error of the parser of TOML that lacks the key, and the maximum length of a key in it.
const DUPLICATE: &str = "duplicate key";
const MAX_KEY: usize = 64;

const TOML: &str = "manifest.toml";
const JSON: &str = "manifest.json";

/// The languages of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Toml,
    Json,
}

impl Language {
    /// The file name of a manifest in that language, for a message.
    fn expected(self) -> &'static str {
        match self {
            Self::Toml => "a TOML document",
            Self::Json => "a JSON object",
        }
    }

    /// Maximum bytes of a manifest in that language.
    fn most(self) -> u64 {
        match self {
            Self::Toml => MAX_TOML,
            Self::Json => MAX_MANIFEST,
        }
    }
}

/// Opens a folder.
pub(super) fn open_folder(
    path: &Path,
    targets: &Targets,
    local_files: LocalFiles,
) -> Result<Opened, ImportError> {
    let file = path.display().to_string();
    let io = |file: String| move |source| ImportError::Io { file, source };
    let folder = Folder::new(path).map_err(io(file.clone()))?;
    let changes = folder.changes().clone();
    let manifest = |name: &str| path.join(name).display().to_string();
    let exists = |name: &str| match folder.beneath().size(Path::new(name)) {
        Err(BeneathError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some).map_err(|error| io(manifest(name))(error.into())),
    };
    let (toml, json) = (exists(TOML)?, exists(JSON)?);
    let (name, language) = choose(file.clone(), toml.is_some(), json.is_some())?;
    let size = toml.or(json).unwrap_or_default();
    let open = || folder.beneath().open(Path::new(name)).map_err(|error| io(manifest(name))(error.into()));
    let text = read_text(open()?, size, manifest(name))?;
    let mut opened = load(&text, language, &file, name, Store::Folder(folder), targets, local_files)?;
    opened.capture.changes = changes;
    Ok(opened)
}

/// Opens a separate manifest; side files are beside it.
pub(super) fn open_manifest(
    path: &Path,
    targets: &Targets,
    local_files: LocalFiles,
) -> Result<Opened, ImportError> {
    let name = path.display().to_string();
    let io = |source| ImportError::Io { file: name.clone(), source };
    let opened = super::file::open_regular(path).map_err(io)?;
    let size = opened.metadata().map_err(io)?.len();
    let text = read_text(opened, size, name.clone())?;
    let folder = Folder::new(path.parent().unwrap_or(Path::new("."))).map_err(io)?;
    let changes = folder.changes().clone();
    let file = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let language = language_of(&text);
    let mut opened = load(&text, language, &name, &file, Store::Folder(folder), targets, local_files)?;
    opened.capture.changes = changes;
    Ok(opened)
}

/// Opens a manifest of a stream, which has no side files.
pub(super) fn open_stream(name: &str, file: File, targets: &Targets) -> Result<Opened, ImportError> {
    let io = |source| ImportError::Io { file: name.to_owned(), source };
    let size = file.metadata().map_err(io)?.len();
    open_bytes(name, Cow::Owned(read_text(file, size, name.to_owned())?), targets)
}

/// Opens a zip. `beside`: its folder.
pub(super) fn open_zip(
    name: &str,
    file: File,
    beside: Option<&Path>,
    targets: &Targets,
    local_files: LocalFiles,
) -> Result<Opened, ImportError> {
    let changes = Changes::default();
    let file = OpenFile::of(name.to_owned(), file, &changes)?;
    let beside = beside.map(Path::to_owned);
    let mut opened = load_zip(name, Source::File(Arc::new(file)), beside, targets, local_files)?;
    opened.capture.changes = changes;
    Ok(opened)
}

/// Opens a zip or a manifest in memory.
pub(super) fn open_bytes(
    name: &str,
    bytes: Cow<'static, [u8]>,
    targets: &Targets,
) -> Result<Opened, ImportError> {
    if super::sniff::is_zip(&bytes) {
        return load_zip(name, Source::Memory(Arc::new(bytes)), None, targets, LocalFiles::No);
    }
    load(&bytes, language_of(&bytes), name, name, Store::Nothing, targets, LocalFiles::No)
}

fn load_zip(
    name: &str,
    source: Source,
    beside: Option<PathBuf>,
    targets: &Targets,
    local_files: LocalFiles,
) -> Result<Opened, ImportError> {
    let broken = |what: String| ImportError::Zip { file: name.to_owned(), what };
    let mut archive = Archive::new(source).map_err(|error| broken(error.to_string()))?;
    let chosen = choose(name.to_owned(), archive.has(TOML), archive.has(JSON));
    let (manifest, language) = chosen.map_err(|error| match (error, archive.truncated()) {
        (ImportError::NoManifest { file, .. }, Some(what)) => {
            ImportError::NoManifest { file, others: format!("; it is cut short or damaged: {what}") }
        }
        (ImportError::NoManifest { file, .. }, None) => {
            let core = archive.core().map(|name| format!("; it holds {name}: unpack it and open that file"));
            ImportError::NoManifest { file, others: core.unwrap_or_default() }
        }
        (error, _) => error,
    })?;
    let entry = archive.find(manifest).map_err(|refusal| ImportError::NotStored {
        file: name.to_owned(),
        entry: manifest.to_owned(),
        what: refusal.what,
    })?;
    // The first part of a manifest may be one of fewer waves.
    if let Some(what) = archive.cut(manifest) {
        return Err(broken(what));
    }
    let size = entry.len();
    if size > MAX_MANIFEST {
        return Err(ImportError::TooLarge { file: format!("{name}: {manifest}"), size, limit: MAX_MANIFEST });
    }
    // find() has checked that the zip holds that many bytes.
    let mut text = vec![0; size as usize];
    let io = |source| ImportError::Io { file: format!("{name}: {manifest}"), source };
    let count = entry.read_at(0, &mut text).map_err(io)?;
    text.truncate(count);
    let damage = archive.damage(manifest, &text);
    let (problem, truncated) = (archive.problem(name), archive.truncated());
    let store = Store::Zip(archive, beside);
    let mut opened = load(&text, language, name, manifest, store, targets, local_files)?;
    // Before the other problems, which may result from it.
    opened.problems.splice(0..0, problem.into_iter().chain(damage));
    let own = &mut opened.capture.provenance.truncated;
    *own = truncated.or(own.take());
    Ok(opened)
}

fn choose(file: String, toml: bool, json: bool) -> Result<(&'static str, Language), ImportError> {
    match (toml, json) {
        (true, true) => Err(ImportError::TwoManifests { file }),
        (true, false) => Ok((TOML, Language::Toml)),
        (false, true) => Ok((JSON, Language::Json)),
        (false, false) => Err(ImportError::NoManifest { file, others: String::new() }),
    }
}

/// No TOML begins with a brace, and every JSON manifest does.
fn language_of(text: &[u8]) -> Language {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match text.trim_ascii_start().first() {
        Some(b'{') => Language::Json,
        _ => Language::Toml,
    }
}

/// Some editors write it before UTF-8; it is not part of the text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text of a manifest; `size`: bytes of the file at its lookup.
fn read_text(file: File, size: u64, name: String) -> Result<Vec<u8>, ImportError> {
    if size > MAX_MANIFEST {
        return Err(ImportError::TooLarge { file: name, size, limit: MAX_MANIFEST });
    }
    let mut text = Vec::with_capacity(size as usize);
    // take(): the file may grow during the read.
    let read = file.take(MAX_MANIFEST).read_to_end(&mut text);
    read.map_err(|source| ImportError::Io { file: name, source })?;
    Ok(text)
}

fn load(
    bytes: &[u8],
    language: Language,
    name: &str,
    file: &str,
    store: Store,
    targets: &Targets,
    local_files: LocalFiles,
) -> Result<Opened, ImportError> {
    // A refused manifest is named with its folder or zip; of one that is read, the dump is known.
    let refused = match Path::new(name).file_name() {
        Some(own) if own == file => name.to_owned(),
        _ => format!("{name}: {file}"),
    };
    let (size, limit) = (bytes.len() as u64, language.most());
    if size > limit {
        return Err(ImportError::TooLarge { file: refused, size, limit });
    }
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let (line, column) = line_and_column(&String::from_utf8_lossy(before));
        let what = "not UTF-8".to_owned();
        ImportError::Syntax { file: refused.clone(), line, column, what, expected: language.expected() }
    })?;
    let capacity = MemoryLimit::of(memory_limit::MAX_MEMORY);
    let manifest = parse(text, language, &refused, &capacity)?;
    check_format(&manifest, &refused)?;
    let (mut capture, mut problems) = build::build(&manifest, name, file, store, local_files, targets);
    if capacity.is_full() {
        (capture.has_all_code_objects, capture.is_global_whole) = (false, false);
        capture.left_out.whole_dispatches.clear();
    }
    problems.splice(0..0, capacity.full_at().map(|key| left_out(file, key)));
    Ok(Opened { capture, problems })
}

/// The problem of a manifest with too many values.
fn left_out(file: &str, key: String) -> Problem {
    let place = FileLocation { file: file.to_owned(), key: Some(key), ..FileLocation::default() };
    let most = memory_limit::MAX_MEMORY;
    let expected =
        format!("values that take at most {most} bytes of memory; bulk data belongs in side files");
    let problem = problem(place, "this and all values after it are left out", expected);
    Problem { hides_waves: true, ..problem }
}

fn parse<'de>(
    text: &'de str,
    language: Language,
    file: &str,
    capacity: &MemoryLimit,
) -> Result<Manifest<'de>, ImportError> {
    let syntax = |(line, column), what| ImportError::Syntax {
        file: file.to_owned(),
        line,
        column,
        what,
        expected: language.expected(),
    };
    match language {
        Language::Json => json(text, capacity).map_err(|error| {
            // The message ends with the place, which must appear only once.
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let what = message.strip_suffix(&place).unwrap_or(&message).to_owned();
            syntax((error.line(), error.column()), what)
        }),
        Language::Toml => {
            let (estimate, limit) = (toml_cost::estimate(text), toml_cost::MAX_MEMORY);
            if estimate > limit {
                return Err(ImportError::Values { file: file.to_owned(), estimate, limit });
            }
            let error = |error: toml::de::Error| {
                let span = error.span().unwrap_or_default();
                let before = text.get(..span.start).unwrap_or_default();
                let key = text.get(span).filter(|key| error.message() == DUPLICATE && key.len() <= MAX_KEY);
                let key = key.map_or_else(String::new, |key| format!(" `{key}`"));
                syntax(line_and_column(before), format!("{}{key}", error.message()))
            };
            Manifest::read(toml::Deserializer::parse(text).map_err(error)?, capacity).map_err(error)
        }
    }
}

fn json<'de>(text: &'de str, capacity: &MemoryLimit) -> serde_json::Result<Manifest<'de>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let manifest = Manifest::read(&mut deserializer, capacity)?;
    deserializer.end().map(|()| manifest)
}

/// Line and column after that text, both from 1; columns are characters.
fn line_and_column(before: &str) -> (usize, usize) {
    let last = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, last.chars().count() + 1)
}

fn check_format(manifest: &Manifest<'_>, file: &str) -> Result<(), ImportError> {
    let found = match &manifest.format {
        Field::Given(1) => return Ok(()),
        Field::Given(format @ 2..) => format!("{format} is newer than this lanescope"),
        Field::Given(format) => format!("{format} is no format"),
        Field::Absent => "is missing".to_owned(),
        Field::Wrong(found) => format!("{found} is no format"),
    };
    Err(ImportError::Format { file: file.to_owned(), found })
}

#[cfg(test)]
mod tests;
