//! Source files for a small dump: the capture's, and those below the user's folders.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::{Capture, MAX_SOURCE, SourceMap, normal_path};
use crate::debuginfo::UnitId;
use crate::import::beneath::{Beneath, BeneathError};
use crate::import::write::PlannedSource;
use crate::notation::counted;
use crate::session::Dump;

/// Maximum bytes of a dump's source files.
pub const MAX_SOURCES: u64 = 256 << 20;
/// Maximum source files named in notes.
const MAX_NAMED: usize = 8;

/// Locations of source files.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Folders whose files may go into the dump.
    pub folders: Vec<PathBuf>,
    /// New locations of files that moved after compilation.
    pub map: SourceMap,
}

/// The reason for leaving a file out.
enum SourceError {
    /// It is outside of all folders.
    Elsewhere,
    /// It is unreadable, with the cause.
    ReadError(String),
    /// Its text differs from the compiled one.
    Differs,
}

/// The source files of a new dump; `used`: code objects whose line tables name files of this machine.
pub(super) fn gather(
    dump: &Dump,
    used: &[usize],
    sources: &Sources,
    notes: &mut Vec<String>,
) -> Vec<PlannedSource> {
    let mut left = MAX_SOURCES;
    let mut planned = carried(dump.capture(), &mut left, notes);
    if sources.folders.is_empty() {
        return planned;
    }
    let mut folders = Vec::new();
    for folder in &sources.folders {
        match Folder::open(folder) {
            Ok(folder) => folders.push(folder),
            Err(error) => notes.push(format!("--sources {}: {error}", folder.display())),
        }
    }
    let had: HashSet<&str> = planned.iter().map(|source| source.path.as_str()).collect();
    let mut names = names(dump, used, notes);
    names.retain(|path, _| !had.contains(path.as_str()));
    let (mut elsewhere, mut more, mut named) = (0u64, 0u64, 0);
    let mut mapped = BTreeSet::new();
    for (path, md5) in names {
        let place = sources.map.apply(&path).map_or_else(
            || path.clone(),
            |(prefix, place)| {
                mapped.insert(prefix);
                place
            },
        );
        let why = match read(&folders, &place, md5, left) {
            Ok(text) => {
                left -= text.len() as u64;
                planned.push(PlannedSource { path, bytes: Arc::new(text) });
                continue;
            }
            Err(SourceError::Elsewhere) => {
                elsewhere += 1;
                continue;
            }
            Err(SourceError::Differs) => "differs from the file that was compiled (MD5)".to_owned(),
            Err(SourceError::ReadError(why)) => why,
        };
        if named < MAX_NAMED {
            notes.push(format!("source file {place}: {why}"));
            named += 1;
        } else {
            more += 1;
        }
    }
    notes.extend(sources.map.unused(&mapped));
    if elsewhere > 0 {
        let files = counted(elsewhere, "source file");
        notes.push(format!("{files} of line tables lie below no folder of --sources"));
    }
    if more > 0 {
        notes.push(format!("{}, not listed", counted(more, "more source file")));
    }
    planned
}

/// The capture's source files, up to a total size: files may share bytes.
fn carried(capture: &Capture, left: &mut u64, notes: &mut Vec<String>) -> Vec<PlannedSource> {
    let (mut planned, mut too_many) = (Vec::new(), 0);
    for source in &capture.sources {
        let extent = source.extent;
        let Some(rest) = left.checked_sub(extent.length) else {
            too_many += 1;
            continue;
        };
        *left = rest;
        let bytes = capture.backing(extent.backing).map(|backing| backing.view(extent.offset, extent.length));
        match bytes {
            Some(Ok(bytes)) => planned.push(PlannedSource { path: source.path.clone(), bytes }),
            Some(Err(why)) => notes.push(format!("source file {}: {why}", source.path)),
            None => {}
        }
    }
    if too_many > 0 {
        let files = counted(too_many, "source file");
        notes.push(format!("{files} of the capture left out: more than {MAX_SOURCES} bytes in all"));
    }
    planned
}

/// All files that the line tables of those code objects name, with their checksums.
fn names(dump: &Dump, used: &[usize], notes: &mut Vec<String>) -> BTreeMap<String, Option<[u8; 16]>> {
    let mut names = BTreeMap::new();
    for debug in used.iter().filter_map(|index| dump.debug_info(*index).ok()) {
        for unit in (0..debug.unit_count()).map(UnitId) {
            match debug.source_names(unit) {
                Ok(files) => {
                    let normal = files.iter().filter_map(|file| Some((normal_path(&file.path)?, file.md5)));
                    names.extend(normal);
                }
                Err(why) => {
                    notes.push(format!("source files: {why}"));
                    break;
                }
            }
        }
    }
    names
}

/// A folder of the user's.
struct Folder {
    /// Absolute: the user's path, and the path with resolved links.
    names: [PathBuf; 2],
    beneath: Beneath,
}

impl Folder {
    fn open(folder: &Path) -> std::io::Result<Self> {
        let names = [std::path::absolute(folder)?, folder.canonicalize()?];
        Ok(Self { names, beneath: Beneath::new(folder)? })
    }

    /// The relative name of a file below it; a relative path starts at it.
    fn relative<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        if path.is_relative() {
            return Some(path);
        }
        self.names.iter().find_map(|folder| path.strip_prefix(folder).ok())
    }
}

/// The text of a file below one of the folders.
fn read(folders: &[Folder], path: &str, md5: Option<[u8; 16]>, left: u64) -> Result<Vec<u8>, SourceError> {
    let mut refusal = SourceError::Elsewhere;
    for folder in folders {
        let Some(name) = folder.relative(Path::new(path)) else { continue };
        let file = match folder.beneath.open(name) {
            Ok(file) => file,
            Err(BeneathError::Outside | BeneathError::Endless | BeneathError::Irregular) => continue,
            Err(BeneathError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                refusal = SourceError::ReadError(error.to_string());
                continue;
            }
        };
        let most = MAX_SOURCE.min(left);
        let mut text = Vec::new();
        if let Err(error) = file.take(most + 1).read_to_end(&mut text) {
            refusal = SourceError::ReadError(error.to_string());
        } else if text.len() as u64 > most {
            let bound = format!("more than {most} bytes, the limit of a dump");
            refusal = SourceError::ReadError(bound);
        } else if md5.is_some_and(|md5| md5::compute(&text).0 != md5) {
            refusal = SourceError::Differs;
        } else {
            return Ok(text);
        }
    }
    Err(refusal)
}
